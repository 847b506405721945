#include "harness/matrix/conditions.h"

#include "harness/core/case_keys.h"
#include "harness/core/fault.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace attest {
namespace {

template <typename Number>
Number number(const YamlFile& file, const YAML::Node& node, const std::string& key, Number least,
              std::string_view what) {
  const auto value = parse_number<Number>(file.scalar(node, key));
  if (!value || !(*value >= least)) file.fail(node, fmt::format("{}: '{}' is no {}", key, node.Scalar(), what));
  return *value;
}

// One sequence, every key at its default: shows which keys have numbers for values.
Case plain_case() {
  Case c;
  c.seq = {Sequence{}};
  return c;
}

bool is_numeric(const std::string& key) {
  auto value = case_value(plain_case(), key);
  if (!value) value = claim_unset(key);
  return parse_number<double>(*value).has_value();
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(DType::Q4_0); ++i) all.emplace_back(name(static_cast<DType>(i)));
  return all;
}

// A value without wildcards must be one that the key can have, and is spelt as a case prints it: another would never
// match, in silence.
std::string checked_value(const YamlFile& file, const YAML::Node& node, const std::string& key,
                          const std::string& value) {
  if (value.find_first_of("*?") != std::string::npos || key == "backend") return value;
  if (const CaseKey* known = find_case_key(key)) {
    Case scratch;
    if (const auto wrong = known->parse(scratch, value)) file.fail(node, fmt::format("{}: {}", key, *wrong));
    return known->print(scratch);
  }
  if (!case_value(plain_case(), key)) {
    const Claim claim{.field = key, .value = value, .source = ""};
    if (const auto wrong = check_claim(*claim_section(key), claim)) file.fail(node, fmt::format("{}: {}", key, *wrong));
    return value;
  }
  if (is_numeric(key)) {
    if (!parse_number<int>(value)) file.fail(node, fmt::format("{}: '{}' is no integer", key, value));
    return std::to_string(*parse_number<int>(value));
  }
  const auto words = key == "phase" ? phase_names() : dtype_names();
  if (std::find(words.begin(), words.end(), value) == words.end())
    file.fail(node, fmt::format("{}: '{}' is unknown{}", key, value, suggestion(value, words)));
  return value;
}

Condition read_condition(const YamlFile& file, const std::string& key, const YAML::Node& node) {
  Condition condition{.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = {}, .not_multiple = {}};
  if (!node.IsMap()) {
    condition.any_of = file.scalars(node, key);
    if (condition.any_of.empty()) file.fail(node, fmt::format("{}: an empty list matches nothing", key));
    for (auto& value : condition.any_of) value = checked_value(file, node, key, value);
    return condition;
  }
  if (!is_numeric(key)) file.fail(node, fmt::format("{}: its values are no numbers: list those that are meant", key));
  file.each(node, {"min", "max", "multiple", "not_multiple"},
            [&](const std::string& test, const YAML::Node&, const YAML::Node& value) {
              const std::string what = key + "." + test;
              if (test == "min" || test == "max")
                (test == "min" ? condition.min : condition.max) =
                    number(file, value, what, std::numeric_limits<double>::lowest(), "number");
              else
                (test == "multiple" ? condition.multiple : condition.not_multiple) =
                    number(file, value, what, 1, "positive integer");
            });
  if (!condition.min && !condition.max && !condition.multiple && !condition.not_multiple)
    file.fail(node, fmt::format("{}: expected values, or min, max, multiple or not_multiple", key));
  return condition;
}

}  // namespace

When read_conditions(const YamlFile& file, const YAML::Node& mapping, const std::vector<std::string>& skip,
                     ConditionsOn on) {
  auto known = case_value_names();
  if (on == ConditionsOn::CaseAndClaims)
    for (auto& field : claim_names()) known.push_back(std::move(field));
  known.insert(known.end(), skip.begin(), skip.end());
  When when;
  file.each(mapping, known, [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
    if (std::find(skip.begin(), skip.end(), key) == skip.end()) when.push_back(read_condition(file, key, value));
  });
  return when;
}

}  // namespace attest
