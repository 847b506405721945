#include "harness/matrix/fault_file.h"

#include "harness/core/error.h"
#include "harness/matrix/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace attest {
namespace {

Fault read_fault(const YamlFile& file, const YAML::Node& item, FaultTier tier) {
  Fault fault;
  fault.tier = tier;
  fault.place = file.place(item);
  file.each(item, {"name", "says", "when", "unseen"},
            [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
              if (key == "name") {
                fault.name = file.scalar(value, key);
              } else if (key == "says") {
                fault.says = file.scalar(value, key);
              } else if (key == "when") {
                fault.when = read_conditions(file, value, {}, ConditionsOn::CaseAndClaims);
              } else {
                for (const auto& entry : value)
                  fault.unseen.emplace_back(file.scalar(entry.first, key), file.scalar(entry.second, key));
              }
            });
  if (fault.name.empty()) file.fail(item, "a fault needs a 'name'");
  const auto odd = std::find_if(fault.name.begin(), fault.name.end(),
                                [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'); });
  if (odd != fault.name.end())
    file.fail(item, fmt::format("name: '{}' has a '{}': use a-z, 0-9 and _", fault.name, *odd));
  if (fault.says.empty()) file.fail(item, fmt::format("fault {} needs 'says', one sentence", fault.name));
  return fault;
}

void add(std::vector<Fault>& all, Fault fault) {
  for (const Fault& other : all)
    if (other.name == fault.name)
      throw UsageError(fmt::format("{}: fault {} was defined at {}", fault.place, fault.name, other.place));
  all.push_back(std::move(fault));
}

}  // namespace

std::vector<Fault> read_faults(const std::string& path, FaultTier tier) {
  const YamlFile file(path);
  std::vector<Fault> all;
  file.each(file.root(), {"faults", "define"},
            [&](const std::string& section, const YAML::Node&, const YAML::Node& list) {
              if (section == "define") return;  // anchors
              if (!list.IsSequence()) file.fail(list, "expected a list of faults");
              for (const YAML::Node& item : list) add(all, read_fault(file, item, tier));
            });
  return all;
}

std::vector<Fault> read_catalogue(const std::string& folder) {
  std::vector<Fault> all;
  for (const FaultTier tier : {FaultTier::Model, FaultTier::Delivery, FaultTier::Output}) {
    const std::string path = fmt::format("{}/{}.yaml", folder, name(tier));
    if (!std::filesystem::exists(path)) continue;
    for (Fault& fault : read_faults(path, tier)) add(all, std::move(fault));
  }
  if (all.empty())
    throw UsageError(fmt::format("{}: no model.yaml, delivery.yaml or output.yaml holds a fault", folder));
  return all;
}

}  // namespace attest
