// A matrix file: blocks whose keys are those of a case, each with a value, a list, or a range; a block is the product
// of its lists, or with `cover: pairwise` as few cases as hold every pair of values (docs/matrix.md describes the
// file).
#pragma once

#include "harness/core/case.h"
#include "harness/matrix/contract_file.h"

#include <string>
#include <vector>

namespace attest {

enum class Tier { Smoke, Ci, Nightly, Full };
std::string_view name(Tier tier);
std::optional<Tier> tier_from_name(std::string_view name);
std::vector<std::string> tier_names();

struct ListedCase {
  Case c;
  std::string token;
  std::string block;  // name of its block
  std::string place;  // file:line of its block
};

struct MatrixOptions {
  Tier tier = Tier::Full;    // blocks of higher tiers are left out
  std::uint64_t seed = 1;    // for blocks that give none
  std::string only_backend;  // replaces every block's backends, when not empty
};

struct Matrix {
  std::vector<ListedCase> cases;
  std::vector<std::string> left_out;   // blocks of higher tiers: "cases/long.yaml:30: block 'long' is of tier nightly"
  std::vector<std::string> unreached;  // pairs that a pairwise block could not cover, because they are excluded
};

// Throws UsageError with file and line: unknown key, bad value, contradiction, unknown backend, duplicate token, empty
// product, exclude without because.
Matrix read_matrix(const std::vector<std::string>& paths, const ContractBook& contracts, const MatrixOptions& options);

}  // namespace attest
