#include "harness/run/crew.h"

#include <ATen/Parallel.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace attest {

void work_through(const Crew& crew) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr broken;
  const auto work = [&] {
    at::set_num_threads(1);
    std::unique_ptr<Host> host;
    try {
      for (std::size_t i = next++; i < crew.tasks && !failed && !crew.halted(); i = next++) {
        const Contract& contract = crew.contract(i);
        if (!host || &host->contract() != &contract) host = std::make_unique<Host>(contract, crew.host);
        crew.run(i, *host);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!broken) broken = std::current_exception();
      failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (int job = 0; job < crew.jobs; ++job) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  if (broken) std::rethrow_exception(broken);
}

}  // namespace attest
