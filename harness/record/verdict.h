// The outcome of one case, as a value. Never thrown; a broken harness is an exception instead (error.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

enum class Outcome {
  Pass,
  Fail,
  Xfail,        // fails as a waiver or a known divergence says it does
  Xpass,        // was to fail and did not: the waiver is out of date
  Unsupported,  // the contract, or the kernel, declines the problem
  Vacuous,      // the case's own rule would accept a trivial output: it tests nothing
  Crash,
  Timeout,
  Memory,
  NotRun,  // the environment lacks something
  Infra,   // the harness could not do its part
};

enum class FailKind {
  Numeric,  // outside the error bound
  Special,  // NaN or Inf where a number belongs, or a number where NaN or Inf belongs
  Lse,
  Shape,
  Dtype,
  Guard,  // wrote outside of a tensor
  InputMutated,
  CacheWrite,  // wrong cache bytes, or bytes that were not to be written
  Relation,
  Replay,
  Capture,
  Nondeterministic,
  WrongKernel,  // another kernel than the contract's ran
  Accepted,     // took what it must reject
  Message,      // rejected it with another message
  Rejected,     // refused what its contract claims
  Error,
};

std::string_view name(Outcome outcome);  // "PASS", "NOT_RUN", ...
std::string_view name(FailKind kind);    // "numeric", "input_mutated", ...
std::optional<Outcome> outcome_from_name(std::string_view name);
std::optional<FailKind> fail_kind_from_name(std::string_view name);

// Does this outcome make the run fail (exit 1)?
bool is_failure(Outcome outcome);
// Did the kernel run, or was it asked to and did not come back? Unsupported, NotRun and Infra did not.
bool is_executed(Outcome outcome);

struct Place {
  int seq, head, row, dim;  // row within its sequence; dim -1: a value per row (LSE)
  bool operator==(const Place&) const = default;
};

struct Miss {  // the element with the largest error in units of its bound
  Place place;
  double expected, actual, bound;
};

struct Times {  // milliseconds
  double inputs = 0, reference = 0, kernel = 0, judge = 0;
  double total() const { return inputs + reference + kernel + judge; }
};

struct Verdict {
  std::string token;
  Outcome outcome = Outcome::Infra;
  std::optional<FailKind> kind;  // of Fail, and of the failure that Xfail waives
  std::string message;           // one line
  double ratio = 0;              // largest |actual - expected| / bound of the output, 0 when nothing was compared
  double lse_ratio = 0;
  std::optional<Miss> worst;
  std::int64_t elements = 0, failing = 0;  // output elements compared, and outside their bound
  std::vector<std::string> cells;          // the (sequence, head) cells that fail, "2.5" each, the first few
  std::vector<std::string> diagnosis;      // what the failure looks like, a line each; empty: not looked at
  std::string ran;                         // the kernel that says it ran
  std::string waiver;                      // reference of the waiver or source of the divergence that applied
  Times ms;
};

// "FAIL(numeric)", "PASS"
std::string summary(const Verdict& verdict);

}  // namespace attest
