// Reports of a self-test: who catches which fault. Each is a function of the kill table alone.
#pragma once

#include "harness/record/kill_table.h"

#include <string>

namespace attest {

std::string kill_table_text(const KillTable& table);      // for a terminal; the last line is the totals
std::string kill_table_json(const KillTable& table);      // one object: scores, faults by mode, probe and rule
std::string kill_table_markdown(const KillTable& table);  // docs/detection.md
std::string kill_table_html(const KillTable& table);      // one file, nothing loaded

}  // namespace attest
