// Reports: what a journal says, for machines and for people. Each is a function of the journal alone.
#pragma once

#include "harness/record/journal.h"

#include <string>

namespace attest {

std::string json_report(const JournalContent& journal);      // one object: runs, backends, matrix, verdicts
std::string junit_report(const JournalContent& journal);     // one test suite a backend, one test case a token
std::string markdown_report(const JournalContent& journal);  // for a pull request
std::string html_report(const JournalContent& journal);      // one file, nothing loaded, readable without scripts

}  // namespace attest
