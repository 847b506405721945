// Loads a plug-in into this process and checks that it speaks this ABI. Never unloads it.
#pragma once

#include "backends/abi.h"

#include <string>

namespace attest {

// Throws UsageError, one line: no such file, not loadable, no attest_backend_entry, another ABI version.
const attest_backend& load_plugin(const std::string& path);

}  // namespace attest
