// A journal's header whose every field holds something, and text that no format may trip over.
#pragma once

#include "harness/record/journal.h"

#include <string>

namespace attest::test {

inline const std::string kHostile =
    "\"quoted\" \\ / \n\r\t \x01\x1f\x7f ü 漢 {\"token\":\"x\"} ]]> </script> 'a' \u2028";

inline JournalHeader header(const std::string& fingerprint = "f1") {
  return {.attest = "0.1.0",
          .fingerprint = fingerprint,
          .program = "ci/attest",
          .options = "--plugin './my lib.so'",
          .command = kHostile,
          .reference = "f32",
          .shard = "2/3",
          .cases = 640,
          .environment = {{"cpu", kHostile}, {kHostile, ""}}};
}

}  // namespace attest::test
