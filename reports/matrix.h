// The matrix of a run: what happened per backend and KV cache, by head dim and graph mode.
#pragma once

#include "harness/core/case.h"
#include "harness/record/verdict.h"

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attest::report {

// A verdict and what its token says of it.
struct Entry {
  const Verdict* verdict;
  std::optional<Case> parsed;  // nullopt: no token that this program can read
  std::string phase, backend;  // "?" where the token does not say
};
std::vector<Entry> sorted_entries(const std::vector<Verdict>& verdicts);  // by token

// Something was compared with its bound, so that the ratio says something.
bool is_compared(const Verdict& verdict);
// A NaN is worse than any number.
bool is_worse(double ratio, double than);

struct MatrixRow {
  std::string backend;
  bool rope = false;
  std::string kv;  // the cache by name; of rope, which has none, the dtype of k
  auto operator<=>(const MatrixRow&) const = default;
};
std::string label(const MatrixRow& row);  // "fp8_e4m3", "k bf16 (rope)"

struct MatrixColumn {
  int dim = 0;
  Graph graph = Graph::Eager;
  auto operator<=>(const MatrixColumn&) const = default;
};
std::string graph_name(Graph graph);

struct MatrixCell {
  std::size_t passed = 0, failed = 0, xfail = 0, unsupported = 0, not_run = 0;
  std::optional<double> ratio;               // the largest, where something was compared
  std::optional<std::size_t> first_failure;  // index into the entries
};

struct Matrix {
  std::vector<MatrixRow> rows;
  std::vector<MatrixColumn> columns;
  std::map<std::pair<MatrixRow, MatrixColumn>, MatrixCell> cells;  // those with a case
  std::size_t unread = 0;                                          // entries whose token can't be read
};
Matrix make_matrix(const std::vector<Entry>& entries);

// One state per cell, the most urgent of its cases: it chooses a colour and a symbol.
enum class CellState { Fails, Waived, Conforms, NotRun, Unsupported };
CellState state(const MatrixCell& cell);

// How much of the bound a backend uses. A correct kernel that never comes near its bound says that the bound,
// and with it the declared arithmetic, is wider than it must be: faults would hide in it.
struct KvRatio {
  MatrixRow row;
  std::size_t passed = 0;               // passed cases with something compared
  double passed_ratio = 0;              // the largest of those
  std::optional<std::size_t> tightest;  // the entry that has it
  double ratio = 0;                     // the largest of all cases
  bool loose = false;                   // "bound may be too loose"
};
inline constexpr double kLooseBelow = 0.1;
inline constexpr std::size_t kLooseCases = 20;  // passed cases that it takes to say so
std::vector<KvRatio> make_ratios(const std::vector<Entry>& entries);

}  // namespace attest::report
