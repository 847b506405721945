#include "harness/matrix/conditions.h"

#include "harness/core/case_keys.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace attest {
namespace {

double number(const YamlFile& file, const YAML::Node& node, const std::string& key) {
  const auto value = parse_number<double>(file.scalar(node, key));
  if (!value) file.fail(node, fmt::format("{}: '{}' is no number", key, node.Scalar()));
  return *value;
}

// A value without wildcards must be one that the key can have: a misspelt one would never match, in silence.
void check_value(const YamlFile& file, const YAML::Node& node, const std::string& key, const std::string& value) {
  const CaseKey* known = find_case_key(key);
  if (!known || value.find_first_of("*?") != std::string::npos) return;
  Case scratch;
  if (const auto wrong = known->parse(scratch, value)) file.fail(node, fmt::format("{}: {}", key, *wrong));
}

Condition read_condition(const YamlFile& file, const std::string& key, const YAML::Node& node) {
  Condition condition{.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = {}, .not_multiple = {}};
  if (!node.IsMap()) {
    condition.any_of = file.scalars(node, key);
    if (condition.any_of.empty()) file.fail(node, fmt::format("{}: an empty list matches nothing", key));
    for (const auto& value : condition.any_of) check_value(file, node, key, value);
    return condition;
  }
  file.each(node, {"min", "max", "multiple", "not_multiple"}, [&](const std::string& test, const YAML::Node&, const YAML::Node& value) {
    const double n = number(file, value, key + "." + test);
    if (test == "min") condition.min = n;
    else if (test == "max") condition.max = n;
    else if (n < 1) file.fail(value, fmt::format("{}.{}: '{}' is no positive integer", key, test, value.Scalar()));
    else (test == "multiple" ? condition.multiple : condition.not_multiple) = static_cast<int>(n);
  });
  return condition;
}

}  // namespace

When read_conditions(const YamlFile& file, const YAML::Node& mapping, const std::vector<std::string>& skip) {
  auto known = case_value_names();
  known.insert(known.end(), skip.begin(), skip.end());
  When when;
  file.each(mapping, known, [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
    if (std::find(skip.begin(), skip.end(), key) == skip.end()) when.push_back(read_condition(file, key, value));
  });
  return when;
}

}  // namespace attest
