// A kernel whose faults are known and that looks like any plug-in: the tiled engine under another name, with a tile
// size that diagnosis does not run, and a contract that says what it says and no more.
#pragma once

#include "harness/core/contract.h"
#include "tests/run/program.h"

#include <map>
#include <string>

namespace attest::test {

inline std::vector<ClaimRule> flat(const std::vector<ClaimRule>& rules, const Case& c) {
  return {{.when = {}, .claims = claims_in_force(rules, c)}};
}

// As of the case: its claims hold for this one.
inline Contract unknown_kernel(const Case& c, int tile) {
  const Contract& like = contracts().find(c.backend);
  Contract unknown = like;
  unknown.backend = "unknown";
  unknown.rules = flat(like.rules, c);
  unknown.arithmetic = flat(like.arithmetic, c);
  unknown.write = flat(like.write, c);
  unknown.ran = flat(like.ran, c);
  unknown.declines.clear();
  for (auto& claim : unknown.arithmetic.front().claims)
    if (claim.field == "tile") claim.value = std::to_string(tile);
  unknown.options.emplace_back("tile", std::to_string(tile));
  return unknown;
}

}  // namespace attest::test
