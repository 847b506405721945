// A worker process from the outside: started with its own socket and the arena, asked, watched, and put down when it
// hangs or grows. What it prints is kept apart from the protocol.
#pragma once

#include "harness/run/protocol.h"

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attest {

struct WorkerLimits {
  std::chrono::milliseconds answer{60'000};   // for one request
  std::size_t memory = std::size_t{2} << 30;  // growth of the resident set over one request, bytes
};

class WorkerProcess {
 public:
  // `command`: program and arguments. Throws InfraError when it can't be started.
  WorkerProcess(const std::vector<std::string>& command, int arena_fd);
  ~WorkerProcess();  // kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // One request, one reply. Crash, Timeout and Memory end the process: alive() is false afterwards.
  Reply ask(const nlohmann::json& request, const WorkerLimits& limits);
  bool alive() const { return pid_ > 0; }

 private:
  Reply end(Reply::Status status, const std::string& what);
  std::optional<Reply> take_reply();
  bool is_gone();
  std::string how_it_died();
  std::string last_words();
  std::size_t resident() const;
  std::size_t printed() const;
  void kill_and_reap();

  pid_t pid_ = -1;
  bool gone_ = false;  // reaped; its group may still be there
  int exit_status_ = 0;
  int socket_ = -1, output_ = -1;
  std::uint64_t asked_ = 0;  // requests so far: each reply names its own
  std::string pending_;
};

}  // namespace attest
