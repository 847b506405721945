// Healthy models of five families of kernels against the bounds that judge them: a false alarm is a defect of a bound,
// and so is a bound that no healthy kernel comes near. Prints the largest ratio of each model.
#include "tests/cli/command.h"

#include "harness/core/case.h"
#include "harness/record/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace attest {
namespace {

constexpr double kTight = 0.2;  // what the largest ratio must be above

struct Model {
  std::int64_t elements = 0, cases = 0, judged = 0;
  double ratio = 0, lse_ratio = 0;
};

class Models : public test::Cli {
 protected:
  std::map<std::string, Model> models_;

  void run_seed(int seed) {
    const test::Ran ran = run(fmt::format("run '{}/cases/models.yaml' --seed {} --no-diagnose --journal '{}'",
                                          ATTEST_SOURCE_DIR, seed, file("journal")));
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    for (const Verdict& v : read_journals({file("journal")}).verdicts) {
      Model& model = models_[parse_token(v.token).backend];
      EXPECT_EQ(v.outcome, Outcome::Pass) << summary(v) << " " << v.token << " " << v.message;
      model.cases += 1;
      model.judged += v.elements > 0;
      model.elements += v.elements;
      model.ratio = std::max(model.ratio, v.ratio);
      model.lse_ratio = std::max(model.lse_ratio, v.lse_ratio);
    }
    std::filesystem::remove(file("journal"));
  }

  void expect_tight(std::int64_t least_elements) const {
    std::int64_t elements = 0;
    for (const auto& [name, m] : models_) {
      fmt::print("{:10} {:6} cases {:12} elements  largest ratio {:.3f}, of the LSE {:.3f}\n", name, m.cases,
                 m.elements, m.ratio, m.lse_ratio);
      EXPECT_EQ(m.judged, m.cases) << name;
      EXPECT_GT(m.ratio, kTight) << name << ": its bound is too loose";
      EXPECT_LE(m.ratio, 1) << name;
      EXPECT_LE(m.lse_ratio, 1) << name;
      elements += m.elements;
    }
    EXPECT_EQ(models_.size(), 5U);
    EXPECT_GE(elements, least_elements);
  }
};

TEST_F(Models, TenMillionElements) {
  run_seed(1);
  expect_tight(10'000'000);
}

TEST_F(Models, AHundredMillionElements) {
  for (int seed = 2; seed <= 4; ++seed) run_seed(seed);
  expect_tight(100'000'000);
}

}  // namespace
}  // namespace attest
