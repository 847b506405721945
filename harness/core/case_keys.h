// The one table of a case's keys: how each prints, parses and defaults. Tokens, matrix files, contracts and
// command-line filters all go through it, so a key means the same everywhere.
#pragma once

#include "harness/core/case.h"

#include <span>

namespace attest {

struct CaseKey {
  std::string_view name;
  std::string_view help;
  bool (*shown)(const Case&);  // always in the token, also at its default
  std::string (*print)(const Case&);
  std::optional<std::string> (*parse)(Case&, std::string_view value);  // nullopt, or what is wrong with the value
};

std::span<const CaseKey> case_keys();  // in the order of the token
const CaseKey* find_case_key(std::string_view name);
std::vector<std::string> case_key_names();

std::optional<Phase> parse_phase(std::string_view name);
std::vector<std::string> phase_names();

// A key's value as text, or one of the values derived from several keys: phase, backend, group, heads_q, heads_kv,
// dim_v, k_dtype, v_dtype, cache, num_seqs, min_len_q, max_len_q, min_len_kv, max_len_kv, rotary_dim. nullopt: no such
// key.
std::optional<std::string> case_value(const Case& c, std::string_view key);
std::vector<std::string> case_value_names();

}  // namespace attest
