// cases/waivers.yaml.
#pragma once

#include "harness/record/waiver.h"

#include <string>
#include <vector>

namespace attest {

std::vector<Waiver> read_waivers(const std::string& path);  // throws UsageError with file and line

}  // namespace attest
