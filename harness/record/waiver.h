// A waiver: a defect of a shipped kernel, known and written up, that must not hide anything else. It names one backend
// and version, the cases, what is seen, a reference, and the day it ends. A waived case that passes fails the run.
#pragma once

#include "harness/record/verdict.h"

#include <optional>
#include <string>
#include <vector>

namespace attest {

struct Waiver {
  std::string backend;    // glob
  std::string version;    // of the backend, exactly
  std::string cases;      // glob over tokens without #seed
  std::string seen;       // a fail kind, or an outcome in lower case: crash, timeout, memory, vacuous
  std::string reference;  // an issue's address, or "found here YYYY-MM-DD"
  std::string expires;    // YYYY-MM-DD, the last day it holds
  std::string place;      // file:line
};

// What is wrong with the waiver itself, if anything.
std::optional<std::string> check(const Waiver& waiver);

struct Waived {  // what a waiver names
  std::string backend, version;
  std::string token;  // without #seed
};

// Applies the waivers that name this case of this backend and version. A failure that one of them says is seen becomes
// Xfail; Pass becomes Xpass where one holds; an expired waiver changes nothing but the message. `today` is YYYY-MM-DD.
void apply(const std::vector<Waiver>& waivers, const Waived& what, const std::string& today, Verdict& verdict);

}  // namespace attest
