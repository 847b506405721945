// The subcommands: each adds itself to the program and, when chosen, runs and returns the exit code.
#pragma once

#include "harness/cli/exit_code.h"
#include "harness/cli/paths.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace attest {

// What a subcommand leaves behind when it was the one that the user typed.
using Action = std::function<int(const Paths&)>;

void add_run(CLI::App& app, Action& chosen);
void add_list(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_contracts(CLI::App& app, Action& chosen);
void add_selftest(CLI::App& app, Action& chosen);
void add_shrink(CLI::App& app, Action& chosen);
void add_diagnose(CLI::App& app, Action& chosen);

}  // namespace attest
