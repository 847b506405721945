#include "reports/summary.h"

#include "harness/core/words.h"
#include "reports/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace attest::report {
namespace {

// Two headers of one shard are one run that was repeated: fingerprints agree within a journal, so the cases
// are the same.
std::size_t planned_cases(const std::vector<JournalHeader>& headers) {
  std::map<std::string, std::size_t> by_shard;
  for (const auto& header : headers) by_shard[header.shard] = std::max(by_shard[header.shard], header.cases);
  std::size_t cases = 0;
  for (const auto& [shard, count] : by_shard) cases += count;
  return cases;
}

// The shards i/n that no header speaks of. None where the headers do not agree on n.
std::vector<std::string> absent_shards(const std::vector<JournalHeader>& headers) {
  constexpr int most = 10000;
  std::set<int> here;
  std::optional<int> of;
  for (const auto& header : headers) {
    const auto parts = split(header.shard, '/');
    const auto i = parse_number<int>(parts.front()), n = parse_number<int>(parts.back());
    if (parts.size() != 2 || !i || !n || *n < 1 || *n > most || (of && *of != *n)) return {};
    of = n;
    here.insert(*i);
  }
  std::vector<std::string> absent;
  for (int i = 1; i <= of.value_or(0); ++i)
    if (!here.contains(i)) absent.push_back(fmt::format("{}/{}", i, *of));
  return absent;
}

// Every shard records the backends that it opened.
std::vector<BackendRecord> distinct(std::vector<BackendRecord> records) {
  const auto fields = [](const BackendRecord& r) { return std::tie(r.backend, r.version, r.about); };
  std::ranges::sort(records, [&](const auto& a, const auto& b) { return fields(a) < fields(b); });
  const auto repeated = std::ranges::unique(records);
  records.erase(repeated.begin(), repeated.end());
  return records;
}

}  // namespace

Summary summarize(const JournalContent& journal) {
  Summary summary{.journal = journal, .entries = sorted_entries(journal.verdicts)};
  summary.backends = distinct(journal.backends);
  for (const Verdict& verdict : journal.verdicts) ++summary.counts[verdict.outcome];
  summary.cases = std::max(planned_cases(journal.headers), journal.verdicts.size());
  summary.missing = summary.cases - journal.verdicts.size();
  summary.absent_shards = absent_shards(journal.headers);
  summary.matrix = make_matrix(summary.entries);
  summary.ratios = make_ratios(summary.entries);
  return summary;
}

std::size_t count(const Summary& summary, Outcome outcome) {
  const auto found = summary.counts.find(outcome);
  return found == summary.counts.end() ? 0 : found->second;
}

std::size_t failures(const Summary& summary) {
  std::size_t failed = 0;
  for (const auto& [outcome, n] : summary.counts)
    if (is_failure(outcome) && outcome != Outcome::Infra) failed += n;
  return failed;
}

Conclusion conclusion(const Summary& summary) {
  if (failures(summary)) return Conclusion::Fails;
  if (summary.missing || count(summary, Outcome::Infra) || !summary.absent_shards.empty())
    return Conclusion::Incomplete;
  const bool ran = std::ranges::any_of(summary.counts, [](const auto& entry) { return is_executed(entry.first); });
  return ran ? Conclusion::Conforms : Conclusion::NothingRan;
}

std::string_view name(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::Conforms: return "Conforms";
    case Conclusion::Fails: return "Does not conform";
    case Conclusion::Incomplete: return "Incomplete";
    case Conclusion::NothingRan: return "Nothing ran";
  }
  return "?";
}

std::string sentence(const Summary& summary) {
  const std::size_t passed = count(summary, Outcome::Pass), failed = failures(summary);
  std::string text = fmt::format("{}: {} conform{}, {} fail{}", count_text(summary.cases, "case"), count_text(passed),
                                 passed == 1 ? "s" : "", count_text(failed), failed == 1 ? "s" : "");
  const auto add = [&](Outcome outcome, std::string_view one, std::string_view many) {
    const std::size_t n = count(summary, outcome);
    if (n) text += fmt::format(", {} {}", count_text(n), n == 1 ? one : many);
  };
  add(Outcome::Xfail, "fails as waived", "fail as waived");
  add(Outcome::Unsupported, "unsupported", "unsupported");
  add(Outcome::NotRun, "not run", "not run");
  add(Outcome::Infra, "not judged (the harness failed)", "not judged (the harness failed)");
  text += fmt::format("; {} missing", count_text(summary.missing));
  const auto& absent = summary.absent_shards;
  constexpr std::size_t shown = 5;
  if (!absent.empty())
    text += fmt::format(
        "; no journal of shard{} {}{}", absent.size() == 1 ? "" : "s",
        fmt::join(absent.begin(), absent.begin() + static_cast<std::ptrdiff_t>(std::min(shown, absent.size())), ", "),
        absent.size() > shown ? ", ..." : "");
  return text;
}

std::string repeat_command(const Summary& summary, const Entry& entry) {
  const auto& headers = summary.journal.headers;
  return repeat_command(headers.empty() ? JournalHeader{} : headers.front(), entry.verdict->token);
}

}  // namespace attest::report
