#include "harness/study/selftest/selftest.h"

#include "harness/core/case_keys.h"
#include "harness/run/crew.h"
#include "harness/study/selftest/judge_outputs.h"
#include "harness/study/selftest/sensitivity.h"

#include <algorithm>
#include <mutex>

namespace attest {
namespace {

// An FP8 P, or accumulators that truncate or are narrower than binary32, hide what others show: there 95 % are asked
// for, elsewhere all.
double required_share(const Arithmetic& a) {
  const bool narrow_p = is_fp8(a.p), narrow_sums = a.carry != DType::F32 || a.pv_acc.dtype == DType::F16;
  return narrow_p || narrow_sums ? 0.95 : 1;
}

class Selftest {
 public:
  Selftest(const SelftestInput& input, const SelftestOptions& options, const OnSelftestCase& on_case)
      : input_(input), options_(options), on_case_(on_case) {
    for (const Fault& fault : input.faults)
      table_.faults.push_back(
          {.name = fault.name, .tier = std::string(attest::name(fault.tier)), .says = fault.says, .unseen = {}});
    for (const SelftestTask& task : input.tasks) add_mode(task);
    if (options.compare_rules)
      for (const OtherRule& rule : other_rules())
        table_.other_rules.push_back({std::string(rule.name), std::string(rule.formula), std::string(rule.source)});
  }

  KillTable run() {
    work_through({.tasks = input_.tasks.size(),
                  .jobs = options_.jobs,
                  .host = options_.host,
                  .contract = [this](std::size_t i) -> const Contract& { return *input_.tasks[i].contract; },
                  .run = [this](std::size_t i, Host& host) { run_one(input_.tasks[i], host); }});
    order();
    return std::move(table_);
  }

 private:
  void add_mode(const SelftestTask& task) {
    if (modes_.count(task.c.backend)) return;
    modes_[task.c.backend] = table_.modes.size();
    table_.modes.push_back({.name = task.c.backend,
                            .about = task.contract->about,
                            .required = required_share(arithmetic(*task.contract, task.c))});
    for (std::size_t i = 0; i < input_.faults.size(); ++i)
      if (const auto why = input_.faults[i].why_unseen(task.c.backend)) table_.faults[i].unseen[task.c.backend] = *why;
  }

  void shrink(Subject& subject) const {
    Expected& right = subject.right.values;
    for (ExpectedTensor* tensor : {&right.out, &right.lse, &right.k_out})
      for (auto* bounds : {&tensor->bound, &tensor->likely})
        for (double& bound : *bounds) bound /= options_.shrink_bounds;
  }

  void run_one(const SelftestTask& task, Host& host) {
    std::optional<Subject> subject = make_subject(task.c, host, options_.precision);
    if (!subject) {
      const std::lock_guard lock(mutex_);
      table_.declined.push_back(token(task.c));
      return;
    }
    if (options_.shrink_bounds != 1) shrink(*subject);
    HealthyCase healthy{.token = token(task.c),
                        .probe = *case_value(task.c, "in"),
                        .mode = modes_.at(task.c.backend),
                        .margins = judge(*subject, subject->healthy),
                        .others = {},
                        .gain = {},
                        .keys = {}};
    const auto low = options_.compare_rules ? prepare_rules(*subject) : std::nullopt;
    if (low) healthy.others = refusals(*subject, *low, subject->healthy);
    std::vector<Trial> trials = try_faults(*subject, low, host);
    if (options_.sensitivity && !killed(healthy.margins)) measure_sensitivity(*subject, host, healthy);

    const std::lock_guard lock(mutex_);
    for (Trial& trial : trials) {
      trial.hc = table_.cases.size();
      table_.trials.push_back(std::move(trial));
    }
    table_.cases.push_back(healthy);
    on_case_(healthy, table_.cases.size() + table_.declined.size(), input_.tasks.size());
  }

  std::vector<Trial> try_faults(const Subject& subject, const std::optional<LowPrecision>& low, Host& host) const {
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < input_.faults.size(); ++i) {
      const Fault& fault = input_.faults[i];
      if (!holds(fault.when, subject.c, *subject.contract)) continue;
      const Outputs left = commit(fault, subject, host);
      const bool declined = left.reply.status == Reply::Status::Unsupported;
      Trial trial{
          .fault = i, .hc = 0, .changed = !declined && !same_bits(left, subject.healthy), .margins = {}, .others = {}};
      if (trial.changed) {
        trial.margins = judge(subject, left);
        if (low) trial.others = refusals(subject, *low, left);
      }
      trials.push_back(std::move(trial));
    }
    return trials;
  }

  // As the suite lists them, whatever thread came first.
  void order() {
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < input_.tasks.size(); ++i) place[token(input_.tasks[i].c)] = i;
    std::vector<std::size_t> order(table_.cases.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return place.at(table_.cases[a].token) < place.at(table_.cases[b].token);
    });
    std::vector<std::size_t> now(order.size());
    std::vector<HealthyCase> cases;
    for (std::size_t i = 0; i < order.size(); ++i) {
      now[order[i]] = i;
      cases.push_back(table_.cases[order[i]]);
    }
    table_.cases = std::move(cases);
    for (Trial& trial : table_.trials) trial.hc = now[trial.hc];
    std::sort(table_.trials.begin(), table_.trials.end(),
              [](const Trial& a, const Trial& b) { return std::pair(a.hc, a.fault) < std::pair(b.hc, b.fault); });
    std::sort(table_.declined.begin(), table_.declined.end());
  }

  const SelftestInput& input_;
  const SelftestOptions& options_;
  const OnSelftestCase& on_case_;
  std::map<std::string, std::size_t> modes_;

  std::mutex mutex_;  // what follows
  KillTable table_;
};

}  // namespace

KillTable run_selftest(const SelftestInput& input, const SelftestOptions& options, const OnSelftestCase& on_case) {
  return Selftest(input, options, on_case).run();
}

}  // namespace attest
