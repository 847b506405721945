// The JUnit report: well-formed for any bytes, and what a CI server counts is what happened.
#include "reports/reports.h"
#include "tests/reports/journals.h"
#include "tests/reports/markup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace attest {
namespace {

using test::count;
using test::count_tags;
using test::malformed;
using test::Markup;
using test::Tag;

Tag suite(const std::string& xml, const std::string& name) {
  for (const Tag& tag : test::tags(xml))
    if (tag.name == "testsuite" && tag.attributes.at("name") == name) return tag;
  ADD_FAILURE() << "no suite " << name;
  return {};
}

void expect_counts(const Tag& tag, const std::string& tests, const std::string& failures, const std::string& errors,
                   const std::string& skipped) {
  EXPECT_EQ(tag.attributes.at("tests"), tests);
  EXPECT_EQ(tag.attributes.at("failures"), failures);
  EXPECT_EQ(tag.attributes.at("errors"), errors);
  EXPECT_EQ(tag.attributes.at("skipped"), skipped);
}

TEST(JunitReport, CountsPerBackendAndInAll) {
  const std::string xml = junit_report(test::every_outcome());
  ASSERT_EQ(malformed(xml, Markup::Xml), std::nullopt);
  expect_counts(suite(xml, "alpha"), "5", "2", "0", "1");
  expect_counts(suite(xml, "beta"), "10", "2", "2", "2");
  expect_counts(test::tags(xml).front(), "16", "4", "3", "3");  // with the error that two cases are missing
  EXPECT_EQ(suite(xml, "alpha").attributes.at("time"), "0.098000");
  EXPECT_EQ(test::tags(xml).front().attributes.at("time"), "0.196000");
  EXPECT_EQ(count_tags(xml, "testcase"), 16u);
  EXPECT_EQ(count_tags(xml, "failure"), 4u);
  EXPECT_EQ(count_tags(xml, "error"), 3u);
  EXPECT_EQ(count_tags(xml, "skipped"), 3u);
}

TEST(JunitReport, FailuresSayWhereAndHowToRepeat) {
  const std::string xml = junit_report(test::every_outcome());
  EXPECT_NE(xml.find("classname=\"attest.alpha.decode\" time=\"0.024500\""), std::string::npos);
  EXPECT_NE(xml.find("<failure type=\"numeric\" message=\"out is outside its bound\">"), std::string::npos);
  EXPECT_NE(xml.find("where:    sequence 1 (1x16), head 5 (KV head 1), row 0, dim 77&#10;expected: "
                     "-0.5&#10;actual:   -0.375&#10;bound:    0.01&#10;ratio:    12.5"),
            std::string::npos);
  EXPECT_NE(xml.find("looks:    matches: k_scale ignored (ratio 0.31; healthy 41.7)"), std::string::npos);
  EXPECT_NE(xml.find("repeat:   attest run --plugin ./libmine.so &#39;decode/alpha/"), std::string::npos);
  EXPECT_NE(xml.find("<failure type=\"xpass\""), std::string::npos);
  EXPECT_NE(xml.find("<failure type=\"vacuous\""), std::string::npos);
  EXPECT_NE(xml.find("<error type=\"crash\" message=\"SIGSEGV\">"), std::string::npos);
  EXPECT_NE(xml.find("<skipped message=\"waived: issue 812: 12 elements fail\"/>"), std::string::npos);
  EXPECT_NE(xml.find("<skipped message=\"NOT_RUN: no GPU; get one\"/>"), std::string::npos);
}

TEST(JunitReport, ARunThatStoppedEarlyIsAnError) {
  JournalContent journal = test::every_outcome();
  EXPECT_NE(junit_report(journal).find("<error type=\"missing\" message=\"17 cases: "), std::string::npos);
  journal.headers.front().cases = journal.verdicts.size();
  EXPECT_EQ(junit_report(journal).find("type=\"missing\""), std::string::npos);
}

TEST(JunitReport, TakesAnyBytes) {
  const std::string xml = junit_report(test::with_text(std::string(test::kHostile)));
  EXPECT_EQ(malformed(xml, Markup::Xml), std::nullopt);
  EXPECT_EQ(xml.find("<script"), std::string::npos);
  EXPECT_EQ(xml.find("]]>"), std::string::npos);
  EXPECT_NE(xml.find("&lt;script&gt;alert(1)&lt;/script&gt; &quot;double&quot; &#39;single&#39; ]]&gt;"),
            std::string::npos);
  EXPECT_EQ(count_tags(xml, "testcase"), 9u);
}

TEST(JunitReport, AnotherParserReadsIt) {
  if (std::system("python3 -c 'import xml.dom.minidom' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  const std::string path = testing::TempDir() + "attest_junit.xml";
  for (const JournalContent& journal :
       {test::every_outcome(), test::with_text(std::string(test::kHostile)), JournalContent{}}) {
    std::ofstream(path, std::ios::binary) << junit_report(journal);
    EXPECT_EQ(
        std::system(("python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' '" + path + "'").c_str()), 0);
  }
  std::ofstream(path) << "<a>&</a>";
  EXPECT_NE(
      std::system(
          ("python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' '" + path + "' 2>/dev/null").c_str()),
      0);
}

}  // namespace
}  // namespace attest
