// What the reports of a self-test share: cells, and the tables as rows of plain text, which each report dresses.
#pragma once

#include "harness/record/kill_table.h"

#include <string>
#include <vector>

namespace attest::report {

struct TextTable {
  std::vector<std::string> head;  // a leading '#' sets a column to the right
  std::vector<std::vector<std::string>> rows;
};

TextTable score_table(const KillTable& table, const KillSummary& summary);     // by mode
TextTable fault_table(const KillTable& table, const KillSummary& summary);     // fault x mode: the largest margin
TextTable probe_table(const KillTable& table, const KillSummary& summary);     // fault x probe: the rules that kill
TextTable survivor_table(const KillTable& table, const KillSummary& summary);  // with the explanation
TextTable sensitivity_table(const KillTable& table);                           // mode x probe
TextTable rule_table(const KillTable& table);                                  // ours and other suites'
TextTable formula_table(const KillTable& table);                               // what they accept

std::string totals(const KillTable& table, const KillSummary& summary);  // "130 faults, 130 killed, ..."

// Probes that no fault needs: every fault that they kill is killed by another as well.
std::vector<std::string> probes_without_a_kill_of_their_own(const KillSummary& summary);

}  // namespace attest::report
