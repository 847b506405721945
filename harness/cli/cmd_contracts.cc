#include "harness/cli/commands.h"
#include "harness/core/claim_fields.h"
#include "harness/matrix/contract_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace attest {
namespace {

std::string text(const When& when) {
  std::vector<std::string> parts;
  for (const auto& condition : when) parts.push_back(condition.text());
  return fmt::format("{}", fmt::join(parts, "; "));
}

void print_rules(std::string_view title, const std::vector<Rule>& rules) {
  if (rules.empty()) return;
  fmt::print("\n{}\n", title);
  for (const Rule& rule : rules)
    fmt::print("  when {}\n    {}\n{}", text(rule.when), rule.text,
               rule.source.empty() ? "" : fmt::format("    source: {}\n", rule.source));
}

void print_claims(std::string_view title, const std::vector<ClaimRule>& rules) {
  if (rules.empty()) return;
  fmt::print("\n{}\n", title);
  for (const ClaimRule& rule : rules) {
    if (!rule.when.empty()) fmt::print("  when {}\n", text(rule.when));
    for (const Claim& claim : rule.claims)
      fmt::print("  {}{:16} {:14} {}: {}\n", rule.when.empty() ? "" : "  ", claim.field, claim.value,
                 claim.assumed ? "ASSUMED" : "source", claim.source);
  }
}

void print_contract(const Contract& c) {
  fmt::print("{}\n  {}\n  contract: {}\n  plug-in: {}\n", c.backend, c.about, c.file, c.plugin);
  for (const auto& [key, value] : c.options) fmt::print("    {}: {}\n", key, value);
  if (!c.aliases.empty()) fmt::print("  also called: {}\n", fmt::join(c.aliases, ", "));
  fmt::print("\ntakes\n");
  for (const auto& [phase, op] : c.ops) fmt::print("  phase {}: {}\n", name(phase), name(op));
  for (const auto& condition : c.takes) fmt::print("  {}\n", condition.text());
  print_rules("declines", c.declines);
  print_rules("must reject, with this in the message", c.rejects);
  print_rules("known divergences", c.divergences);
  print_claims("call", c.rules);
  print_claims("arithmetic", c.arithmetic);
  print_claims("write", c.write);
  print_claims("kernel that must run", c.ran);
}

struct ContractsOptions {
  std::vector<std::string> names;
};

int run_contracts(const ContractsOptions& options, const Paths& paths) {
  const ContractBook book = ContractBook::read(paths.contracts, paths.deps);
  if (options.names.empty())
    for (const auto& name : book.names()) fmt::print("{:24} {}\n", name, book.find(name).about);
  for (std::size_t i = 0; i < options.names.size(); ++i) {
    if (i > 0) fmt::print("\n\n");
    print_contract(book.find(options.names[i]));
  }
  return kConforms;
}

}  // namespace

void add_contracts(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ContractsOptions>();
  CLI::App* contracts = app.add_subcommand("contracts", "List the backends, or print what one promises, with sources");
  contracts->add_option("name", options->names, "Backends");
  contracts->callback(
      [options, &chosen] { chosen = [options](const Paths& paths) { return run_contracts(*options, paths); }; });
}

}  // namespace attest
