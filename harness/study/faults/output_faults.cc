#include "harness/study/faults/output_faults.h"

#include "harness/core/error.h"
#include "harness/core/words.h"
#include "harness/study/faults/edit.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace attest {
namespace {

struct Deface {
  const Subject& subject;
  TensorView out;
  std::optional<TensorView> lse;

  const Problem& problem() const { return subject.prepared.problem; }
};

using D = Deface;
using Index = std::array<std::int64_t, 3>;

// value'(row, head, dim) for all elements, or for those that `where` names.
template <typename Value>
void each(const D& d, Value value) {
  for (std::int64_t row = 0; row < d.out.shape[0]; ++row)
    for (std::int64_t head = 0; head < d.out.shape[1]; ++head)
      for (std::int64_t dim = 0; dim < d.out.shape[2]; ++dim)
        if (const std::optional<double> to = value(row, head, dim)) put(d.out, {row, head, dim}, *to);
}

// The output as it should be: what faults that change less than a rounding start from.
double right(const D& d, std::int64_t row, std::int64_t head, std::int64_t dim) {
  const ExpectedTensor& e = d.subject.right.values.out;
  return e.value[e.index(static_cast<int>(row), static_cast<int>(head), static_cast<int>(dim))];
}

// Toward zero: one code less where rounding to nearest went up.
double truncated(DType dtype, double value) {
  const double near = round_to(dtype, value);
  if (!std::isfinite(near) || std::abs(near) <= std::abs(value)) return near;
  const std::uint64_t code = encode(dtype, std::abs(near)) - 1;
  return std::copysign(decode(dtype, code), value);
}

// The element whose loss is largest, so that one element is as visible as it can be.
Index largest(const D& d) {
  Index at{0, 0, 0};
  double most = -1;
  for (std::int64_t row = 0; row < d.out.shape[0]; ++row)
    for (std::int64_t head = 0; head < d.out.shape[1]; ++head)
      for (std::int64_t dim = 0; dim < d.out.shape[2]; ++dim)
        if (const double v = std::abs(d.out.value({row, head, dim})); v > most) most = v, at = {row, head, dim};
  return at;
}

void scale_all(const D& d, double factor) {
  each(d, [&](auto row, auto head, auto dim) { return std::optional(d.out.value({row, head, dim}) * factor); });
}

void head_zeroed(const D& d) {
  each(d, [&](auto, auto head, auto) { return head == d.out.shape[1] - 1 ? std::optional(0.0) : std::nullopt; });
}

void row_zeroed(const D& d) {
  each(d, [&](auto row, auto, auto) { return row == d.out.shape[0] - 1 ? std::optional(0.0) : std::nullopt; });
}

void dim_block_zeroed(const D& d) {
  each(d, [](auto, auto, auto dim) { return dim >= 8 && dim < 16 ? std::optional(0.0) : std::nullopt; });
}

void element_zeroed(const D& d) {
  const auto [row, head, dim] = largest(d);
  put(d.out, {row, head, dim}, 0);
}

template <int Special>  // 0: NaN, 1: Inf
void element_special(const D& d) {
  const double value = Special ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  store_code(d.out.dtype, element(d.out, {0, 0, d.out.shape[2] - 1}), encode(d.out.dtype, value));
}

void head_nan(const D& d) {
  each(d, [&](auto, auto head, auto) {
    return head == 0 ? std::optional(std::numeric_limits<double>::quiet_NaN()) : std::nullopt;
  });
}

// The first row as it was before the launch.
void row_unwritten(const D& d) {
  const TensorView before = d.subject.prepared.call.view(Slot::Out);
  for (std::int64_t head = 0; head < d.out.shape[1]; ++head)
    for (std::int64_t dim = 0; dim < d.out.shape[2]; ++dim)
      store_code(d.out.dtype, element(d.out, {0, head, dim}), load_code(d.out.dtype, element(before, {0, head, dim})));
}

void gain(const D& d) { scale_all(d, 1.05); }
void negated(const D& d) { scale_all(d, -1); }

void one_head_gain(const D& d) {
  each(d, [&](auto row, auto head, auto dim) {
    return head == 0 ? std::optional(d.out.value({row, head, dim}) * 1.1) : std::nullopt;
  });
}

void heads_swapped(const D& d) {
  rearrange(d.out, [](auto row, auto head, auto dim) { return Index{row, head < 2 ? 1 - head : head, dim}; });
}

void rows_swapped(const D& d) {
  const auto rows = rows_of(d.problem());
  rearrange(d.out, [&](std::int64_t row, auto head, auto dim) {
    const RowOf& at = rows[static_cast<std::size_t>(row)];
    if (at.len_q < 2 || at.row > 1) return Index{row, head, dim};
    return Index{at.row == 0 ? row + 1 : row - 1, head, dim};
  });
}

void sequences_rolled(const D& d) {
  const auto map = rows_of_next_sequence(d.problem());
  rearrange(d.out, [&](std::int64_t row, auto head, auto dim) {
    return Index{map[static_cast<std::size_t>(row)], head, dim};
  });
}

void stale_tail_dims(const D& d) {
  rearrange(d.out, [&](auto row, auto head, auto dim) {
    return dim < d.out.shape[2] - 8 ? Index{row, head, dim} : Index{row, (head + 1) % d.out.shape[1], dim};
  });
}

void dim_halves_swapped(const D& d) {
  const auto half = d.out.shape[2] / 2;
  rearrange(d.out, [&](auto row, auto head, auto dim) { return Index{row, head, (dim + half) % (2 * half)}; });
}

void rounded_toward_zero(const D& d) {
  each(d,
       [&](auto row, auto head, auto dim) { return std::optional(truncated(d.out.dtype, right(d, row, head, dim))); });
}

void constant(const D& d) {
  each(d, [&](auto row, auto head, auto) { return std::optional(d.out.value({row, head, 0})); });
}

void mean_of_v(const D& d) {
  const ExpectedTensor mean =
      uniform_attention(d.problem(), d.subject.prepared.call, call_rules(*d.subject.contract, d.subject.c));
  each(d, [&](auto row, auto head, auto dim) {
    return std::optional(mean.value[mean.index(static_cast<int>(row), static_cast<int>(head), static_cast<int>(dim))]);
  });
}

template <typename Value>
void each_lse(const D& d, Value value) {
  if (!d.lse) return;
  for (std::int64_t head = 0; head < d.lse->shape[0]; ++head)
    for (std::int64_t row = 0; row < d.lse->shape[1]; ++row)
      if (const double was = d.lse->value({head, row}); std::isfinite(was)) put(*d.lse, {head, row}, value(was));
}

void lse_shifted(const D& d) {
  each_lse(d, [](double was) { return was + 0.01; });
}

void lse_of_other_base(const D& d) {
  each_lse(d, [](double was) { return was / std::log(2.0); });
}

void lse_unwritten(const D& d) {
  if (!d.lse) return;
  const TensorView before = d.subject.prepared.call.view(Slot::Lse);
  for (std::int64_t head = 0; head < d.lse->shape[0]; ++head)
    store_code(d.lse->dtype, element(*d.lse, {head, 0}), load_code(d.lse->dtype, element(before, {head, 0})));
}

struct OutputFault {
  std::string_view name;
  void (*deface)(const Deface&);
};

constexpr std::array<OutputFault, 22> kFaults{{
    {"head_zeroed", head_zeroed},
    {"row_zeroed", row_zeroed},
    {"dim_block_zeroed", dim_block_zeroed},
    {"element_zeroed", element_zeroed},
    {"element_nan", element_special<0>},
    {"element_inf", element_special<1>},
    {"head_nan", head_nan},
    {"row_unwritten", row_unwritten},
    {"gain", gain},
    {"one_head_gain", one_head_gain},
    {"negated", negated},
    {"heads_swapped", heads_swapped},
    {"rows_swapped", rows_swapped},
    {"sequences_rolled", sequences_rolled},
    {"stale_tail_dims", stale_tail_dims},
    {"dim_halves_swapped", dim_halves_swapped},
    {"rounded_toward_zero", rounded_toward_zero},
    {"constant", constant},
    {"mean_of_v", mean_of_v},
    {"lse_shifted", lse_shifted},
    {"lse_of_other_base", lse_of_other_base},
    {"lse_unwritten", lse_unwritten},
}};

}  // namespace

void deface(const Fault& fault, const Subject& subject, Outputs& left) {
  const Call& call = subject.prepared.call;
  for (const OutputFault& known : kFaults) {
    if (known.name != fault.name) continue;
    if (!call.has(Slot::Out) || call.ref(Slot::Out).shape[0] == 0) return;
    Deface to{.subject = subject, .out = view(left, call, Slot::Out), .lse = {}};
    if (call.has(Slot::Lse)) to.lse = view(left, call, Slot::Lse);
    return known.deface(to);
  }
  throw UsageError(fmt::format("{}: no fault of output is called '{}'{}", fault.place, fault.name,
                               suggestion(fault.name, output_faults())));
}

std::vector<std::string> output_faults() {
  std::vector<std::string> names;
  for (const OutputFault& known : kFaults) names.emplace_back(known.name);
  return names;
}

void apply_gain(const Subject& subject, double e, Outputs& left) {
  const Call& call = subject.prepared.call;
  if (call.has(Slot::Out)) scale_all({.subject = subject, .out = view(left, call, Slot::Out), .lse = {}}, 1 + e);
}

}  // namespace attest
