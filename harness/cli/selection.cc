#include "harness/cli/selection.h"

#include "harness/core/case_keys.h"
#include "harness/core/error.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace attest {
namespace {

bool is_token(const std::string& text) {
  return parse_phase(split(text, '/').front()).has_value() && text.find('/') != std::string::npos;
}

// A filter of one key: globs or exact values, spelt as a case prints them; a value that the key can't have is an error,
// not an empty result.
Condition key_filter(const std::string& option, const std::string& key, const std::vector<std::string>& values) {
  Condition condition{.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = {}, .not_multiple = {}};
  for (const auto& value : values) {
    Case scratch;
    if (value.find_first_of("*?") == std::string::npos) {
      if (const auto wrong = find_case_key(key)->parse(scratch, value))
        throw UsageError(fmt::format("{}: {}", option, *wrong));
      condition.any_of.push_back(find_case_key(key)->print(scratch));
    } else {
      condition.any_of.push_back(value);
    }
  }
  return condition;
}

std::vector<std::string> backend_globs(const std::vector<std::string>& given, const ContractBook& contracts) {
  std::vector<std::string> globs;
  for (const auto& glob : given) {
    const bool wild = glob.find_first_of("*?") != std::string::npos;
    globs.push_back(wild ? glob : contracts.canonical(glob));
    const auto names = contracts.names();
    if (wild && std::none_of(names.begin(), names.end(), [&](const auto& name) { return glob_match(glob, name); }))
      throw UsageError(fmt::format("--backend: '{}' matches no backend{}", glob, suggestion(glob, names)));
  }
  return globs;
}

When filters(const SelectionOptions& options, const ContractBook& contracts) {
  When when;
  if (!options.backend.empty())
    when.push_back({.key = "backend",
                    .any_of = backend_globs(options.backend, contracts),
                    .min = {},
                    .max = {},
                    .multiple = {},
                    .not_multiple = {}});
  for (const auto& [option, key, values] : {std::tuple{"--q", "q", &options.q},
                                            {"--kv", "kv", &options.kv},
                                            {"--head-dim", "d", &options.head_dim},
                                            {"--graph", "graph", &options.graph},
                                            {"--mask", "mask", &options.mask}})
    if (!values->empty()) when.push_back(key_filter(option, key, *values));
  return when;
}

struct Shard {
  std::size_t index = 0, count = 1;
};

std::optional<std::size_t> environment_number(const char* name) {
  const char* text = std::getenv(name);
  return text ? parse_number<std::size_t>(text) : std::nullopt;
}

// --shard i/n counts from 1; array jobs say it by environment, from 0 (SLURM: from its own minimum).
Shard find_shard(const std::string& text) {
  if (!text.empty()) {
    const auto parts = split(text, '/');
    const auto index = parse_number<std::size_t>(parts[0]),
               count = parts.size() == 2 ? parse_number<std::size_t>(parts[1]) : std::nullopt;
    if (!index || !count || *index < 1 || *index > *count)
      throw UsageError(fmt::format("--shard: '{}' is no INDEX/COUNT with 1 <= INDEX <= COUNT", text));
    return {*index - 1, *count};
  }
  struct Source {
    const char *index, *count, *first;
  };
  for (const Source& s : {Source{"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", nullptr},
                          Source{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
                          Source{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", nullptr}}) {
    const auto index = environment_number(s.index), count = environment_number(s.count);
    if (!index || !count) continue;
    const std::size_t first = s.first ? environment_number(s.first).value_or(0) : 0;
    if (*count < 1 || *index < first || *index - first >= *count)
      throw UsageError(fmt::format("{}={} is no shard of {}={}", s.index, *index, s.count, *count));
    return {*index - first, *count};
  }
  return {};
}

Case read_token(const std::string& text, const Selection& selection, const SelectionOptions& options) {
  Case c = parse_token(text);
  if (const auto why = selection.contracts.unknown(c.backend))
    throw UsageError(fmt::format("token '{}': {}", text, *why));
  c.backend = options.plugin.empty() ? selection.contracts.canonical(c.backend) : c.backend;
  return c;
}

// The contract of --plugin: the file given, else the library's own name with .yaml.
Contract plugin_contract(const SelectionOptions& options, const Paths& paths) {
  if (!std::filesystem::exists(options.plugin))
    throw UsageError(fmt::format("--plugin: '{}': no such file", options.plugin));
  const std::string file = options.contract.empty()
                               ? std::filesystem::path(options.plugin).replace_extension(".yaml").string()
                               : options.contract;
  auto contracts = read_contracts(file, paths.deps);
  if (contracts.size() != 1) throw UsageError(fmt::format("{}: a plug-in's contract has no variants", file));
  contracts.front().plugin = options.plugin;
  return contracts.front();
}

}  // namespace

void add_selection(CLI::App& app, SelectionOptions& options) {
  app.add_option("what", options.what, "Matrix files (cases/*.yaml) and tokens")->required();
  const auto list = [&](const std::string& name, std::vector<std::string>& to, const std::string& help) {
    return app.add_option(name, to, help);
  };
  list("--backend", options.backend, "Only these backends; globs")->delimiter(',');
  list("--q", options.q, "Only these dtypes of q")->delimiter(',');
  list("--kv", options.kv, "Only these KV caches")->delimiter(',');
  list("--head-dim", options.head_dim, "Only these head dims")->delimiter(',');
  list("--graph", options.graph, "Only these graph modes")->delimiter(',');
  list("--mask", options.mask, "Only these masks (one an option: a window has a comma)");
  list("--filter", options.filter, "Only tokens that match one of these globs");
  app.add_option("--tier", options.tier, "Blocks up to this tier: smoke, ci, nightly, full")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of cases whose block gives none")->capture_default_str();
  auto* plugin = app.add_option("--plugin", options.plugin, "A kernel plug-in (.so) in place of the matrix's backends");
  app.add_option("--contract", options.contract, "The plug-in's contract (default: the plug-in's name with .yaml)")
      ->needs(plugin);
  app.add_option("--shard", options.shard,
                 "INDEX/COUNT from 1/COUNT: only this share of the cases (array jobs say it by environment)");
}

Selection select(const SelectionOptions& options, const Paths& paths) {
  Selection selection;
  selection.contracts = ContractBook::read(paths.contracts, paths.deps);
  const auto tier = tier_from_name(options.tier);
  if (!tier)
    throw UsageError(fmt::format("--tier: '{}' is unknown{}", options.tier, suggestion(options.tier, tier_names())));
  MatrixOptions matrix_options{.tier = *tier, .seed = options.seed, .only_backend = ""};
  if (!options.plugin.empty()) {
    Contract contract = plugin_contract(options, paths);
    matrix_options.only_backend = contract.backend;
    selection.contracts.replace(std::move(contract));
  }

  std::vector<std::string> files;
  for (const auto& text : options.what)
    if (!is_token(text)) files.push_back(text);
  Matrix matrix = read_matrix(files, selection.contracts, matrix_options);
  selection.left_out = std::move(matrix.left_out);
  selection.unreached = std::move(matrix.unreached);
  for (const auto& text : options.what)
    if (is_token(text)) {
      Case c = read_token(text, selection, options);
      if (!options.plugin.empty()) c.backend = matrix_options.only_backend;
      matrix.cases.push_back({c, token(c), "command line", "command line"});
    }

  const When when = filters(options, selection.contracts);
  for (const ListedCase& listed : matrix.cases) {
    const bool named =
        options.filter.empty() || std::any_of(options.filter.begin(), options.filter.end(),
                                              [&](const auto& glob) { return glob_match(glob, listed.token); });
    if (named && holds(when, listed.c)) selection.all.push_back(listed);
  }
  if (selection.all.empty())
    throw UsageError("no case matches: look at `attest list` with fewer filters" +
                     std::string(selection.left_out.empty() ? "" : ", or at a higher --tier"));

  const Shard shard = find_shard(options.shard);
  selection.shard = fmt::format("{}/{}", shard.index + 1, shard.count);
  for (std::size_t i = shard.index; i < selection.all.size(); i += shard.count)
    selection.cases.push_back(selection.all[i]);
  std::stable_sort(selection.cases.begin(), selection.cases.end(),
                   [](const ListedCase& a, const ListedCase& b) { return a.c.backend < b.c.backend; });
  return selection;
}

}  // namespace attest
