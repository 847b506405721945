// Small text tools shared by everything that reads names from people: splitting, globs, the nearest right word.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

std::vector<std::string_view> split(std::string_view text, char separator);  // "" gives one empty part

// `*` any run, `?` any character, everything else itself; the whole text must match.
bool glob_match(std::string_view pattern, std::string_view text);

// The candidate with the smallest edit distance, if it is near enough to be a slip of the hand.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// " (did you mean 'heads'?)", else " (one of: a, b, c)".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace attest
