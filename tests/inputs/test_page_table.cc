// Page tables: what each kind promises, over ragged lengths, with and without new tokens.
#include "harness/inputs/page_table.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace attest {
namespace {

constexpr const char* kLengths[]{"1x1", "1x15,1x16,1x17", "3x40,1x90,2x64,1x0", "5x5,7x64,1x33"};

Problem problem(const char* lengths, bool writes) {
  const auto token =
      fmt::format("{}/test/q=bf16/kv=auto/h=1:1/d=8/page=16/seq={}#1", writes ? "write" : "prefill", lengths);
  return make_problem(parse_token(token), test::open_contract());
}

int pages_of(const Problem& p, std::size_t seq) { return (p.seqs[seq].len_kv + p.page_size - 1) / p.page_size; }

// What holds for every kind: right counts, real pages, `unused` and `owner` agree with `pages`.
void expect_sound(const Problem& p, const PageTable& table) {
  std::set<int> used;
  for (std::size_t seq = 0; seq < p.seqs.size(); ++seq) {
    ASSERT_EQ(static_cast<int>(table.pages[seq].size()), pages_of(p, seq));
    for (const int page : table.pages[seq]) {
      ASSERT_GE(page, 0);
      ASSERT_LT(page, p.num_pages);
      used.insert(page);
    }
  }
  EXPECT_GE(table.unused.size(), 1U);
  EXPECT_EQ(used.size() + table.unused.size(), static_cast<std::size_t>(p.num_pages));
  for (const int page : table.unused) {
    EXPECT_FALSE(used.contains(page));
    EXPECT_EQ(table.owner[static_cast<std::size_t>(page)], -1);
  }
  for (const int page : used) {
    const int owner = table.owner[static_cast<std::size_t>(page)];
    int first = 0;
    while (std::ranges::count(table.pages[static_cast<std::size_t>(first)], page) == 0) ++first;
    EXPECT_EQ(owner, first);
  }
}

TEST(PageTable, EachKindIsSound) {
  for (const auto kind : {Table::Shuffled, Table::Ordered, Table::Aliased, Table::Interleaved})
    for (const char* lengths : kLengths)
      for (const bool writes : {false, true}) {
        if (writes && std::string(lengths).ends_with("1x0")) continue;  // a new token needs a place
        const Problem p = problem(lengths, writes);
        for (std::uint64_t seed = 1; seed < 20; ++seed) expect_sound(p, make_page_table(p, kind, seed));
      }
}

TEST(PageTable, PagesHaveOneOwnerUnlessAliased) {
  for (const auto kind : {Table::Shuffled, Table::Ordered, Table::Interleaved})
    for (const char* lengths : kLengths) {
      std::set<int> seen;
      for (const auto& pages : make_page_table(problem(lengths, false), kind, 1).pages)
        for (const int page : pages) EXPECT_TRUE(seen.insert(page).second);
    }
}

TEST(PageTable, OrderedAndInterleavedByHand) {
  const Problem p = problem("1x40,1x17,1x33", false);  // 3, 2 and 3 pages
  using Pages = std::vector<std::vector<int>>;
  EXPECT_EQ(make_page_table(p, Table::Ordered, 1).pages, (Pages{{0, 1, 2}, {3, 4}, {5, 6, 7}}));
  EXPECT_EQ(make_page_table(p, Table::Interleaved, 1).pages, (Pages{{0, 3, 6}, {1, 4}, {2, 5, 7}}));
}

TEST(PageTable, ShuffledIsNoOrderAndFollowsTheSeed) {
  const Problem p = problem("1x160,1x160", false);
  const auto first = make_page_table(p, Table::Shuffled, 1), second = make_page_table(p, Table::Shuffled, 2);
  EXPECT_NE(first.pages, second.pages);
  EXPECT_EQ(first.pages, make_page_table(p, Table::Shuffled, 1).pages);
  int consecutive = 0;
  for (const auto& pages : first.pages)
    for (std::size_t i = 1; i < pages.size(); ++i) consecutive += pages[i] == pages[i - 1] + 1;
  EXPECT_LT(consecutive, 6);
}

TEST(PageTable, AliasedSharesWholePrefixPagesThatNobodyWrites) {
  int shared = 0;
  for (const char* lengths : {"1x40,1x90,2x64", "5x64,7x64,1x33", "1x16,1x16", "1x17,1x18"})
    for (const bool writes : {false, true}) {
      const Problem p = problem(lengths, writes);
      const auto table = make_page_table(p, Table::Aliased, 3);
      const int old_first = p.seqs[0].len_kv - p.seqs[0].len_q;
      for (std::size_t seq = 1; seq < p.seqs.size(); ++seq) {
        const int old = std::min(old_first, p.seqs[seq].len_kv - p.seqs[seq].len_q),
                  whole = std::max(old, 0) / p.page_size;
        for (int i = 0; i < pages_of(p, seq); ++i) {
          const int page = table.pages[seq][static_cast<std::size_t>(i)];
          const bool in_first = std::ranges::count(table.pages[0], page) > 0;
          EXPECT_EQ(in_first, i < whole) << lengths << " sequence " << seq << " page " << i;
          if (in_first) { EXPECT_EQ(page, table.pages[0][static_cast<std::size_t>(i)]); }
          shared += in_first;
        }
      }
    }
  EXPECT_GT(shared, 10);
}

TEST(PageTable, TheCallsTableNamesTheSamePagesAndUnusedOnesBehind) {
  const auto made = test::make("decode/test/q=bf16/kv=auto/h=1:1/d=8/page=16/seq=1x40,1x0,1x90/table=shuffled#4");
  const auto table = make_page_table(made.problem, Table::Shuffled, 4);
  const TensorView view = made.call.view(Slot::PageTable);
  ASSERT_EQ(view.shape, (Dims{3, 7}));  // 6 pages of the longest, and one that no sequence uses
  for (int seq = 0; seq < 3; ++seq)
    for (int i = 0; i < 7; ++i) {
      const auto& pages = table.pages[static_cast<std::size_t>(seq)];
      const auto named = static_cast<int>(view.integer({seq, i}));
      if (i < static_cast<int>(pages.size())) {
        EXPECT_EQ(named, pages[static_cast<std::size_t>(i)]);
      } else {
        EXPECT_EQ(std::ranges::count(table.unused, named), 1);
      }
    }
}

}  // namespace
}  // namespace attest
