#include "reports/kill/tables.h"
#include "reports/kill_reports.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace attest::report {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return "inf";
  return Json::parse(fmt::format("{:.6g}", value));
}

Json json_of(const Margins& margins) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kKillRules; ++i)
    if (margins[i] > 0) json[std::string(name(static_cast<KillRule>(i)))] = number(margins[i]);
  return json;
}

Json json_of(const KillTable& table, const FaultInMode& row) {
  const SeededFault& fault = table.faults[row.fault];
  Json json{{"fault", fault.name},
            {"tier", fault.tier},
            {"says", fault.says},
            {"mode", table.modes[row.mode].name},
            {"cases", row.tried},
            {"changed", row.changed},
            {"kills", row.kills},
            {"margin", number(row.margin)},
            {"rules", json_of(row.margins)},
            {"probes", Json::object()}};
  for (const auto& [probe, margins] : row.probes) json["probes"][probe] = json_of(margins);
  if (const auto why = fault.unseen.find(table.modes[row.mode].name); why != fault.unseen.end())
    json["unseen"] = why->second;
  return json;
}

Json scores(const KillTable& table, const KillSummary& s) {
  Json all = Json::array();
  for (const ModeScore& score : s.scores) {
    Json json{{"mode", table.modes[score.mode].name},
              {"in_scope", score.in_scope},
              {"killed", score.killed},
              {"robust", score.robust},
              {"score", number(score.score())},
              {"required", number(table.modes[score.mode].required)}};
    if (const auto missed = score.missed_at_most()) json["missed_at_most"] = number(*missed);
    all.push_back(std::move(json));
  }
  return all;
}

Json rules(const KillTable& table) {
  Json all = Json::array();
  const auto add = [&](const std::string& name, std::optional<std::size_t> rule) {
    const auto by_mode = score_rule(table, rule);
    for (std::size_t mode = 0; mode < by_mode.size(); ++mode) {
      const RuleScore& r = by_mode[mode];
      all.push_back({{"rule", name},
                     {"mode", table.modes[mode].name},
                     {"faults", r.faults},
                     {"killed", r.killed},
                     {"plain_faults", r.plain_faults},
                     {"plain_killed", r.plain_killed},
                     {"cases", r.cases},
                     {"false_alarms", r.alarms}});
    }
  };
  if (table.other_rules.empty()) return all;
  add("attest", std::nullopt);
  for (std::size_t i = 0; i < table.other_rules.size(); ++i) add(table.other_rules[i].name, i);
  return all;
}

Json cases(const KillTable& table) {
  Json all = Json::array();
  for (const HealthyCase& hc : table.cases) {
    Json json{
        {"token", hc.token}, {"mode", table.modes[hc.mode].name}, {"probe", hc.probe}, {"rules", json_of(hc.margins)}};
    if (hc.gain) json["smallest_gain"] = number(*hc.gain);
    if (hc.keys) json["fewest_keys"] = *hc.keys, json["of_keys"] = hc.longest;
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace
}  // namespace attest::report

std::string attest::kill_table_json(const KillTable& table) {
  using namespace report;
  const KillSummary s = summarize(table);
  Json faults = Json::array(), alone = Json::object(), alarms = Json::array();
  for (const FaultInMode& row : s.rows) faults.push_back(json_of(table, row));
  for (const auto& [probe, kills] : s.only_by) alone[probe] = kills;
  for (const std::size_t i : s.false_alarms) alarms.push_back(table.cases[i].token);
  const Json json{{"attest", table.version},
                  {"command", table.command},
                  {"totals", totals(table, s)},
                  {"holds", s.problems.empty()},
                  {"problems", s.problems},
                  {"seconds", number(table.seconds)},
                  {"scores", scores(table, s)},
                  {"rules", rules(table)},
                  {"false_alarms", alarms},
                  {"killed_by_one_probe_alone", alone},
                  {"probes_without_a_kill_of_their_own", probes_without_a_kill_of_their_own(s)},
                  {"declined", table.declined},
                  {"faults", faults},
                  {"cases", cases(table)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
