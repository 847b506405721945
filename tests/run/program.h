// The built program and its files, for tests that start workers or the program itself.
#pragma once

#include <chrono>

#include "harness/matrix/contract_file.h"
#include "harness/run/host.h"

namespace attest::test {

inline const ContractBook& contracts() {
  static const ContractBook book =
      ContractBook::read(ATTEST_SOURCE_DIR "/cases/contracts", ATTEST_SOURCE_DIR "/.deps/python");
  return book;
}

inline HostOptions host_options() {
  HostOptions options{.program = ATTEST_PROGRAM, .backends = ATTEST_BACKENDS};
  options.limits.answer = std::chrono::milliseconds(20'000);
  options.limits.memory = std::size_t{256} << 20;
  return options;
}

}  // namespace attest::test
