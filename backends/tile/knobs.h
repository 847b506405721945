// What a fault changes in the engine: every knob at rest is the right kernel. faults.cc says which fault turns which.
#pragma once

#include "backends/tile/model.h"

#include <span>
#include <string_view>

namespace attest::tile {

enum class ScaleHead { Own, First, QueryHead };  // whose scale a head takes
enum class HeadMap { Own, Modulo, Next };        // which KV head a query head reads

struct Knobs {
  // scales, as powers: 1 as it is, 0 dropped, 2 twice, -1 inverted
  int q_scale = 1, k_scale = 1, v_scale = 1, softmax_scale = 1;
  bool scales_swapped = false, q_takes_k_scale = false, first_sequence_scale = false;
  ScaleHead scale_head = ScaleHead::Own;
  int unscaled_pages = 0;   // of each sequence, its first ones
  double score_factor = 1;  // on every score, sinks too
  // which keys
  int length_shift = 0, left_shift = 0, right_shift = 0, causal_shift = 0;
  bool no_window = false, no_causal = false, top_left = false, no_chunk = false, full_last_page = false;
  // where they lie
  HeadMap head_map = HeadMap::Own;
  int table_row_shift = 0, v_page_shift = 0, page_stride_shift = 0, q_row_shift = 0, k_dims_lost = 0;
  bool first_page_repeated = false, page_is_slot = false, kv_swapped = false, flat_wraps = false, dense_q = false;
  // what they are
  std::optional<DType> k_read_as, v_read_as;
  bool bytes_as_integers = false, zero_times_unused = false, nan_swallowed = false;
  // softmax
  bool no_rescale = false, no_last_rescale = false, no_sum_rescale = false, no_out_rescale = false;
  bool first_tile_lost = false, last_tile_lost = false, last_tile_twice = false, frozen_maximum = false,
       uniform = false;
  bool no_cap = false, cap_before_scale = false, cap_after_mask = false, cap_twice = false,
       scores_in_bf16_first = false;
  // sinks
  bool no_sink = false, scaled_sink = false, sink_per_split = false;
  int sink_times = 1, sink_head_shift = 0;
  // splits
  bool unweighted_merge = false, base_2_merge = false, last_split_lost = false;
  // outputs
  bool base_2_lse = false, lse_without_max = false, lse_without_sink = false;
  bool nan_for_empty = false, empty_not_written = false, tail_not_written = false, last_row_not_written = false;
  bool rows_swapped = false;
  std::optional<DType> out_through;
  // writes
  bool write_unscaled = false, write_inverted = false, write_k_scale_for_v = false, write_wraps = false,
       write_truncates = false;
  int write_slot_shift = 0;
};

struct Fault {
  std::string_view name;
  void (*turn)(Model& model, Knobs& knobs);
};

std::span<const Fault> faults();

}  // namespace attest::tile
