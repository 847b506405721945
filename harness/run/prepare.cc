#include "harness/run/prepare.h"

#include "harness/core/error.h"
#include "harness/inputs/inputs.h"
#include "reference/kv_write.h"
#include "reference/rope.h"

#include <fmt/format.h>

#include <algorithm>

namespace attest {
namespace {

// Where a layout is the plug-in's own, it is asked for every element's place.
CacheTables cache_tables(Host& host, const Problem& problem) {
  if (problem.op == Op::Rope || !problem.layout.indexed_by_plugin) return {};
  const auto count = [&](int width) {
    return static_cast<std::size_t>(problem.num_pages) * static_cast<std::size_t>(problem.page_size) *
           static_cast<std::size_t>(problem.heads_kv) * static_cast<std::size_t>(width);
  };
  const std::size_t k = count(problem.dim), v = count(problem.dim_v);
  Call scratch;
  scratch.storages.emplace_back(DType::I64, Dims{static_cast<std::int64_t>(k + v)});
  host.arena().stage(scratch, GuardMode::Bands, 0);
  const Reply reply =
      host.ask({{"do", "cache_index"}, {"problem", to_json(problem)}, {"arena", host.arena().describe(scratch)}});
  if (!reply.ok()) throw InfraError(fmt::format("{}: {}", host.contract().backend, reply.text));
  const auto* table = reinterpret_cast<const std::int64_t*>(host.arena().base());
  return {.k = {table, table + k}, .v = {table + k, table + k + v}};
}

}  // namespace

Prepared prepare(const Case& c, Host& host) {
  Problem problem = make_problem(c, host.contract());
  if (c.plan == PlanUse::Reused) widen_for(problem, with_other_lengths(c));
  Call call = make_inputs(c, problem, cache_tables(host, problem));
  return {std::move(problem), std::move(call)};
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
  right.values = attend(problem, call, arithmetic(contract, c), call_rules(contract, c), precision);
  swap_caches();
  return right;
}

Reply plan_and_launch(const Case& c, const Problem& problem, const Call& call, Host& host, std::size_t workspace) {
  std::optional<Call> before;
  if (c.plan == PlanUse::Reused) {
    const Case other = with_other_lengths(c);
    Problem other_problem = problem;
    other_problem.seqs = other.seq;
    before = make_inputs(other, other_problem, {call.layout.k.table, call.layout.v.table});
  }
  host.arena().stage(before ? *before : call, host.options().guards, workspace);
  if (const Reply reply =
          host.ask({{"do", "plan"}, {"problem", to_json(problem)}, {"arena", host.arena().describe(call)}});
      !reply.ok())
    return reply;
  if (before) {
    if (const Reply reply = host.ask({{"do", "launch"}}); !reply.ok()) return reply;
    host.arena().restage(call);
  }
  return host.ask({{"do", "launch"}});
}

}  // namespace attest
