// Text of any bytes must come out as text, and numbers of any value as numbers that a reader knows.
#include "reports/text.h"
#include "tests/reports/journals.h"
#include "tests/reports/markup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attest::report {
namespace {

using test::kHostile;

TEST(Text, PrintableKeepsGoodTextAndShowsTheRest) {
  EXPECT_EQ(printable("d=64, 0.5 µs, 注意, 🙂\n\t."), "d=64, 0.5 µs, 注意, 🙂\n\t.");
  EXPECT_EQ(printable(std::string_view("\x1b\0\r", 3)), "␛␀␍");
  EXPECT_EQ(printable("\x7f"), "␡");
  EXPECT_EQ(printable("a\xff"), "a\uFFFD");
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD");              // overlong '/'
  EXPECT_EQ(printable("\xed\xa0\x80").size(), 9u);               // a surrogate is no character
  EXPECT_EQ(printable("\xf4\x90\x80\x80").size(), 12u);          // past U+10FFFF
  EXPECT_EQ(printable("\xe2\x82"), "\uFFFD\uFFFD");              // cut short
  EXPECT_EQ(printable("\xc2\x9b\xef\xbf\xbe"), "\uFFFD\uFFFD");  // a C1 control, and no character of XML
  EXPECT_EQ(printable("\xe2\x80\xae"), "\uFFFD");                // right-to-left override
}

TEST(Text, ClippedNeverCutsACharacter) {
  EXPECT_EQ(clipped("short", 5), "short");
  EXPECT_EQ(clipped("longer", 5), "longe…");
  EXPECT_EQ(clipped("µµµ", 3), "µ…");
}

TEST(Text, EscapedMarkupIsTextInElementsAndAttributes) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape_markup("two\nlines"), "two&#10;lines");
  const std::string text = escape_markup(kHostile);
  EXPECT_EQ(test::malformed("<a b=\"" + text + "\">" + text + "</a>", test::Markup::Xml), std::nullopt);
}

TEST(Text, MarkdownCodeHoldsBackticksAndPipes) {
  EXPECT_EQ(markdown_code("a|b"), "`a|b`");
  EXPECT_EQ(markdown_code("a|b", Within::Table), "`a\\|b`");
  EXPECT_EQ(markdown_code("a``b"), "``` a``b ```");
  EXPECT_EQ(markdown_code("two\nlines"), "`two lines`");
  EXPECT_EQ(markdown_code(""), "`  `");
}

TEST(Text, MarkdownTextMeansItself) {
  EXPECT_EQ(markdown_text("a|b `c` *d* <e> [f](g) #1"), "a\\|b \\`c\\` \\*d\\* &lt;e&gt; \\[f\\](g) \\#1");
  EXPECT_EQ(markdown_text("two\nlines"), "two lines");
  EXPECT_EQ(markdown_text("@triton.jit").find("@triton"), std::string::npos);  // would notify that user
}

TEST(Text, RatiosOfEverySize) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ratio_text(0), "0");
  EXPECT_EQ(ratio_text(0.41), "0.410");
  EXPECT_EQ(ratio_text(12.34), "12.3");
  EXPECT_EQ(ratio_text(99.96), "100");
  EXPECT_EQ(ratio_text(48123), "48123");
  EXPECT_EQ(ratio_text(1.234e7), "1.23e+07");
  EXPECT_EQ(ratio_text(inf), "inf");
  EXPECT_EQ(ratio_text(-inf), "-inf");
  EXPECT_EQ(ratio_text(std::nan("")), "nan");
  EXPECT_EQ(ratio_text(-std::nan("")), "nan");
  EXPECT_EQ(value_text(-inf), "-inf");
  EXPECT_EQ(value_text(-std::nan("")), "nan");
  EXPECT_EQ(value_text(-0.4819341), "-0.481934");
}

TEST(Text, CountsReadWell) {
  EXPECT_EQ(count_text(7), "7");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(1, "case"), "1 case");
  EXPECT_EQ(count_text(0, "case"), "0 cases");
}

TEST(MarkupWalker, RejectsWhatIsMalformed) {
  using test::malformed;
  using test::Markup;
  EXPECT_EQ(malformed("<?xml version=\"1.0\"?>\n<a b=\"&lt;\"><c/>&amp;</a>", Markup::Xml), std::nullopt);
  for (const char* bad :
       {"<a><b></a></b>", "<a>", "</a>", "<a b=\"<\"></a>", "<a>&bogus;</a>", "<a>&</a>", "<a b=c></a>", "<a b></a>",
        "<a>1 < 2</a>", "<a>\x01</a>", "<a>\xff</a>", "<a b=\"1\" b=\"2\"></a>", "<a b=\"1></a>"})
    EXPECT_NE(malformed(bad, Markup::Xml), std::nullopt) << bad;
}

}  // namespace
}  // namespace attest::report
