// Walks XML, or HTML as this project writes it, and tells what is wrong with it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attest::test {

struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;  // as written, not unescaped
};

enum class Markup { Xml, Html };  // Html: a doctype, void elements, attributes without a value, <style> as it is

// nullopt, or the first offence: tags that do not close in order, a bare < or &, an unknown entity, a control
// character, bytes that are no UTF-8.
std::optional<std::string> malformed(std::string_view text, Markup markup);

// All opening tags in order; the text must be well-formed.
std::vector<Tag> tags(std::string_view text);
std::size_t count_tags(std::string_view text, std::string_view name);

std::size_t count(std::string_view text, std::string_view part);

}  // namespace attest::test
