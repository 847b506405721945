// What a report says of verdicts in words: where the worst element lies, which verdicts tell the same story,
// and what the failing ones have in common that the passing ones have not.
#pragma once

#include "reports/summary.h"

#include <functional>
#include <string>
#include <vector>

namespace attest::report {

// "sequence 2 (1x255), head 5 (KV head 1), row 0, dim 77"; without the dim for a value per row (LSE).
std::string place_text(const Entry& entry, const Place& place);
double error_of(const Miss& miss);  // |actual - expected|
double ratio_of(const Miss& miss);  // the same in units of its bound; nan or inf where a value is special
std::string failing_text(const Verdict& verdict);  // "12 of 4,096 elements; sequence.head 2.5, 2.6"; empty where none

// Outcome and, for a waived failure, what is waived: "numeric", "crash".
std::string seen_text(const Verdict& verdict);
std::string_view symbol(Outcome outcome);  // never the only sign of a state, and colour never the only one either

// Entries that share a text, the largest group first.
struct Group {
  std::string title;
  std::vector<std::size_t> entries;  // indices, sorted by token
};
using Title = std::function<std::string(const Entry&)>;
std::vector<Group> grouped(const Summary& summary, const std::function<bool(const Verdict&)>& wanted,
                           const Title& title);
std::string reason_text(const Entry& entry);  // the message, or that there is none
std::string waiver_text(const Entry& entry);
std::string seen_counts(const Summary& summary, const Group& group);  // "numeric 12, lse 2"

// What sets the failing cases of a group apart: the keys whose value they all share and most passing cases of
// their backend do not. Empty for a single failure, which shares everything with itself.
struct SharedKeys {
  std::vector<std::string> keys;  // "graph=full", the most telling first
  std::size_t passing = 0;        // passing cases of the backend
  std::size_t passing_with = 0;   // of them with all of these keys
};
SharedKeys shared_keys(const Summary& summary, const Group& failing);

// Cases that took any time, the slowest first.
std::vector<std::size_t> slowest(const Summary& summary, std::size_t most);

}  // namespace attest::report
