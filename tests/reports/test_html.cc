// The HTML report: one file that asks for nothing, well-formed for any bytes, in the order a reader needs.
#include "reports/reports.h"
#include "tests/reports/journals.h"
#include "tests/reports/markup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace attest {
namespace {

using test::count;
using test::malformed;
using test::Markup;
using test::Tag;

std::size_t at(const std::string& html, const std::string& part) {
  const auto found = html.find(part);
  EXPECT_NE(found, std::string::npos) << part;
  return found;
}

// The report without the places where a long line may break.
std::string html_of(const JournalContent& journal) {
  std::string html = html_report(journal);
  constexpr std::string_view wbr = "<wbr>";
  for (auto found = html.find(wbr); found != std::string::npos; found = html.find(wbr, found))
    html.erase(found, wbr.size());
  return html;
}

// Anything that would make a browser ask for something, or run something.
std::vector<std::string> requests(const std::string& html) {
  std::vector<std::string> found;
  for (const Tag& tag : test::tags(html)) {
    if (tag.name == "script" || tag.name == "img" || tag.name == "iframe" || tag.name == "base")
      found.push_back("<" + tag.name + ">");
    for (const auto& [name, value] : tag.attributes) {
      if (name == "src" || name == "srcset" || name.starts_with("on")) found.push_back(name);
      if (name == "href" && !value.starts_with('#') && value != "data:,") found.push_back("href " + value);
      if (name == "style" && value.find("url") != std::string::npos) found.push_back("style " + value);
    }
  }
  for (const char* part : {"url(", "@import", "@font-face"})
    if (html.find(part) != std::string::npos) found.push_back(part);
  return found;
}

TEST(HtmlReport, IsWellFormedAndAsksForNothing) {
  for (const JournalContent& journal : {test::every_outcome(), test::many(100, 3), JournalContent{}}) {
    const std::string html = html_report(journal);
    EXPECT_EQ(malformed(html, Markup::Html), std::nullopt);
    EXPECT_EQ(requests(html), std::vector<std::string>{});
    EXPECT_EQ(count(html, "http"), count(html, "http-equiv"));
    EXPECT_EQ(count(html, "src="), 0u);
    EXPECT_EQ(count(html, "default-src 'none'"), 1u);
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  }
  EXPECT_EQ(requests("<a href=\"https://x\"><img src=\"y\" onload=\"z\"></a>").size(), 4u);
}

TEST(HtmlReport, TakesAnyBytes) {
  const std::string html = html_report(test::with_text(std::string(test::kHostile)));
  EXPECT_EQ(malformed(html, Markup::Html), std::nullopt);
  EXPECT_EQ(requests(html), std::vector<std::string>{});
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<i>&"), std::string::npos);
  EXPECT_NE(html.find("rowspan=\"1\">&lt;i&gt;&amp;|`&quot;</th>"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;/script&gt; &quot;double&quot; &#39;single&#39;"), std::string::npos);
  EXPECT_NE(html.find("␛[31m ␁␡"), std::string::npos);
}

TEST(HtmlReport, FailuresComeFirst) {
  const std::string html = html_report(test::every_outcome());
  std::size_t last = at(html, "17 cases: 6 conform, 5 fail, 1 fails as waived");
  for (const char* id :
       {"failures", "matrix", "ratios", "waived", "not-run", "unsupported", "slowest", "runs", "backends", "cases"}) {
    const std::size_t here = at(html, std::string("<section id=\"") + id + "\"");
    EXPECT_GT(here, last) << id;
    last = here;
  }
  EXPECT_NE(html.find("2 cases have no verdict"), std::string::npos);
}

TEST(HtmlReport, AFailureSaysAllThatIsKnown) {
  const std::string html = html_of(test::every_outcome());
  const std::string failures = html.substr(at(html, "<section id=\"failures\""),
                                           at(html, "<section id=\"matrix\"") - at(html, "<section id=\"failures\""));
  for (const char* part :
       {"FAIL(numeric)", "decode/alpha/q=bf16/kv=fp8_e4m3/h=8:2/d=64/page=16/seq=1x15,1x16/graph=full#5",
        "out is outside its bound", ">-0.5<", ">-0.375<", ">0.125<", ">0.01<", ">12.5<",
        "sequence 1 (1x16), head 5 (KV head 1), row 0, dim 77", "1,200 of 4,096 elements; sequence.head 1.4, 1.5",
        "attend_kernel", "attest run --plugin ./libmine.so &#39;decode/alpha/",
        "graph=full</code>. Of 2 passing cases"})
    EXPECT_NE(failures.find(part), std::string::npos) << part;
  EXPECT_EQ(count(failures, "<details class=\"failure\""), 6u);  // and the case that the harness failed at
}

TEST(HtmlReport, LinksAndLabelsLeadSomewhere) {
  const std::string html = html_report(test::every_outcome());
  std::vector<std::string> ids, targets;
  for (const Tag& tag : test::tags(html)) {
    if (tag.attributes.contains("id")) ids.push_back(tag.attributes.at("id"));
    if (tag.attributes.contains("aria-labelledby")) targets.push_back(tag.attributes.at("aria-labelledby"));
    if (tag.name == "a") targets.push_back(tag.attributes.at("href").substr(1));
  }
  const std::set<std::string> distinct(ids.begin(), ids.end());
  EXPECT_EQ(distinct.size(), ids.size());
  EXPECT_GT(targets.size(), 10u);
  for (const std::string& target : targets) EXPECT_TRUE(distinct.contains(target)) << target;
}

TEST(HtmlReport, TablesAndHeadingsServeScreenReaders) {
  const std::string html = html_report(test::every_outcome());
  int level = 0;
  for (const Tag& tag : test::tags(html)) {
    EXPECT_TRUE(tag.name != "th" || tag.attributes.contains("scope"));
    const bool is_heading = tag.name.size() == 2 && tag.name.starts_with('h');
    if (!is_heading) continue;
    EXPECT_LE(tag.name[1] - '0', level + 1) << "headings skip a level";
    level = tag.name[1] - '0';
  }
  EXPECT_EQ(test::count_tags(html, "h1"), 1u);
}

TEST(HtmlReport, MatrixCellsTellCountsRatioAndState) {
  const std::string html = html_report(test::every_outcome());
  const std::string matrix = html.substr(at(html, "<section id=\"matrix\""),
                                         at(html, "<section id=\"ratios\"") - at(html, "<section id=\"matrix\""));
  EXPECT_NE(matrix.find("✗</span>2<span class=\"vh\"> fail</span>"), std::string::npos);
  EXPECT_NE(matrix.find("✓</span>2<span class=\"vh\"> conform</span>"), std::string::npos);
  EXPECT_NE(matrix.find("</span>12.3</span></td>"), std::string::npos);
  EXPECT_NE(matrix.find("<td></td>"), std::string::npos);  // no case there
  EXPECT_EQ(test::count(matrix, "class=\"cell bad\""), 2u);
  EXPECT_NE(matrix.find("<th scope=\"colgroup\" class=\"first\" colspan=\"4\">head dim 128</th>"), std::string::npos);
}

TEST(HtmlReport, AConformingRunHasNoFailures) {
  JournalContent journal = test::many(100, 0);
  const std::string html = html_report(journal);
  EXPECT_NE(html.find("<h1 class=\"ok\"><span aria-hidden=\"true\">✓</span> Conforms</h1>"), std::string::npos);
  EXPECT_NE(html.find("No case fails."), std::string::npos);
  EXPECT_EQ(html.find("<section id=\"waived\""), std::string::npos);
  EXPECT_EQ(html.find("class=\"bad\">"), html.find("class=\"bad\">✗ fail"));  // the legend only
}

TEST(HtmlReport, OfALargeJournalStaysSmall) {
  constexpr std::size_t most = 10'000'000;
  for (const int nth_fails : {0, 1}) {
    const std::string html = html_report(test::many(20000, nth_fails));
    EXPECT_LT(html.size(), most);
    EXPECT_EQ(count(html, "<td><code>decode/"), 20000u + 10u) << "all cases, and the slowest";
    EXPECT_EQ(malformed(html, Markup::Html), std::nullopt);
  }
}

}  // namespace
}  // namespace attest
