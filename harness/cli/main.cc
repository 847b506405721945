// attest: decides whether an attention kernel that reads a quantised KV cache computes what it promises.
#include "harness/cli/commands.h"
#include "harness/core/error.h"
#include "harness/run/worker.h"

#include <fmt/format.h>

#include <sys/personality.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace attest {
namespace {

constexpr rlim_t kDescriptors = 64;

// Sockets, shared memory and output of each worker; too few would look like kernels that crash.
void want_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < kDescriptors)
    throw InfraError(fmt::format("at most {} open files (ulimit -n): {} are needed", limit.rlim_cur, kDescriptors));
}

std::string quoted(const std::vector<std::string>& arguments) {
  std::string text;
  for (const auto& argument : arguments) {
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n'\"\\*?[]{}()<>|&;#$`!~") == std::string::npos;
    std::string escaped = argument;
    for (std::size_t at = 0; !plain && (at = escaped.find('\'', at)) != std::string::npos; at += 4)
      escaped.replace(at, 1, "'\\''");
    text += (text.empty() ? "" : " ") + (plain ? argument : "'" + escaped + "'");
  }
  return text;
}

}  // namespace
}  // namespace attest

int main(int argc, char** argv) {
  using namespace attest;
  if (argc == 2 && std::string_view(argv[1]) == "--worker") return worker_main();
  personality(
      ADDR_NO_RANDOMIZE);  // of the workers: what a kernel reads where nothing was written is the same every time

  CLI::App app("Conformance of attention kernels that read a quantised KV cache", "attest");
  app.require_subcommand(1);
  app.set_version_flag("--version", ATTEST_VERSION);
  Action chosen;
  add_run(app, chosen);
  add_list(app, chosen);
  add_report(app, chosen);
  add_contracts(app, chosen);
  add_selftest(app, chosen);
  add_shrink(app, chosen);
  add_diagnose(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "attest: {} (see attest {}--help)\n", error.what(),
               argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "");
    return kUsage;
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a full file is an error of its write
  try {
    want_descriptors();
    Paths paths = find_paths(argv[0]);
    paths.arguments = quoted({argv + 1, argv + argc});
    const int code = chosen(paths);
    if (std::fflush(stdout) != 0)
      throw InfraError(fmt::format("can't write to the terminal: {}", std::strerror(errno)));
    return code;
  } catch (const UsageError& error) {
    fmt::print(stderr, "attest: {}\n", error.what());
    return kUsage;
  } catch (const InfraError& error) {
    fmt::print(stderr, "attest: {}\n", error.what());
    return kIncomplete;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "attest: out of memory\n");
    return kIncomplete;
  } catch (const std::exception& error) {
    fmt::print(stderr, "attest: internal error: {}\n", error.what());
    return kIncomplete;
  }
}
