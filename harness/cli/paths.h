// Where the program finds its own files: matrices and contracts, plug-ins, what ci/setup fetched.
#pragma once

#include <string>

namespace attest {

struct Paths {
  std::string executable;
  std::string program;    // how the user calls it: ATTEST_PROGRAM (set by ci/attest), else argv[0]
  std::string arguments;  // what he typed behind it, quoted for a shell
  std::string home;       // holds cases/contracts: ATTEST_HOME, else the nearest folder above the executable that does
  std::string backends;   // libattest_NAME.so, beside the executable
  std::string contracts;  // HOME/cases/contracts
  std::string waivers;    // HOME/cases/waivers.yaml
  std::string deps;       // HOME/.deps/python
};

// Throws UsageError when no home is found.
Paths find_paths(const char* argv0);

}  // namespace attest
