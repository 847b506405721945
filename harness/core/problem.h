// A problem: the numbers of a case, names resolved ("auto" is a dtype, defaults are filled in, sizes are summed).
// What inputs, reference, kernel and judge compute from. Lengths are per sequence; maxima are what a plan sees.
#pragma once

#include "harness/core/case.h"
#include "harness/core/contract.h"
#include "harness/core/layout.h"

namespace attest {

struct Problem {
  Phase phase;
  Op op;
  Graph graph;
  DType q, k_new, v_new, cache, out;
  std::string cache_name;
  int heads_q, heads_kv, dim, dim_v, page_size;
  std::vector<Sequence> seqs;
  int total_q;                   // query rows of all sequences
  int max_len_q, max_len_kv;     // over every launch of the plan
  int num_pages, pages_per_seq;  // the pool (with unused pages), and the page table's width
  Mask mask;
  double softcap;  // 0: none
  std::optional<DType> sink;
  Scales scales;
  bool scales_apply;  // of K and V; else they are handed over and must be inert
  Strides strides;
  int splits;
  double softmax_scale;
  int rotary_dim;
  RopeStyle style;
  bool offsets;
  bool lse;  // the kernel returns it
  std::string fault;
  LayoutSpec layout;

  int group() const { return heads_q / heads_kv; }
  int first_row(int seq) const;  // of the sequence, among all query rows
};

// Makes room for the lengths of another case too: maxima, pool and page table of a plan that serves both.
void widen_for(Problem& problem, const Case& other);

// Throws UsageError when the contract has no layout for the case's strides.
Problem make_problem(const Case& c, const Contract& contract);

}  // namespace attest
