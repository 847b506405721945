// A case's tensors, complete: every slot its operation takes, filled, with poison in all other places. The same bytes
// on every machine for the same case.
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <vector>

namespace attest {

// Element tables of a layout that only the plug-in knows (CachePlace::table), empty for layouts by strides.
struct CacheTables {
  std::vector<std::int64_t> k, v;
};

// Throws UsageError where the case asks for what can't be made, and for unreadable files of in=file:DIR.
Call make_inputs(const Case& c, const Problem& problem, const CacheTables& tables = {});

// The same call with other KV lengths, for a plan that is used again: one page shorter or longer, shapes unchanged.
Case with_other_lengths(const Case& c);

}  // namespace attest
