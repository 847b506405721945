#include "reports/html/parts.h"
#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attest::report::html {
namespace {

std::string_view class_of(CellState state) {
  switch (state) {
    case CellState::Fails: return "bad";
    case CellState::Waived: return "waived";
    case CellState::Conforms: return "ok";
    case CellState::NotRun:
    case CellState::Unsupported: return "idle";
  }
  return "";
}

// "✗2 ✓12": the symbol for the eye, the word for a screen reader.
std::string counts(const MatrixCell& cell, const std::set<std::size_t>& detailed) {
  std::string text;
  const auto add = [&](Outcome outcome, std::size_t n, std::string_view word) {
    if (n == 0) return;
    const bool link = outcome == Outcome::Fail && detailed.contains(*cell.first_failure);
    const std::string markup = fmt::format("<span aria-hidden=\"true\">{}</span>{}<span class=\"vh\"> {}</span>",
                                           symbol(outcome), count_text(n), word);
    text += fmt::format("{}<span class=\"{}\">", text.empty() ? "" : " ", state_class(outcome));
    text +=
        link ? fmt::format("<a href=\"#{}\">{}</a></span>", anchor(*cell.first_failure), markup) : markup + "</span>";
  };
  add(Outcome::Fail, cell.failed, "fail");
  add(Outcome::Pass, cell.passed, "conform");
  add(Outcome::Xfail, cell.xfail, "fail as waived");
  add(Outcome::Unsupported, cell.unsupported, "unsupported");
  add(Outcome::NotRun, cell.not_run, "not run");
  return text;
}

std::string cell_markup(const MatrixCell& cell, const std::set<std::size_t>& detailed) {
  const std::string ratio = cell.ratio
                                ? fmt::format("<span class=\"ratio\"><span class=\"vh\">largest ratio </span>{}</span>",
                                              ratio_text(*cell.ratio))
                                : "";
  return fmt::format("<td class=\"cell {}\">{}{}</td>", class_of(state(cell)), counts(cell, detailed), ratio);
}

// Head dims over graph modes.
std::string head(const Matrix& matrix) {
  std::string dims =
      "<tr><th scope=\"col\" rowspan=\"2\" class=\"name\">backend</th>"
      "<th scope=\"col\" rowspan=\"2\" class=\"kv\">KV cache</th>";
  std::string graphs = "<tr>";
  for (std::size_t i = 0; i < matrix.columns.size();) {
    const int dim = matrix.columns[i].dim;
    std::size_t span = 0;
    for (; i < matrix.columns.size() && matrix.columns[i].dim == dim; ++i, ++span)
      graphs += fmt::format("<th scope=\"col\"{}>{}</th>", span == 0 ? " class=\"first\"" : "",
                            graph_name(matrix.columns[i].graph));
    dims += fmt::format("<th scope=\"colgroup\" class=\"first\" colspan=\"{}\">head dim {}</th>", span, dim);
  }
  return dims + "</tr>\n" + graphs + "</tr>";
}

// One body a backend, so that its name can stand beside all of its rows.
std::string bodies(const Matrix& matrix, const std::set<std::size_t>& detailed) {
  std::string text;
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    const MatrixRow& row = matrix.rows[r];
    const bool first = r == 0 || matrix.rows[r - 1].backend != row.backend;
    const auto same = std::ranges::count(matrix.rows, row.backend, &MatrixRow::backend);
    if (first && r > 0) text += "</tbody>\n<tbody>\n";
    text += "<tr>";
    if (first)
      text +=
          fmt::format("<th scope=\"rowgroup\" class=\"name\" rowspan=\"{}\">{}</th>", same, escape_markup(row.backend));
    text += fmt::format("<th scope=\"row\" class=\"kv\">{}</th>", escape_markup(label(row)));
    for (const auto& column : matrix.columns) {
      const auto cell = matrix.cells.find({row, column});
      text += cell == matrix.cells.end() ? "<td></td>" : cell_markup(cell->second, detailed);
    }
    text += "</tr>\n";
  }
  return text;
}

std::string meter(double ratio) {
  const double percent = std::isfinite(ratio) ? std::clamp(ratio, 0.0, 1.0) * 100 : 100;
  return fmt::format("<span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.0f}%\"></i></span>", percent);
}

}  // namespace

Section matrix(const Summary& summary, const std::set<std::size_t>& detailed) {
  const Matrix& matrix = summary.matrix;
  Section section{.id = "matrix", .title = "Matrix"};
  if (!matrix.rows.empty()) {
    section.body =
        "<p class=\"legend\"><span class=\"bad\">✗ fail</span> <span class=\"ok\">✓ conform</span> <span "
        "class=\"waived\">≈ fail as waived</span> "
        "<span class=\"idle\">– unsupported</span> <span class=\"idle\">○ not run</span></p>\n"
        "<p class=\"muted\">Below the counts: the largest ratio, an output element's error in units of its "
        "bound.</p>\n";
    section.body += table("Matrix of backends and KV caches by head dim and graph mode", "matrix", head(matrix),
                          bodies(matrix, detailed));
  }
  if (matrix.unread)
    section.body +=
        fmt::format("<p class=\"note\">{} here can't be read by this version; they are in the lists only.</p>\n",
                    count_text(matrix.unread, "token"));
  return section;
}

Section ratios(const Summary& summary) {
  Section section{.id = "ratios", .title = "Largest ratio per backend and KV cache"};
  std::string rows;
  for (const KvRatio& line : summary.ratios) {
    const std::string passing = line.passed ? ratio_text(line.passed_ratio) + meter(line.passed_ratio) : "";
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"r\">{}</td><td class=\"r\">{}</td><td "
        "class=\"r\">{}</td><td>{}</td></tr>\n",
        escape_markup(line.row.backend), escape_markup(label(line.row)), count_text(line.passed), passing,
        ratio_text(line.ratio), line.loose ? "<span class=\"tag waived\">bound may be too loose</span>" : "");
  }
  if (rows.empty()) return section;
  section.body = fmt::format(
      "<p class=\"muted\">A ratio of 1 is the bound itself. Correct kernels come near it: where the largest "
      "of at least {} conforming cases stays "
      "below {}, the declared arithmetic is wider than what runs, and a fault could hide in the gap.</p>\n",
      kLooseCases, kLooseBelow);
  section.body += table(
      "Largest ratios", "ratios",
      header_cells({"backend", "KV cache", "#conforming", "#their largest ratio", "#of all cases", "remark"}), rows);
  return section;
}

}  // namespace attest::report::html
