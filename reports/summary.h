// What a journal adds up to. Every report is written from this one summary, so that they can't disagree.
#pragma once

#include "harness/core/case.h"
#include "harness/record/journal.h"
#include "reports/matrix.h"

#include <map>
#include <string>
#include <vector>

namespace attest::report {

struct Summary {
  const JournalContent& journal;        // outlives the summary
  std::vector<Entry> entries;           // sorted by token
  std::vector<BackendRecord> backends;  // each once, by name
  std::map<Outcome, std::size_t> counts;
  std::size_t cases = 0;                   // that the runs were to judge
  std::size_t missing = 0;                 // of them without a verdict
  std::vector<std::string> absent_shards;  // "3/4" where only 1/4, 2/4 and 4/4 are here
  Matrix matrix;
  std::vector<KvRatio> ratios;
};

Summary summarize(const JournalContent& journal);

std::size_t count(const Summary& summary, Outcome outcome);
std::size_t failures(const Summary& summary);  // outcomes that fail the run, but for the harness's own

enum class Conclusion { Conforms, Fails, Incomplete, NothingRan };
Conclusion conclusion(const Summary& summary);
std::string_view name(Conclusion conclusion);  // "Does not conform"
// "640 cases: 612 conform, 2 fail, 14 fail as waived, 12 unsupported; 0 missing"
std::string sentence(const Summary& summary);

// What repeats the case.
std::string repeat_command(const Summary& summary, const Entry& entry);

}  // namespace attest::report
