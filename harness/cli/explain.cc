#include "harness/cli/explain.h"

#include "harness/matrix/fault_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace attest {
namespace {

constexpr std::size_t kMostCases = 8;  // of a run

struct Failing {
  const ListedCase* listed;
  const Verdict* verdict;
};

// One of each backend and kind, then others, in order of the cases.
std::vector<Failing> chosen(const Selection& selection, const JournalContent& content) {
  std::map<std::string, const Verdict*> by_token;
  for (const Verdict& v : content.verdicts)
    if (is_failure(v.outcome) && v.outcome != Outcome::Infra && v.outcome != Outcome::Xpass) by_token[v.token] = &v;
  std::vector<Failing> first, others;
  std::set<std::string> seen;
  std::size_t done = 0;
  for (const ListedCase& listed : selection.cases) {
    const auto found = by_token.find(listed.token);
    if (found == by_token.end()) continue;
    done += !found->second->diagnosis.empty();
    const bool fresh = seen.insert(listed.c.backend + " " + summary(*found->second)).second;
    if (found->second->diagnosis.empty()) (fresh ? first : others).push_back({&listed, found->second});
  }
  first.insert(first.end(), others.begin(), others.end());
  first.resize(std::min(first.size(), kMostCases - std::min(done, kMostCases)));
  return first;
}

}  // namespace

Explainer::Explainer(const ContractBook& contracts, const Paths& paths, const HostOptions& host)
    : catalogue_(read_catalogue(paths.home + "/cases/faults")), models_(contracts.find("tile_a"), host) {}

Diagnosis Explainer::explain(const Case& c, const Verdict& failed, Host& kernel, std::chrono::milliseconds budget) {
  return diagnose(c, failed, kernel, models_, catalogue_, {.budget = budget});
}

namespace {

std::vector<std::string> explained_by(std::unique_ptr<Explainer>& explainer, const Case& c, const Verdict& failed,
                                      const Selection& selection, const Paths& paths, const HostOptions& host) {
  if (failed.outcome == Outcome::Infra || failed.outcome == Outcome::Xpass) return {};
  try {
    if (!explainer) explainer = std::make_unique<Explainer>(selection.contracts, paths, host);
    Host kernel(selection.contracts.find(c.backend), host);
    return lines(explainer->explain(c, failed, kernel));
  } catch (const std::exception& error) { return {fmt::format("not diagnosed: {}", error.what())}; }
}

}  // namespace

std::vector<std::string> explained(const Case& c, const Verdict& failed, const Selection& selection, const Paths& paths,
                                   const HostOptions& host) {
  std::unique_ptr<Explainer> explainer;
  return explained_by(explainer, c, failed, selection, paths, host);
}

void explain_failures(const Selection& selection, const Paths& paths, const HostOptions& host,
                      const JournalContent& content, Journal& journal) {
  std::unique_ptr<Explainer> explainer;
  for (const Failing& failing : chosen(selection, content)) {
    Verdict verdict = *failing.verdict;
    verdict.diagnosis = explained_by(explainer, failing.listed->c, verdict, selection, paths, host);
    if (verdict.diagnosis.empty()) continue;
    journal.append(verdict);
    fmt::print("{}  {}\n", summary(verdict), verdict.token);
    for (const auto& line : verdict.diagnosis) fmt::print("    {}\n", line);
  }
}

}  // namespace attest
