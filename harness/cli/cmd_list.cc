#include "harness/cli/commands.h"
#include "harness/cli/selection.h"
#include "harness/core/case_keys.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace attest {
namespace {

struct ListOptions {
  SelectionOptions selection;
  bool json = false, count = false;
};

nlohmann::ordered_json to_json(const ListedCase& listed) {
  nlohmann::ordered_json json{{"token", listed.token},
                              {"block", listed.block},
                              {"place", listed.place},
                              {"phase", name(listed.c.phase)},
                              {"backend", listed.c.backend}};
  for (const CaseKey& key : case_keys()) json[std::string(key.name)] = key.print(listed.c);
  json["seed"] = listed.c.seed;
  return json;
}

int run_list(const ListOptions& options, const Paths& paths) {
  const Selection selection = select(options.selection, paths);
  if (options.json) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& listed : selection.cases) all.push_back(to_json(listed));
    fmt::print("{}\n", all.dump(1));
    return kConforms;
  }
  if (!options.count) {
    for (const auto& listed : selection.cases) fmt::print("{}\n", listed.token);
    return kConforms;
  }
  std::vector<std::pair<const ListedCase*, std::size_t>> blocks;  // the first case of each block, in order of the files
  for (const auto& listed : selection.all) {
    const auto block =
        std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.first->place == listed.place; });
    if (block == blocks.end())
      blocks.emplace_back(&listed, 1);
    else
      ++block->second;
  }
  for (const auto& [first, count] : blocks) {
    const auto excluded =
        std::count_if(selection.unreached.begin(), selection.unreached.end(),
                      [place = first->place](const auto& text) { return text.starts_with(place + ": "); });
    fmt::print("{:7} {}  {}{}\n", count, first->place, first->block,
               excluded ? fmt::format(" ({} pairs of values excluded)", excluded) : "");
  }
  for (const auto& text : selection.left_out) fmt::print("      - {}\n", text);
  fmt::print("{:7} cases\n", selection.all.size());
  return kConforms;
}

}  // namespace

void add_list(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* list = app.add_subcommand("list", "Print the tokens of the cases, one a line");
  add_selection(*list, options->selection);
  list->add_flag("--json", options->json, "As a JSON array, with every key of each case");
  list->add_flag("--count", options->count, "Only how many cases each block makes");
  list->callback([options, &chosen] { chosen = [options](const Paths& paths) { return run_list(*options, paths); }; });
}

}  // namespace attest
