// The rules of other suites, each at its own edge, and what they need beside the exact result.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/study/faults/output_faults.h"
#include "harness/study/selftest/rules.h"
#include "tests/study/subjects.h"

namespace attest {
namespace {

using test::liar;
using test::named;
using test::subject;

const OtherRule& rule(std::string_view name) {
  for (const OtherRule& r : other_rules())
    if (r.name == name) return r;
  throw std::logic_error("no such rule");
}

// Four elements of a problem with those formats, one of them off by `error`.
struct Toy {
  Problem problem{};
  Compared compared{problem, {1, -2, 0.5, 0.25}, {1, -2, 0.5, 0.25}, {1, -2, 0.5, 0.25}, {2, 2, 2, 2}, 2};
  explicit Toy(DType q = DType::BF16, DType cache = DType::BF16) {
    problem.q = q, problem.cache = cache, problem.out = q;
  }
  bool accepts(std::string_view name, double error, std::size_t at = 1) {
    compared.actual = compared.right;
    compared.actual[at] += error;
    return rule(name).accepts(compared);
  }
};

TEST(Rules, ElementwiseTolerancesAtTheirEdges) {
  struct Edge {
    std::string_view name;
    DType q, cache;
    double edge;  // at the element -2
  };
  for (const Edge& e : {Edge{"vLLM", DType::BF16, DType::BF16, 1.5e-2 + 1e-2 * 2},
                        {"vLLM", DType::BF16, DType::E4M3FN, 0.15 + 0.15 * 2},
                        {"SGLang", DType::BF16, DType::BF16, 3e-2 + 3e-2 * 2},
                        {"FlashInfer", DType::F16, DType::F16, 1e-3 + 1e-3 * 2},
                        {"FlashInfer", DType::BF16, DType::BF16, 1e-2 + 1e-2 * 2},
                        {"FlashInfer", DType::E4M3FN, DType::E4M3FN, 1e-1 + 1e-1 * 2},
                        {"TensorRT-LLM", DType::BF16, DType::E4M3FN, 0.4},
                        {"TensorRT-LLM", DType::BF16, DType::BF16, 3e-2 + 3e-3 * 2},
                        {"TensorRT-LLM", DType::F16, DType::F16, 1e-2 + 1e-3 * 2},
                        {"cuDNN frontend", DType::BF16, DType::BF16, 2e-2 + 2e-2 * 2},
                        {"tpu-inference", DType::BF16, DType::BF16, 0.2 + 0.2 * 2},
                        {"tpu-inference", DType::F32, DType::F32, 0.15 + 0.15 * 2},
                        {"torch defaults", DType::BF16, DType::BF16, 1e-5 + 1.6e-2 * 2},
                        {"torch defaults", DType::F16, DType::F16, 1e-5 + 1e-3 * 2}}) {
    Toy toy(e.q, e.cache);
    EXPECT_TRUE(toy.accepts(e.name, e.edge * 0.999)) << e.name << " " << name(e.q) << " " << name(e.cache);
    EXPECT_FALSE(toy.accepts(e.name, e.edge * 1.001)) << e.name << " " << name(e.q) << " " << name(e.cache);
  }
}

TEST(Rules, GlobalMeasuresAtTheirEdges) {
  Toy toy;
  const double yy = 1 + 4 + 0.25 + 0.0625;
  EXPECT_TRUE(toy.accepts("llama.cpp", std::sqrt(5e-4 * yy) * 0.999));
  EXPECT_FALSE(toy.accepts("llama.cpp", std::sqrt(5e-4 * yy) * 1.001));
  EXPECT_TRUE(toy.accepts("DeepGEMM", std::sqrt(1e-3 * 2 * yy) * 0.98));
  EXPECT_FALSE(toy.accepts("DeepGEMM", std::sqrt(1e-3 * 2 * yy) * 1.05));
  EXPECT_TRUE(toy.accepts("cosine", 0.1));
  EXPECT_FALSE(toy.accepts("cosine", 1.0));
  EXPECT_FALSE(toy.accepts("FlashInfer xqa", 0.2)) << "one of four is more than 2 %";
  EXPECT_TRUE(toy.accepts("FlashInfer xqa", 0.099)) << "relative";
  EXPECT_TRUE(toy.accepts("oneDNN", 0x1p-7 * 2 * 0.999));
  EXPECT_FALSE(toy.accepts("oneDNN", 0x1p-7 * 2 * 1.01));
}

TEST(Rules, FlashAttentionMeasuresByItsLowPrecisionReference) {
  Toy toy;
  toy.compared.low[0] += 0.01;
  EXPECT_TRUE(toy.accepts("FlashAttention-2", 0.0199));
  EXPECT_FALSE(toy.accepts("FlashAttention-2", 0.0202));
  EXPECT_TRUE(toy.accepts("FlashAttention-3", 0.0149)) << "the mean: 1.5 times";
  EXPECT_FALSE(toy.accepts("FlashAttention-3", 0.0152));
  Toy fp8(DType::E4M3FN, DType::E4M3FN);
  fp8.compared.low[0] += 0.01;
  EXPECT_TRUE(fp8.accepts("FlashAttention-3", 0.0299)) << "the mean: 3 times";
  EXPECT_FALSE(fp8.accepts("FlashAttention-3", 0.0302));
}

double rms_error(const Subject& s, const std::vector<double>& low) {
  double error = 0, right = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    error += std::pow(low[i] - s.right.values.out.value[i], 2);
    right += std::pow(s.right.values.out.value[i], 2);
  }
  return std::sqrt(error / right);
}

TEST(Rules, TheLowPrecisionReferenceIsNearInBf16AndFarInFp8) {
  const Subject bf16 = subject("prefill/liar/q=bf16/kv=auto/h=6:2/d=64/page=16/seq=5x15,3x70/sink=f32/cap=20#3");
  EXPECT_LT(rms_error(bf16, prepare_rules(bf16)->out), 0.01);
  EXPECT_GT(rms_error(bf16, prepare_rules(bf16)->out), 1e-4) << "it rounds";
  // Normalised P of about 1/n lies among e4m3's subnormals: facts/numerics.md 3.2 has 29 % at n = 1024.
  const Subject fp8 = subject("decode/liar/q=fp8_e4m3/kv=fp8_e4m3/h=4:1/d=128/page=16/seq=1x2048/in=gauss#3");
  EXPECT_GT(rms_error(fp8, prepare_rules(fp8)->out), 0.03);
}

TEST(Rules, AbsmagIsTheOutputWherePositive) {
  const Subject mass = subject("decode/liar/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70/in=mass#3");
  const LowPrecision low = *prepare_rules(mass);
  const ExpectedTensor& right = mass.right.values.out;
  for (std::size_t i = 0; i < right.value.size(); ++i) EXPECT_GE(low.absmag[i], std::abs(right.value[i]) - 1e-12);
  EXPECT_NEAR(low.absmag[right.index(0, 0, 63)], std::abs(right.value[right.index(0, 0, 63)]), 2);
}

TEST(Rules, AllRefuseNaNAndNoneRefuseTheHealthyKernelInGauss) {
  const Subject s = subject("decode/liar/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70#3");
  const LowPrecision low = *prepare_rules(s);
  const auto healthy = refusals(s, low, s.healthy);
  const auto nan = refusals(s, low, commit(named("element_nan", FaultTier::Output), s, liar()));
  for (std::size_t i = 0; i < healthy.size(); ++i) {
    EXPECT_TRUE(!healthy[i] || other_rules()[i].name == "torch defaults") << other_rules()[i].name;
    EXPECT_TRUE(nan[i]) << other_rules()[i].name;
  }
}

TEST(Rules, WritesAreNotJudged) {
  EXPECT_FALSE(prepare_rules(subject("mixed/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=5x15,3x70#3")));
}

}  // namespace
}  // namespace attest
