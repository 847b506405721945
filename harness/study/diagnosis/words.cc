#include "harness/study/diagnosis/diagnose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace attest {
namespace {

constexpr std::size_t kShown = 3;       // suspects
constexpr double kLooksLikeNone = 1.4;  // score from which on nothing looks like it

}  // namespace

// What needs no model to be said.
std::string sentence_of(const Verdict& v) {
  switch (v.outcome) {
    case Outcome::Crash: return "the kernel's process died; what it was about to leave is not known";
    case Outcome::Timeout: return "the kernel does not come back: a loop or a wait that does not end";
    case Outcome::Memory: return "the kernel takes memory without end";
    case Outcome::Vacuous: return "the case tells nothing of the kernel: its rule would accept a trivial output";
    default: break;
  }
  if (!v.kind) return "";
  switch (*v.kind) {
    case FailKind::Guard: return "writes outside of its tensors: an index or a size is wrong, whatever the numbers are";
    case FailKind::InputMutated: return "writes to what it may only read";
    case FailKind::Shape:
    case FailKind::Dtype: return "gives back another shape or dtype than promised: no numbers were compared";
    case FailKind::WrongKernel: return "another kernel ran: its numbers say nothing about the one that was asked for";
    case FailKind::Relation:
      return "its numbers are right, but depend on what they must not depend on: see the relation";
    case FailKind::Nondeterministic: return "the same call gives other bits: a race, or state left by an earlier call";
    case FailKind::Accepted:
    case FailKind::Message:
    case FailKind::Rejected:
    case FailKind::Error: return "what it takes and refuses is not what its contract says: there are no numbers";
    default: return "";
  }
}

std::vector<std::string> lines(const Diagnosis& d) {
  std::vector<std::string> all;
  if (!d.sentence.empty()) all.push_back(d.sentence);
  for (std::size_t i = 0; i < std::min(d.suspects.size(), kShown); ++i) {
    const Suspect& s = d.suspects[i];
    const std::string numbers = fmt::format("(ratio {:.3g}; healthy {:.3g})", s.ratio, s.healthy);
    if (i > 0 && (d.certain() || s.match.shape > 1)) break;
    if (i == 0 && !s.matches() && s.match.score() > kLooksLikeNone) {
      all.push_back("no fault of the catalogue looks like it");
      break;
    }
    const std::string_view how = s.matches() ? "matches" : "resembles";
    all.push_back(fmt::format("{}: {}: {} {}", i == 0 ? how : fmt::format("or {}", how), fmt::join(s.names, " = "),
                              s.says, numbers));
  }
  all.insert(all.end(), d.places.begin(), d.places.end());
  return all;
}

}  // namespace attest
