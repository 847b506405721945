// What a run, or a report of one, tells the shell: 0 conforms, 1 does not, 2 usage or nothing matched, 3 infrastructure
// or incomplete, 77 nothing runnable.
#pragma once

#include "harness/record/journal.h"

namespace attest {

enum ExitCode { kConforms = 0, kFails = 1, kUsage = 2, kIncomplete = 3, kNothingRunnable = 77 };

// `require`: what did not run for want of something fails.
int exit_code(const JournalContent& journal, std::size_t without_verdict, bool require);

// Cases of the journal's runs, all shards of them, that have no verdict in it.
std::size_t without_verdict(const JournalContent& journal);

}  // namespace attest
