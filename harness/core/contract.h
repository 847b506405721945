// A contract: what one backend promises, as data. Which cases it takes, which it must reject and how, who casts
// what, its arithmetic, its cache's layout. Loaded from cases/contracts/*.yaml (harness/matrix/contract_file.h).
//
// Tolerance lives here and nowhere else: the error bound is computed from `arithmetic`, so every claim of it
// carries its source, or is marked as assumed and shown so.
#pragma once

#include "harness/core/arithmetic.h"
#include "harness/core/case.h"
#include "harness/core/layout.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attest {

enum class Op { Write, Attend, WriteAttend, Rope };
enum class EmptyRow { Zero, Nan, Unspecified };    // output of a row that sees no key
enum class ScalesApply { Always, QuantisedOnly };  // on a cache that isn't quantised: applied, or inert
enum class Determinism { None, RunToRun, BatchInvariant, SplitInvariant };

std::string_view name(Op op);

// One test on a value of a case (case_value()): any of the globs, or a range of numbers.
struct Condition {
  std::string key;
  std::vector<std::string> any_of;
  std::optional<double> min, max;
  std::optional<int> multiple, not_multiple;
  bool holds(const Case& c) const;
  bool matches(const std::string& value) const;
  std::string text() const;  // "d: multiple of 32"
};
using When = std::vector<Condition>;  // all must hold; empty: always
bool holds(const When& when, const Case& c);

struct Claim {  // a value, and who says so
  std::string field, value;
  std::string source;  // project, file, commit; or the reason of an assumption
  bool assumed = false;
};

struct Rule {
  When when;
  std::string text;  // the message it must reject with, or the reason it declines
  std::string source;
};

struct ClaimRule {  // later rules that hold override earlier ones, field by field
  When when;
  std::vector<Claim> claims;
};

struct Contract {
  std::string backend;
  std::vector<std::string> aliases;
  std::string file;                                          // where it was read
  std::string about, plugin;                                 // plugin: name (libattest_NAME.so) or path
  std::vector<std::pair<std::string, std::string>> options;  // handed to the plug-in's open()
  std::map<Phase, Op> ops;
  When takes;  // what it claims; a key that no condition names must be at its default
  std::vector<Rule> rejects, declines, divergences;
  std::vector<ClaimRule> ran;         // claim "kernel": glob that the kernel's own statement must match
  std::vector<ClaimRule> arithmetic;  // fields of Arithmetic
  std::vector<ClaimRule> write;       // fields of WriteArithmetic
  std::vector<ClaimRule> rules;       // fields of CallRules
  std::map<Strides, LayoutSpec> layouts;
};

// What goes around the arithmetic. Fields of the section `rules`.
struct CallRules {
  std::optional<DType> out;  // output dtype, q's unless set
  bool k_to_q = false;       // the caller casts K, V (as read from the cache) to q's dtype first
  EmptyRow empty_row = EmptyRow::Zero;
  bool lse = false;  // returns the LSE, in natural log
  ScalesApply scales = ScalesApply::Always;
  bool unused_finite = false;  // it may read unused slots: they must hold finite numbers
  Determinism determinism = Determinism::RunToRun;
};

CallRules call_rules(const Contract& contract, const Case& c);
Arithmetic arithmetic(const Contract& contract, const Case& c);
WriteArithmetic write_arithmetic(const Contract& contract, const Case& c);
std::string expected_kernel(const Contract& contract, const Case& c);  // glob

// The claims in force for a case, later rules applied over earlier ones, each field once.
std::vector<Claim> claims_in_force(const std::vector<ClaimRule>& rules, const Case& c);

// nullopt, or why a claim of that section can't be: unknown field, bad value.
std::optional<std::string> check_claim(std::string_view section, const Claim& claim);

// What the contract says about a case, before anything runs.
struct Expectation {
  enum class Kind { Take, Decline, Reject, Diverge } kind = Kind::Take;
  std::string text;  // reason, message, or deviation
  std::string source;
};
Expectation expectation(const Contract& contract, const Case& c);

}  // namespace attest
