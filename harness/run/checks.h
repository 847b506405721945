// What is checked after a launch, in this order: the kernel that ran, shape and dtype, guards, inputs and untouched
// bytes, NaN and Inf, the bound, the LSE, cache bytes. The first that fails is the case's failure.
#pragma once

#include "harness/core/contract.h"
#include "harness/core/expected.h"
#include "harness/judge/compare.h"
#include "harness/record/verdict.h"
#include "harness/run/arena.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attest {

struct Failure {
  FailKind kind;
  std::string message;
  std::optional<Miss> worst = std::nullopt;
};

using StorageBytes = std::map<std::size_t, std::vector<std::byte>>;  // by storage of the call

// What a call should leave behind.
struct Outcomes {
  Expected values;      // of outputs; empty for a write alone
  StorageBytes caches;  // of the cache storages, empty for rope
};

// One launch that came back: `body` is the worker's reply, `arena` what it left.
struct Launched {
  const Problem& problem;
  const Call& call;
  const Arena& arena;
  const nlohmann::json& body;
  const std::string& expected_kernel;  // glob
};

std::optional<Failure> check_kernel(const Launched& launched);
std::optional<Failure> check_produced(const Launched& launched);
std::optional<Failure> check_untouched(const Launched& launched);  // guards, gaps, inputs

// Compares outputs with their bounds; fills the ratios and the worst place of `verdict` either way.
std::optional<Failure> check_values(const Launched& launched, const Outcomes& right, Verdict& verdict);
std::optional<Failure> check_caches(const Launched& launched, const Outcomes& right);

// The kernel that ran, what it says it produced, and what it left alone: all but the values.
std::optional<Failure> check_conduct(const Launched& launched);

// All of the above, in order.
std::optional<Failure> check_launch(const Launched& launched, const Outcomes& right, Verdict& verdict);

// After a rejection nothing may have been written at all.
std::optional<Failure> check_nothing_written(const Call& call, const Arena& arena);

// Bytes of all outputs and caches, to compare two launches.
std::vector<std::byte> written_bytes(const Call& call, const Arena& arena);

}  // namespace attest
