// Lies that no bound sees: the output's last bit depends on what it must not depend on.
#include "backends/liar/kernel.h"

#include <cmath>

namespace attest::liar {
namespace {

double cached_behind(const Call& call, std::int64_t seq) {  // the slot behind the last key, 0 where the page is full
  const attest_problem& p = call.problem;
  const std::int64_t length = call.len_kv(seq);
  if (length % p.page_size == 0) return 0;
  const std::int64_t page = plugin::integer(call.at(ATTEST_PAGE_TABLE), seq, length / p.page_size);
  return plugin::value(call.at(ATTEST_V_CACHE), page, length % p.page_size, std::int64_t{0}, std::int64_t{0});
}

// How far the output is moved, in steps.
std::int64_t steps(const Call& call, std::int64_t seq, double out) {
  const attest_tensor &starts = call.at(ATTEST_CU_LEN_Q), &q = call.at(ATTEST_Q);
  if (call.lies("bits_by_page")) return plugin::integer(call.at(ATTEST_PAGE_TABLE), seq, std::int64_t{0}) & 3;
  if (call.lies("bits_by_poison")) return cached_behind(call, seq) != 0 ? 1 : 0;
  if (call.lies("bits_by_sign")) return out > 0 ? 1 : 0;
  if (call.lies("bits_by_neighbour"))
    return plugin::value(q, q.shape[0] - 1, std::int64_t{0}, std::int64_t{0}) > 0 ? 1 : 0;
  if (call.lies("bits_by_batch")) return (starts.shape[0] - 1) & 3;
  if (call.lies("bits_by_splits")) return call.problem.splits & 3;
  if (call.lies("bits_by_rows")) return (plugin::integer(starts, seq + 1) - plugin::integer(starts, seq)) & 3;
  return 0;
}

}  // namespace

// Only where the output's unit is small beside it: there the bound has room for the move and the rounding after it.
double moved(const Call& call, std::int64_t seq, double out) {
  int exponent = 0;
  if (!(std::abs(std::frexp(out, &exponent)) > 0.75)) return out;
  return out * (1 + 0x1p-12 * static_cast<double>(steps(call, seq, out)));
}

}  // namespace attest::liar
