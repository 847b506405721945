#include "harness/matrix/axis.h"

#include "harness/core/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

namespace attest {
namespace {

constexpr long kMostValues = 10'000;
constexpr std::size_t kLongestRange = 64;  // characters

// "3", "p", "2p", "p+1", "2p-1"
std::optional<long> length(const std::string& text, int page) {
  static const std::regex form(R"((\d*)(p?)([+-]\d+)?)");
  std::smatch match;
  if (text.empty() || text.size() > kLongestRange || !std::regex_match(text, match, form)) return std::nullopt;
  const bool pages = match[2].matched && match[2].length() > 0;
  if (match[1].length() == 0 && !pages) return std::nullopt;
  const auto count = match[1].length() > 0 ? parse_number<int>(match[1].str()) : 1;
  const auto offset = match[3].matched ? parse_number<int>(match[3].str().substr(1)) : 0;
  if (!count || !offset) return std::nullopt;
  const long value =
      *count * (pages ? long{page} : 1) + (match[3].matched && match[3].str()[0] == '-' ? -*offset : *offset);
  return value < 0 ? std::nullopt : std::optional(value);
}

}  // namespace

std::optional<std::vector<std::string>> expand_range(const std::string& text) {
  static const std::regex form(R"((\d+)\.\.(\d+)(?:\.\.(\d+))?)");
  std::smatch match;
  if (text.size() > kLongestRange || !std::regex_match(text, match, form)) {  // std::regex recurses by the character
    if (text.find("..") != std::string::npos && text.find("file:") == std::string::npos) return std::nullopt;
    return std::vector{text};
  }
  const auto from = parse_number<long>(match[1].str()), to = parse_number<long>(match[2].str());
  const auto step = match[3].matched ? parse_number<long>(match[3].str()) : 1L;
  if (!from || !to || !step || *step < 1 || *to < *from || (*to - *from) / *step > kMostValues) return std::nullopt;
  std::vector<std::string> values;
  for (long i = 0; i <= (*to - *from) / *step; ++i) values.push_back(std::to_string(*from + i * *step));
  return values;
}

std::optional<std::string> resolve_pages(const std::string& seq, int page) {
  if (seq.find('p') == std::string::npos) return seq;
  std::vector<std::string> parts;
  for (const auto part : split(seq, ',')) {
    std::string text(part), times;
    if (const auto star = text.find('*'); star != std::string::npos) {
      times = text.substr(0, star + 1);
      text = text.substr(star + 1);
    }
    const auto cross = text.find('x');
    if (cross == std::string::npos) return std::nullopt;
    const auto len_q = length(text.substr(0, cross), page), len_kv = length(text.substr(cross + 1), page);
    if (!len_q || !len_kv) return std::nullopt;
    parts.push_back(fmt::format("{}{}x{}", times, *len_q, *len_kv));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace attest
