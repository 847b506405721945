#include "harness/inputs/inputs.h"

#include "harness/inputs/builder.h"
#include "harness/inputs/file_inputs.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/page_table.h"
#include "harness/inputs/random.h"
#include "harness/inputs/rope_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace attest {
namespace {

// Gaps of strided tensors, in elements: a head is followed by 8 strangers, a token by 16 more.
constexpr std::int64_t kHeadGap = 8, kTokenGap = 16;

Dims token_strides(std::int64_t heads, std::int64_t dim, bool padded) {
  if (!padded) return contiguous_strides({1, heads, dim});
  return {heads * (dim + kHeadGap) + kTokenGap, dim + kHeadGap, 1};
}

bool writes(Op op) { return op == Op::Write || op == Op::WriteAttend; }
bool attends(Op op) { return op == Op::Attend || op == Op::WriteAttend; }

// q, and K and V of the new tokens where the operation writes: one storage for all of them, one behind the other in
// each token, when the strides are fused and the dtypes are one.
void add_tokens(CallBuilder& to, const Problem& p) {
  const std::int64_t tokens = p.total_q;
  const bool one_dtype = !writes(p.op) || (p.k_new == p.q && p.v_new == p.q);
  const std::int64_t q_width = std::int64_t{p.heads_q} * p.dim, k_width = std::int64_t{p.heads_kv} * p.dim,
                     v_width = std::int64_t{p.heads_kv} * p.dim_v;
  if (p.strides == Strides::Fused && one_dtype) {
    const std::int64_t token = q_width + k_width + v_width;
    const auto storage = to.add_storage(p.q, tokens * token);
    if (attends(p.op)) to.add_slice(Slot::Q, storage, 0, {tokens, p.heads_q, p.dim}, {token, p.dim, 1});
    if (writes(p.op)) {
      to.add_slice(Slot::KNew, storage, q_width, {tokens, p.heads_kv, p.dim}, {token, p.dim, 1});
      to.add_slice(Slot::VNew, storage, q_width + k_width, {tokens, p.heads_kv, p.dim_v}, {token, p.dim_v, 1});
    }
    return;
  }
  const bool padded = p.strides == Strides::Padded || p.strides == Strides::PaddedOut;
  if (attends(p.op)) to.add(Slot::Q, p.q, {tokens, p.heads_q, p.dim}, token_strides(p.heads_q, p.dim, padded));
  if (writes(p.op)) {
    to.add(Slot::KNew, p.k_new, {tokens, p.heads_kv, p.dim}, token_strides(p.heads_kv, p.dim, padded));
    to.add(Slot::VNew, p.v_new, {tokens, p.heads_kv, p.dim_v}, token_strides(p.heads_kv, p.dim_v, padded));
  }
}

void add_caches(CallBuilder& to, const Problem& p, const CacheTables& tables) {
  CacheLayout& layout = to.call().layout;
  layout = place_cache(p.layout, {p.num_pages, p.page_size, p.heads_kv, p.dim, p.dim_v});
  layout.k.table = tables.k;
  layout.v.table = tables.v;
  const auto k = to.add_storage(p.cache, layout.k.storage);
  const auto v = layout.one_storage ? k : to.add_storage(p.cache, layout.v.storage);
  to.add_slice(Slot::KCache, k, layout.k.base, layout.k.shape, layout.k.strides);
  to.add_slice(Slot::VCache, v, layout.v.base, layout.v.shape, layout.v.strides);
}

void fill_tokens(CallBuilder& to, const Problem& p, const FillContext& context, const Fill& fill) {
  std::int64_t token = 0;
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    for (int row = 0; row < s.len_q; ++row, ++token) {
      if (attends(p.op))
        for (int head = 0; head < p.heads_q; ++head)
          for (int dim = 0; dim < p.dim; ++dim) to.set(Slot::Q, {token, head, dim}, fill.q(seq, row, head, dim));
      if (!writes(p.op)) continue;
      const int position = s.len_kv - s.len_q + row;
      for (int head = 0; head < p.heads_kv; ++head) {
        for (int dim = 0; dim < p.dim; ++dim)
          to.set(Slot::KNew, {token, head, dim}, fill.k(seq, position, head, dim) * context.k_scale(seq, head),
                 Overflow::Ieee);
        for (int dim = 0; dim < p.dim_v; ++dim)
          to.set(Slot::VNew, {token, head, dim}, fill.v(seq, position, head, dim) * context.v_scale(seq, head),
                 Overflow::Ieee);
      }
    }
  }
}

// The positions that the cache holds before the call. Special values go in as they are, others saturate.
void fill_caches(CallBuilder& to, const Problem& p, const PageTable& table, const Fill& fill) {
  const CacheLayout& layout = to.call().layout;
  const std::size_t k = to.call().ref(Slot::KCache).storage, v = to.call().ref(Slot::VCache).storage;
  const auto put = [&](std::size_t storage, std::int64_t element, double value) {
    to.set_element(storage, element, value, std::isfinite(value) ? Overflow::Saturate : Overflow::Ieee);
  };
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    const int held = writes(p.op) ? s.len_kv - s.len_q : s.len_kv;
    for (int position = 0; position < held; ++position) {
      const int page = table.page_of(seq, position, p.page_size), slot = position % p.page_size;
      if (table.owner[static_cast<std::size_t>(page)] != seq) continue;
      for (int head = 0; head < p.heads_kv; ++head) {
        for (int dim = 0; dim < p.dim; ++dim)
          put(k, layout.k.index(page, slot, head, dim), fill.k(seq, position, head, dim));
        for (int dim = 0; dim < p.dim_v; ++dim)
          put(v, layout.v.index(page, slot, head, dim), fill.v(seq, position, head, dim));
      }
    }
  }
}

// Entries behind a sequence's last page name a poisoned page.
void add_page_table(CallBuilder& to, const Problem& p, const PageTable& table) {
  const auto seqs = static_cast<std::int64_t>(p.seqs.size());
  to.add(Slot::PageTable, DType::I32, {seqs, p.pages_per_seq});
  for (std::int64_t seq = 0; seq < seqs; ++seq) {
    const auto& pages = table.pages[static_cast<std::size_t>(seq)];
    for (std::int64_t i = 0; i < p.pages_per_seq; ++i)
      to.set_integer(
          Slot::PageTable, {seq, i},
          i < static_cast<std::int64_t>(pages.size()) ? pages[static_cast<std::size_t>(i)] : table.unused.front());
  }
}

void add_lengths(CallBuilder& to, const Problem& p) {
  const auto seqs = static_cast<std::int64_t>(p.seqs.size());
  to.add(Slot::LenKv, DType::I32, {seqs});
  to.add(Slot::CuLenQ, DType::I32, {seqs + 1});
  for (std::int64_t seq = 0; seq < seqs; ++seq)
    to.set_integer(Slot::LenKv, {seq}, p.seqs[static_cast<std::size_t>(seq)].len_kv);
  for (std::int64_t seq = 0; seq <= seqs; ++seq)
    to.set_integer(Slot::CuLenQ, {seq}, p.first_row(static_cast<int>(seq)));
}

// A write alone skips one token in eight: its slot is negative.
void add_slot_mapping(CallBuilder& to, const Problem& p, const PageTable& table, std::uint64_t seed) {
  const Random random(seed, "skipped");
  to.add(Slot::SlotMapping, DType::I64, {p.total_q});
  std::int64_t token = 0;
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    for (int row = 0; row < s.len_q; ++row, ++token) {
      const int position = s.len_kv - s.len_q + row;
      const bool skipped = p.op == Op::Write && token > 0 && random.below(8, static_cast<std::uint64_t>(token)) == 0;
      const std::int64_t slot =
          std::int64_t{table.page_of(seq, position, p.page_size)} * p.page_size + position % p.page_size;
      to.set_integer(Slot::SlotMapping, {token}, skipped ? -1 : slot);
    }
  }
}

void add_scales(CallBuilder& to, const CallScales& scales) {
  for (const auto& [slot, set] :
       {std::pair{Slot::QScale, &scales.q}, {Slot::KScale, &scales.k}, {Slot::VScale, &scales.v}}) {
    if (!set->present) continue;
    to.add(slot, DType::F32, set->shape);
    to.fill_floats(slot, set->values);
  }
}

// One sink logit a head, about as heavy as all keys together, 1.5 more or less: evenly spread, so that no two are alike
// (in bf16, up to 64 heads).
void add_sinks(CallBuilder& to, const Problem& p, const Fill& fill, std::uint64_t seed) {
  if (!p.sink) return;
  const Random random(seed, "sinks");
  const auto order = random.permutation(p.heads_q, 0);
  const double all_keys = std::ldexp(static_cast<double>(std::bit_width(static_cast<unsigned>(p.max_len_kv))) * 22, -5);
  const double first =
      std::ldexp(static_cast<double>(1 + 2 * random.below(4, static_cast<std::uint64_t>(p.heads_q) * 2)), -3);
  to.add(Slot::Sinks, *p.sink, {p.heads_q});
  for (int head = 0; head < p.heads_q; ++head) {
    const double drawn = all_keys + 3 * (order[static_cast<std::size_t>(head)] + first) / p.heads_q - 1.5;
    to.set(Slot::Sinks, {head}, fill.sink(head).value_or(drawn));
  }
}

}  // namespace

Call make_inputs(const Case& c, const Problem& p, const CacheTables& tables) {
  CallBuilder builder(c.poison);
  if (p.op == Op::Rope) {
    make_rope_inputs(builder, p, c.seed);
  } else {
    const CallScales scales = make_scales(p, c.seed);
    const FillContext context{p, scales, c.seed};
    const PageTable table = make_page_table(p, c.table, c.seed);
    auto fill = make_fill(c.probe, context);
    if (c.keys > 0) fill = make_sparse_fill(std::move(fill), c.keys, context);
    builder.call().one_hot = fill->one_hot();
    add_tokens(builder, p);
    add_caches(builder, p, tables);
    fill_tokens(builder, p, context, *fill);
    fill_caches(builder, p, table, *fill);
    add_lengths(builder, p);
    add_page_table(builder, p, table);
    if (writes(p.op)) add_slot_mapping(builder, p, table, c.seed);
    add_scales(builder, scales);
    if (attends(p.op)) {
      add_sinks(builder, p, *fill, c.seed);
      builder.add_output(Slot::Out, p.out, {p.total_q, p.heads_q, p.dim_v},
                         token_strides(p.heads_q, p.dim_v, p.strides == Strides::PaddedOut));
      if (p.lse) builder.add_output(Slot::Lse, DType::F32, {p.heads_q, p.total_q});
    }
  }
  if (c.probe == Probe::File) read_inputs(builder.call(), p, c.directory);
  return builder.take();
}

Case with_other_lengths(const Case& c) {
  Case other = c;
  for (Sequence& s : other.seq) s.len_kv = s.len_kv >= c.page + s.len_q ? s.len_kv - c.page : s.len_kv + c.page;
  return other;
}

}  // namespace attest
