#include "harness/core/fault.h"

#include "harness/core/case_keys.h"
#include "harness/core/claim_fields.h"
#include "harness/core/words.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace attest {
namespace {

struct KnownClaim {
  std::string_view name, section, unset;
};

const std::vector<KnownClaim>& known_claims() {
  static const std::vector<KnownClaim> all = [] {
    std::vector<KnownClaim> claims;
    for (const auto& f : arithmetic_fields()) claims.push_back({f.name, "arithmetic", f.unset});
    for (const auto& f : write_fields()) claims.push_back({f.name, "write", f.unset});
    for (const auto& f : call_rule_fields()) claims.push_back({f.name, "rules", f.unset});
    return claims;
  }();
  return all;
}

const KnownClaim* find_claim(std::string_view field) {
  const auto& all = known_claims();
  const auto at = std::find_if(all.begin(), all.end(), [&](const KnownClaim& c) { return c.name == field; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

std::string_view name(FaultTier tier) {
  constexpr std::array<std::string_view, 3> names{"model", "delivery", "output"};
  return names[static_cast<std::size_t>(tier)];
}

std::optional<std::string> Fault::why_unseen(const std::string& backend) const {
  for (const auto& [glob, why] : unseen)
    if (glob_match(glob, backend)) return why;
  return std::nullopt;
}

std::vector<std::string> claim_names() {
  std::vector<std::string> names;
  for (const KnownClaim& claim : known_claims()) names.emplace_back(claim.name);
  return names;
}

std::optional<std::string> claim_section(std::string_view field) {
  const KnownClaim* claim = find_claim(field);
  return claim ? std::optional<std::string>(claim->section) : std::nullopt;
}

std::optional<std::string> claim_unset(std::string_view field) {
  const KnownClaim* claim = find_claim(field);
  return claim ? std::optional<std::string>(claim->unset) : std::nullopt;
}

std::optional<std::string> claimed_value(const Contract& contract, const Case& c, std::string_view field) {
  const KnownClaim* known = find_claim(field);
  if (!known) return std::nullopt;
  const auto& rules = known->section == "arithmetic" ? contract.arithmetic
                      : known->section == "write"    ? contract.write
                                                     : contract.rules;
  for (const Claim& claim : claims_in_force(rules, c))
    if (claim.field == field) return claim.value;
  return std::string(known->unset);
}

bool holds(const When& when, const Case& c, const Contract& contract) {
  return std::all_of(when.begin(), when.end(), [&](const Condition& condition) {
    auto value = case_value(c, condition.key);
    if (!value) value = claimed_value(contract, c, condition.key);
    if (!value) throw std::logic_error("condition on the unknown key " + condition.key);
    return condition.matches(*value);
  });
}

}  // namespace attest
