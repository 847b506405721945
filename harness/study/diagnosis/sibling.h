// A failing case's siblings: the same options and shapes with other probes, so that a fault shows from several sides;
// each ready for the kernel under suspicion and for the models that it is compared with. What both leave is read in one
// order whatever their layouts are.
#pragma once

#include "harness/study/diagnosis/match.h"
#include "harness/study/seed.h"

#include <optional>
#include <vector>

namespace attest {

// A case of the same options that a few thousand launches of are affordable: fewer sequences, two KV heads, shorter
// lengths with the same partial pages. The case itself where it is light.
Case lighter(const Case& c);

// The case itself, then one with each other probe that goes with its options. The seed is another: what decides should
// not hang on one draw.
std::vector<Case> siblings(const Case& failing);

// One sight a tensor: the output, the LSE, and the caches where the case writes them.
std::vector<Sight> sights(const Subject& subject);

// What a launch left of each sight; all empty where it did not come back.
Seen seen(const Subject& subject, const Outputs& left);

}  // namespace attest
