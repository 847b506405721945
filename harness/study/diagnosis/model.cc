#include "harness/study/diagnosis/model.h"

#include "harness/core/words.h"

#include <fmt/format.h>

#include <array>

namespace attest {
namespace {

constexpr std::size_t kMostProcesses = 8;

// The fields of an arithmetic that the engine takes by their names.
constexpr std::array<std::string_view, 14> kFields{"q_cast",   "k_cast", "v_cast",   "qk_acc",  "pv_acc",
                                                   "score",    "p",      "p_offset", "row_sum", "order",
                                                   "promoted", "carry",  "partial",  "unscaled"};

// The engine adds in binary32 at most, and aligns 27 bits at most.
std::string as_the_engine_takes_it(std::string value) {
  if (value == "f64") return "f32";
  if (value.starts_with("mma:") && parse_number<int>(split(std::string_view(value).substr(4), ',')[0]).value_or(0) > 27)
    return "f32";
  return value;
}

}  // namespace

Contract model_contract(const Contract& of, const Case& c, const Contract& engine, int tile) {
  Contract model = of;
  model.plugin = engine.plugin;
  model.layouts = engine.layouts;
  model.layouts.try_emplace(Strides::Fused, engine.layouts.at(Strides::Dense));
  model.rejects.clear();
  model.declines.clear();
  model.divergences.clear();
  Case of_engine = c;
  of_engine.backend = engine.backend;
  model.ran = {{.when = {}, .claims = claims_in_force(engine.ran, of_engine)}};
  std::map<std::string, std::string> options;
  for (const auto field : kFields)
    options[std::string(field)] = as_the_engine_takes_it(claimed_value(of, c, field).value_or("none"));
  if (call_rules(of, c).k_to_q)
    for (const auto cast : {"k_cast", "v_cast"})
      if (options[cast] == "none") options[cast] = name(c.q);
  const double threshold = arithmetic(of, c).rescale_threshold;
  options["rescale_threshold"] = fmt::format("{}", static_cast<int>(threshold));
  options["tile"] = std::to_string(tile);
  model.options.assign(options.begin(), options.end());
  return model;
}

void Models::make_room() {
  if (running_.size() > kMostProcesses) running_.clear();
}

Host& Models::host(const Contract& of, const Case& c, int tile) {
  auto contract = std::make_unique<Contract>(model_contract(of, c, engine_, tile));
  std::string key = of.backend;
  for (const auto& [name, value] : contract->options) key += fmt::format("/{}={}", name, value);
  if (const auto found = running_.find(key); found != running_.end()) return *found->second.host;
  Running& running = running_[key];
  running.contract = std::move(contract);
  running.host = std::make_unique<Host>(*running.contract, options_);
  return *running.host;
}

}  // namespace attest
