#include "reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace attest::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8 here
};

// The character at the front, by the table of well-formed sequences (Unicode 15, table 3-7).
Character decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t least[]{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

bool is_unprintable(std::uint32_t code) {
  const bool c1 = code >= 0x80 && code <= 0x9F;
  const bool reorders = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return c1 || reorders || (code & 0xFFFE) == 0xFFFE;
}

// U+2400 + code: a picture of the control character.
std::string picture(std::uint32_t code) { return std::string("\xE2\x90") + static_cast<char>(0x80 + code); }

}  // namespace

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto [code, length] = decode_utf8(bytes);
    if (length == 0 || is_unprintable(code))
      out += kReplacement;
    else if (code == 0x7F)
      out += picture(0x21);
    else if (code < 0x20 && code != '\n' && code != '\t')
      out += picture(code);
    else
      out += bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string clipped(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\n': out += "&#10;"; break;  // an attribute would lose them
      case '\t': out += "&#9;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view special = "\\`*_[]|~#!";
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '\n' || c == '\t')
      out += ' ';
    else if (c == '@')
      out += "@\u200B";  // else GitHub would notify somebody of that name
    else if (special.find(c) != std::string_view::npos)
      out += {'\\', c};
    else
      out += c;
  }
  return out;
}

std::string markdown_code(std::string_view text, Within within) {
  std::string body = printable(text);
  std::size_t longest = 0, run = 0;
  std::string out;
  for (const char c : body) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && within == Within::Table)
      out += "\\|";
    else
      out += c == '\n' || c == '\t' ? ' ' : c;
  }
  const std::string fence(longest + 1, '`');
  const bool padded = longest > 0 || out.empty();
  return fmt::format("{0}{1}{2}{1}{0}", fence, padded ? " " : "", out);
}

std::string ratio_text(double ratio) {
  if (std::isnan(ratio)) return "nan";
  const double size = std::abs(ratio);
  if (size == 0 || std::isinf(size) || (size >= 99.95 && size < 999999.5)) return fmt::format("{:.0f}", ratio);
  return fmt::format("{:#.3g}", ratio);
}

std::string value_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

std::string count_text(std::size_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string count_text(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

}  // namespace attest::report
