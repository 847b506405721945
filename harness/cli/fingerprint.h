// What a journal's verdicts depend on, as one number: cases, contracts, waivers, program version, reference mode.
#pragma once

#include "harness/cli/paths.h"
#include "harness/cli/selection.h"

#include <string>

namespace attest {

// 16 hex digits. `mode`: reference mode, launches a case and guards, as text.
std::string fingerprint(const Selection& selection, const Paths& paths, const std::string& mode);

}  // namespace attest
