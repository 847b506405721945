#include "harness/cli/paths.h"

#include "harness/core/error.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace attest {
namespace {

namespace fs = std::filesystem;

fs::path find_home(const fs::path& executable) {
  if (const char* home = std::getenv("ATTEST_HOME")) return home;
  for (fs::path folder = executable.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    for (const fs::path& candidate : {folder, folder / "share" / "attest"})
      if (fs::is_directory(candidate / "cases" / "contracts")) return candidate;
  throw UsageError(fmt::format("no folder above {} holds cases/contracts; set ATTEST_HOME to the one that does",
                               executable.string()));
}

}  // namespace

Paths find_paths(const char* argv0) {
  Paths paths;
  const fs::path executable = fs::read_symlink("/proc/self/exe");
  const fs::path home = find_home(executable);
  const char* program = std::getenv("ATTEST_PROGRAM");
  paths.executable = executable.string();
  paths.program = program ? program : argv0;
  paths.home = home.string();
  paths.backends = (executable.parent_path() / "backends").string();
  paths.contracts = (home / "cases" / "contracts").string();
  paths.waivers = (home / "cases" / "waivers.yaml").string();
  paths.deps = (home / ".deps" / "python").string();
  return paths;
}

}  // namespace attest
