#include "harness/study/shrink.h"

#include "harness/core/case_keys.h"
#include "harness/study/shrink_moves.h"

#include <fmt/format.h>

#include <set>

namespace attest {
namespace {

using Clock = std::chrono::steady_clock;

// "lengths: seq 8*1x4096 -> 8*1x3"
std::string difference(std::string_view move, const Case& before, const Case& after) {
  std::string text;
  for (const CaseKey& key : case_keys()) {
    const std::string old_value = key.print(before), new_value = key.print(after);
    if (old_value == new_value) continue;
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", key.name, old_value, new_value);
  }
  return fmt::format("{}: {}", move, text);
}

class Shrinker {
 public:
  Shrinker(const Case& failing, const StillFails& still_fails, const ShrinkOptions& options)
      : now_(failing), still_fails_(still_fails), options_(options), seen_{token(failing)} {}

  Shrunk run() {
    bool smaller = true;
    while (smaller && !result_.out_of_time) {
      smaller = false;
      for (const ShrinkMove& move : shrink_moves())
        while (apply(move)) smaller = true;
    }
    return std::move(result_);
  }

 private:
  // Takes the first proposal that still fails.
  bool apply(const ShrinkMove& move) {
    for (const Case& proposal : move.propose(now_)) {
      if (contradiction(proposal) || !seen_.insert(token(proposal)).second) continue;
      if (Clock::now() - begin_ > options_.budget) {
        result_.out_of_time = true;
        return false;
      }
      ++result_.tried;
      if (!still_fails_(proposal)) continue;
      result_.steps.push_back({difference(move.what, now_, proposal), proposal});
      if (options_.on_step) options_.on_step(result_.steps.back());
      now_ = proposal;
      return true;
    }
    return false;
  }

  Case now_;
  const StillFails& still_fails_;
  const ShrinkOptions& options_;
  std::set<std::string> seen_;  // tokens that were tried: whether they fail does not change
  Shrunk result_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

Shrunk shrink(const Case& failing, const StillFails& still_fails, const ShrinkOptions& options) {
  return Shrinker(failing, still_fails, options).run();
}

bool same_failure(const Verdict& a, const Verdict& b) { return a.outcome == b.outcome && a.kind == b.kind; }

}  // namespace attest
