#include "harness/core/problem.h"

#include "harness/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

// Pages that no sequence owns. Enough that a wrong page id is likely to hit poison.
constexpr int kUnusedPages = 3;

int pages_of(const std::vector<Sequence>& seqs, int page_size) {
  int pages = 0;
  for (const Sequence& s : seqs) pages += (s.len_kv + page_size - 1) / page_size;
  return pages;
}

}  // namespace

int Problem::first_row(int seq) const {
  int row = 0;
  for (int i = 0; i < seq; ++i) row += seqs[static_cast<std::size_t>(i)].len_q;
  return row;
}

Problem make_problem(const Case& c, const Contract& contract) {
  const CallRules rules = call_rules(contract, c);
  Problem p{};
  p.phase = c.phase;
  const auto op = contract.ops.find(c.phase);
  p.op = op != contract.ops.end()  ? op->second
         : c.phase == Phase::Write ? Op::Write
         : c.phase == Phase::Rope  ? Op::Rope
                                   : Op::Attend;
  p.graph = c.graph;
  p.q = c.q;
  p.k_new = c.k_dtype();
  p.v_new = c.v_dtype();
  p.cache = *cache_dtype(c.kv, c.q);
  p.cache_name = c.kv;
  p.out = c.out.value_or(rules.out.value_or(c.q));
  p.heads_q = c.heads_q;
  p.heads_kv = c.heads_kv;
  p.dim = c.dim;
  p.dim_v = c.value_dim();
  p.page_size = c.page;
  p.seqs = c.seq;
  for (const Sequence& s : c.seq) {
    p.total_q += s.len_q;
    p.max_len_q = std::max(p.max_len_q, s.len_q);
    p.max_len_kv = std::max(p.max_len_kv, s.len_kv);
  }
  p.num_pages = pages_of(c.seq, c.page) + kUnusedPages;
  p.pages_per_seq = (p.max_len_kv + c.page - 1) / c.page + 1;  // one entry that no sequence uses
  p.mask = c.mask;
  p.softcap = c.cap;
  p.sink = c.sink;
  p.scales = c.scales;
  p.scales_apply = rules.scales == ScalesApply::Always || !is_float(p.cache) || is_fp8(p.cache);
  p.strides = c.strides;
  p.splits = c.splits;
  p.softmax_scale = 1 / std::sqrt(static_cast<double>(c.dim));
  p.rotary_dim = c.rot ? c.rot : c.dim;
  p.style = c.style;
  p.offsets = c.offsets;
  p.lse = rules.lse;
  p.fault = c.fault;
  if (p.op != Op::Rope) {
    const auto layout = contract.layouts.find(c.strides);
    if (layout == contract.layouts.end())
      throw UsageError(fmt::format("{}: no layout for the strides of {}", contract.file, token(c)));
    p.layout = layout->second;
  }
  return p;
}

void widen_for(Problem& p, const Case& other) {
  for (const Sequence& s : other.seq) {
    p.max_len_q = std::max(p.max_len_q, s.len_q);
    p.max_len_kv = std::max(p.max_len_kv, s.len_kv);
  }
  p.num_pages = std::max(p.num_pages, pages_of(other.seq, p.page_size) + kUnusedPages);
  p.pages_per_seq = (p.max_len_kv + p.page_size - 1) / p.page_size + 1;
}

}  // namespace attest
