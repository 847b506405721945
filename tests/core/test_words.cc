// Splitting, globs held to their definition, and the nearest right word.
#include "harness/core/words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace attest {
namespace {

TEST(Words, Split) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("", '/'), Parts{""});
  EXPECT_EQ(split("a", '/'), Parts{"a"});
  EXPECT_EQ(split("/", '/'), (Parts{"", ""}));
  EXPECT_EQ(split("a//b/", '/'), (Parts{"a", "", "b", ""}));
}

// The definition, one character at a time.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && matches(pattern.substr(1), text.substr(1));
}

TEST(Words, GlobsAgreeWithTheDefinition) {
  std::mt19937 random(1);
  const auto any = [&](std::string_view letters, unsigned longest) {
    std::string out;
    for (unsigned i = random() % (longest + 1); i > 0; --i) out += letters[random() % letters.size()];
    return out;
  };
  int matched = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string pattern = any("ab*?", 7), text = any("ab", 8);
    ASSERT_EQ(glob_match(pattern, text), matches(pattern, text)) << pattern << " " << text;
    matched += glob_match(pattern, text);
  }
  EXPECT_GT(matched, 5'000);
  EXPECT_LT(matched, 95'000);
}

TEST(Words, GlobsOfTokens) {
  EXPECT_TRUE(glob_match("decode/vllm_cpu*/kv=fp8_*/h=6:2*", "decode/vllm_cpu_avx2/kv=fp8_e4m3/h=6:2/d=64"));
  EXPECT_FALSE(glob_match("decode/vllm_cpu*/kv=fp8_*/h=6:2", "decode/vllm_cpu_avx2/kv=fp8_e4m3/h=6:2/d=64"))
      << "the whole text must match";
  EXPECT_FALSE(glob_match("d=6", "d=64"));
  EXPECT_FALSE(glob_match("[ab]", "a")) << "brackets are themselves";
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(glob_match(std::string(50, '*') + "x", std::string(5000, 'y') + "x")) << "in no exponential time";
  EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(Words, Nearest) {
  const std::vector<std::string> names{"heads", "head_dim", "seq", "scales", "strides", "q", "kv"};
  EXPECT_EQ(nearest("headz", names), "heads");
  EXPECT_EQ(nearest("head", names), "heads");
  EXPECT_EQ(nearest("headdim", names), "head_dim");
  EXPECT_EQ(nearest("scale", names), "scales");
  EXPECT_EQ(nearest("seq", names), "seq");
  EXPECT_EQ(nearest("sqe", names), "seq") << "two swapped letters of three";
  EXPECT_EQ(nearest("kvv", names), "kv");
  EXPECT_EQ(nearest("temperature", names), std::nullopt);
  EXPECT_EQ(nearest("x", names), std::nullopt) << "another letter is no slip of the hand";
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(suggestion("headz", names), " (did you mean 'heads'?)");
  EXPECT_EQ(suggestion("temperature", {"a", "b"}), " (one of: a, b)");
}

TEST(Words, ParseNumberTakesTheWholeText) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "0x10", "99999999999", "1e3", "-"})
    EXPECT_EQ(parse_number<int>(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<double>("2.5e-3"), 0.0025);
  EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1,5"), std::nullopt);
}

}  // namespace
}  // namespace attest
