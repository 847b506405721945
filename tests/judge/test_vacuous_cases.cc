// Real cases test something: over random cases of every probe, shaped as in cases/smoke.yaml, none would accept a
// trivial output. Those that must are the ones whose rows see one key.
#include "harness/judge/vacuous.h"
#include "reference/attention.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

namespace attest {
namespace {

using D = DType;

// What a kernel of that q would declare at worst: P in q's format, a fast exp.
Arithmetic arithmetic_of(DType q) {
  Arithmetic a;
  a.product_roundings = 1;
  a.tile = 32;
  a.exp_rel = q == D::F32 ? 5e-7 : 1.13e-4;
  a.p = is_fp8(q) ? D::E4M3FN : q;
  a.p_offset = is_fp8(q) ? 8 : 0;
  return a;
}

// As harness/run does: the judge's own trivial outputs, the mean of V, and the output of the next seed.
std::optional<std::string> vacuous(const std::string& token) {
  const auto made = test::make(token);
  const Arithmetic arithmetic = arithmetic_of(made.problem.q);
  const ExpectedTensor right = attend(made.problem, made.call, arithmetic, {}).out;
  const ExpectedTensor mean = uniform_attention(made.problem, made.call, {});
  Case next = made.c;
  next.seed += 1;
  const ExpectedTensor other = attend(made.problem, make_inputs(next, made.problem), arithmetic, {}).out;
  auto trivial = trivial_outputs(right, made.problem);
  trivial.push_back({"the mean of V", elements_of(mean)});
  trivial.push_back({"the output of other inputs", elements_of(other)});
  return accepted_trivial(right, trivial, made.problem);
}

TEST(VacuousCases, NoneOfTheProbesIs) {
  std::mt19937_64 random(3);
  const auto of = [&](std::initializer_list<const char*> choices) {
    return choices.begin()[random() % choices.size()];
  };
  for (const char* probe : {"gauss", "peaky", "outlier", "select", "sentinel", "identity", "mass", "special"})
    for (int seed = 0; seed < 60; ++seed) {
      const std::string q = of({"f32", "bf16", "f16", "fp8_e4m3"});
      const std::string token = fmt::format(
          "prefill/test/q={}/kv={}{}/h={}/d={}/page=16/seq={}{}{}{}/scales={}/table={}/in={}#{}", q,
          of({"auto", "f32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2"}), q == "fp8_e4m3" ? "/out=bf16" : "",
          of({"2:2", "6:2", "8:2", "7:1"}), of({"64", "80"}),
          of({"1x1,1x15,1x16,1x17", "1x31,1x33,1x5", "3x9,2x48,1x16", "5x5,17x17", "3x16,7x33", "16x16,2x19,1x1",
              "1x16,9x18,1x1,4x32", "15x31,1x49,2x2"}),
          of({"", "/mask=full", "/mask=window:8,0", "/mask=window:5,3", "/mask=chunk:8"}),
          std::string(probe) == "select" ? "" : of({"", "/cap=20"}), of({"", "/sink=f32", "/sink=bf16"}),
          of({"none", "k_only", "v_only", "unit", "odd", "head", "seq_head"}),
          std::string(probe) == "special" ? "shuffled" : of({"shuffled", "ordered", "aliased", "interleaved"}), probe,
          seed);
      EXPECT_EQ(vacuous(token), std::nullopt) << token;
    }
}

TEST(VacuousCases, OneKeyARowIsTheMeanOfV) {
  EXPECT_EQ(vacuous("decode/test/q=bf16/kv=fp8_e4m3/h=4:2/d=64/page=16/seq=1x1,1x1#1"), "the mean of V");
  EXPECT_EQ(vacuous("prefill/test/q=bf16/kv=fp8_e4m3/h=4:2/d=64/page=16/seq=3x3/mask=window:0,0/in=peaky#1"),
            "the mean of V");
  EXPECT_NE(vacuous("prefill/test/q=bf16/kv=fp8_e4m3/h=4:2/d=64/page=16/seq=3x3/mask=window:1,0/in=peaky#1"),
            "the mean of V");
}

}  // namespace
}  // namespace attest
