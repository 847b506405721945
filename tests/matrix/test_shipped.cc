// The matrices, contracts and waivers that ship: they load, their tokens parse back and are unique, every backend takes
// some case, what a contract takes has a layout, and every waiver waives something.
#include "harness/core/problem.h"
#include "harness/matrix/matrix_file.h"
#include "harness/matrix/waiver_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace attest {
namespace {

const std::string kCases = ATTEST_SOURCE_DIR "/cases";

std::vector<std::string> matrix_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kCases))
    if (entry.path().extension() == ".yaml" && entry.path().filename() != "waivers.yaml")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

ContractBook contracts() { return ContractBook::read(kCases + "/contracts", "/deps"); }

TEST(Shipped, EveryTokenParsesBackAndIsUnique) {
  const ContractBook book = contracts();
  ASSERT_FALSE(matrix_files().empty());
  for (const auto& file : matrix_files()) {
    const Matrix matrix = read_matrix({file}, book, {});
    EXPECT_FALSE(matrix.cases.empty()) << file;
    EXPECT_TRUE(matrix.left_out.empty()) << file << ": the highest tier leaves nothing out";
    std::set<std::string> tokens;
    for (const ListedCase& listed : matrix.cases) {
      ASSERT_EQ(parse_token(listed.token), listed.c) << file << " " << listed.token;
      ASSERT_TRUE(tokens.insert(listed.token).second) << file << " " << listed.token;
    }
  }
}

TEST(Shipped, EveryBackendTakesACase) {
  const ContractBook book = contracts();
  std::map<std::string, int> taken;
  for (const auto& file : matrix_files())
    for (const ListedCase& listed : read_matrix({file}, book, {}).cases)
      taken[listed.c.backend] += expectation(book.find(listed.c.backend), listed.c).kind == Expectation::Kind::Take;
  ASSERT_FALSE(book.names().empty());
  for (const auto& backend : book.names())
    EXPECT_GT(taken[backend], 0) << backend << " is in no matrix, or takes none of its cases";
}

// What is run gets as far as its inputs: a layout for its strides, one that its head dims fit.
TEST(Shipped, WhatIsTakenOrRejectedMakesAProblem) {
  const ContractBook book = contracts();
  for (const auto& file : matrix_files())
    for (const ListedCase& listed : read_matrix({file}, book, {}).cases) {
      const Contract& contract = book.find(listed.c.backend);
      if (expectation(contract, listed.c).kind == Expectation::Kind::Decline) continue;
      const Problem p = make_problem(listed.c, contract);
      if (p.op == Op::Rope) continue;
      ASSERT_NO_THROW(place_cache(p.layout, {p.num_pages, p.page_size, p.heads_kv, p.dim, p.dim_v})) << listed.token;
    }
}

TEST(Shipped, ARejectionIsOfAPhaseThatTheBackendHas) {
  const ContractBook book = contracts();
  for (const auto& file : matrix_files())
    for (const ListedCase& listed : read_matrix({file}, book, {}).cases) {
      const Contract& contract = book.find(listed.c.backend);
      if (expectation(contract, listed.c).kind == Expectation::Kind::Reject) {
        EXPECT_TRUE(contract.ops.contains(listed.c.phase)) << listed.token;
      }
    }
}

TEST(Shipped, EveryLayoutPutsEachElementInAPlaceOfItsOwn) {
  const ContractBook book = contracts();
  for (const auto& backend : book.names())
    for (const auto& [strides, spec] : book.find(backend).layouts) {
      ASSERT_EQ(check(spec), std::nullopt) << backend;
      const CacheLayout layout = place_cache(spec, {.pages = 3, .page_size = 4, .heads = 2, .dim = 5, .dim_v = 5});
      std::set<std::int64_t> taken;
      for (const CachePlace* place : {&layout.k, &layout.v}) {
        if (!layout.one_storage) taken.clear();
        for (std::int64_t i = 0; i < 3 * 4 * 2 * 5; ++i) {
          const auto at = place->index(i / 40, i / 10 % 4, i / 5 % 2, i % 5);
          ASSERT_TRUE(at >= 0 && at < place->storage && taken.insert(at).second) << backend;
        }
      }
    }
}

TEST(Shipped, EveryWaiverWaivesACaseThatIsRun) {
  const ContractBook book = contracts();
  const auto waivers = read_waivers(kCases + "/waivers.yaml");
  std::map<std::string, int> used;
  for (const auto& file : matrix_files())
    for (const ListedCase& listed : read_matrix({file}, book, {}).cases) {
      if (expectation(book.find(listed.c.backend), listed.c).kind == Expectation::Kind::Decline) continue;
      for (const Waiver& waiver : waivers) {
        Verdict passes{.outcome = Outcome::Pass};
        apply({waiver}, {listed.c.backend, waiver.version, token_without_seed(listed.c)}, "2000-01-01", passes);
        used[waiver.place] += passes.outcome == Outcome::Xpass;
      }
    }
  for (const Waiver& waiver : waivers) EXPECT_GT(used[waiver.place], 0) << waiver.place << " matches no case";
}

}  // namespace
}  // namespace attest
