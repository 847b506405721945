// The part of an output that carries the error is named, whichever way it is cut; what tells nothing is not.
#include <gtest/gtest.h>

#include "harness/inputs/inputs.h"
#include "harness/study/diagnosis/excess.h"
#include "tests/judge/small.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace attest {
namespace {

using test::ragged_problem;

struct Wrong {
  Problem problem;
  ExpectedTensor right;

  explicit Wrong(const char* seq = "4x40,4x36", const char* heads = "4:2", int dim = 32)
      : problem(ragged_problem(seq, heads)), right(test::numbered(problem.total_q, problem.heads_q, dim)) {}

  template <typename Where>  // (row, head, dim) -> by how many bounds it is off
  std::vector<std::string> places(Where off, const std::vector<int>& keys = {}, int tile = 0) const {
    const Element actual = [&](int row, int head, int dim) {
      const std::size_t at = right.index(row, head, dim);
      return right.value[at] + off(row, head, dim) * right.bound[at];
    };
    return excess_places(right, actual, problem, keys, tile);
  }
};

bool names(const std::vector<std::string>& places, const std::string& part) {
  return std::ranges::any_of(places, [&](const std::string& p) { return p.ends_with(" lies in " + part); });
}

TEST(Excess, NothingIsSaidOfAnOutputWithinItsBound) {
  EXPECT_TRUE(Wrong().places([](int, int, int) { return 0.9; }).empty());
}

TEST(Excess, NothingIsSaidOfAnErrorThatIsEverywhere) {
  EXPECT_TRUE(Wrong().places([](int, int, int) { return 5; }).empty());
}

TEST(Excess, NamesTheHead) {
  const auto places = Wrong().places([](int, int head, int) { return head >= 2 ? 40 : 0.5; });
  EXPECT_EQ(places, std::vector<std::string>{"100 % of the excess lies in KV head 1"});
  const auto one = Wrong().places([](int, int head, int) { return head == 3 ? 40 : 0.5; });
  EXPECT_TRUE(names(one, "query head 3"));
}

TEST(Excess, NamesTheSequenceAndTheRow) {
  const auto places = Wrong().places([](int row, int, int) { return row == 7 ? 3.0 : 0.0; });
  EXPECT_TRUE(names(places, "sequence 1"));
  EXPECT_TRUE(names(places, "the last rows of their sequences"));
}

TEST(Excess, NamesTheSmallestBlockOfDims) {
  EXPECT_TRUE(names(Wrong().places([](int, int, int dim) { return dim >= 24 ? 9.0 : 0; }), "dims 24 to 31"));
  EXPECT_TRUE(names(Wrong().places([](int, int, int dim) { return dim >= 16 ? 9.0 : 0; }), "dims 16 to 31"));
}

TEST(Excess, NanIsExcess) {
  const auto places = Wrong().places([](int, int head, int) { return head < 2 ? std::nan("") : 0.0; });
  EXPECT_TRUE(names(places, "KV head 0"));
}

TEST(Excess, MoreThanNineTenthsIsNeeded) {
  const auto of = [](double other) {
    return Wrong().places([other](int, int head, int) { return head >= 2 ? 90.0 : other; });
  };
  EXPECT_TRUE(names(of(9), "KV head 1"));
  EXPECT_FALSE(names(of(11), "KV head 1"));
}

TEST(Excess, NamesPagesSplitsAndTilesOfTheHeaviestKey) {
  Wrong wrong("1x38,1x38", "2:1", 4);  // pages of 4: 38 ends in a partial one
  wrong.problem.splits = 2;
  const std::vector<int> keys{37, 3, 36, 20};  // by (token, head)
  const auto places = wrong.places([](int, int head, int) { return head == 0 ? 7.0 : 0.0; }, keys, 8);
  EXPECT_TRUE(names(places, "rows whose heaviest key lies in the last partial page"));
  EXPECT_TRUE(names(places, "rows whose heaviest key lies in tile 4"));
}

TEST(Excess, TheHeaviestKeyIsTheOneThatSelectPicks) {
  const Case c = parse_token("prefill/test/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=3x37,1x9,2x0/in=select#4");
  const Problem problem = make_problem(c, test::open_contract());
  const Call call = make_inputs(c, problem);
  const std::vector<int> keys = heaviest_keys(problem, call);
  ASSERT_EQ(keys.size(), 24U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_TRUE(keys[i] >= 0 && keys[i] < 37);
  EXPECT_TRUE(std::all_of(keys.begin() + 16, keys.end(), [](int key) { return key == -1; }));  // rows without keys
  EXPECT_GT(std::set<int>(keys.begin(), keys.begin() + 12).size(), 1U);
}

}  // namespace
}  // namespace attest
