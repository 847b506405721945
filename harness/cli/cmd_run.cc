#include "harness/cli/commands.h"
#include "harness/cli/detail.h"
#include "harness/cli/environment.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/explain.h"
#include "harness/cli/fingerprint.h"
#include "harness/cli/outputs.h"
#include "harness/cli/selection.h"
#include "harness/core/error.h"
#include "harness/matrix/waiver_file.h"
#include "harness/run/progress.h"
#include "harness/run/save.h"
#include "harness/run/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

namespace attest {
namespace {

struct RunOptions {
  SelectionOptions selection;
  OutputOptions outputs;
  std::string journal = ".attest/journal.jsonl";
  bool resume = false, require = false, in_process = false, guard_pages = false, verbose = false, no_diagnose = false;
  int jobs = 0, repeat = 2;
  double timeout_case = 60;
  std::size_t max_failures = 0;
  std::string save = "never", save_dir = ".attest/saved", reference = "f64";
};

constexpr double kLongestCase = 1e6;
constexpr int kMostJobs = 1024;

std::atomic<bool> interrupted{false};

void on_interrupt(int) {
  if (interrupted.exchange(true)) std::_Exit(130);  // a second one leaves at once; the journal is flushed per case
}

// What a token needs to be said again with it.
std::string repeat_options(const RunOptions& o) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (!o.selection.plugin.empty()) add("--plugin " + o.selection.plugin);
  if (!o.selection.contract.empty()) add("--contract " + o.selection.contract);
  if (o.guard_pages) add("--guard-pages");
  if (o.reference != "f64") add("--reference " + o.reference);
  return text;
}

JournalHeader make_header(const RunOptions& o, const Selection& selection, const Paths& paths) {
  const std::string mode = fmt::format("reference={} repeat={} guard_pages={}", o.reference, o.repeat, o.guard_pages);
  return {.attest = ATTEST_VERSION,
          .fingerprint = fingerprint(selection, paths, mode),
          .program = paths.program,
          .options = repeat_options(o),
          .command = fmt::format("{} {}", paths.program, paths.arguments),
          .reference = o.reference,
          .shard = selection.shard,
          .cases = selection.cases.size(),
          .environment = environment()};
}

SweepOptions sweep_options(const RunOptions& o, const Paths& paths) {
  SweepOptions options;
  options.host = {.in_process = o.in_process,
                  .guards = o.guard_pages ? GuardMode::Pages : GuardMode::Bands,
                  .limits = {},
                  .program = paths.executable,
                  .backends = paths.backends};
  options.host.limits.answer = std::chrono::milliseconds(static_cast<long>(o.timeout_case * 1000));
  options.cases = {.precision = o.reference == "f32" ? Precision::F32 : Precision::F64, .repeat = o.repeat};
  options.jobs = o.in_process ? 1
                 : o.jobs > 0 ? o.jobs
                              : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.max_failures = o.max_failures;
  options.today = today();
  if (o.save != "never") options.save = o.save_dir;
  options.save_all = o.save == "always";
  return options;
}

Journal open_journal(const RunOptions& o, const JournalHeader& header) {
  const auto folder = std::filesystem::path(o.journal).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  return o.resume ? Journal::resume(o.journal, header) : Journal(o.journal, header);
}

// Every plug-in that a case needs must at least be there before anything runs.
void check_plugins(const Selection& selection, const Paths& paths) {
  for (const auto& listed : selection.cases) {
    const Contract& contract = selection.contracts.find(listed.c.backend);
    const std::string path = plugin_path(contract, paths.backends);
    if (!std::filesystem::exists(path))
      throw UsageError(
          fmt::format("{}: plug-in '{}' of backend {}: no such file", contract.file, path, contract.backend));
  }
}

// One case, told at length.
int run_one(const RunOptions& o, const Selection& selection, const Paths& paths, const std::vector<Waiver>& waivers) {
  const ListedCase& listed = selection.cases.front();
  const SweepOptions options = sweep_options(o, paths);
  const Contract& contract = selection.contracts.find(listed.c.backend);
  Host host(contract, options.host);
  CaseTrace trace;
  Verdict verdict = run_case(listed.c, host, options.cases, &trace);
  apply(waivers, {listed.c.backend, host.version(), token_without_seed(listed.c)}, options.today, verdict);
  if (!options.save.empty() && trace.call && (options.save_all || is_failure(verdict.outcome)))
    save_tensors(options.save, listed.token, trace);
  Journal journal = open_journal(o, make_header(o, selection, paths));
  if (!host.version().empty()) journal.append(BackendRecord{contract.backend, host.version(), host.about()});
  if (!o.no_diagnose && is_failure(verdict.outcome))
    verdict.diagnosis = explained(listed.c, verdict, selection, paths, options.host);
  journal.append(verdict);
  print_detail(listed.c, contract, verdict, trace);
  Progress progress(1, false, make_header(o, selection, paths));
  progress.count(verdict);
  progress.finish(0);
  const JournalContent content = read_journals({o.journal});
  write_outputs(o.outputs, content);
  return exit_code(content, 0, o.require);
}

int run_many(const RunOptions& o, const Selection& selection, const Paths& paths, const std::vector<Waiver>& waivers) {
  const JournalHeader header = make_header(o, selection, paths);
  Journal journal = open_journal(o, header);
  const JournalContent before = read_journals({o.journal});
  SweepInput input{.tasks = {}, .waivers = waivers, .versions = {}};
  for (const auto& backend : before.backends) input.versions[backend.backend] = backend.version;
  std::set<std::string> done;
  for (const Verdict& v : before.verdicts)
    if (v.outcome != Outcome::Infra && v.outcome != Outcome::NotRun) done.insert(v.token);  // those are tried again
  for (const auto& listed : selection.cases) {
    if (!done.contains(listed.token)) input.tasks.push_back({listed.c, &selection.contracts.find(listed.c.backend)});
  }
  Progress progress(input.tasks.size(), o.verbose, header);
  if (!before.verdicts.empty())
    fmt::print("resuming {}: {} cases have a verdict, {} to go\n", o.journal, done.size(), input.tasks.size());
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  const std::size_t missing = sweep(
      input, sweep_options(o, paths), journal, [&](const Verdict& v) { progress.show(v); }, interrupted);
  JournalContent content = read_journals({o.journal});
  if (!o.no_diagnose && !interrupted) {
    explain_failures(selection, paths, sweep_options(o, paths).host, content, journal);
    content = read_journals({o.journal});
  }
  write_outputs(o.outputs, content);
  for (const auto& text : selection.left_out) fmt::print("left out: {} (--tier)\n", text);
  if (missing) fmt::print("stopped early; go on with: {}{}\n", header.command, o.resume ? "" : " --resume");
  progress.finish(missing);
  return exit_code(content, missing, o.require);
}

int run(const RunOptions& o, const Paths& paths) {
  if (o.repeat < 1) throw UsageError(fmt::format("--repeat: {} launches are none", o.repeat));
  if (!(o.timeout_case > 0 && o.timeout_case <= kLongestCase))
    throw UsageError(
        fmt::format("--timeout-case: {} is no number of seconds above 0, at most {}", o.timeout_case, kLongestCase));
  if (o.jobs < 0 || o.jobs > kMostJobs)
    throw UsageError(fmt::format("--jobs: {} is no number of processes up to {}", o.jobs, kMostJobs));
  const Selection selection = select(o.selection, paths);
  const std::vector<Waiver> waivers =
      std::filesystem::exists(paths.waivers) ? read_waivers(paths.waivers) : std::vector<Waiver>{};
  check_plugins(selection, paths);
  check_outputs(o.outputs);
  const bool one_token =
      o.selection.what.size() == 1 && selection.all.size() == 1 && selection.all.front().block == "command line";
  return one_token && !o.resume ? run_one(o, selection, paths, waivers) : run_many(o, selection, paths, waivers);
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<RunOptions>();
  CLI::App* run_command = app.add_subcommand("run", "Run cases; one token is told at length");
  add_selection(*run_command, o->selection);
  add_outputs(*run_command, o->outputs);
  run_command->add_option("--jobs,-j", o->jobs, "Kernel processes at once (default: one a core)");
  run_command->add_option("--repeat", o->repeat, "Launches of each call that must give the same bits")
      ->capture_default_str();
  run_command->add_option("--timeout-case", o->timeout_case, "Seconds a kernel may take for a case")
      ->capture_default_str();
  run_command->add_option("--max-failures", o->max_failures, "Stop after so many failures, 0: never")
      ->capture_default_str();
  run_command->add_flag("--require", o->require, "What can't run here fails");
  run_command->add_option("--journal", o->journal, "The record of the run")->capture_default_str();
  run_command->add_flag("--resume", o->resume, "Go on with the journal where it ended");
  run_command->add_option("--save", o->save, "Save tensors as .npy: never, fail, always")
      ->check(CLI::IsMember({"never", "fail", "always"}))
      ->capture_default_str();
  run_command->add_option("--save-dir", o->save_dir, "Folder for saved tensors")->capture_default_str();
  run_command->add_option("--reference", o->reference, "Precision inside the reference: f64, f32")
      ->check(CLI::IsMember({"f64", "f32"}))
      ->capture_default_str();
  run_command->add_flag("--in-process", o->in_process, "Kernels run in this process, for debuggers");
  run_command->add_flag("--guard-pages", o->guard_pages, "Tensors end at pages that may not be touched");
  run_command->add_flag("--no-diagnose", o->no_diagnose, "Do not say what failing cases look like");
  run_command->add_flag("--verbose,-v", o->verbose, "A line for every case");
  run_command->callback([o, &chosen] { chosen = [o](const Paths& paths) { return run(*o, paths); }; });
}

}  // namespace attest
