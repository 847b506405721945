// The values of one key of a block: written out, as a range, or relative to the page.
#pragma once

#include "harness/core/case.h"

#include <optional>
#include <string>
#include <vector>

namespace attest {

// "64..256..64" -> 64 128 192 256; "1..3" steps by 1; everything else is itself. nullopt: no such range.
std::optional<std::vector<std::string>> expand_range(const std::string& text);

// Lengths of a `seq` may be said in pages: p is the case's page, "1xp-1,1x2p+1,px3p" with page 16 is
// "1x15,1x33,16x48". Text without p is returned as it is; nullopt: a length would be negative or makes no sense.
std::optional<std::string> resolve_pages(const std::string& seq, int page);

}  // namespace attest
