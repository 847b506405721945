// Journals to write reports of: a small one with every outcome, a hostile one, and large ones.
#pragma once

#include "harness/record/journal.h"

#include <string>
#include <string_view>

namespace attest::test {

Verdict passed(std::string token, double ratio);

// 17 cases of two backends, 15 with a verdict: 6 pass, 1 fails as waived, 1 is unsupported, 1 did not run,
// and of the other outcomes one each (FAIL twice).
JournalContent every_outcome();
inline constexpr std::size_t kEveryOutcomeCases = 17;

// Nine cases with `text` wherever a journal takes text from a plug-in or a user, and a backend with an ill
// name.
JournalContent with_text(const std::string& text);

// Text that breaks out of its place, if anything lets it.
inline constexpr std::string_view kHostile =
    "<script>alert(1)</script> \"double\" 'single' ]]> --> &amp; a|b `tick` \x1b[31m \x01\x7f \xff\xfe "
    "\xc0\xaf \xed\xa0\x80 "
    "\xe2\x80\xae end";

// `count` cases, every `nth_fails`-th one failing (0: none).
JournalContent many(int count, int nth_fails);

}  // namespace attest::test
