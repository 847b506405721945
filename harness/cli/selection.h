// Which cases a command works on: matrix files and tokens, narrowed by filters. Shared by run and list.
#pragma once

#include "harness/cli/paths.h"
#include "harness/matrix/matrix_file.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace attest {

struct SelectionOptions {
  std::vector<std::string> what;  // matrix files and tokens
  std::vector<std::string> backend, q, kv, head_dim, graph, mask, filter;
  std::string tier = "ci";
  std::uint64_t seed = 1;
  std::string plugin, contract;
  std::string shard;
};

void add_selection(CLI::App& app, SelectionOptions& options);

struct Selection {
  ContractBook contracts;
  std::vector<ListedCase> cases;       // of this shard, cases of one backend together
  std::vector<ListedCase> all;         // of all shards, in order of the files: what the fingerprint covers
  std::vector<std::string> left_out;   // blocks of higher tiers
  std::vector<std::string> unreached;  // Matrix::unreached
  std::string shard = "1/1";
};

// Throws UsageError: nothing matched, unknown words, bad files.
Selection select(const SelectionOptions& options, const Paths& paths);

}  // namespace attest
