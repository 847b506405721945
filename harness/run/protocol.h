// What the two sides of a worker say to each other: one JSON object a line, each answered by one. Tensors travel in
// shared memory (arena.h). A worker in another language speaks the same (docs/protocol.md).
//
//     {"do":"open","plugin":"...","options":{...}}       -> {"status":"ok","version":"...","about":"..."}
//     {"do":"supports","problem":{...}}                  -> {"status":..., "workspace":bytes}
//     {"do":"cache_index","problem":{...},"bytes":N,...} -> tables written to the arena
//     {"do":"plan","problem":{...},"arena":{...}}        -> {"status":...}
//     {"do":"launch"}                                    -> {"status":..., "ms":..., "ran":"...", "produced":{...}}
//     {"do":"free"}                                      -> {"status":"ok"}
//
// Every request carries "id", a number that its answer repeats. status: ok, unsupported, rejected, error, missing;
// "type" and "text" go with all but ok.
#pragma once

#include "backends/abi.h"
#include "harness/core/problem.h"
#include "harness/core/slot.h"

#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>

namespace attest {

constexpr int kWorkerSocket = 3;  // the file descriptors a worker is born with
constexpr int kWorkerArena = 4;

struct Reply {  // of the kernel's side, or what became of it
  enum class Status { Ok, Unsupported, Rejected, Error, Missing, Crash, Timeout, Memory } status = Status::Ok;
  std::string type, text;
  nlohmann::json body = nlohmann::json::object();

  bool ok() const { return status == Status::Ok; }
};

// nullopt, or what is wrong with an answer: a field of another type, an unknown status, no id.
std::optional<std::string> malformed(const nlohmann::json& json);

Reply reply_from_json(const nlohmann::json& json);  // of an answer that is not malformed
std::string_view name(Reply::Status status);

nlohmann::json to_json(const Problem& problem);

// The ABI's view of a problem that came as JSON; owns the strings.
struct AbiProblem {
  explicit AbiProblem(const nlohmann::json& json);
  AbiProblem(const AbiProblem&) = delete;
  attest_problem problem{};

 private:
  std::string cache_name_, fault_;
};

}  // namespace attest
