#include "harness/run/prepare.h"

#include "harness/core/error.h"
#include "harness/inputs/inputs.h"
#include "reference/kv_write.h"
#include "reference/rope.h"

#include <fmt/format.h>

#include <algorithm>

namespace attest {
namespace {

// Element indices that a plug-in gave: each within its cache, no two alike.
std::optional<std::string> wrong_table(const std::vector<std::int64_t>& table, std::int64_t elements,
                                       std::string_view cache) {
  std::vector<bool> taken(static_cast<std::size_t>(elements));
  for (const std::int64_t at : table) {
    if (at < 0 || at >= elements)
      return fmt::format("cache_index() places an element of the {} cache at {}, of {}", cache, at, elements);
    if (taken[static_cast<std::size_t>(at)])
      return fmt::format("cache_index() places two elements of the {} cache at {}", cache, at);
    taken[static_cast<std::size_t>(at)] = true;
  }
  return std::nullopt;
}

// Where a layout is the plug-in's own, it is asked for every element's place.
Reply ask_for_tables(Host& host, const Problem& problem, CacheTables& tables) {
  if (problem.op == Op::Rope || !problem.layout.indexed_by_plugin) return {};
  const auto count = [&](int width) {
    return static_cast<std::size_t>(problem.num_pages) * static_cast<std::size_t>(problem.page_size) *
           static_cast<std::size_t>(problem.heads_kv) * static_cast<std::size_t>(width);
  };
  const std::size_t k = count(problem.dim), v = count(problem.dim_v);
  Call scratch;
  scratch.storages.emplace_back(DType::I64, Dims{static_cast<std::int64_t>(k + v)});
  host.arena().stage(scratch, GuardMode::Bands, 0);
  Reply reply =
      host.ask({{"do", "cache_index"}, {"problem", to_json(problem)}, {"arena", host.arena().describe(scratch)}});
  if (!reply.ok()) return reply;
  const auto* table = reinterpret_cast<const std::int64_t*>(host.arena().base());
  tables = {.k = {table, table + k}, .v = {table + k, table + k + v}};
  const CacheLayout layout =
      place_cache(problem.layout, {problem.num_pages, problem.page_size, problem.heads_kv, problem.dim, problem.dim_v});
  auto wrong = wrong_table(tables.k, layout.k.storage, "K");
  if (!wrong) wrong = wrong_table(tables.v, layout.v.storage, "V");
  if (wrong) reply = {.status = Reply::Status::Error, .type = "plug-in", .text = *wrong};
  return reply;
}

}  // namespace

Prepared prepare(const Case& c, Host& host) {
  try {
    Prepared made{make_problem(c, host.contract()), {}, {}, {}};
    const bool reused = c.plan == PlanUse::Reused;
    const Case other = with_other_lengths(c);
    if (reused) widen_for(made.problem, other);
    CacheTables tables;
    made.layout = ask_for_tables(host, made.problem, tables);
    if (!made.layout.ok()) return made;
    made.call = make_inputs(c, made.problem, tables);
    if (!reused) return made;
    Problem other_problem = made.problem;
    other_problem.seqs = other.seq;
    made.before = make_inputs(other, other_problem, tables);
    return made;
  } catch (const UsageError& error) { throw CaseError(error.what()); }
}

Outcomes right_outcomes(const Case& c, const Contract& contract, const Problem& problem, const Call& call,
                        Precision precision) {
  Outcomes right;
  if (problem.op == Op::Rope) return right.values = rotate(problem, call, arithmetic(contract, c)), right;
  if (problem.op == Op::Write || problem.op == Op::WriteAttend) {
    right.caches = write_cache(problem, call, write_arithmetic(contract, c));
  } else {
    for (const Slot slot : {Slot::KCache, Slot::VCache}) {
      const auto bytes = call.storages[call.ref(slot).storage].bytes();
      right.caches[call.ref(slot).storage].assign(bytes.begin(), bytes.end());
    }
  }
  if (problem.op == Op::Write) return right;
  // Attention reads the cache as it is after the write.
  const auto swap_caches = [&] {
    for (auto& [storage, bytes] : right.caches)
      std::swap_ranges(bytes.begin(), bytes.end(), call.storages[storage].bytes().begin());
  };
  swap_caches();
  right.values = attend(problem, call, arithmetic(contract, c), call_rules(contract, c), {precision});
  swap_caches();
  return right;
}

Launch plan_and_launch(const LaunchInput& input, Host& host) {
  const auto& [problem, before, call, kernel, workspace] = input;
  const Call& first = before ? *before : call;
  host.arena().stage(first, host.options().guards, workspace);
  const auto refused = [&](Reply reply, const Call& staged) {
    const bool answered = reply.status == Reply::Status::Unsupported || reply.status == Reply::Status::Rejected;
    return Launch{std::move(reply), answered ? check_nothing_written(staged, host.arena()) : std::nullopt};
  };
  Reply reply = host.ask({{"do", "plan"}, {"problem", to_json(problem)}, {"arena", host.arena().describe(call)}});
  if (!reply.ok()) return refused(std::move(reply), first);
  std::optional<Failure> damage;
  if (before) {
    reply = host.ask({{"do", "launch"}});
    if (!reply.ok()) return refused(std::move(reply), *before);
    damage = check_conduct({problem, *before, host.arena(), reply.body, kernel});
    host.arena().restage(call);
  }
  reply = host.ask({{"do", "launch"}});
  if (!reply.ok()) return refused(std::move(reply), call);
  return {std::move(reply), damage};
}

}  // namespace attest
