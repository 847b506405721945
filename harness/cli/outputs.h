// Report files: checked before anything runs, written after.
#pragma once

#include "harness/record/journal.h"

#include <CLI/CLI.hpp>

#include <string>

namespace attest {

struct OutputOptions {
  std::string json, junit, md, html;
};

void add_outputs(CLI::App& app, OutputOptions& options);
void check_outputs(const OutputOptions& options);  // throws UsageError for a file that can't be written
void write_outputs(const OutputOptions& options, const JournalContent& journal);

}  // namespace attest
