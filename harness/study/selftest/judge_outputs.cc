#include "harness/study/selftest/judge_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest {
namespace {

constexpr double kBroken = std::numeric_limits<double>::infinity();

double& at(Margins& margins, KillRule rule) { return margins[static_cast<std::size_t>(rule)]; }

void raise(double& margin, const Comparison& c) {
  const bool outside = c.failing > 0 && !(c.ratio <= 1);
  if (outside || c.worst) margin = std::max(margin, std::isnan(c.ratio) ? kBroken : c.ratio);
}

void judge_output(const Subject& s, const Element& actual, const ExpectedTensor& right, Margins& margins) {
  const Comparison det = compare(right, actual, s.prepared.problem, BoundTier::Det);
  if (det.special) at(margins, KillRule::Special) = kBroken;
  raise(at(margins, KillRule::Det), det);
  raise(at(margins, KillRule::Prb),
        right.likely.empty() ? det : compare(right, actual, s.prepared.problem, BoundTier::Prb));
}

}  // namespace

Margins judge(const Subject& s, const Outputs& left) {
  Margins margins{};
  if (left.reply.status == Reply::Status::Unsupported) return margins;
  if (!left.reply.ok()) return at(margins, KillRule::Ran) = kBroken, margins;
  if (left.conduct) {
    const FailKind kind = left.conduct->kind;
    const bool bytes = kind == FailKind::Guard || kind == FailKind::InputMutated || kind == FailKind::CacheWrite;
    at(margins, bytes ? KillRule::Bytes : KillRule::Ran) = kBroken;
  }
  const Call& call = s.prepared.call;
  const Expected& right = s.right.values;
  if (call.has(Slot::Out)) judge_output(s, elements_of(view(left, call, Slot::Out)), right.out, margins);
  if (call.has(Slot::QOut)) judge_output(s, elements_of(view(left, call, Slot::QOut)), right.out, margins);
  if (call.has(Slot::KOut)) judge_output(s, elements_of(view(left, call, Slot::KOut)), right.k_out, margins);
  if (call.has(Slot::Lse)) {
    const Comparison lse = compare(right.lse, elements_of_lse(view(left, call, Slot::Lse)), s.prepared.problem);
    raise(at(margins, KillRule::Lse), lse);
    if (lse.special) at(margins, KillRule::Lse) = kBroken;
  }
  return margins;
}

}  // namespace attest
