// A kernel of the declared arithmetic that errs as much as it may: everything exact in long double and, at each place
// where the arithmetic allows a rounding, an error of the allowed size. What the error bound is held to.
#pragma once

#include "harness/core/arithmetic.h"
#include "tests/reference/row.h"

#include <algorithm>
#include <random>

namespace attest::test {

// Chooses each error. `hint` has the sign of what an error upwards does to the result that is looked at: Seek follows
// it everywhere, Flee goes against it.
class Noise {
 public:
  enum class Kind { Uniform, Coin, Up, Down, Seek, Flee };
  static constexpr Kind kinds[]{Kind::Uniform, Kind::Coin, Kind::Up, Kind::Down, Kind::Seek, Kind::Flee};
  Noise(Kind kind, std::uint64_t seed) : kind_(kind), random_(seed) {}

  // Rounding to nearest never errs by more than the number itself.
  Real round(Real x, DType dtype, Real hint) {
    if (dtype == DType::F64) return x;
    const FloatFormat& f = format(dtype);
    const Real u = f.unit_roundoff(), size = std::abs(x);
    return x + part(hint) * std::min(size, std::max(u / (1 + u) * size, static_cast<Real>(f.eta())));
  }
  // A sum of two numbers of the format: exact where it is subnormal, or one of them 0.
  Real sum(Real a, Real b, DType dtype, Real hint) {
    const double u = format(dtype).unit_roundoff();
    return dtype == DType::F64 || a == 0 || b == 0 ? a + b : relative(a + b, u / (1 + u), hint);
  }
  Real relative(Real x, double error, Real hint) { return x * (1 + part(hint) * error); }
  Real absolute(Real x, double error, Real hint) { return x + part(hint) * error; }
  bool flush(Real hint) { return part(hint) < 0; }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

 private:
  Real part(Real hint) {  // of the largest error, with its sign
    switch (kind_) {
      case Kind::Uniform: return std::uniform_real_distribution<double>(-1, 1)(random_);
      case Kind::Up: return 1;
      case Kind::Down: return -1;
      case Kind::Coin: break;
      case Kind::Seek:
        if (hint != 0) return hint > 0 ? 1 : -1;
        break;
      case Kind::Flee:
        if (hint != 0) return hint > 0 ? -1 : 1;
        break;
    }
    return random_() & 1 ? 1 : -1;
  }

  Kind kind_;
  std::minstd_rand random_;
};

// One row, one dim of its output (or its LSE). Where the arithmetic leaves a choice (does the sink come first, which
// roundings of a score come before the cap), the noise takes it.
class Simulator {
 public:
  static constexpr int kLse = -1;

  Simulator(const Row& row, const Arithmetic& arithmetic, int target, Noise& noise)
      : row_(row), a_(arithmetic), target_(target), noise_(noise) {
    cast_operands();
    for (std::size_t j = 0; j < row.k.size(); ++j) scores_.push_back(score(j));
  }

  Real out(int splits) {
    Real o = splits > 1 ? merged(splits).o : whole().o;
    o = roundings(o, a_.final_roundings / 2, a_.pv_acc.dtype);
    if (a_.unscaled) o = noise_.round(o, *a_.unscaled, 1);
    o = roundings(o * row_.v_scale, a_.final_roundings - a_.final_roundings / 2, a_.pv_acc.dtype);
    return noise_.round(o, row_.out, 1);
  }
  Real lse(int splits) { return noise_.round(splits > 1 ? merged(splits).lse : whole().lse, DType::F32, 1); }

 private:
  struct Result {
    Real o, lse;
  };
  struct Running {
    Real m = -INFINITY, l = 0, acc = 0;
  };

  Real exact() const { return row_.exact[static_cast<std::size_t>(target_)]; }
  Real value(std::size_t j) const { return target_ == kLse ? Real{0} : v_[j]; }
  // What a larger weight of key j, and a larger row sum, do to the result.
  Real on_weight(std::size_t j) const {
    return target_ == kLse ? Real{1} : row_.v[j][static_cast<std::size_t>(target_)] - exact();
  }
  Real on_sum() const { return target_ == kLse ? Real{1} : -exact(); }
  Real on_weights(std::size_t begin, std::size_t end) const {
    Real all = 0;
    for (std::size_t j = begin; j < end; ++j) all += row_.p[j] * on_weight(j);
    return all;
  }

  Real roundings(Real x, int times, DType dtype) {
    for (int i = 0; i < times; ++i) x = noise_.round(x, dtype, 1);
    return x;
  }

  Real multiply_add(Real sum, Real product, DType dtype, Real up) {  // fused, or rounded before it is added
    for (int n = 0; n < a_.product_roundings; ++n) product = noise_.round(product, dtype, up);
    return a_.product_roundings > 0 ? noise_.sum(sum, product, dtype, up) : noise_.round(sum + product, dtype, up);
  }

  // Exact where the format holds the number, unless a scale comes first.
  Real cast(double x, const std::optional<DType>& to, double scale, Real hint) {
    int exponent = 0;
    if (!to || (std::frexp(scale, &exponent) == 0.5 && round_to(*to, x) == x)) return x;
    return noise_.round(x, *to, hint);
  }

  void cast_operands() {
    for (std::size_t i = 0; i < row_.q.size(); ++i) {
      Real gradient = 0;
      for (std::size_t j = 0; j < row_.k.size(); ++j) gradient += row_.p[j] * on_weight(j) * row_.k[j][i];
      q_.push_back(cast(row_.q[i], a_.q_cast, row_.q_scale, gradient));
    }
    for (std::size_t j = 0; j < row_.v.size() && target_ != kLse; ++j)
      v_.push_back(cast(row_.v[j][static_cast<std::size_t>(target_)], a_.v_cast, row_.v_scale, 1));
  }

  Real score(std::size_t j) {
    const Real up = on_weight(j);
    Real dot = 0;
    for (std::size_t i = 0; i < q_.size(); ++i) {
      const Real k = cast(row_.k[j][i], a_.k_cast, row_.k_scale, up * row_.q[i]);
      dot = multiply_add(dot, q_[i] * k, a_.qk_acc.dtype, up);
    }
    const int before = row_.softcap > 0 ? noise_.below(a_.score_roundings + 1) : 0;
    Real s = dot * row_.factor();
    for (int n = 0; n < before; ++n) s = noise_.round(s, a_.qk_acc.dtype, up);
    if (row_.softcap > 0) {
      s = noise_.round(s / row_.softcap, a_.qk_acc.dtype, up);
      s = noise_.round(noise_.absolute(std::tanh(s), a_.tanh_abs, up) * row_.softcap, a_.qk_acc.dtype, up);
    }
    for (int n = before; n < a_.score_roundings; ++n) s = noise_.round(s, a_.qk_acc.dtype, up);
    return a_.score ? noise_.round(s, *a_.score, up) : s;
  }

  Real exp(Real argument, Real up) {
    const Real least_normal = std::ldexp(Real{1}, 1 - format(a_.sum_acc).bias);
    if (argument < std::max<Real>(a_.exp_floor, std::log(least_normal)) && noise_.flush(up)) return 0;
    return noise_.relative(std::exp(argument), a_.exp_rel, up);
  }
  // exp(score - m), each of the two converted to the exponential's base
  Real weigh(Real score, Real m, Real up) {
    return exp(noise_.round(noise_.round(score, a_.sum_acc, up) - m, a_.sum_acc, up), up);
  }

  void raise_max(Running& r, Real m, Real past) {  // past: what a larger share of the keys so far would do
    if (r.l > 0 && m > r.m) {
      const Real factor = exp(noise_.round(r.m - m, a_.sum_acc, past), past);
      r.acc = noise_.round(r.acc * factor, a_.pv_acc.dtype, 1);
      r.l = noise_.round(r.l * factor, a_.sum_acc, on_sum());
    }
    r.m = std::max(r.m, m);
  }

  void add_sink(Running& r, std::size_t keys_before) {
    raise_max(r, *row_.sink, on_weights(0, keys_before));
    r.l = noise_.sum(r.l, weigh(*row_.sink, noise_.round(r.m, a_.sum_acc, -on_sum()), on_sum()), a_.sum_acc, on_sum());
  }

  void add_tile(Running& r, std::size_t begin, std::size_t end) {
    raise_max(r,
              *std::max_element(scores_.begin() + static_cast<std::ptrdiff_t>(begin),
                                scores_.begin() + static_cast<std::ptrdiff_t>(end)),
              on_weights(0, begin));
    const Real m = noise_.round(r.m, a_.sum_acc, -on_weights(begin, end));
    for (std::size_t j = begin; j < end; ++j) {
      const Real e = weigh(scores_[j], m, on_weight(j));
      const Real p = std::ldexp(
          noise_.round(std::ldexp(e, a_.p_offset), a_.p, a_.row_sum_rounded ? on_weight(j) : value(j)), -a_.p_offset);
      r.acc = multiply_add(r.acc, p * value(j), a_.pv_acc.dtype, 1);
      r.l = noise_.sum(r.l, a_.row_sum_rounded ? p : e, a_.sum_acc, on_sum());
    }
  }

  Running run(std::size_t begin, std::size_t end, bool with_sink) {
    Running r;
    const bool sink_first = noise_.below(2) == 0;
    if (with_sink && sink_first) add_sink(r, begin);
    const std::size_t step = a_.tile > 0 ? static_cast<std::size_t>(a_.tile) : end - begin;
    for (std::size_t at = begin; at < end; at += step) add_tile(r, at, std::min(at + step, end));
    if (with_sink && !sink_first) add_sink(r, end);
    return r;
  }

  Real log_sum(const Running& r, Real up) {
    return noise_.round(noise_.round(r.m, a_.sum_acc, up) + noise_.round(std::log(r.l), a_.sum_acc, up), a_.sum_acc,
                        up);
  }

  Result whole() {
    const Running r = run(0, scores_.size(), row_.sink.has_value());
    return {r.acc / r.l, log_sum(r, 1)};
  }

  Result merged(int splits) {  // weights exp(lse_s - lse)
    const std::size_t count = scores_.size(),
                      step = (count + static_cast<std::size_t>(splits) - 1) / static_cast<std::size_t>(splits);
    std::vector<Result> parts;
    for (std::size_t at = 0; at < count; at += step) {
      const Running r = run(at, std::min(at + step, count), at == 0 && row_.sink);
      const Real o = r.acc / r.l, up = target_ == kLse ? Real{1} : o - exact();
      parts.push_back(
          {noise_.round(roundings(o, a_.final_roundings, a_.pv_acc.dtype), *a_.partial, 1), log_sum(r, up)});
    }
    Running total;
    for (const Result& part : parts) total.m = std::max(total.m, part.lse);
    for (const Result& part : parts)
      total.l = noise_.sum(total.l, exp(noise_.round(part.lse - total.m, a_.sum_acc, on_sum()), on_sum()), a_.sum_acc,
                           on_sum());
    const Real lse = log_sum(total, on_sum());
    for (const Result& part : parts) {
      const Real share = exp(noise_.round(part.lse - lse, a_.sum_acc, part.o), part.o);
      total.acc = noise_.sum(total.acc, noise_.round(share * part.o, a_.pv_acc.dtype, 1), a_.pv_acc.dtype, 1);
    }
    return {total.acc, lse};
  }

  const Row& row_;
  const Arithmetic& a_;
  int target_;
  Noise& noise_;
  std::vector<Real> q_, v_, scores_;
};

}  // namespace attest::test
