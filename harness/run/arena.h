// The memory that a kernel sees: one shared mapping that holds a copy of each storage of a call between guard bands.
// The kernel's process maps the same memory; expected results and bounds never lie in it.
#pragma once

#include "harness/core/call.h"
#include "harness/core/guard.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attest {

class Arena {
 public:
  Arena();  // an empty memfd; throws InfraError
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int fd() const { return fd_; }
  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }

  // Copies all storages of `call` in, behind `extra` bytes of workspace (poisoned) when that is not 0, with fresh
  // bands.
  void stage(const Call& call, GuardMode mode, std::size_t workspace);
  // Copies contents again, at the same places: for the next launch of the same plan.
  void restage(const Call& call);

  std::span<std::byte> storage(std::size_t index) const;  // of the call, as it is now
  TensorView view(const Call& call, Slot slot) const;
  std::optional<std::string> guard_damage(const Call& call) const;  // "out: 1 bytes written past the end, ..."

  // What the kernel's side needs: size, tensors by slot, and the pages that are out of bounds.
  nlohmann::json describe(const Call& call) const;

 private:
  void reserve(std::size_t bytes);

  int fd_ = -1;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<Region> regions_;  // by storage of the call
  std::optional<Region> workspace_;
};

}  // namespace attest
