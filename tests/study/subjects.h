// Cases of the liar made ready for faults, and the shipped catalogue.
#pragma once

#include "harness/core/error.h"
#include "harness/matrix/fault_file.h"
#include "harness/study/seed.h"
#include "tests/run/program.h"

namespace attest::test {

inline Host& liar() {
  static Host host(contracts().find("liar"), host_options());
  return host;
}

inline Subject subject(const std::string& token) { return std::move(*make_subject(parse_token(token), liar())); }

inline Fault named(const std::string& name, FaultTier tier) {
  return {.name = name, .says = "...", .tier = tier, .when = {}, .unseen = {}, .place = "here:1"};
}

inline const std::vector<Fault>& shipped() {
  static const std::vector<Fault> all = read_catalogue(ATTEST_SOURCE_DIR "/cases/faults");
  return all;
}

}  // namespace attest::test
