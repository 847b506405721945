// A kernel of real arithmetic: every operation rounded once, to nearest, in the formats that an Arithmetic declares;
// online softmax over tiles, one accumulator an element, keys in order. Right, or with one fault.
#pragma once

#include "harness/core/arithmetic.h"
#include "tests/reference/row.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attest::test {

enum class Lie { None, Exp2, NoSoftmaxScale, NoKScale, NoOffset, TruncatedOutput, NoRescale };

struct Emulated {
  std::vector<double> out;
  double lse;
};

// What this kernel may be said to do in binary32, with P in the format given.
inline Arithmetic emulated_arithmetic(DType p, int p_offset) {
  Arithmetic a;
  a.product_roundings = 1;  // products are rounded before they are added
  a.exp_rel = 1.2e-7;       // glibc expf, 0.502 ulp
  a.tanh_abs = 2.7e-7;      // glibc tanhf, 2.2 ulp
  a.p = p;
  a.p_offset = p_offset;
  a.tile = 16;
  return a;
}

class Emulator {
 public:
  Emulator(const Row& row, const Arithmetic& arithmetic, Lie lie)
      : row_(row), a_(arithmetic), lie_(lie), acc_(row.exact.size(), 0) {}

  Emulated run() {
    for (const auto& key : row_.k) scores_.push_back(score(key));
    if (row_.sink) m_ = *row_.sink, l_ = 1;
    const std::size_t step = a_.tile > 0 ? static_cast<std::size_t>(a_.tile) : scores_.size();
    for (std::size_t at = 0; at < scores_.size(); at += step) add_tile(at, std::min(at + step, scores_.size()));
    Emulated result{{}, in(DType::F32, in(a_.sum_acc, m_ + in(a_.sum_acc, std::log(static_cast<float>(l_)))))};
    for (const double acc : acc_)
      result.out.push_back(output(in(a_.pv_acc.dtype, in(a_.pv_acc.dtype, acc / l_) * row_.v_scale)));
    return result;
  }

 private:
  // Sums, products and quotients of two binary32 numbers survive the detour through binary64 (53 >= 2 * 24 + 2).
  static double in(DType dtype, double x) { return dtype == DType::F32 ? static_cast<float>(x) : round_to(dtype, x); }

  double score(const std::vector<double>& key) const {
    double dot = 0;
    for (std::size_t i = 0; i < key.size(); ++i)
      dot = in(a_.qk_acc.dtype, dot + in(a_.qk_acc.dtype, row_.q[i] * key[i]));
    const double scale = (lie_ == Lie::NoSoftmaxScale ? 1 : row_.softmax_scale) * row_.q_scale *
                         (lie_ == Lie::NoKScale ? 1 : row_.k_scale);
    double s = in(a_.qk_acc.dtype, dot * in(a_.qk_acc.dtype, scale));
    if (row_.softcap > 0)
      s = in(a_.qk_acc.dtype, row_.softcap * std::tanh(static_cast<float>(in(a_.qk_acc.dtype, s / row_.softcap))));
    return s;
  }
  double exp(double x) const {
    return in(a_.sum_acc, lie_ == Lie::Exp2 ? std::exp2(static_cast<float>(x)) : std::exp(static_cast<float>(x)));
  }

  void add_tile(std::size_t begin, std::size_t end) {
    const double m = std::max(m_, *std::max_element(scores_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                    scores_.begin() + static_cast<std::ptrdiff_t>(end)));
    if (l_ > 0 && m > m_ && lie_ != Lie::NoRescale) {
      const double factor = exp(in(a_.sum_acc, m_ - m));
      l_ = in(a_.sum_acc, l_ * factor);
      for (double& acc : acc_) acc = in(a_.pv_acc.dtype, acc * factor);
    }
    m_ = m;
    for (std::size_t j = begin; j < end; ++j) {
      const double e = exp(in(a_.sum_acc, scores_[j] - m_));
      const int offset = lie_ == Lie::NoOffset ? 0 : a_.p_offset;
      const double p = std::ldexp(in(a_.p, std::ldexp(e, offset)), -offset);
      l_ = in(a_.sum_acc, l_ + (a_.row_sum_rounded ? p : e));
      for (std::size_t c = 0; c < acc_.size(); ++c)
        acc_[c] = in(a_.pv_acc.dtype, acc_[c] + in(a_.pv_acc.dtype, p * row_.v[j][c]));
    }
  }

  double output(double o) const {
    double rounded = in(row_.out, o);
    if (lie_ == Lie::TruncatedOutput && std::abs(rounded) > std::abs(o))
      rounded = decode(row_.out, encode(row_.out, rounded) - 1);
    return rounded;
  }

  const Row& row_;
  const Arithmetic& a_;
  Lie lie_;
  double m_ = -INFINITY, l_ = 0;
  std::vector<double> acc_, scores_;
};

}  // namespace attest::test
