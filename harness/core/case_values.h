// How the values of a case's keys are written: words of the enumerations, dtypes, lengths, masks. The parts that the
// table of keys (case_keys.cc) is made of.
#pragma once

#include "harness/core/case.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <utility>

namespace attest::case_values {

using Wrong = std::optional<std::string>;  // what is wrong with a value

template <typename Enum>
using Names = std::vector<std::pair<Enum, std::string_view>>;

extern const Names<Phase> kPhases;
extern const Names<Table> kTables;
extern const Names<Scales> kScales;
extern const Names<Strides> kStrides;
extern const Names<Graph> kGraphs;
extern const Names<Probe> kProbes;
extern const Names<Poison> kPoisons;
extern const Names<PlanUse> kPlans;
extern const Names<Relation> kRelations;
extern const Names<RopeStyle> kStyles;

template <typename Enum>
std::vector<std::string> words(const Names<Enum>& names) {
  std::vector<std::string> all;
  for (const auto& [value, word] : names) all.emplace_back(word);
  return all;
}

template <typename Enum>
std::string word_of(const Names<Enum>& names, Enum value) {
  for (const auto& [v, word] : names)
    if (v == value) return std::string(word);
  return "?";
}

template <typename Enum>
Wrong parse_word(const Names<Enum>& names, std::string_view text, Enum& to) {
  for (const auto& [value, word] : names)
    if (word == text) return to = value, std::nullopt;
  return fmt::format("'{}' is unknown{}", text, suggestion(text, words(names)));
}

Wrong parse_int(std::string_view text, int least, int& to);
Wrong parse_float_dtype(std::string_view text, DType& to);
Wrong parse_optional_dtype(std::string_view text, std::string_view unset, std::optional<DType>& to);
std::string print_optional_dtype(const std::optional<DType>& dtype, std::string_view unset);

std::string print_seq(const Case& c);
Wrong parse_seq(Case& c, std::string_view text);
std::string print_mask(const Case& c);
Wrong parse_mask(Case& c, std::string_view text);
Wrong parse_heads(Case& c, std::string_view text);
std::string print_probe(const Case& c);
Wrong parse_probe(Case& c, std::string_view text);
Wrong parse_cap(Case& c, std::string_view text);
Wrong parse_kv(Case& c, std::string_view text);

}  // namespace attest::case_values
