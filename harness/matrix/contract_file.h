// Contracts from YAML, one file a backend or a family of variants (docs/contracts.md describes the file).
#pragma once

#include "harness/core/contract.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attest {

// Throws UsageError with file and line. `${deps}` in an option stands for the folder that ci/setup fills, `${here}` for
// the contract's own folder.
std::vector<Contract> read_contracts(const std::string& path, const std::string& deps);

class ContractBook {
 public:
  // All *.yaml of a folder.
  static ContractBook read(const std::string& folder, const std::string& deps);
  void add(Contract contract);      // throws UsageError when its name or an alias is taken
  void replace(Contract contract);  // in place of one of the same name, if any

  // By name or alias. Throws UsageError, with the nearest name, when there is none.
  const Contract& find(const std::string& backend) const;
  std::optional<std::string> unknown(const std::string& backend) const;  // what find() would throw
  std::string canonical(const std::string& backend) const { return find(backend).backend; }
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Contract> contracts_;
  std::map<std::string, std::string> aliases_;
};

}  // namespace attest
