// The Markdown report: tables stay tables, and a long run stays a short comment.
#include "reports/reports.h"
#include "tests/reports/journals.h"
#include "tests/reports/markup.h"

#include <gtest/gtest.h>

#include <sstream>

namespace attest {
namespace {

// Cells of a table's row: pipes that are not escaped, but for the first.
std::size_t columns(const std::string& line) {
  std::size_t pipes = 0;
  for (std::size_t i = 0; i < line.size(); ++i) pipes += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
  return pipes - 1;
}

// Every run of lines that begin with a pipe has one count of columns.
void expect_tables_hold(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::size_t expected = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) {
      expected = 0;
      continue;
    }
    if (expected == 0) expected = columns(line);
    EXPECT_EQ(columns(line), expected) << line;
  }
}

// The text without its code spans: a run of backticks up to the next run of the same length, on one line.
std::string without_code(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '`' || (at > 0 && text[at - 1] == '\\')) {
      out += text[at++];
      continue;
    }
    const std::string run(std::min(text.find_first_not_of('`', at), text.size()) - at, '`');
    std::size_t end = text.find(run, at + run.size());
    while (end != std::string::npos && (text[end - 1] == '`' || text[end + run.size()] == '`'))
      end = text.find(run, end + 1);
    EXPECT_NE(end, std::string::npos) << text.substr(at, 80);
    EXPECT_EQ(text.substr(at, end - at).find('\n'), std::string::npos);
    at = end == std::string::npos ? text.size() : end + run.size();
  }
  return out;
}

TEST(MarkdownReport, BeginsWithTheVerdict) {
  const std::string text = markdown_report(test::every_outcome());
  EXPECT_TRUE(text.starts_with("**Does not conform.** 17 cases: 6 conform, 5 fail, ")) << text.substr(0, 200);
  EXPECT_NE(text.find("; 2 missing."), std::string::npos);
  EXPECT_NE(text.find(" missing |\n"), std::string::npos);
}

TEST(MarkdownReport, HoldsMatrixFailuresWaiversAndReasons) {
  const std::string text = markdown_report(test::every_outcome());
  EXPECT_NE(text.find("| `alpha` | fp8\\_e4m3 | ✓2 ≈1 (0.410) | ✗2 (12.3) |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `beta` | k f32 (rope) | ✓1 (0.300) |"), std::string::npos);
  EXPECT_NE(text.find("- **FAIL(numeric)** "
                      "`decode/alpha/q=bf16/kv=fp8_e4m3/h=8:2/d=64/page=16/seq=1x15,1x16/graph=full#5`"),
            std::string::npos);
  EXPECT_NE(text.find("ignored (ratio 0.31; healthy 41.7)"), std::string::npos) << text;
  EXPECT_NE(text.find("repeat: `attest run --plugin ./libmine.so 'decode/alpha/"), std::string::npos);
  EXPECT_NE(text.find("## Waived failures\n\n- 1 case: issue 812 (seen: lse 1)"), std::string::npos);
  EXPECT_NE(text.find("## Not run\n\n- 1 case: no GPU; get one"), std::string::npos);
  EXPECT_NE(text.find("## Unsupported\n\n- 1 case: the kernel declines: no padding"), std::string::npos);
  expect_tables_hold(text);
}

TEST(MarkdownReport, TablesSurviveAnyBytes) {
  const std::string text = markdown_report(test::with_text("a|b `c` \\| ``d``\n| e |\n\n# f"));
  expect_tables_hold(text);
  EXPECT_EQ(text.find("\n# f"), std::string::npos);
  EXPECT_EQ(test::count(text, "\n## "), 5u);

  const std::string hostile = markdown_report(test::with_text(std::string(test::kHostile)));
  expect_tables_hold(hostile);
  EXPECT_NE(hostile.find("| `` <i>&\\|`\" `` | auto | ✓1 (0.400) |"), std::string::npos);
  EXPECT_NE(hostile.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_NE(hostile.find("<script>"), std::string::npos);
  EXPECT_EQ(without_code(hostile).find("<script>"), std::string::npos);
  EXPECT_EQ(hostile.find('\x1b'), std::string::npos);
}

TEST(MarkdownReport, ShowsTwentyFailuresAndCountsTheOthers) {
  const std::string text = markdown_report(test::many(200, 2));
  EXPECT_EQ(test::count(text, "- **FAIL(numeric)**"), 20u);
  EXPECT_NE(text.find("- and 80 more\n"), std::string::npos);
  EXPECT_EQ(markdown_report(test::many(200, 10)).find("more\n"), std::string::npos);
}

TEST(MarkdownReport, NamesBoundsThatMayBeTooLoose) {
  JournalContent journal = test::many(60, 0);
  for (Verdict& v : journal.verdicts) v.ratio = 0.01;
  EXPECT_EQ(markdown_report(journal).find("too loose"), std::string::npos);  // five cases a line
  journal = test::many(600, 0);
  for (Verdict& v : journal.verdicts) v.ratio = 0.01;
  EXPECT_NE(markdown_report(journal).find(
                "- `alpha` auto: the largest ratio of 50 passed cases is 0.0100; the bound may be too loose\n"),
            std::string::npos);
}

}  // namespace
}  // namespace attest
