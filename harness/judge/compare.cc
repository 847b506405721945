#include "harness/judge/compare.h"

#include <fmt/format.h>

#include <cmath>

namespace attest {
namespace {

enum class Finding { Within, Outside, OutOfPlace };

Finding judge_element(double expected, double actual, double bound) {
  if (std::isnan(expected)) return std::isnan(actual) ? Finding::Within : Finding::OutOfPlace;
  if (std::isinf(expected)) return actual == expected ? Finding::Within : Finding::OutOfPlace;
  if (!std::isfinite(actual)) return Finding::OutOfPlace;
  return std::abs(actual - expected) <= bound ? Finding::Within : Finding::Outside;
}

double ratio_of(double expected, double actual, double bound) {
  if (!std::isfinite(expected) || expected == actual) return 0;
  return std::abs(actual - expected) / bound;
}

}  // namespace

Comparison compare(const ExpectedTensor& expected, const Element& actual, const Problem& p, BoundTier tier) {
  Comparison result;
  const auto& bounds = tier == BoundTier::Prb && !expected.likely.empty() ? expected.likely : expected.bound;
  for (int seq = 0, first = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const int rows = p.seqs[static_cast<std::size_t>(seq)].len_q;
    for (int head = 0; head < expected.heads; ++head) {
      const std::int64_t failing_before = result.failing;
      for (int row = 0; row < rows; ++row)
        for (int dim = 0; dim < expected.dim; ++dim) {
          const std::size_t at = expected.index(first + row, head, dim);
          const double right = expected.value[at], bound = bounds[at];
          if (bound == INFINITY) continue;  // nothing is promised here
          ++result.elements;
          const double got = actual(first + row, head, dim);
          const Miss miss{{seq, head, row, dim}, right, got, bound};
          const Finding finding = judge_element(right, got, bound);
          result.failing += finding != Finding::Within;
          if (finding == Finding::OutOfPlace) {
            if (!result.special) result.special = miss;
            continue;
          }
          const double ratio = ratio_of(right, got, bound);
          if (!result.worst || !(ratio <= result.ratio)) {
            result.ratio = ratio;
            result.worst = miss;
          }
        }
      if (result.failing > failing_before) result.cells.push_back(fmt::format("{}.{}", seq, head));
    }
    first += rows;
  }
  return result;
}

Element elements_of(const TensorView& view) {
  return [view](int row, int head, int dim) { return view.value({row, head, dim}); };
}

Element elements_of_lse(const TensorView& view) {
  return [view](int row, int head, int) { return view.value({head, row}); };
}

Element elements_of(const ExpectedTensor& tensor) {
  return [&tensor](int row, int head, int dim) { return tensor.value[tensor.index(row, head, dim)]; };
}

std::string text(const Miss& miss) {
  const Place& at = miss.place;
  const std::string got = std::isnan(miss.actual) ? "nan" : fmt::format("{:.6g}", miss.actual);  // whatever its sign
  return fmt::format("sequence {}, head {}, row {}{}: got {}, expected {:.6g} within {:.3g}", at.seq, at.head, at.row,
                     at.dim < 0 ? "" : fmt::format(", dim {}", at.dim), got, miss.expected, miss.bound);
}

}  // namespace attest
