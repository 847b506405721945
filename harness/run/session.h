// The kernel's side: one opened plug-in, answering requests (protocol.h) over a mapping of the arena. Lives in a worker
// process, or in the harness's own with --in-process.
#pragma once

#include "harness/device/stream.h"
#include "harness/run/protocol.h"

#include <memory>
#include <utility>
#include <vector>

namespace attest {

class Session {
 public:
  explicit Session(int arena_fd) : arena_fd_(arena_fd) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Never throws for what a plug-in does; throws UsageError when the plug-in itself can't be loaded.
  nlohmann::json answer(const nlohmann::json& request);

 private:
  nlohmann::json open(const nlohmann::json& request);
  nlohmann::json supports(const nlohmann::json& request);
  nlohmann::json cache_index(const nlohmann::json& request);
  nlohmann::json plan(const nlohmann::json& request);
  nlohmann::json launch();
  void free_plan();
  void map_arena(const nlohmann::json& arena);
  void bind_slots(const nlohmann::json& tensors);

  int arena_fd_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> forbidden_;  // (offset, bytes) now out of bounds

  const attest_backend* backend_ = nullptr;
  void* context_ = nullptr;
  std::unique_ptr<AbiProblem> problem_;  // of the plan
  std::array<attest_tensor, ATTEST_NUM_SLOTS> tensors_{};
  attest_slots slots_{};
  attest_plan* plan_ = nullptr;
  CpuStream stream_;
};

}  // namespace attest
