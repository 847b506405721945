// Every rule of the harness on one launch, each for itself: by how much does what the kernel left break it?
#pragma once

#include "harness/record/kill_table.h"
#include "harness/study/seed.h"

namespace attest {

// By rule, the largest |error| / bound; infinite where a rule that measures nothing is broken, 0 where it holds. A
// launch that the plug-in declined breaks none.
Margins judge(const Subject& subject, const Outputs& left);

}  // namespace attest
