#include "harness/record/kill_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

constexpr std::size_t kLeastFaults = 60, kLeastInScope = 45;

void add(FaultInMode& row, const HealthyCase& hc, const Trial& trial) {
  ++row.tried;
  row.changed += trial.changed;
  if (!trial.changed || killed(hc.margins)) return;  // a kill where the healthy kernel fails as well is void
  for (std::size_t i = 0; i < kKillRules; ++i) row.margins[i] = std::max(row.margins[i], trial.margins[i]);
  const double margin = decisive(trial.margins);
  row.margin = std::max(row.margin, margin);
  if (!killed(trial.margins)) return;
  ++row.kills;
  Margins& probe = row.probes[hc.probe];
  for (std::size_t i = 0; i < kKillRules; ++i) probe[i] = std::max(probe[i], trial.margins[i]);
}

std::string in_mode(const KillTable& table, const FaultInMode& row) {
  return fmt::format("{} in {}", table.faults[row.fault].name, table.modes[row.mode].name);
}

void find_problems(const KillTable& table, KillSummary& s) {
  const auto add_problem = [&](std::string text) { s.problems.push_back(std::move(text)); };
  for (const std::size_t i : s.false_alarms)
    add_problem(fmt::format("false alarm: the healthy kernel fails {}", table.cases[i].token));
  for (const FaultInMode& row : s.unseeded)
    add_problem(fmt::format("not seeded: {} changed no bit", in_mode(table, row)));
  for (const FaultInMode& row : s.survivors)
    if (!table.faults[row.fault].unseen.count(table.modes[row.mode].name))
      add_problem(
          fmt::format("survived without an explanation: {} (largest ratio {:.3g})", in_mode(table, row), row.margin));
  for (const ModeScore& score : s.scores) {
    const Mode& mode = table.modes[score.mode];
    if (score.score() < mode.required)
      add_problem(fmt::format("{}: {} of {} faults in scope are killed, {:.0f} % are required", mode.name, score.killed,
                              score.in_scope, 100 * mode.required));
    if (table.whole && score.in_scope < kLeastInScope)
      add_problem(
          fmt::format("{}: only {} faults are in scope, {} are required", mode.name, score.in_scope, kLeastInScope));
  }
  std::set<std::size_t> tried;
  for (const FaultInMode& row : s.rows) tried.insert(row.fault);
  for (std::size_t i = 0; table.whole && i < table.faults.size(); ++i)
    if (!tried.count(i)) add_problem(fmt::format("in no case's scope: {}", table.faults[i].name));
  if (table.whole && table.faults.size() < kLeastFaults)
    add_problem(fmt::format("the catalogue has {} faults, {} are required", table.faults.size(), kLeastFaults));
  if (table.trials.empty()) add_problem("nothing was tried");
}

}  // namespace

std::string_view name(KillRule rule) {
  constexpr std::array<std::string_view, kKillRules> names{"ran", "bytes", "special", "det", "prb", "lse"};
  return names[static_cast<std::size_t>(rule)];
}

double decisive(const Margins& margins) {
  double most = 0;
  for (std::size_t i = 0; i < kKillRules; ++i)
    if (static_cast<KillRule>(i) != KillRule::Det)
      most = std::isnan(margins[i]) ? INFINITY : std::max(most, margins[i]);
  return most;
}

std::optional<double> ModeScore::missed_at_most() const {
  if (in_scope == 0 || killed < in_scope) return std::nullopt;
  return std::min(1.0, 3.0 / static_cast<double>(in_scope));
}

KillSummary summarize(const KillTable& table) {
  KillSummary s;
  for (const HealthyCase& hc : table.cases) s.probes.insert(hc.probe);
  for (std::size_t i = 0; i < table.cases.size(); ++i)
    if (killed(table.cases[i].margins)) s.false_alarms.push_back(i);
  std::map<std::pair<std::size_t, std::size_t>, FaultInMode> rows;
  for (const Trial& trial : table.trials) {
    const HealthyCase& hc = table.cases[trial.hc];
    FaultInMode& row = rows[{hc.mode, trial.fault}];
    row.fault = trial.fault;
    row.mode = hc.mode;
    add(row, hc, trial);
  }
  for (std::size_t mode = 0; mode < table.modes.size(); ++mode) s.scores.push_back({.mode = mode});
  for (const auto& [key, row] : rows) {
    s.rows.push_back(row);
    ModeScore& score = s.scores[row.mode];
    if (row.changed == 0) {
      s.unseeded.push_back(row);
      continue;
    }
    ++score.in_scope;
    score.killed += row.killed();
    score.robust += row.margin >= 2;
    if (!row.killed()) s.survivors.push_back(row);
    if (row.probes.size() == 1) s.only_by[row.probes.begin()->first].insert(in_mode(table, row));
  }
  find_problems(table, s);
  return s;
}

std::vector<RuleScore> score_rule(const KillTable& table, std::optional<std::size_t> rule) {
  std::vector<RuleScore> scores(table.modes.size());
  std::set<std::pair<std::size_t, std::size_t>> all, seen, plain, plain_seen;  // (mode, fault)
  for (const HealthyCase& hc : table.cases) {
    if (hc.others.empty()) continue;
    ++scores[hc.mode].cases;
    scores[hc.mode].alarms += rule ? hc.others[*rule] : killed(hc.margins);
  }
  for (const Trial& trial : table.trials) {
    const HealthyCase& hc = table.cases[trial.hc];
    if (hc.others.empty() || !trial.changed) continue;
    const bool alarm = rule ? hc.others[*rule] : killed(hc.margins);  // a kill would be void
    const bool kill = !alarm && (rule ? trial.others[*rule] : killed(trial.margins));
    const std::pair key{hc.mode, trial.fault};
    all.insert(key);
    if (kill) seen.insert(key);
    if (hc.probe != "gauss") continue;
    plain.insert(key);
    if (kill) plain_seen.insert(key);
  }
  for (const auto& key : all) ++scores[key.first].faults;
  for (const auto& key : seen) ++scores[key.first].killed;
  for (const auto& key : plain) ++scores[key.first].plain_faults;
  for (const auto& key : plain_seen) ++scores[key.first].plain_killed;
  return scores;
}

}  // namespace attest
