#include "harness/core/case_keys.h"
#include "reports/reports.h"
#include "reports/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace attest::report {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// As the journal writes them: JSON has no NaN and no Inf.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return Json::parse(fmt::format("{:.6g}", value));
}

Json row_json(const MatrixRow& row) { return {{"backend", row.backend}, {"kv", row.kv}, {"rope", row.rope}}; }

std::string cell_line(const MatrixRow& row, const MatrixColumn& column, const MatrixCell& cell) {
  Json json = row_json(row);
  json["d"] = column.dim;
  json["graph"] = graph_name(column.graph);
  json["passed"] = cell.passed;
  json["failed"] = cell.failed;
  json["xfail"] = cell.xfail;
  json["unsupported"] = cell.unsupported;
  json["not_run"] = cell.not_run;
  if (cell.ratio) json["ratio"] = number(*cell.ratio);
  return dump(json);
}

std::string ratio_line(const KvRatio& line) {
  Json json = row_json(line.row);
  json["passed"] = line.passed;
  if (line.passed) json["passed_ratio"] = number(line.passed_ratio);
  json["ratio"] = number(line.ratio);
  json["loose"] = line.loose;
  return dump(json);
}

// The journal's fields, then the case: phase, backend and every key, defaults too, all as strings.
std::string verdict_line(const Summary& summary, const Entry& entry) {
  Json json = Json::parse(to_json_line(*entry.verdict));
  json["phase"] = entry.phase;
  json["backend"] = entry.backend;
  if (entry.parsed) {
    for (const CaseKey& key : case_keys()) json[std::string(key.name)] = key.print(*entry.parsed);
    json["seed"] = std::to_string(entry.parsed->seed);
  }
  json["repeat"] = repeat_command(summary, entry);
  return dump(json);
}

// One element a line, so that two reports can be compared by diff.
std::string array(const std::vector<std::string>& lines) {
  return lines.empty() ? "[]" : fmt::format("[\n{}\n]", fmt::join(lines, ",\n"));
}

Json totals(const Summary& summary) {
  Json json = Json::object();
  for (int i = 0; i <= static_cast<int>(Outcome::Infra); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    json[std::string(name(outcome))] = count(summary, outcome);
  }
  return json;
}

}  // namespace
}  // namespace attest::report

std::string attest::json_report(const JournalContent& journal) {
  using namespace report;
  const Summary summary = summarize(journal);
  std::vector<std::string> runs, backends, matrix, ratios, verdicts;
  for (const auto& header : journal.headers) runs.push_back(to_json_line(header));
  for (const auto& backend : summary.backends) backends.push_back(to_json_line(backend));
  for (const auto& row : summary.matrix.rows)
    for (const auto& column : summary.matrix.columns)
      if (const auto cell = summary.matrix.cells.find({row, column}); cell != summary.matrix.cells.end())
        matrix.push_back(cell_line(row, column, cell->second));
  for (const auto& line : summary.ratios) ratios.push_back(ratio_line(line));
  for (const auto& entry : summary.entries) verdicts.push_back(verdict_line(summary, entry));

  const Json conclusion_text = std::string(name(conclusion(summary)));
  return fmt::format(
      "{{\n\"conclusion\":{},\n\"cases\":{},\n\"missing\":{},\n\"absent_shards\":{},\n\"totals\":{},\n"
      "\"runs\":{},\n\"backends\":{},\n\"ratios\":{},\n\"matrix\":{},\n\"verdicts\":{}\n}}\n",
      dump(conclusion_text), summary.cases, summary.missing, dump(Json(summary.absent_shards)), dump(totals(summary)),
      array(runs), array(backends), array(ratios), array(matrix), array(verdicts));
}
