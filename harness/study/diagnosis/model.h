// The model of a kernel: the tiled engine (backends/tile) with the arithmetic that the kernel's contract claims, and a
// tile size and layout of its own. Faults are committed in it, to be compared with what the kernel does.
#pragma once

#include "harness/core/fault.h"
#include "harness/run/host.h"

#include <map>
#include <memory>
#include <string>

namespace attest {

// `engine`: any contract of the tiled engine, which gives the plug-in, its layouts and the name of the kernel that
// runs.
Contract model_contract(const Contract& of, const Case& c, const Contract& engine, int tile);

// Processes of the model, one for each arithmetic and tile size, kept for the next case.
class Models {
 public:
  Models(const Contract& engine, const HostOptions& options) : engine_(engine), options_(options) {}
  // Before a diagnosis: hosts that it is given stay until the next.
  void make_room();
  Host& host(const Contract& of, const Case& c, int tile);

 private:
  struct Running {
    std::unique_ptr<Contract> contract;  // the host refers to it
    std::unique_ptr<Host> host;
  };
  const Contract& engine_;
  HostOptions options_;
  std::map<std::string, Running> running_;
};

}  // namespace attest
