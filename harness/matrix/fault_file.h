// The catalogue of faults: cases/faults/model.yaml, delivery.yaml and output.yaml, one file a tier.
//
//     faults:
//       - name: k_scale_ignored
//         says: K's scale is not multiplied in
//         when: {scales: [odd, head], p_offset: {min: 1}}    # over case values and claims in force
//         unseen: {tile_c: "why no test can see it through that contract"}
#pragma once

#include "harness/core/fault.h"

#include <string>
#include <vector>

namespace attest {

// Throws UsageError with file and line: unknown keys, bad conditions, a name given twice, a fault without a sentence.
std::vector<Fault> read_faults(const std::string& path, FaultTier tier);

// Of the three files in `folder` (a missing one holds none); a name of two tiers is an error too.
std::vector<Fault> read_catalogue(const std::string& folder);

}  // namespace attest
