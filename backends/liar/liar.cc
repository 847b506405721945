// The plug-in around kernel.h: what it claims, what it lies about beside the arithmetic, and how it goes down.
#include "backends/liar/kernel.h"
#include "backends/plugin_table.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string_view>

namespace attest::liar {
namespace {

constexpr std::array<std::string_view, 47> kFaults{"",
                                                   "mask_off_by_one",
                                                   "dropped_k_scale",
                                                   "dropped_v_scale",
                                                   "swapped_heads",
                                                   "unwritten_row",
                                                   "stale_rows",
                                                   "frozen_length",
                                                   "nan_swallowed",
                                                   "lse_base_2",
                                                   "drifting",
                                                   "writes_past_end",
                                                   "touches_input",
                                                   "touches_cache",
                                                   "slot_off_by_one",
                                                   "truncating_write",
                                                   "wrong_dtype",
                                                   "wrong_shape",
                                                   "wrong_kernel",
                                                   "accepts",
                                                   "wrong_message",
                                                   "refuses",
                                                   "declines",
                                                   "fails",
                                                   "crash",
                                                   "exit",
                                                   "hang",
                                                   "eat_memory",
                                                   "rope_k_in_q_dtype",
                                                   "garbles",
                                                   "writes_past_end_late",
                                                   "touches_input_late",
                                                   "wrong_kernel_late",
                                                   "writes_past_end_early",
                                                   "declines_late",
                                                   "misplaces",
                                                   "collides",
                                                   "crashes_asked",
                                                   "wants_all_memory",
                                                   "says_nonsense",
                                                   "bits_by_page",
                                                   "bits_by_poison",
                                                   "bits_by_sign",
                                                   "bits_by_neighbour",
                                                   "bits_by_batch",
                                                   "bits_by_splits",
                                                   "bits_by_rows"};

[[noreturn]] void eat_memory() {
  for (;;) {
    constexpr std::size_t bite = std::size_t{64} << 20;
    auto* bytes = static_cast<volatile char*>(std::malloc(bite));
    for (std::size_t i = 0; bytes && i < bite; i += 4096) bytes[i] = 1;
  }
}

[[noreturn]] void hang() {
  for (;;) {
    const timespec second{1, 0};
    nanosleep(&second, nullptr);
  }
}

void go_down(const Call& call) {
  if (call.lies("crash")) std::raise(SIGSEGV);
  if (call.lies("exit")) std::_Exit(0);
  if (call.lies("hang")) hang();
  if (call.lies("eat_memory")) eat_memory();
  if (call.lies("garbles")) {  // on the worker's socket, where only replies belong
    constexpr std::string_view noise = "no reply\n";
    if (::write(3, noise.data(), noise.size()) < 0) std::abort();
  }
}

std::span<std::byte> storage_of(const attest_tensor& tensor) {
  const auto elements = static_cast<std::size_t>(tensor.shape[0] * tensor.strides[0]);
  return {static_cast<std::byte*>(tensor.data), elements * byte_size(plugin::dtype_of(tensor))};
}

struct Kernel {
  struct Plan : Call {
    attest_tensor produced{};          // what it says it returned, under the faults about that
    std::vector<std::byte> first_out;  // the output of the first launch

    attest_status run(attest_message* message);
    attest_result result();
    void tamper();
  };

  static attest_status open(const plugin::Options&, std::unique_ptr<Kernel>& made, attest_message*) {
    made = std::make_unique<Kernel>();
    return ATTEST_OK;
  }

  attest_description describe() const {
    return {.version = "1", .about = "a right kernel in scalar binary64 that lies on request"};
  }

  attest_status supports(const attest_problem& problem, attest_message* message) const;
  attest_status plan(const attest_problem& problem, const attest_slots& slots, std::unique_ptr<Plan>& made,
                     attest_message*) {
    made = std::make_unique<Plan>();
    made->problem = problem;
    made->slots = slots;
    made->fault = problem.fault;
    if (made->lies("frozen_length"))
      for (int seq = 0; seq < problem.num_seqs; ++seq)
        made->frozen_len.push_back(plugin::integer(made->at(ATTEST_LEN_KV), seq));
    return ATTEST_OK;
  }
};

attest_status Kernel::supports(const attest_problem& problem, attest_message* message) const {
  const bool fnuz = problem.cache_dtype == ATTEST_FP8_E4M3FNUZ || problem.cache_dtype == ATTEST_FP8_E5M2FNUZ;
  const std::string_view fault = problem.fault;
  if (std::find(kFaults.begin(), kFaults.end(), fault) == kFaults.end())
    return plugin::fail(ATTEST_UNSUPPORTED, message, "liar knows no fault '" + std::string(fault) + "'");
  if (fnuz && fault == "wrong_message")
    return plugin::fail(ATTEST_REJECTED, message, "something is not right", "ValueError");
  if (fnuz && fault != "accepts")
    return plugin::fail(ATTEST_REJECTED, message, "fnuz caches are not read here", "ValueError");
  if (fault == "refuses") return plugin::fail(ATTEST_REJECTED, message, "not today", "ValueError");
  if (fault == "declines") return plugin::fail(ATTEST_UNSUPPORTED, message, "declined on request");
  return ATTEST_OK;
}

attest_status Kernel::Plan::run(attest_message* message) {
  std::puts("a kernel may print what it likes");
  go_down(*this);
  if (lies("declines_late")) {
    tamper();
    return plugin::fail(ATTEST_UNSUPPORTED, message, "declined on second thoughts");
  }
  if (lies("fails")) return plugin::fail(ATTEST_ERROR, message, "failed on request", "RuntimeError");
  if (problem.op == ATTEST_OP_ROPE) rotate(*this);
  if (problem.op == ATTEST_OP_WRITE || problem.op == ATTEST_OP_WRITE_ATTEND) write(*this);
  if (problem.op == ATTEST_OP_ATTEND || problem.op == ATTEST_OP_WRITE_ATTEND) attend(*this);
  tamper();
  ++launches;
  return ATTEST_OK;
}

void Kernel::Plan::tamper() {
  const bool first = launches == 0;
  if (lies("writes_past_end") || lies("declines_late") || (lies("writes_past_end_late") && !first) ||
      (lies("writes_past_end_early") && first))
    *(storage_of(at(ATTEST_OUT)).data() + storage_of(at(ATTEST_OUT)).size()) ^= std::byte{1};
  if (lies("touches_input") || (lies("touches_input_late") && !first)) storage_of(at(ATTEST_Q))[0] ^= std::byte{1};
  if (lies("touches_cache")) storage_of(at(ATTEST_V_CACHE))[0] ^= std::byte{1};
  if (lies("stale_rows")) {
    const auto out = storage_of(at(ATTEST_OUT));
    if (launches == 0)
      first_out.assign(out.begin(), out.end());
    else
      std::copy(first_out.begin(), first_out.end(), out.begin());
  }
}

attest_result Kernel::Plan::result() {
  const bool another = lies("wrong_kernel") || (lies("wrong_kernel_late") && launches > 1);
  attest_result result{.ran = another ? "another" : "liar", .produced = {}};
  const attest_slot slot = problem.op == ATTEST_OP_ROPE ? ATTEST_K_OUT : ATTEST_OUT;
  if (!has(slot)) return result;
  produced = at(slot);
  if (lies("wrong_dtype")) produced.dtype = ATTEST_F64;
  if (lies("rope_k_in_q_dtype")) produced.dtype = at(ATTEST_Q).dtype;
  if (lies("says_nonsense")) produced.ndim = 100'000;
  if (lies("wrong_shape")) produced.shape[2] += 1;
  result.produced[slot] = &produced;
  return result;
}

int64_t cache_index(void*, const attest_problem* problem, int32_t cache, int64_t page, int64_t slot, int64_t head,
                    int64_t dim) {
  const std::string_view fault = problem->fault;
  if (fault == "crashes_asked") std::raise(SIGSEGV);
  if (fault == "misplaces" && head > 0) return -page;
  if (fault == "collides") dim = 0;
  return rotated_index(*problem, cache == ATTEST_K_CACHE ? problem->dim : problem->dim_v, page, slot, head, dim);
}

size_t workspace_bytes(void*, const attest_problem* problem) {
  return std::string_view(problem->fault) == "wants_all_memory" ? SIZE_MAX : 0;
}

constexpr attest_backend kBackend = [] {
  attest_backend table = plugin::kTable<Kernel>;
  table.cache_index = cache_index;
  table.workspace_bytes = workspace_bytes;
  return table;
}();

}  // namespace
}  // namespace attest::liar

extern "C" const attest_backend* attest_backend_entry(void) { return &attest::liar::kBackend; }
