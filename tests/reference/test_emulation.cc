// The error bound against kernels of real arithmetic: a right one is always within it and not far from it, one that has
// a single fault leaves it on some probe.
#include "reference/attention.h"
#include "tests/reference/emulator.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>

namespace attest {
namespace {

using test::Emulator;
using test::Lie;
using D = DType;

struct Ratios {
  double out = 0, lse = 0;
};

Ratios ratios(const std::string& token, const Arithmetic& arithmetic, Lie lie = Lie::None) {
  const auto made = test::make(token);
  const Expected expected = attend(made.problem, made.call, arithmetic, {});
  const auto raise = [](double& most, double got, double right, double bound) {
    const double ratio = got == right ? 0 : std::abs(got - right) / bound;
    if (!(ratio <= most)) most = ratio;
  };
  Ratios most;
  for (const test::Row& row : test::rows_of(made.problem, made.call)) {
    const auto got = Emulator(row, arithmetic, lie).run();
    for (int dim = 0; dim < made.problem.dim_v; ++dim) {
      const std::size_t at = expected.out.index(row.token, row.head, dim);
      raise(most.out, got.out[static_cast<std::size_t>(dim)], expected.out.value[at], expected.out.bound[at]);
    }
    const std::size_t at = expected.lse.index(row.token, row.head, 0);
    raise(most.lse, got.lse, expected.lse.value[at], expected.lse.bound[at]);
  }
  return most;
}

constexpr std::array kProbes{"gauss", "peaky", "outlier", "select", "sentinel", "identity", "mass"};
constexpr std::array kShapes{"h=2:1/d=64/dv=16/page=16/seq=2x3,1x17,3x64",
                             "h=2:2/d=40/dv=16/page=16/seq=1x300,2x31/mask=window:20,0",
                             "h=2:1/d=16/dv=16/page=16/seq=1x40,3x9/sink=f32"};

struct Mode {
  const char* name;
  const char* types;
  Arithmetic arithmetic;
  double least;  // of the largest ratio
};

std::vector<Mode> modes() {
  using test::emulated_arithmetic;
  auto summed = emulated_arithmetic(D::BF16, 0), narrow = emulated_arithmetic(D::F16, 0);
  summed.row_sum_rounded = true;
  narrow.qk_acc.dtype = narrow.pv_acc.dtype = D::F16;
  return {{"bf16", "q=bf16/kv=bf16", emulated_arithmetic(D::BF16, 0), 0.2},
          {"bf16, P summed rounded", "q=bf16/kv=fp8_e4m3/scales=head", summed, 0.2},
          {"f16", "q=f16/kv=f16", emulated_arithmetic(D::F16, 0), 0.2},
          {"f16 accumulators", "q=f16/kv=fp8_e5m2", narrow, 0.1},
          {"bf16, f32 P", "q=bf16/kv=fp8_e5m2/scales=odd", emulated_arithmetic(D::F32, 0), 0.2},
          {"fp8 P", "q=bf16/kv=fp8_e4m3/scales=odd", emulated_arithmetic(D::E4M3FN, 8), 0.2},
          {"fp8 throughout", "q=fp8_e4m3/kv=fp8_e4m3/scales=head/out=bf16", emulated_arithmetic(D::E4M3FN, 8), 0.2},
          {"f32", "q=f32/kv=f32", emulated_arithmetic(D::F32, 0), 0.05}};
}

TEST(Emulation, ARightKernelIsWithinTheBound) {
  for (const Mode& mode : modes()) {
    Ratios most;
    for (const char* probe : kProbes)
      for (const char* shape : kShapes)
        for (const char* cap : {"", "/cap=10"}) {
          if (*cap && std::string(probe) == "select") continue;
          const std::string token = fmt::format("prefill/test/{}/{}{}/in={}#5", mode.types, shape, cap, probe);
          const auto got = ratios(token, mode.arithmetic);
          EXPECT_LT(got.out, 1) << mode.name << ": " << token;
          EXPECT_LT(got.lse, 1) << mode.name << ": " << token;
          most.out = std::max(most.out, got.out);
          most.lse = std::max(most.lse, got.lse);
        }
    EXPECT_GT(most.out, mode.least) << mode.name;
    EXPECT_GT(most.lse, 0.05) << mode.name;
  }
}

TEST(Emulation, EachLieLeavesItSomewhere) {
  for (const auto& [lie, name] : {std::pair{Lie::Exp2, "exp2 for exp"},
                                  {Lie::NoSoftmaxScale, "no softmax scale"},
                                  {Lie::NoKScale, "no k_scale"},
                                  {Lie::NoOffset, "P without its offset"},
                                  {Lie::TruncatedOutput, "truncated output"},
                                  {Lie::NoRescale, "no rescale"}}) {
    const bool fp8_p = lie == Lie::NoOffset;
    const Arithmetic arithmetic = test::emulated_arithmetic(fp8_p ? D::E4M3FN : D::F32, fp8_p ? 8 : 0);
    double most = 0, healthy = 0;
    for (const char* probe : kProbes) {
      const std::string token =
          fmt::format("decode/test/q=bf16/kv=fp8_e4m3/scales=odd/h=2:1/d=64/page=16/seq=1x255,1x40/in={}#3", probe);
      most = std::max(most, ratios(token, arithmetic, lie).out);
      healthy = std::max(healthy, ratios(token, arithmetic).out);
    }
    EXPECT_GT(most, 1.5) << name;
    EXPECT_LT(healthy, 1) << name;
  }
}

}  // namespace
}  // namespace attest
