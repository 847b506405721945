#include "tests/reports/markup.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <regex>

namespace attest::test {
namespace {

constexpr std::array<std::string_view, 4> kVoid{"meta", "link", "br", "wbr"};

std::optional<std::string> bad_bytes(std::string_view text) {
  try {
    (void)nlohmann::json(std::string(text)).dump();  // strict: throws where this is no UTF-8
  } catch (const nlohmann::json::exception& error) { return error.what(); }
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F)
      return fmt::format("control character {:#x}", c);
  return std::nullopt;
}

std::optional<std::string> bad_entities(std::string_view text) {
  static const std::regex entity("^&(amp|lt|gt|quot|apos|#[0-9]+);");
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1))
    if (const std::string here(text.substr(at, 12)); !std::regex_search(here, entity))
      return "bare & before '" + here + "'";
  return std::nullopt;
}

// Where the tag that opens at `at` ends, quotes respected.
std::size_t tag_end(std::string_view text, std::size_t at) {
  char quote = 0;
  for (; at < text.size(); ++at) {
    if (quote && text[at] == quote)
      quote = 0;
    else if (!quote && (text[at] == '"' || text[at] == '\''))
      quote = text[at];
    else if (!quote && text[at] == '>')
      return at;
  }
  return std::string_view::npos;
}

std::optional<Tag> parse_tag(std::string body, bool bare_attributes) {
  static const std::regex name("^[A-Za-z][A-Za-z0-9-]*"), attribute(R"re(^\s+([A-Za-z][A-Za-z-]*)(="([^"<]*)")?)re");
  std::smatch match;
  if (!std::regex_search(body, match, name)) return std::nullopt;
  Tag tag{.name = match.str(), .attributes = {}};
  for (body = match.suffix(); std::regex_search(body, match, attribute); body = match.suffix()) {
    if (!match[2].matched && !bare_attributes) return std::nullopt;
    if (!tag.attributes.emplace(match.str(1), match.str(3)).second) return std::nullopt;
  }
  if (!body.empty() && body != "/") return std::nullopt;
  return tag;
}

std::optional<std::string> walk(std::string_view text, Markup markup, const std::function<void(const Tag&)>& on_tag) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const std::size_t end = tag_end(text, at);
    if (end == std::string_view::npos) return "a tag that does not end";
    std::string body(text.substr(at + 1, end - at - 1));
    at = end + 1;
    if (body.starts_with("?xml") || (markup == Markup::Html && body == "!DOCTYPE html")) continue;
    if (body.starts_with('/')) {
      if (open.empty() || "/" + open.back() != body)
        return fmt::format("<{}> closes <{}>", body, open.empty() ? "" : open.back());
      open.pop_back();
      continue;
    }
    const auto tag = parse_tag(body, markup == Markup::Html);
    if (!tag) return "no tag: <" + body + ">";
    on_tag(*tag);
    const bool is_void = markup == Markup::Html && std::ranges::find(kVoid, tag->name) != kVoid.end();
    if (is_void || body.ends_with('/')) continue;
    open.push_back(tag->name);
    if (tag->name == "style") at = text.find("</style>", at);
  }
  return open.empty() ? std::nullopt : std::optional("not closed: <" + open.back() + ">");
}

}  // namespace

std::optional<std::string> malformed(std::string_view text, Markup markup) {
  if (auto wrong = bad_bytes(text)) return wrong;
  if (auto wrong = bad_entities(text)) return wrong;
  return walk(text, markup, [](const Tag&) {});
}

std::vector<Tag> tags(std::string_view text) {
  std::vector<Tag> all;
  walk(text, Markup::Html, [&](const Tag& tag) { all.push_back(tag); });
  return all;
}

std::size_t count_tags(std::string_view text, std::string_view name) {
  const auto all = tags(text);
  return static_cast<std::size_t>(std::ranges::count(all, name, &Tag::name));
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

}  // namespace attest::test
