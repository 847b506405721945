#include "harness/core/contract.h"

#include "harness/core/case_keys.h"
#include "harness/core/claim_fields.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace attest {
namespace {

// Inputs are the harness's business, not a claim of the kernel; heads and lengths are free unless declined.
constexpr std::array<std::string_view, 7> kFreeKeys{"h", "seq", "table", "in", "keys", "poison", "rel"};

bool is_free(std::string_view key) { return std::find(kFreeKeys.begin(), kFreeKeys.end(), key) != kFreeKeys.end(); }

template <typename Fields>
void apply_claims(std::span<const ClaimField<Fields>> fields, const std::vector<Claim>& claims, Fields& to) {
  for (const Claim& claim : claims)
    for (const auto& field : fields)
      if (field.name == claim.field) {
        if (const auto wrong = field.parse(to, claim.value))
          throw std::logic_error(fmt::format("{}: {} passed check_claim()", claim.field, *wrong));
      }
}

template <typename Fields>
Fields resolve(std::span<const ClaimField<Fields>> fields, const std::vector<ClaimRule>& rules, const Case& c) {
  Fields resolved;
  apply_claims(fields, claims_in_force(rules, c), resolved);
  return resolved;
}

template <typename Fields>
std::optional<std::string> check_field(std::span<const ClaimField<Fields>> fields, const Claim& claim) {
  for (const auto& field : fields) {
    if (field.name != claim.field) continue;
    Fields scratch;
    return field.parse(scratch, claim.value);
  }
  std::vector<std::string> names;
  for (const auto& field : fields) names.emplace_back(field.name);
  return fmt::format("unknown field{}", suggestion(claim.field, names));
}

}  // namespace

std::string_view name(Op op) {
  constexpr std::array<std::string_view, 4> names{"write", "attend", "write_attend", "rope"};
  return names[static_cast<std::size_t>(op)];
}

bool Condition::holds(const Case& c) const {
  const auto value = case_value(c, key);
  if (!value) throw std::logic_error("condition on the unknown key " + key);
  return matches(*value);
}

bool Condition::matches(const std::string& value) const {
  if (!any_of.empty())
    return std::any_of(any_of.begin(), any_of.end(), [&](const auto& pattern) { return glob_match(pattern, value); });
  const auto number = parse_number<double>(value);
  if (!number) return false;
  if (min && *number < *min) return false;
  if (max && *number > *max) return false;
  if (multiple && static_cast<long>(*number) % *multiple != 0) return false;
  if (not_multiple && static_cast<long>(*number) % *not_multiple == 0) return false;
  return true;
}

std::string Condition::text() const {
  std::string out = key + ": ";
  if (!any_of.empty()) return out + fmt::format("{}", fmt::join(any_of, ", "));
  std::vector<std::string> parts;
  if (min) parts.push_back(fmt::format("at least {:g}", *min));
  if (max) parts.push_back(fmt::format("at most {:g}", *max));
  if (multiple) parts.push_back(fmt::format("multiple of {}", *multiple));
  if (not_multiple) parts.push_back(fmt::format("no multiple of {}", *not_multiple));
  return out + fmt::format("{}", fmt::join(parts, ", "));
}

bool holds(const When& when, const Case& c) {
  return std::all_of(when.begin(), when.end(), [&](const Condition& condition) { return condition.holds(c); });
}

std::vector<Claim> claims_in_force(const std::vector<ClaimRule>& rules, const Case& c) {
  std::vector<Claim> all;
  for (const ClaimRule& rule : rules) {
    if (!holds(rule.when, c)) continue;
    for (const Claim& claim : rule.claims) {
      const auto old =
          std::find_if(all.begin(), all.end(), [&](const Claim& other) { return other.field == claim.field; });
      if (old != all.end())
        *old = claim;
      else
        all.push_back(claim);
    }
  }
  return all;
}

CallRules call_rules(const Contract& contract, const Case& c) { return resolve(call_rule_fields(), contract.rules, c); }
Arithmetic arithmetic(const Contract& contract, const Case& c) {
  return resolve(arithmetic_fields(), contract.arithmetic, c);
}
WriteArithmetic write_arithmetic(const Contract& contract, const Case& c) {
  return resolve(write_fields(), contract.write, c);
}

std::string expected_kernel(const Contract& contract, const Case& c) {
  const auto claims = claims_in_force(contract.ran, c);
  return claims.empty() ? "*" : claims.front().value;
}

std::optional<std::string> check_claim(std::string_view section, const Claim& claim) {
  if (section == "arithmetic") return check_field(arithmetic_fields(), claim);
  if (section == "write") return check_field(write_fields(), claim);
  if (section == "rules") return check_field(call_rule_fields(), claim);
  if (section == "ran")
    return claim.field == "kernel" ? std::nullopt : std::optional<std::string>("unknown field (one of: kernel)");
  throw std::logic_error("no claims in a section " + std::string(section));
}

namespace {

// What no kernel could be asked for, whatever it claims.
std::optional<std::string> impossible(const Contract& contract, const Case& c) {
  const auto op = contract.ops.find(c.phase);
  if (op == contract.ops.end()) return fmt::format("phase {} is not claimed", name(c.phase));
  if (op->second == Op::Rope) return std::nullopt;
  if (op->second == Op::Write || op->second == Op::WriteAttend)
    for (const Sequence& s : c.seq)
      if (s.len_kv < s.len_q)
        return fmt::format("{}x{}: its operation writes the new tokens, which begin at a negative position", s.len_q,
                           s.len_kv);
  const auto layout = contract.layouts.find(c.strides);
  if (layout == contract.layouts.end()) return fmt::format("strides={} has no layout", *case_value(c, "strides"));
  if (layout->second.one_storage() && c.value_dim() != c.dim)
    return fmt::format("dv={}: K and V share one storage, so their dims must be equal", c.value_dim());
  return std::nullopt;
}

}  // namespace

Expectation expectation(const Contract& contract, const Case& c) {
  using Kind = Expectation::Kind;
  if (const auto why = impossible(contract, c)) return {Kind::Decline, *why, contract.file};
  for (const Rule& rule : contract.rejects)
    if (holds(rule.when, c)) return {Kind::Reject, rule.text, rule.source};
  static const Case defaults;
  for (const CaseKey& key : case_keys()) {
    if (is_free(key.name)) continue;
    const auto named = std::find_if(contract.takes.begin(), contract.takes.end(),
                                    [&](const Condition& t) { return t.key == key.name; });
    if (named == contract.takes.end() && key.print(c) != key.print(defaults))
      return {Kind::Decline, fmt::format("{}={} is not claimed", key.name, key.print(c)), contract.file};
  }
  for (const Condition& condition : contract.takes)
    if (!condition.holds(c))
      return {Kind::Decline,
              fmt::format("{}={} is not claimed ({})", condition.key, *case_value(c, condition.key), condition.text()),
              contract.file};
  for (const Rule& rule : contract.declines)
    if (holds(rule.when, c)) return {Kind::Decline, rule.text, rule.source};
  for (const Rule& rule : contract.divergences)
    if (holds(rule.when, c)) return {Kind::Diverge, rule.text, rule.source};
  return {};
}

}  // namespace attest
