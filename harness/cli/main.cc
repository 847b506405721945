// attest: decides whether an attention kernel that reads a quantised KV cache computes what it promises.
#include "harness/cli/commands.h"
#include "harness/core/error.h"
#include "harness/run/worker.h"

#include <fmt/format.h>

#include <sys/personality.h>

#include <cstdlib>
#include <new>
#include <string_view>

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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "attest: {} (see attest {}--help)\n", error.what(),
               argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "");
    return kUsage;
  }
  try {
    return chosen(find_paths(argv[0]));
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
