#include "harness/cli/exit_code.h"

#include "harness/core/words.h"

#include <algorithm>
#include <map>

namespace attest {

int exit_code(const JournalContent& journal, std::size_t without_verdict, bool require) {
  bool failed = false, infra = false, executed = false, not_run = false;
  for (const Verdict& v : journal.verdicts) {
    failed |= is_failure(v.outcome) && v.outcome != Outcome::Infra;
    infra |= v.outcome == Outcome::Infra;
    executed |= is_executed(v.outcome);
    not_run |= v.outcome == Outcome::NotRun;
  }
  if (failed || (require && not_run)) return kFails;
  if (infra || without_verdict > 0) return kIncomplete;
  return executed ? kConforms : kNothingRunnable;
}

std::size_t without_verdict(const JournalContent& journal) {
  std::map<std::string, std::size_t> cases;  // by shard
  std::size_t shards = 1;
  for (const JournalHeader& header : journal.headers) {
    cases[header.shard] = header.cases;
    shards = parse_number<std::size_t>(header.shard.substr(header.shard.find('/') + 1)).value_or(1);
  }
  std::size_t all = 0;
  for (const auto& [shard, count] : cases) all += count;
  const std::size_t missing = all - std::min(all, journal.verdicts.size());
  return std::max(missing, shards - std::min(shards, cases.size()));  // a shard that is not there lacks one at least
}

}  // namespace attest
