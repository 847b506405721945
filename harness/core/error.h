// What ends a run: bad input from the user (exit 2), or the environment failing under the harness (exit 3).
// Thrown where found, caught once in main. A case's outcome is never an exception.
#pragma once

#include <stdexcept>

namespace attest {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One case that can't be made; the others can.
struct CaseError : UsageError {
  using UsageError::UsageError;
};

struct InfraError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace attest
