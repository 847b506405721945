#include "reports/matrix.h"

#include "harness/core/case_keys.h"
#include "harness/core/error.h"
#include "harness/core/words.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace attest::report {
namespace {

Entry make_entry(const Verdict& verdict) {
  Entry entry{.verdict = &verdict, .parsed = std::nullopt, .phase = "?", .backend = "?"};
  try {
    entry.parsed = parse_token(verdict.token);
    entry.phase = name(entry.parsed->phase);
    entry.backend = entry.parsed->backend;
  } catch (const UsageError&) {
    // A journal of another version of this program is still worth a report.
    const auto parts = split(verdict.token, '/');
    if (parts.size() > 2 && parse_phase(parts[0]) && !parts[1].empty()) {
      entry.phase = parts[0];
      entry.backend = parts[1];
    }
  }
  return entry;
}

MatrixRow row_of(const Case& c) {
  if (c.phase == Phase::Rope) return {.backend = c.backend, .rope = true, .kv = std::string(name(c.k_dtype()))};
  return {.backend = c.backend, .rope = false, .kv = c.kv};
}

void count(MatrixCell& cell, const Verdict& verdict, std::size_t index) {
  if (is_failure(verdict.outcome)) {
    ++cell.failed;
    if (!cell.first_failure) cell.first_failure = index;
  }
  cell.passed += verdict.outcome == Outcome::Pass;
  cell.xfail += verdict.outcome == Outcome::Xfail;
  cell.unsupported += verdict.outcome == Outcome::Unsupported;
  cell.not_run += verdict.outcome == Outcome::NotRun;
  if (is_compared(verdict) && (!cell.ratio || is_worse(verdict.ratio, *cell.ratio))) cell.ratio = verdict.ratio;
}

}  // namespace

std::vector<Entry> sorted_entries(const std::vector<Verdict>& verdicts) {
  std::vector<Entry> entries;
  entries.reserve(verdicts.size());
  for (const Verdict& verdict : verdicts) entries.push_back(make_entry(verdict));
  std::ranges::stable_sort(entries, {}, [](const Entry& entry) -> const std::string& { return entry.verdict->token; });
  return entries;
}

bool is_compared(const Verdict& verdict) { return verdict.elements > 0; }

bool is_worse(double ratio, double than) {
  if (std::isnan(than)) return false;
  return std::isnan(ratio) || ratio > than;
}

std::string label(const MatrixRow& row) { return row.rope ? "k " + row.kv + " (rope)" : row.kv; }

std::string graph_name(Graph graph) {
  Case c;
  c.graph = graph;
  return *case_value(c, "graph");
}

Matrix make_matrix(const std::vector<Entry>& entries) {
  Matrix matrix;
  std::set<MatrixRow> rows;
  std::set<MatrixColumn> columns;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& parsed = entries[i].parsed;
    if (!parsed) {
      ++matrix.unread;
      continue;
    }
    const MatrixRow row = row_of(*parsed);
    const MatrixColumn column{.dim = parsed->dim, .graph = parsed->graph};
    rows.insert(row);
    columns.insert(column);
    count(matrix.cells[{row, column}], *entries[i].verdict, i);
  }
  matrix.rows.assign(rows.begin(), rows.end());
  matrix.columns.assign(columns.begin(), columns.end());
  return matrix;
}

CellState state(const MatrixCell& cell) {
  if (cell.failed) return CellState::Fails;
  if (cell.xfail) return CellState::Waived;
  if (cell.passed) return CellState::Conforms;
  return cell.not_run ? CellState::NotRun : CellState::Unsupported;
}

std::vector<KvRatio> make_ratios(const std::vector<Entry>& entries) {
  std::map<MatrixRow, KvRatio> lines;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Verdict& verdict = *entries[i].verdict;
    if (!entries[i].parsed || !is_compared(verdict)) continue;
    KvRatio& line = lines[row_of(*entries[i].parsed)];
    if (is_worse(verdict.ratio, line.ratio)) line.ratio = verdict.ratio;
    if (verdict.outcome != Outcome::Pass) continue;
    ++line.passed;
    if (line.tightest && !is_worse(verdict.ratio, line.passed_ratio)) continue;
    line.passed_ratio = verdict.ratio;
    line.tightest = i;
  }
  std::vector<KvRatio> all;
  for (auto& [row, line] : lines) {
    line.row = row;
    line.loose = line.passed >= kLooseCases && line.passed_ratio < kLooseBelow;
    all.push_back(line);
  }
  return all;
}

}  // namespace attest::report
