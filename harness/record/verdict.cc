#include "harness/record/verdict.h"

#include <array>

namespace attest {
namespace {

constexpr std::array<std::string_view, 11> kOutcomes{"PASS",  "FAIL",    "XFAIL",  "XPASS",   "UNSUPPORTED", "VACUOUS",
                                                     "CRASH", "TIMEOUT", "MEMORY", "NOT_RUN", "INFRA"};
constexpr std::array<std::string_view, 17> kKinds{
    "numeric",       "special",     "lse",      "shape",    "dtype",   "guard",
    "input_mutated", "cache_write", "relation", "replay",   "capture", "nondeterministic",
    "wrong_kernel",  "accepted",    "message",  "rejected", "error"};

template <typename Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }
std::string_view name(FailKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::optional<Outcome> outcome_from_name(std::string_view text) { return find<Outcome>(kOutcomes, text); }
std::optional<FailKind> fail_kind_from_name(std::string_view text) { return find<FailKind>(kKinds, text); }

bool is_failure(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass:
    case Outcome::Xfail:
    case Outcome::Unsupported:
    case Outcome::NotRun: return false;
    default: return true;
  }
}

bool is_executed(Outcome outcome) {
  return outcome != Outcome::Unsupported && outcome != Outcome::NotRun && outcome != Outcome::Infra;
}

std::string summary(const Verdict& verdict) {
  std::string text(name(verdict.outcome));
  if (verdict.kind) text += "(" + std::string(name(*verdict.kind)) + ")";
  return text;
}

}  // namespace attest
