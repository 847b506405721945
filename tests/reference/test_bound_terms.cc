// Each term of the error bound alone: a kernel that errs there, and nowhere else, as much as it may stays within the
// bound and comes near it. A term that is missing shows as a ratio above 1, a loose one as a small ratio.
#include "tests/reference/held.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace attest {
namespace {

using test::change;
using test::Made;
using test::put;
using D = DType;

struct Term {
  const char* name;
  const char* problem;  // behind "decode/test/q=f32/kv=f32/out=f64/h=2:1/d=8/dv=4/page=4/seq="
  std::function<void(Arithmetic&)> declare;
  double out, lse;  // what some trial reaches at least, of the bound
  int splits = 1;
  std::function<void(Made&)> prepare = [](Made&) {};
};

// q = e0 and K's dim 0 rising with the position: each tile raises the maximum.
void rising(Made& made) {
  change(made.call, Slot::Q, [](double) { return 0; });
  for (int head = 0; head < 2; ++head) put(made.call, Slot::Q, {0, head, 0}, 1);
  for (int position = 0; position < made.problem.seqs[0].len_kv; ++position) {
    const auto [page, slot] = page_and_slot(made, 0, position);
    put(made.call, Slot::KCache, {page, slot, 0, 0}, 0.25 * position);
  }
}

std::function<void(Made&)> times(Slot slot, double factor) {
  return [=](Made& made) { change(made.call, slot, [=](double x) { return x * factor; }); };
}
std::function<void(Made&)> small_q(double q, double k) {
  return [=](Made& made) { times(Slot::Q, q)(made), times(Slot::KCache, k)(made); };
}

const std::vector<Term>& terms() {
  static const std::vector<Term> all{
      // scores
      {"QK sums in f32", "1x17", [](auto& a) { a.qk_acc.dtype = D::F32; }, 0.3, 0.3},
      {"QK sums in bf16", "1x17", [](auto& a) { a.qk_acc.dtype = D::BF16; }, 0.3, 0.3},
      {"QK sums in f16, underflowing", "1x17", [](auto& a) { a.qk_acc.dtype = D::F16; }, 0.25, 0.25, 1,
       times(Slot::Q, 0x1p-12)},
      {"QK products rounded", "1x17", [](auto& a) { a.qk_acc.dtype = D::F16, a.product_roundings = 20; }, 0.4, 0.4},
      {"scores rounded", "1x17/in=peaky", [](auto& a) { a.qk_acc.dtype = D::F16, a.score_roundings = 60; }, 0.5, 0.7},
      {"scores rounded around a cap", "1x17/in=peaky/cap=2",
       [](auto& a) { a.qk_acc.dtype = D::F16, a.score_roundings = 60; }, 0.6, 0.6},
      {"scores rounded under a full cap", "1x9/in=outlier/cap=1", [](auto& a) { a.qk_acc.dtype = D::BF16; }, 0.4, 0.4},
      {"scores stored in bf16", "1x17/in=peaky", [](auto& a) { a.score = D::BF16; }, 0.8, 0.9},
      {"scores stored in f16, underflowing", "1x17", [](auto& a) { a.score = D::F16; }, 0.8, 0.8, 1,
       times(Slot::Q, 0x1p-16)},
      {"tanh", "1x17/cap=5", [](auto& a) { a.tanh_abs = 1e-3; }, 0.8, 0.9},
      {"q cast", "1x17", [](auto& a) { a.q_cast = D::E4M3FN; }, 0.3, 0.5},
      {"q cast, subnormal", "1x17", [](auto& a) { a.q_cast = D::E4M3FN; }, 0.2, 0.2, 1, small_q(0x1p-8, 0x1p6)},
      {"K cast", "1x17", [](auto& a) { a.k_cast = D::BF16; }, 0.6, 0.8},
      {"K cast, subnormal", "1x17", [](auto& a) { a.k_cast = D::E4M3FN; }, 0.4, 0.5, 1, small_q(0x1p6, 0x1p-8)},
      {"K cast to nothing", "1x17", [](auto& a) { a.k_cast = D::E4M3FN; }, 0.3, 0.8, 1, small_q(0x1p12, 0x1p-13)},
      {"both cast", "1x17", [](auto& a) { a.q_cast = a.k_cast = D::E4M3FN; }, 0.3, 0.5},
      // the exponential and its argument
      {"arguments near 0 of large scores", "1x3/in=outlier", [](auto& a) { a.sum_acc = D::F32; }, 0.6, 0.4},
      {"exp", "1x17", [](auto& a) { a.exp_rel = 1e-3; }, 0.8, 0.4},
      {"exp, V sparse", "1x200/in=sentinel", [](auto& a) { a.exp_rel = 1e-3; }, 0.8, 0.4},
      {"exp, a piece of P", "1x60/in=identity", [](auto& a) { a.exp_rel = 1e-3; }, 0.8, 0.4},
      {"exp, few keys heavy", "1x60/in=peaky", [](auto& a) { a.exp_rel = 1e-3; }, 0.8, 0.4},
      {"exp, one key alone heavy", "1x60/in=outlier", [](auto& a) { a.exp_rel = 1e-3; }, 0.8, 0.4},
      {"exp of rescales", "1x17", [](auto& a) { a.exp_rel = 1e-4, a.tile = 1; }, 0.2, 0.3, 1, rising},
      {"exp's floor", "1x40", [](auto& a) { a.exp_floor = -3; }, 0.8, 0.9},
      {"exp of a sink", "1x5/sink=f32", [](auto& a) { a.exp_rel = 1e-3; }, 0.5, 0.3},
      // P
      {"P in bf16", "1x17", [](auto& a) { a.p = D::BF16; }, 0.9, 0},
      {"P in f16", "1x17", [](auto& a) { a.p = D::F16; }, 0.9, 0},
      {"P in e4m3 times 2^8", "1x17", [](auto& a) { a.p = D::E4M3FN, a.p_offset = 8; }, 0.9, 0},
      {"P in e4m3, subnormal", "1x60", [](auto& a) { a.p = D::E4M3FN; }, 0.9, 0, 1, times(Slot::Q, 4)},
      {"P in e4m3 to nothing", "1x60/in=outlier", [](auto& a) { a.p = D::E4M3FN; }, 0.9, 0},
      {"P in e5m2 times 2^15", "1x17", [](auto& a) { a.p = D::E5M2, a.p_offset = 15; }, 0.9, 0},
      {"P in bf16, summed rounded", "1x17", [](auto& a) { a.p = D::BF16, a.row_sum_rounded = true; }, 0.9, 0.9},
      {"P in e4m3, summed rounded", "1x17", [](auto& a) { a.p = D::E4M3FN, a.p_offset = 8, a.row_sum_rounded = true; },
       0.9, 0.9},
      {"P in e4m3 to nothing, summed rounded", "1x60/in=peaky",
       [](auto& a) { a.p = D::E4M3FN, a.row_sum_rounded = true; }, 0.9, 0.9},
      {"P in e5m2, summed rounded", "1x17", [](auto& a) { a.p = D::E5M2, a.p_offset = 15, a.row_sum_rounded = true; },
       0.8, 0.9},
      // sums
      {"row sum in f32", "1x50/in=sentinel", [](auto& a) { a.sum_acc = D::F32; }, 0.25, 0.25},
      {"row sum in bf16, rescaled", "1x50", [](auto& a) { a.sum_acc = D::BF16, a.tile = 1; }, 0.2, 0.2},
      {"PV sums in f32", "1x40/in=mass", [](auto& a) { a.pv_acc.dtype = D::F32; }, 0.3, 0},
      {"PV sums in bf16", "1x40", [](auto& a) { a.pv_acc.dtype = D::BF16; }, 0.3, 0},
      {"PV sums in bf16 of P in e4m3", "1x40",
       [](auto& a) { a.pv_acc.dtype = D::BF16, a.p = D::E4M3FN, a.p_offset = 8; }, 0.4, 0},
      {"PV sums in f16, underflowing", "1x40", [](auto& a) { a.pv_acc.dtype = D::F16; }, 0.2, 0, 1,
       times(Slot::VCache, 0x1p-14)},
      {"PV sums of a window", "1x200/mask=window:3,0", [](auto& a) { a.pv_acc.dtype = D::F32; }, 0.5, 0},
      {"PV sums, rescaled", "1x40/in=mass", [](auto& a) { a.pv_acc.dtype = D::F16, a.tile = 1; }, 0.2, 0, 1, rising},
      {"V cast", "1x17", [](auto& a) { a.v_cast = D::E4M3FN; }, 0.8, 0},
      {"V cast, subnormal", "1x17", [](auto& a) { a.v_cast = D::E4M3FN; }, 0.6, 0, 1, times(Slot::VCache, 0x1p-8)},
      // splits
      {"partial outputs in bf16", "1x40", [](auto& a) { a.partial = D::BF16; }, 0.7, 0, 4},
      {"partial outputs in f16, subnormal", "1x40/in=mass", [](auto& a) { a.partial = D::F16; }, 0.7, 0, 4,
       times(Slot::VCache, 0x1p-16)},
      {"log-sums of splits", "1x8/in=peaky", [](auto& a) { a.partial = D::F64, a.sum_acc = D::F16; }, 0.25, 0.25, 4},
      {"exp of the merge", "1x40/in=mass", [](auto& a) { a.partial = D::F64, a.exp_rel = 1e-3; }, 0.8, 0.5, 4},
      {"partial outputs divided in f16", "1x40/in=mass",
       [](auto& a) { a.partial = D::F64, a.pv_acc.dtype = D::F16, a.final_roundings = 40; }, 0.5, 0, 4},
      // the output
      {"final roundings", "1x3", [](auto& a) { a.pv_acc.dtype = D::F16, a.final_roundings = 40; }, 0.7, 0},
      {"rounded before v_scale", "1x17/scales=odd", [](auto& a) { a.unscaled = D::BF16; }, 0.9, 0},
      {"rounded before v_scale, subnormal", "1x17/scales=odd", [](auto& a) { a.unscaled = D::F16; }, 0.8, 0, 1,
       times(Slot::VCache, 0x1p-20)},
      {"output in bf16", "1x17/out=bf16", [](auto&) {}, 0.9, 0},
      {"output in e4m3, subnormal", "1x17/out=fp8_e4m3", [](auto&) {}, 0.9, 0, 1, times(Slot::VCache, 0x1p-8)},
  };
  return all;
}

Made made_for(const Term& term, int seed) {
  std::string problem = term.problem, options;
  if (const auto at = problem.find('/'); at != std::string::npos) options = problem.substr(at), problem.resize(at);
  const bool own_out = options.find("/out=") != std::string::npos;
  Made made = test::make(fmt::format("decode/test/q=f32/kv=f32{}/h=2:1/d=8/dv=4/page=4/seq={}{}#{}",
                                     own_out ? "" : "/out=f64", problem, options, seed));
  term.prepare(made);
  return made;
}

test::Held most_of(const Term& term, const Arithmetic& declared, const Arithmetic& real) {
  test::Held most;
  for (int seed = 1; seed <= 6; ++seed) {
    const auto held =
        test::hold(made_for(term, seed), declared, real, term.splits, 2, static_cast<std::uint64_t>(seed) << 32);
    most.out = std::max(most.out, held.out);
    most.lse = std::max(most.lse, held.lse);
  }
  return most;
}

TEST(BoundTerms, EachHoldsAndIsReached) {
  for (const Term& term : terms()) {
    Arithmetic arithmetic = test::exact_arithmetic();
    term.declare(arithmetic);
    const auto most = most_of(term, arithmetic, arithmetic);
    EXPECT_LE(most.out, 1) << term.name;
    EXPECT_LE(most.lse, 1) << term.name;
    EXPECT_GE(most.out, term.out) << term.name << ": the bound is loose";
    EXPECT_GE(most.lse, term.lse) << term.name << ": the LSE's bound is loose";
  }
}

TEST(BoundTerms, AnErrorThatIsNotDeclaredIsSeen) {
  for (const Term& term : terms()) {
    Arithmetic real = test::exact_arithmetic();
    term.declare(real);
    if (std::string(term.name).starts_with("output")) continue;  // the output's dtype is the problem's
    EXPECT_GT(most_of(term, test::exact_arithmetic(), real).out, 1) << term.name;
  }
}

}  // namespace
}  // namespace attest
