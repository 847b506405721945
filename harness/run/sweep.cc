#include "harness/run/sweep.h"

#include "harness/core/error.h"
#include "harness/run/crew.h"
#include "harness/run/save.h"

#include <fmt/format.h>

#include <mutex>

namespace attest {
namespace {

class Sweep {
 public:
  Sweep(const SweepInput& input, const SweepOptions& options, Journal& journal, const OnVerdict& on_verdict,
        const std::atomic<bool>& stop)
      : input_(input),
        options_(options),
        journal_(journal),
        on_verdict_(on_verdict),
        stop_(stop),
        versions_(input.versions) {}

  std::size_t run() {
    work_through({.tasks = input_.tasks.size(),
                  .jobs = options_.jobs,
                  .host = options_.host,
                  .contract = [this](std::size_t i) -> const Contract& { return *input_.tasks[i].contract; },
                  .run = [this](std::size_t i, Host& host) { run_one(input_.tasks[i], host); },
                  .halted = [this] { return halted(); }});
    return input_.tasks.size() - finished_;
  }

 private:
  bool halted() {
    const std::lock_guard lock(mutex_);
    return stop_ || (options_.max_failures && failures_ >= options_.max_failures);
  }

  static void could_not(Verdict& verdict, const std::string& why) {
    verdict.outcome = Outcome::Infra;
    verdict.message = why;
  }

  void run_one(const SweepTask& task, Host& host) {
    CaseTrace trace;
    Verdict verdict{.token = token(task.c)};
    try {
      verdict = run_case(task.c, host, options_.cases, options_.save.empty() ? nullptr : &trace);
    } catch (const CaseError& error) { could_not(verdict, error.what()); } catch (const InfraError& error) {
      could_not(verdict, error.what());
    } catch (const std::bad_alloc&) { could_not(verdict, "out of memory"); }
    apply(input_.waivers, {task.c.backend, host.version(), token_without_seed(task.c)}, options_.today, verdict);
    const bool save = trace.call && (options_.save_all || is_failure(verdict.outcome));
    record(verdict, task, host);
    if (save) save_tensors(options_.save, verdict.token, trace);
  }

  void record(const Verdict& verdict, const SweepTask& task, const Host& host) {
    const std::lock_guard lock(mutex_);
    if (!host.version().empty()) record_backend(task.c.backend, host);
    journal_.append(verdict);
    ++finished_;
    failures_ += is_failure(verdict.outcome);
    on_verdict_(verdict);
  }

  void record_backend(const std::string& backend, const Host& host) {
    const auto [known, fresh] = versions_.try_emplace(backend, host.version());
    if (fresh)
      journal_.append(BackendRecord{backend, host.version(), host.about()});
    else if (known->second != host.version())
      throw UsageError(fmt::format(
          "backend {} is version {} now, the journal has verdicts of version {}: start a new one without --resume",
          backend, host.version(), known->second));
  }

  const SweepInput& input_;
  const SweepOptions& options_;
  Journal& journal_;
  const OnVerdict& on_verdict_;
  const std::atomic<bool>& stop_;

  std::mutex mutex_;  // what follows
  std::map<std::string, std::string> versions_;
  std::size_t finished_ = 0, failures_ = 0;
};

}  // namespace

std::size_t sweep(const SweepInput& input, const SweepOptions& options, Journal& journal, const OnVerdict& on_verdict,
                  const std::atomic<bool>& stop) {
  return Sweep(input, options, journal, on_verdict, stop).run();
}

}  // namespace attest
