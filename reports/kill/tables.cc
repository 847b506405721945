#include "reports/kill/tables.h"

#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attest::report {
namespace {

const FaultInMode* find(const KillSummary& s, std::size_t fault, std::size_t mode) {
  for (const FaultInMode& row : s.rows)
    if (row.fault == fault && row.mode == mode) return &row;
  return nullptr;
}

std::string margin_cell(const FaultInMode* row) {
  if (!row) return "";
  if (row->changed == 0) return "not seeded";
  return (row->killed() ? "" : "survives ") + ratio_text(row->margin);
}

// D P L S B R: the rules that kill.
std::string rules_cell(const Margins& margins) {
  constexpr std::string_view letters = "RBSDPL";
  std::string cell;
  for (std::size_t i = 0; i < kKillRules; ++i)
    if (margins[i] > 1) cell += letters[i];
  return cell;
}

std::string percent(std::size_t part, std::size_t whole) {
  return whole ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole)) : "";
}

}  // namespace

TextTable score_table(const KillTable& table, const KillSummary& s) {
  TextTable t{{"mode", "#in scope", "#killed", "#score", "#missed at most (95 %)", "#margin of 2 or more",
               "#false alarms", "#largest healthy ratio"},
              {}};
  for (const ModeScore& score : s.scores) {
    std::size_t alarms = 0;
    double ratio = 0;
    for (const HealthyCase& hc : table.cases)
      if (hc.mode == score.mode) {
        alarms += killed(hc.margins);
        ratio = std::max(ratio, decisive(hc.margins));
      }
    const auto missed = score.missed_at_most();
    t.rows.push_back({table.modes[score.mode].name, std::to_string(score.in_scope), std::to_string(score.killed),
                      percent(score.killed, score.in_scope), missed ? fmt::format("{:.1f} %", 100 * *missed) : "",
                      std::to_string(score.robust), std::to_string(alarms), ratio_text(ratio)});
  }
  return t;
}

TextTable fault_table(const KillTable& table, const KillSummary& s) {
  TextTable t{{"fault", "tier"}, {}};
  for (const Mode& mode : table.modes) t.head.push_back("#" + mode.name);
  for (std::size_t fault = 0; fault < table.faults.size(); ++fault) {
    std::vector<std::string> row{table.faults[fault].name, table.faults[fault].tier};
    for (std::size_t mode = 0; mode < table.modes.size(); ++mode) row.push_back(margin_cell(find(s, fault, mode)));
    t.rows.push_back(std::move(row));
  }
  return t;
}

TextTable probe_table(const KillTable& table, const KillSummary& s) {
  TextTable t{{"fault"}, {}};
  for (const auto& probe : s.probes) t.head.push_back(probe);
  for (std::size_t fault = 0; fault < table.faults.size(); ++fault) {
    std::map<std::string, Margins> by_probe;
    for (const FaultInMode& row : s.rows) {
      if (row.fault != fault) continue;
      for (const auto& [probe, margins] : row.probes)
        for (std::size_t i = 0; i < kKillRules; ++i) by_probe[probe][i] = std::max(by_probe[probe][i], margins[i]);
    }
    std::vector<std::string> cells{table.faults[fault].name};
    for (const auto& probe : s.probes) cells.push_back(by_probe.count(probe) ? rules_cell(by_probe[probe]) : "");
    t.rows.push_back(std::move(cells));
  }
  return t;
}

TextTable survivor_table(const KillTable& table, const KillSummary& s) {
  TextTable t{{"fault", "mode", "#largest ratio", "why it can't be seen"}, {}};
  for (const FaultInMode& row : s.survivors) {
    const auto& unseen = table.faults[row.fault].unseen;
    const auto why = unseen.find(table.modes[row.mode].name);
    t.rows.push_back({table.faults[row.fault].name, table.modes[row.mode].name, ratio_text(row.margin),
                      why == unseen.end() ? "not explained" : why->second});
  }
  return t;
}

TextTable sensitivity_table(const KillTable& table) {
  TextTable t{{"mode", "probe", "#smallest gain error seen", "#fewest keys with a wrong V seen"}, {}};
  for (std::size_t mode = 0; mode < table.modes.size(); ++mode) {
    std::map<std::string, std::pair<double, std::pair<int, int>>> best;  // probe -> (gain, (keys, of))
    for (const HealthyCase& hc : table.cases) {
      if (hc.mode != mode || !hc.gain) continue;
      auto& [gain, keys] = best.try_emplace(hc.probe, INFINITY, std::pair{0, 0}).first->second;
      gain = std::min(gain, *hc.gain);
      const bool longer = hc.longest > keys.second;  // the longest sequence tells most
      if (hc.keys && (longer || (hc.longest == keys.second && *hc.keys < keys.first))) keys = {*hc.keys, hc.longest};
    }
    for (const auto& [probe, found] : best)
      t.rows.push_back({table.modes[mode].name, probe, fmt::format("{:.2g}", found.first),
                        found.second.second ? fmt::format("{} of {}", found.second.first, found.second.second) : ""});
  }
  return t;
}

TextTable rule_table(const KillTable& table) {
  TextTable t{{"rule"}, {}};
  if (table.other_rules.empty()) return t;
  for (const Mode& mode : table.modes)
    for (const char* what : {"all probes", "random only", "false alarms"})
      t.head.push_back("#" + mode.name + " " + what);
  const auto add = [&](const std::string& name, std::optional<std::size_t> rule) {
    std::vector<std::string> cells{name};
    for (const RuleScore& score : score_rule(table, rule)) {
      cells.push_back(fmt::format("{}/{}", score.killed, score.faults));
      cells.push_back(fmt::format("{}/{}", score.plain_killed, score.plain_faults));
      cells.push_back(fmt::format("{}/{}", score.alarms, score.cases));
    }
    t.rows.push_back(std::move(cells));
  };
  add("attest", std::nullopt);
  for (std::size_t i = 0; i < table.other_rules.size(); ++i) add(table.other_rules[i].name, i);
  return t;
}

TextTable formula_table(const KillTable& table) {
  TextTable t{{"rule", "accepts", "source"}, {}};
  for (const ComparedRule& rule : table.other_rules) t.rows.push_back({rule.name, rule.formula, rule.source});
  return t;
}

std::string totals(const KillTable& table, const KillSummary& s) {
  std::vector<bool> killed(table.faults.size()), survived(table.faults.size());
  for (const FaultInMode& row : s.rows)
    if (row.changed > 0) (row.killed() ? killed : survived)[row.fault] = true;
  const auto count = [](const std::vector<bool>& set) { return std::count(set.begin(), set.end(), true); };
  return fmt::format("{} faults, {} killed, {} survived, {} false alarms", table.faults.size(), count(killed),
                     count(survived), s.false_alarms.size());
}

std::vector<std::string> probes_without_a_kill_of_their_own(const KillSummary& s) {
  std::vector<std::string> all;
  for (const auto& probe : s.probes)
    if (!s.only_by.count(probe)) all.push_back(probe);
  return all;
}

}  // namespace attest::report
