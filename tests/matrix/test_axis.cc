// Ranges, and lengths said in pages.
#include "harness/matrix/axis.h"

#include <gtest/gtest.h>

namespace attest {
namespace {

using Values = std::vector<std::string>;

TEST(Range, Expands) {
  EXPECT_EQ(expand_range("1..4"), (Values{"1", "2", "3", "4"}));
  EXPECT_EQ(expand_range("64..256..64"), (Values{"64", "128", "192", "256"}));
  EXPECT_EQ(expand_range("1..10..4"), (Values{"1", "5", "9"}));
  EXPECT_EQ(expand_range("7..7"), Values{"7"});
  EXPECT_EQ(expand_range("0..5..100"), Values{"0"});
  EXPECT_EQ(expand_range("9223372036854775806..9223372036854775807"),
            (Values{"9223372036854775806", "9223372036854775807"}));
  EXPECT_EQ(expand_range("0..9223372036854775807..9223372036854775807"), (Values{"0", "9223372036854775807"}));
}

TEST(Range, LeavesEverythingElse) {
  for (const char* text : {"64", "fp8_e4m3", "1x5,2x6", "file:../dir", "file:a/1..2", "window:8,0", "", "-3", "1.5"})
    EXPECT_EQ(expand_range(text), Values{text});
}

TEST(Range, RefusesWhatIsNone) {
  for (const char* text : {"5..3", "1..9..0", "1...9", "..9", "1..", "a..b", "1..9..2..3", "1..x", "-1..3", "1.5..2",
                           "1..99999999999", "1 .. 3", "99999999999999999999..99999999999999999999"})
    EXPECT_EQ(expand_range(text), std::nullopt) << text;
}

TEST(Pages, AreLengths) {
  EXPECT_EQ(resolve_pages("1xp-1,1x2p+1,px3p", 16), "1x15,1x33,16x48");
  EXPECT_EQ(resolve_pages("1xp-1,1x2p+1,px3p", 32), "1x31,1x65,32x96");
  EXPECT_EQ(resolve_pages("8*1xp,3x7", 16), "8*1x16,3x7");
  EXPECT_EQ(resolve_pages("p+1xp-16,p-15x0p", 16), "17x0,1x0");
  EXPECT_EQ(resolve_pages("2x3+4,1xp", 16), "2x7,1x16");
  EXPECT_EQ(resolve_pages("1x5,2x6", 16), "1x5,2x6") << "nothing to do";
  EXPECT_EQ(resolve_pages("nonsense", 16), "nonsense") << "not for this to judge";
}

TEST(Pages, RefuseWhatMakesNoLength) {
  for (const char* text : {"1xp-17", "p", "1xpp", "1xp2", "1xp*2", "1x2p+", "1xp+1+1", "xp", "1xp,", "1xp,x", "1xq,p",
                           "1xp1", "1x p", "-1xp", "1x-p"})
    EXPECT_EQ(resolve_pages(text, 16), std::nullopt) << text;
  // Numbers beyond an int are no lengths; they once became small ones.
  for (const char* text : {"1x99999999999999999999p+2000", "1x99999999999p", "1xp+99999999999999999999",
                           "1xp-99999999999999999999", "99999999999999999999xp"})
    EXPECT_EQ(resolve_pages(text, 16), std::nullopt) << text;
}

}  // namespace
}  // namespace attest
