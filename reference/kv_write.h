// The reference of the KV write: the bytes of every cache storage after the call, bit for bit.
#pragma once

#include "harness/core/call.h"
#include "harness/core/contract.h"
#include "harness/core/problem.h"

#include <cstddef>
#include <map>
#include <vector>

namespace attest {

// By storage of the call, for the storages that hold a cache. Each token whose slot is not negative is converted as
// `arithmetic` says and put in its place; every other byte is as it was. Where no scale applies and the dtypes are the
// same, codes are copied (NaN payloads too).
std::map<std::size_t, std::vector<std::byte>> write_cache(const Problem& problem, const Call& call,
                                                          const WriteArithmetic& arithmetic);

}  // namespace attest
