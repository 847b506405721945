#include "harness/run/run_case.h"

#include "harness/core/error.h"
#include "harness/inputs/inputs.h"
#include "harness/judge/vacuous.h"
#include "harness/run/prepare.h"
#include "harness/run/relation.h"
#include "reference/rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace attest {
namespace {

using Kind = Expectation::Kind;

constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> ms = now - begin_;
    begin_ = now;
    return ms.count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Step {  // a case on its way
  const Case& c;
  Host& host;
  const CaseOptions& options;
  const Expectation& expected;
  Verdict& verdict;
};

void conclude(Verdict& verdict, Outcome outcome, std::string message) {
  verdict.outcome = outcome;
  verdict.message = std::move(message);
}

void fail(Verdict& verdict, const Failure& failure) {
  conclude(verdict, Outcome::Fail, failure.message);
  verdict.kind = failure.kind;
  if (failure.worst) verdict.worst = failure.worst;
}

// A reply that ends the case. A rejection where one is due is looked at by the caller first.
void conclude(Verdict& verdict, const Reply& reply) {
  const std::string what = reply.type.empty() ? reply.text : reply.type + ": " + reply.text;
  switch (reply.status) {
    case Reply::Status::Unsupported: return conclude(verdict, Outcome::Unsupported, "the kernel declines: " + what);
    case Reply::Status::Rejected:
      return fail(verdict, {FailKind::Rejected, "refused what its contract claims: " + what});
    case Reply::Status::Missing: return conclude(verdict, Outcome::NotRun, what);
    case Reply::Status::Crash: return conclude(verdict, Outcome::Crash, what);
    case Reply::Status::Timeout: return conclude(verdict, Outcome::Timeout, what);
    case Reply::Status::Memory: return conclude(verdict, Outcome::Memory, what);
    default: return fail(verdict, {FailKind::Error, what});
  }
}

// The reply to what the contract says must be rejected, with these words: to decline it is not enough.
void judge_rejection(const Step& step, const Reply& reply) {
  if (reply.ok())
    return fail(step.verdict,
                {FailKind::Accepted, step.expected.text == "*"
                                         ? "took what it must reject"
                                         : fmt::format("took what it must reject with \"{}\"", step.expected.text)});
  if (reply.status == Reply::Status::Unsupported)
    return fail(step.verdict, {FailKind::Message, fmt::format("declined what it must reject: {}", reply.text)});
  if (reply.status != Reply::Status::Rejected) return conclude(step.verdict, reply);
  if (step.expected.text != "*" && reply.text.find(step.expected.text) == std::string::npos)
    return fail(step.verdict, {FailKind::Message, fmt::format("rejected it with \"{}\", which lacks \"{}\"", reply.text,
                                                              step.expected.text)});
  conclude(step.verdict, Outcome::Pass, fmt::format("rejected as it must be: {}", reply.text));
}

// The name of a trivial output that the case's own rule would let pass.
std::optional<std::string> vacuous(const Step& step, const Problem& problem, const Call& call, const Outcomes& right) {
  if (problem.op == Op::Write) {
    for (const auto& [storage, bytes] : right.caches) {
      const auto before = call.storages[storage].bytes();
      if (!std::equal(before.begin(), before.end(), bytes.begin())) return std::nullopt;
    }
    return "a cache left as it was";
  }
  auto trivial = trivial_outputs(right.values.out, problem);
  Case other_seed = step.c;
  other_seed.seed += 1;
  if (problem.op == Op::Rope) {
    const Call other = make_inputs(other_seed, problem);
    const Expected previous = rotate(problem, other, arithmetic(step.host.contract(), step.c));
    trivial.push_back({"the output of other inputs", elements_of(previous.out)});
    trivial.push_back({"q unrotated", elements_of(call.view(Slot::Q))});
    return accepted_trivial(right.values.out, trivial, problem);
  }
  const CallRules rules = call_rules(step.host.contract(), step.c);
  const ExpectedTensor mean = uniform_attention(problem, call, rules);
  trivial.push_back({"the mean of V", elements_of(mean)});
  ExpectedTensor previous;
  if (step.c.probe != Probe::File) {
    const Call other = make_inputs(other_seed, problem, {call.layout.k.table, call.layout.v.table});
    previous = attend(problem, other, arithmetic(step.host.contract(), step.c), rules, {Precision::F32, false}).out;
    trivial.push_back({"the output of other inputs", elements_of(previous)});
  }
  return accepted_trivial(right.values.out, trivial, problem);
}

void keep_outputs(CaseTrace& trace, const Call& call, const Arena& arena) {
  for (std::size_t i = 0; i < call.storages.size(); ++i) {
    const auto bytes = arena.storage(i);
    trace.left.emplace_back(call.storages[i].view().dtype, call.storages[i].view().shape);
    std::copy(bytes.begin(), bytes.end(), trace.left.back().bytes().begin());
  }
}

void relate(const Step& step, const Prepared& made, const Left& left, const Expected& right) {
  const RelationResult result = check_relation(step.c, made, left, right, step.host);
  if (result.unsupported) return conclude(step.verdict, Outcome::Unsupported, *result.unsupported);
  if (result.reply) return conclude(step.verdict, *result.reply);
  if (result.failure) fail(step.verdict, *result.failure);
}

void run_and_judge(const Step& step, std::size_t workspace, CaseTrace* trace) {
  Verdict& verdict = step.verdict;
  Host& host = step.host;
  const Contract& contract = host.contract();
  Stopwatch watch;
  Prepared made = prepare(step.c, host);
  const auto& [problem, call, before, layout] = made;
  if (!layout.ok()) return conclude(verdict, layout);
  verdict.ms.inputs = watch.lap();

  const bool must_reject = step.expected.kind == Kind::Reject;
  const Outcomes right =
      must_reject ? Outcomes{} : right_outcomes(step.c, contract, problem, call, step.options.precision);
  verdict.ms.reference = watch.lap();

  const std::string kernel = expected_kernel(contract, step.c);
  const auto [launched, damage] = plan_and_launch({problem, before, call, kernel, workspace}, host);
  verdict.ms.kernel = launched.body.value("ms", 0.0);
  watch.lap();
  if (damage) return fail(verdict, *damage);
  if (must_reject) return judge_rejection(step, launched);
  if (!launched.ok()) return conclude(verdict, launched);

  const auto failure = check_launch({problem, call, host.arena(), launched.body, kernel}, right, verdict);
  if (trace) keep_outputs(*trace, call, host.arena());
  if (failure) {
    fail(verdict, *failure);
  } else if (const auto trivial = vacuous(step, problem, call, right)) {
    conclude(verdict, Outcome::Vacuous, fmt::format("the case would also accept {}", *trivial));
  } else {
    conclude(verdict, Outcome::Pass, "");
    const Left left = step.c.rel == Relation::None ? Left{} : left_by(call, host.arena());
    if (call_rules(contract, step.c).determinism != Determinism::None) {
      const auto first = written_bytes(call, host.arena());
      for (int launch = 1; launch < step.options.repeat && verdict.outcome == Outcome::Pass; ++launch) {
        host.arena().restage(call);
        const Reply again = host.ask({{"do", "launch"}});
        if (!again.ok())
          conclude(verdict, again);
        else if (const auto later = check_conduct({problem, call, host.arena(), again.body, kernel}))
          fail(verdict, {later->kind, fmt::format("launch {} of the same call: {}", launch + 1, later->message)});
        else if (written_bytes(call, host.arena()) != first)
          fail(verdict,
               {FailKind::Nondeterministic, fmt::format("launch {} of the same call gave other bits", launch + 1)});
      }
    }
    if (step.c.rel != Relation::None && verdict.outcome == Outcome::Pass) relate(step, made, left, right.values);
  }
  verdict.ms.judge = watch.lap();
  if (!trace) return;
  trace->right = right;
  trace->problem = std::move(made.problem);
  trace->call = std::move(made.call);
}

// A deviation that the contract itself names is due: without it the contract is out of date.
void apply_divergence(Verdict& verdict, const Expectation& expected) {
  if (expected.kind != Kind::Diverge) return;
  verdict.waiver = expected.source;
  if (verdict.outcome == Outcome::Pass)
    return conclude(verdict, Outcome::Xpass,
                    fmt::format("conforms, but its contract names a divergence: {}", expected.text));
  // Wrong numbers are what a divergence can be; nothing excuses a write out of bounds or another kernel.
  const bool values = verdict.kind == FailKind::Numeric || verdict.kind == FailKind::Special ||
                      verdict.kind == FailKind::Lse || verdict.kind == FailKind::CacheWrite;
  if (verdict.outcome == Outcome::Fail && values)
    conclude(verdict, Outcome::Xfail, fmt::format("known divergence ({}): {}", expected.text, verdict.message));
}

Verdict run_once(const Case& c, Host& host, const CaseOptions& options, CaseTrace* trace) {
  Verdict verdict{.token = token(c)};
  const Expectation expected = expectation(host.contract(), c);
  const Step step{c, host, options, expected, verdict};
  if (expected.kind == Kind::Decline) return conclude(verdict, Outcome::Unsupported, expected.text), verdict;
  if (const Reply opened = host.open(); !opened.ok()) return conclude(verdict, opened), verdict;
  const Reply supports = host.ask({{"do", "supports"}, {"problem", to_json(make_problem(c, host.contract()))}});
  const auto workspace = supports.body.value("workspace", std::size_t{0});
  if (expected.kind == Kind::Reject && !supports.ok()) {
    judge_rejection(step, supports);
  } else if (!supports.ok()) {
    conclude(verdict, supports);
  } else if (workspace > kMostWorkspace) {
    fail(verdict,
         {FailKind::Error, fmt::format("asks for {} bytes of workspace, the most is {}", workspace, kMostWorkspace)});
  } else {
    run_and_judge(step, workspace, trace);
  }
  apply_divergence(verdict, expected);
  return verdict;
}

bool worth_a_second_look(const Verdict& verdict) {
  return verdict.outcome == Outcome::Fail || verdict.outcome == Outcome::Crash || verdict.outcome == Outcome::Xfail;
}

}  // namespace

Verdict run_case(const Case& c, Host& host, const CaseOptions& options, CaseTrace* trace) {
  const bool fresh = host.fresh();
  const Verdict first = run_once(c, host, options, trace);
  if (fresh || !options.second_look || host.options().in_process || !worth_a_second_look(first)) return first;
  host.restart();
  if (trace) *trace = {};
  Verdict second = run_once(c, host, options, trace);
  if (second.outcome != Outcome::Pass && second.outcome != Outcome::Xpass) return second;
  fail(second, {FailKind::Nondeterministic,
                fmt::format("passes in a fresh process, but after other cases: {} {}", summary(first), first.message)});
  return second;
}

}  // namespace attest
