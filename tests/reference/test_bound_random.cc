// The error bound against kernels that err everywhere at once, over random problems and random declared arithmetic.
#include "tests/reference/held.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

namespace attest {
namespace {

using D = DType;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  bool one_in(int n) { return random_() % static_cast<unsigned>(n) == 0; }
  int between(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  template <typename T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[random_() % choices.size()];
  }

 private:
  std::mt19937_64 random_;
};

Arithmetic draw_arithmetic(Draw& draw, int splits) {
  Arithmetic a;
  if (draw.one_in(3)) a.q_cast = draw.of({D::E4M3FN, D::E5M2, D::BF16, D::F16});
  if (draw.one_in(3)) a.k_cast = draw.of({D::E4M3FN, D::BF16});
  if (draw.one_in(3)) a.v_cast = draw.of({D::E4M3FN, D::BF16, D::F16});
  a.qk_acc.dtype = draw.of({D::F32, D::F32, D::F16, D::BF16});
  a.product_roundings = draw.between(0, 2);
  a.score_roundings = draw.between(0, 5);
  if (draw.one_in(4)) a.score = draw.of({D::F16, D::BF16});
  a.tanh_abs = draw.of({0.0, 1e-5, 1e-3});
  a.exp_rel = draw.of({0.0, 2e-7, 1e-4, 2e-3});
  if (draw.one_in(4)) a.exp_floor = -draw.between(2, 20);
  std::tie(a.p, a.p_offset) = draw.of<std::pair<D, int>>({{D::F32, 0},
                                                          {D::BF16, 0},
                                                          {D::F16, 0},
                                                          {D::F16, 12},
                                                          {D::E4M3FN, 0},
                                                          {D::E4M3FN, 8},
                                                          {D::E5M2, 15},
                                                          {D::E4M3FNUZ, 7}});
  a.row_sum_rounded = draw.one_in(3);
  a.sum_acc = draw.of({D::F32, D::F32, D::F16, D::BF16});
  a.pv_acc.dtype = draw.of({D::F32, D::F32, D::F16, D::BF16});
  a.tile = draw.of({0, 1, 4, 16});
  a.final_roundings = draw.between(0, 4);
  if (draw.one_in(3)) a.unscaled = draw.of({D::BF16, D::F16});
  if (splits > 1) a.partial = draw.of({D::F32, D::BF16, D::F16});
  return a;
}

std::string text(const Arithmetic& a, int splits) {
  const auto cast = [](const std::optional<D>& d) { return d ? std::string(name(*d)) : "none"; };
  return fmt::format(
      "q_cast {} k_cast {} v_cast {} qk_acc {} products {} roundings {} score {} tanh {} exp {} floor {} p {}*2^{} {} "
      "sum_acc {} pv_acc {} tile {} final {} unscaled {} partial {} splits {}",
      cast(a.q_cast), cast(a.k_cast), cast(a.v_cast), name(a.qk_acc.dtype), a.product_roundings, a.score_roundings,
      cast(a.score), a.tanh_abs, a.exp_rel, a.exp_floor, name(a.p), a.p_offset,
      a.row_sum_rounded ? "summed rounded" : "", name(a.sum_acc), name(a.pv_acc.dtype), a.tile, a.final_roundings,
      cast(a.unscaled), cast(a.partial), splits);
}

std::string draw_problem(Draw& draw) {
  const int len_q = draw.between(1, 2), len_kv = draw.between(len_q, draw.one_in(2) ? 12 : 64);
  const auto kv = draw.of({"f32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2"});
  return fmt::format("prefill/test/q={}/kv={}/out={}/h={}/d={}/dv={}/page=8/seq={}x{}/in={}{}{}{}{}",
                     draw.of({"f32", "bf16", "f16"}), kv, draw.of({"f32", "bf16", "f16", "fp8_e4m3"}),
                     draw.of({"1:1", "2:1", "2:2"}), draw.of({4, 8, 24}), draw.between(1, 4), len_q, len_kv,
                     draw.of({"gauss", "gauss", "peaky", "outlier", "mass", "identity", "sentinel"}),
                     draw.of({"", "", "/cap=1", "/cap=20"}), draw.of({"", "", "/sink=f32"}),
                     draw.of({"", "/scales=odd", "/scales=head", "/scales=v_only"}),
                     draw.of({"", "/mask=full", "/mask=window:5,0"}));
}

TEST(BoundRandom, HoldsOverEveryOption) {
  Draw draw(1);
  long pairs = 0, close = 0;
  const int problems = 1500;
  for (int problem = 0; problem < problems; ++problem) {
    const int splits = draw.of({1, 1, 2, 5});
    const std::string token = fmt::format("{}#{}", draw_problem(draw), problem);
    const Arithmetic arithmetic = draw_arithmetic(draw, splits);
    const auto held =
        test::hold(test::make(token), arithmetic, arithmetic, splits, 2, static_cast<std::uint64_t>(problem) << 32);
    EXPECT_LE(held.out, 1) << token << "\n" << text(arithmetic, splits);
    EXPECT_LE(held.lse, 1) << token << "\n" << text(arithmetic, splits);
    pairs += held.pairs;
    close += held.out > 0.2;
  }
  EXPECT_GT(pairs, 100'000);
  EXPECT_GT(close, problems * 3 / 4);  // within a factor of 5
}

}  // namespace
}  // namespace attest
