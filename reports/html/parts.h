// The parts of the HTML report. It is one file that loads nothing and runs nothing: what folds is <details>,
// what is wide scrolls in its own box, and a state is told by a symbol and a word as well as by its colour.
#pragma once

#include "reports/findings.h"

#include <set>
#include <string>
#include <string_view>

namespace attest::report::html {

std::string_view stylesheet();

struct Section {
  std::string_view id, title;
  std::size_t count = 0;  // shown beside the title, unless 0
  std::string body;
};
std::string text_of(const Section& section);

Section failures(const Summary& summary,
                 std::set<std::size_t>& detailed);  // adds the entries that can be linked to
Section matrix(const Summary& summary, const std::set<std::size_t>& detailed);
Section ratios(const Summary& summary);
Section waived(const Summary& summary);
Section not_run(const Summary& summary);
Section unsupported(const Summary& summary);
Section slowest_cases(const Summary& summary);
Section runs(const Summary& summary);
Section backends(const Summary& summary);
Section all_cases(const Summary& summary);

// Smaller pieces; all take plain text and escape it.
std::string code(std::string_view text);
std::string command(std::string_view text);  // one click selects it all
std::string tag(Outcome outcome, std::string_view text);
std::string_view state_class(Outcome outcome);  // "ok", "bad", "waived", "idle"
std::string anchor(std::size_t entry);          // "c17"
// A table that scrolls sideways where it must. `head` and `rows` are markup.
std::string table(std::string_view label, std::string_view kind, const std::string& head, const std::string& rows);
std::string header_cells(std::initializer_list<std::string_view> names);  // a leading '#' sets one to the right

}  // namespace attest::report::html
