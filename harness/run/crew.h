// Threads that work through a list of cases, each with one kernel process at a time: neighbours of one backend share
// it.
#pragma once

#include "harness/run/host.h"

#include <functional>

namespace attest {

struct Crew {
  std::size_t tasks = 0;
  int jobs = 1;
  HostOptions host;
  std::function<const Contract&(std::size_t task)> contract;
  std::function<void(std::size_t task, Host& host)> run;  // of several threads at once
  std::function<bool()> halted = [] { return false; };    // asked before each task
};

// Returns when all tasks are done or `halted`. What a task throws ends the others after theirs, and is thrown on.
void work_through(const Crew& crew);

}  // namespace attest
