#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/attention.h"

#include "reference/bound.h"
#include "reference/gather.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest {
namespace {

constexpr std::int64_t kBlockScores = std::int64_t{1} << 17;  // scores held at once: heads * rows * keys

struct Block {                    // results of some rows of some heads of one sequence, f64
  at::Tensor out, bound, likely;  // [b, r, dim_v], scaled by v_scale
  at::Tensor lse;                 // [b, r, 1]
  Tiers lse_bound;
};

struct SequenceTensors {              // b: KV heads
  at::Tensor q, k, v;                 // [b, rows, dim], [b, keys, dim], [b, keys, dim_v]
  at::Tensor score_factor, v_factor;  // [b, 1, 1]
  at::Tensor sink;                    // [b, rows, 1], undefined without sinks
  at::Tensor hidden;                  // [rows, keys]
};

// NaN and Inf of V reach the rows that see their key, and only those: a hidden key has no part in any sum.
at::Tensor spread_specials(const at::Tensor& hidden, const at::Tensor& v, const at::Tensor& out) {
  const auto seen = hidden.logical_not().to(at::kFloat).expand({v.size(0), hidden.size(0), hidden.size(1)});
  const auto reached = [&](const at::Tensor& where) { return at::bmm(seen, where.to(at::kFloat)).gt(0); };
  const auto plus = reached(v.eq(INFINITY)), minus = reached(v.eq(-INFINITY));
  const auto nan = reached(v.isnan()).logical_or(plus.logical_and(minus));
  return out.masked_fill(plus, INFINITY)
      .masked_fill(minus, -INFINITY)
      .masked_fill(nan, std::numeric_limits<double>::quiet_NaN());
}

Block attend_block(const Problem& problem, const SequenceTensors& s, const BoundModel& model, bool one_hot,
                   const ReferenceOptions& options) {
  const auto working = options.precision == Precision::F64 ? at::kDouble : at::kFloat;
  // scores
  ScoreBlock block;
  block.scores = at::bmm(s.q.to(working), s.k.to(working).transpose(1, 2)).mul_(s.score_factor.to(working));
  const auto q_abs = s.q.abs().to(at::kFloat), k_abs = s.k.abs().to(at::kFloat);
  block.factor = s.score_factor.abs().to(at::kFloat);
  block.magnitude = at::bmm(q_abs, k_abs.transpose(1, 2)).mul_(block.factor);
  block.q_size = q_abs.sum(-1, true);
  block.k_size = k_abs.sum(-1).unsqueeze(1);
  block.seen = s.hidden.logical_not().sum(-1, true).unsqueeze(0).to(at::kDouble);
  if (model.arithmetic.qk_acc.truncates()) {
    block.q = s.q.to(at::kFloat).contiguous();
    block.k = s.k.to(at::kFloat).contiguous();
  }
  block.capped = problem.softcap > 0 ? block.scores.div(problem.softcap).tanh_().mul_(problem.softcap) : block.scores;
  block.capped = block.capped.masked_fill(s.hidden, -INFINITY);
  block.max = block.capped.amax(-1, true);
  if (s.sink.defined()) block.max = at::maximum(block.max, s.sink.to(working));
  block.max = block.max.masked_fill(block.max.eq(-INFINITY), 0);  // rows without keys

  // softmax, with the sink as one more key
  SoftmaxBlock softmax;
  softmax.error = score_errors(model, block);
  auto weights = one_hot ? block.capped.eq(block.max).to(working) : block.capped.sub(block.max).exp_();
  auto values = s.v;
  if (s.sink.defined()) {
    weights = at::cat({weights, s.sink.to(working).sub(block.max).exp_()}, -1);
    const auto of_sink = sink_errors(model, s.sink, block.max, block.seen);
    ScoreErrors& error = softmax.error;
    error.worst = at::cat({error.worst, of_sink}, -1);
    if (error.sigma.defined()) {
      error.usual = at::cat({error.usual, of_sink}, -1);
      error.sigma = at::cat({error.sigma, at::zeros_like(of_sink)}, -1);
    }
    values = at::cat({values, at::zeros({values.size(0), 1, values.size(2)}, values.options())}, 1);
  }
  softmax.sum = weights.sum(-1, true);
  const auto empty = softmax.sum.eq(0);
  softmax.sum = softmax.sum.masked_fill(empty, 1);
  softmax.p = weights.div_(softmax.sum);

  // output
  const bool special = !values.isfinite().all().item<bool>();
  const auto finite = special ? at::where(values.isfinite(), values, at::zeros({}, values.options())) : values;
  const auto out = at::bmm(softmax.p, finite.to(working)).to(at::kDouble);
  Block result;
  result.lse = softmax.sum.log().add(block.max).to(at::kDouble);
  result.out = out.mul(s.v_factor);
  softmax.max = block.max;
  softmax.lse = result.lse;
  softmax.seen = block.seen;
  const Weights range = weigh(model, softmax);
  if (one_hot) {
    result.bound = one_hot_bound(model, result.out.contiguous(), finite.mul(s.v_factor).abs().max().item<double>(),
                                 block.max.abs().max().item<double>());
  } else {
    const Tiers tiers = output_bound(model, softmax, range, finite, out, options.likely);
    result.bound = rounded_bound(model, tiers.worst.mul(s.v_factor.abs()), result.out);
    if (tiers.likely.defined()) result.likely = rounded_bound(model, tiers.likely.mul(s.v_factor.abs()), result.out);
  }
  result.lse_bound = lse_bound(model, softmax, range, options.likely);
  result.lse_bound.worst.masked_fill_(empty, 0);
  if (result.lse_bound.likely.defined()) result.lse_bound.likely.masked_fill_(empty, 0);
  result.lse.masked_fill_(empty, -INFINITY);
  if (special) result.out = spread_specials(s.hidden, s.v, result.out);
  return result;
}

// Some rows of some heads; K and V of `all` are those of these heads already.
SequenceTensors slice(const SequenceTensors& all, HeadRange heads, std::int64_t row, std::int64_t rows) {
  const auto of_heads = [&](const at::Tensor& t) { return t.narrow(0, heads.begin, heads.count); };
  return {.q = of_heads(all.q).narrow(1, row, rows),
          .k = all.k,
          .v = all.v,
          .score_factor = of_heads(all.score_factor),
          .v_factor = of_heads(all.v_factor),
          .sink = all.sink.defined() ? of_heads(all.sink).narrow(1, row, rows) : at::Tensor(),
          .hidden = all.hidden.narrow(0, row, rows)};
}

// Rows of a block are (row, head of the group) of each KV head; the result is [row, query head].
void store(const Problem& p, const Block& block, int first_row, std::int64_t head_kv, std::int64_t packed_row,
           const CallRules& rules, Expected& to) {
  const int group = p.group();
  const auto out = block.out.contiguous(), bound = block.bound.contiguous();
  const auto likely = (block.likely.defined() ? block.likely : block.bound).contiguous();
  const auto lse = block.lse.contiguous(), lse_bound = block.lse_bound.worst.contiguous(),
             lse_likely = (block.lse_bound.likely.defined() ? block.lse_bound.likely : lse_bound).contiguous();
  for (std::int64_t b = 0; b < out.size(0); ++b)
    for (std::int64_t r = 0; r < out.size(1); ++r) {
      const int row = first_row + static_cast<int>((packed_row + r) / group);
      const int head = static_cast<int>((head_kv + b) * group + (packed_row + r) % group);
      const std::int64_t from = b * out.size(1) + r;
      const double lse_value = lse.const_data_ptr<double>()[from];
      to.lse.value[to.lse.index(row, head, 0)] = lse_value;
      to.lse.bound[to.lse.index(row, head, 0)] = lse_bound.const_data_ptr<double>()[from];
      to.lse.likely[to.lse.index(row, head, 0)] = lse_likely.const_data_ptr<double>()[from];
      const std::size_t at = to.out.index(row, head, 0);
      const auto width = static_cast<std::size_t>(p.dim_v);
      std::copy_n(out.const_data_ptr<double>() + static_cast<std::size_t>(from) * width, width,
                  to.out.value.begin() + static_cast<std::ptrdiff_t>(at));
      std::copy_n(bound.const_data_ptr<double>() + static_cast<std::size_t>(from) * width, width,
                  to.out.bound.begin() + static_cast<std::ptrdiff_t>(at));
      std::copy_n(likely.const_data_ptr<double>() + static_cast<std::size_t>(from) * width, width,
                  to.out.likely.begin() + static_cast<std::ptrdiff_t>(at));
      // A value that the output's format may round to infinity, or to its largest number: nothing is promised.
      const double most = format(p.out).max_value();
      for (std::size_t i = at; i < at + width; ++i)
        if (std::isfinite(to.out.value[i]) && std::abs(to.out.value[i]) + to.out.bound[i] > most)
          to.out.bound[i] = to.out.likely[i] = INFINITY;
      if (lse_value != -INFINITY) continue;
      const double empty = rules.empty_row == EmptyRow::Nan ? std::numeric_limits<double>::quiet_NaN() : 0;
      const double allowed = rules.empty_row == EmptyRow::Unspecified ? INFINITY : 0;
      std::fill_n(to.out.value.begin() + static_cast<std::ptrdiff_t>(at), width, empty);
      std::fill_n(to.out.bound.begin() + static_cast<std::ptrdiff_t>(at), width, allowed);
      std::fill_n(to.out.likely.begin() + static_cast<std::ptrdiff_t>(at), width, allowed);
    }
}

// A sequence without keys: nothing but the sink, if there is one.
Block keyless_block(const Problem& p, const BoundModel& model, std::int64_t rows, const at::Tensor& sink) {
  const auto zeros = at::zeros({p.heads_kv, rows, p.dim_v}, at::kDouble),
             none = at::zeros({p.heads_kv, rows, 1}, at::kDouble);
  if (!sink.defined()) return {zeros, zeros, {}, none.sub(INFINITY), {none, {}}};
  const auto seen = none.narrow(0, 0, 1);
  const SoftmaxBlock alone{.p = none.add(1),
                           .sum = none.add(1),
                           .max = sink,
                           .lse = sink,
                           .error = {sink_errors(model, sink, sink, seen), {}, {}},
                           .seen = seen};
  return {zeros, zeros, {}, sink, lse_bound(model, alone, weigh(model, alone), false)};
}

}  // namespace

Expected attend(const Problem& p, const Call& call, const Arithmetic& arithmetic, const CallRules& rules,
                const ReferenceOptions& options) {
  Expected expected{.out = ExpectedTensor(p.total_q, p.heads_q, p.dim_v),
                    .lse = ExpectedTensor(p.total_q, p.heads_q, 1),
                    .k_out = {}};
  expected.out.likely = expected.out.bound;
  expected.lse.likely = expected.lse.bound;
  const CacheReader cache(p, call, rules.k_to_q);
  const auto sink = sinks(p, call);
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    const std::int64_t rows = std::int64_t{s.len_q} * p.group();
    if (rows == 0) continue;
    const BoundModel model{.arithmetic = arithmetic,
                           .q = p.q,
                           .cache = rules.k_to_q ? p.q : p.cache,
                           .out = p.out,
                           .q_scaled = rounds(call, Slot::QScale),
                           .k_scaled = p.scales_apply && rounds(call, Slot::KScale),
                           .v_scaled = p.scales_apply && rounds(call, Slot::VScale),
                           .dim = p.dim,
                           .len_kv = s.len_kv,
                           .splits = p.splits,
                           .softcap = p.softcap,
                           .sink = sink.defined()};
    const auto row_sinks =
        sink.defined() ? sink.unsqueeze(1).expand({p.heads_kv, s.len_q, p.group()}).reshape({p.heads_kv, rows, 1})
                       : at::Tensor();
    if (s.len_kv == 0) {
      store(p, keyless_block(p, model, rows, row_sinks), p.first_row(seq), 0, 0, rules, expected);
      continue;
    }
    SequenceTensors all{.q = queries(p, call, seq),
                        .k = {},
                        .v = {},
                        .score_factor = score_factors(p, call, seq).view({-1, 1, 1}),
                        .v_factor = value_factors(p, call, seq).view({-1, 1, 1}),
                        .sink = row_sinks,
                        .hidden = hidden(p, seq)};
    const std::int64_t row_step = std::clamp<std::int64_t>(kBlockScores / s.len_kv, 1, rows);
    const std::int64_t head_step = std::clamp<std::int64_t>(kBlockScores / (s.len_kv * row_step), 1, p.heads_kv);
    for (std::int64_t head = 0; head < p.heads_kv; head += head_step) {
      const HeadRange heads{head, std::min(head_step, p.heads_kv - head)};
      all.k = cache.keys(seq, heads);
      all.v = cache.values(seq, heads);
      for (std::int64_t row = 0; row < rows; row += row_step) {
        const auto part = slice(all, heads, row, std::min(row_step, rows - row));
        store(p, attend_block(p, part, model, call.one_hot, options), p.first_row(seq), head, row, rules, expected);
      }
    }
  }
  return expected;
}

ExpectedTensor uniform_attention(const Problem& p, const Call& call, const CallRules& rules) {
  ExpectedTensor result(p.total_q, p.heads_q, p.dim_v);
  const CacheReader cache(p, call, rules.k_to_q);
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    if (s.len_kv == 0) continue;
    const auto values = cache.values(seq).mul(value_factors(p, call, seq).view({-1, 1, 1})).contiguous();
    const double* v = values.const_data_ptr<double>();
    for (int row = 0; row < s.len_q; ++row) {
      const KeyRange seen = visible_keys(p.mask, s, row);
      for (int head = 0; head < p.heads_q; ++head)
        for (int position = seen.begin; position < seen.end; ++position)
          for (int dim = 0; dim < p.dim_v; ++dim)
            result.value[result.index(p.first_row(seq) + row, head, dim)] +=
                v[(std::int64_t{head / p.group()} * s.len_kv + position) * p.dim_v + dim] / seen.size();
    }
  }
  return result;
}

}  // namespace attest
