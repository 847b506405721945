#include "harness/cli/detail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

void print_claims(const std::vector<ClaimRule>& rules, const Case& c) {
  for (const Claim& claim : claims_in_force(rules, c))
    fmt::print("  {:16} {:14} {}{}\n", claim.field, claim.value, claim.assumed ? "ASSUMED: " : "", claim.source);
}

// The largest ratio of each (sequence, head), for outputs of at most this many.
constexpr std::size_t kMostCells = 256;

void print_cells(const Problem& p, const ExpectedTensor& right, const TensorView& actual) {
  if (p.seqs.size() * static_cast<std::size_t>(right.heads) > kMostCells) return;
  fmt::print("\nlargest ratio of each sequence (rows) and head (columns); nan: a NaN or Inf out of place\n");
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    fmt::print("  {:3} {:>10}", seq, fmt::format("{}x{}", s.len_q, s.len_kv));
    for (int head = 0; head < right.heads; ++head) {
      double most = 0;
      for (int row = p.first_row(seq); row < p.first_row(seq) + s.len_q; ++row)
        for (int dim = 0; dim < right.dim; ++dim) {
          const std::size_t at = right.index(row, head, dim);
          const double got = actual.value({row, head, dim}), expected = right.value[at];
          if (right.bound[at] == INFINITY || got == expected || (std::isnan(got) && std::isnan(expected))) continue;
          const double ratio = std::abs(got - expected) / right.bound[at];
          most = ratio <= most ? most : ratio;
        }
      fmt::print(" {:7.3g}", most);
    }
    fmt::print("\n");
  }
}

}  // namespace

void print_detail(const Case& c, const Contract& contract, const Verdict& v, const CaseTrace& trace) {
  fmt::print("\n{}\n{}  {}\n", v.token, summary(v), v.message);
  fmt::print("\ncall, as the contract of {} says\n", contract.backend);
  print_claims(contract.rules, c);
  fmt::print("arithmetic\n");
  print_claims(contract.arithmetic, c);
  if (!trace.call) return;
  fmt::print("\ntensors\n");
  for (std::size_t i = 0; i < kSlots; ++i)
    if (const auto& ref = trace.call->slots[i])
      fmt::print("  {:12} {:12} [{}] strides [{}]\n", kSlotNames[i], name(ref->dtype), fmt::join(ref->shape, ", "),
                 fmt::join(ref->strides, ", "));
  fmt::print("\nkernel {}, {:.3g} ms; {} elements compared, {} outside; largest ratio {:.3g}{}\n",
             v.ran.empty() ? "(none)" : v.ran, v.ms.kernel, v.elements, v.failing, v.ratio,
             v.lse_ratio > 0 ? fmt::format(", of the LSE {:.3g}", v.lse_ratio) : "");
  if (v.worst)
    fmt::print("worst: sequence {}, head {}, row {}, dim {}: got {:.9g}, expected {:.9g} within {:.3g}\n",
               v.worst->place.seq, v.worst->place.head, v.worst->place.row, v.worst->place.dim, v.worst->actual,
               v.worst->expected, v.worst->bound);
  for (const auto& line : v.diagnosis) fmt::print("{}\n", line);
  const Slot slot = trace.problem->op == Op::Rope ? Slot::QOut : Slot::Out;
  if (trace.right.values.out.value.empty() || trace.left.empty()) return;
  TensorView actual = trace.call->view(slot);
  const SlotRef& ref = trace.call->ref(slot);
  actual.data = trace.left[ref.storage].view().data + static_cast<std::size_t>(ref.offset) * byte_size(ref.dtype);
  print_cells(*trace.problem, trace.right.values.out, actual);
}

}  // namespace attest
