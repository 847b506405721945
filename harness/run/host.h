// Where one backend's kernel runs: a worker process that is restarted when it dies, or this process (--in-process).
#pragma once

#include "harness/core/contract.h"
#include "harness/run/arena.h"
#include "harness/run/process.h"
#include "harness/run/session.h"

#include <memory>
#include <optional>
#include <string>

namespace attest {

struct HostOptions {
  bool in_process = false;
  GuardMode guards = GuardMode::Bands;
  WorkerLimits limits;
  std::string program;   // this executable, for workers
  std::string backends;  // folder of libattest_NAME.so
};

class Host {
 public:
  Host(const Contract& contract, const HostOptions& options);

  // Opens the backend where it is not open: on the first call, and after a crash. Status Missing: the environment lacks
  // something. Throws UsageError when the plug-in can't be loaded, InfraError when no worker can be started.
  Reply open();
  Reply ask(const nlohmann::json& request);

  // Has its process planned anything yet? restart() makes it so: state that earlier cases left behind is gone.
  bool fresh() const { return plans_ == 0; }
  void restart();

  const Contract& contract() const { return contract_; }
  const HostOptions& options() const { return options_; }
  Arena& arena() { return arena_; }
  const std::string& version() const { return version_; }
  const std::string& about() const { return about_; }

 private:
  Reply send(const nlohmann::json& request, const WorkerLimits& limits);

  const Contract& contract_;
  HostOptions options_;
  Arena arena_;
  std::unique_ptr<WorkerProcess> worker_;
  std::unique_ptr<Session> session_;
  bool opened_ = false;
  std::size_t plans_ = 0;  // of the process that runs now
  std::string version_, about_;
};

// The plug-in's file: a path as it is, a name as BACKENDS/libattest_NAME.so.
std::string plugin_path(const Contract& contract, const std::string& backends);

}  // namespace attest
