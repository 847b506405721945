// What each fault of cases/faults/model.yaml turns.
#include "backends/tile/knobs.h"

#include <array>

namespace attest::tile {
namespace {

using M = Model;
using K = Knobs;

constexpr Fault kFaults[]{
    // scales
    {"k_scale_dropped", [](M&, K& k) { k.k_scale = 0; }},
    {"v_scale_dropped", [](M&, K& k) { k.v_scale = 0; }},
    {"q_scale_dropped", [](M&, K& k) { k.q_scale = 0; }},
    {"k_scale_twice", [](M&, K& k) { k.k_scale = 2; }},
    {"v_scale_twice", [](M&, K& k) { k.v_scale = 2; }},
    {"q_scale_twice", [](M&, K& k) { k.q_scale = 2; }},
    {"k_scale_inverted", [](M&, K& k) { k.k_scale = -1; }},
    {"v_scale_inverted", [](M&, K& k) { k.v_scale = -1; }},
    {"kv_scales_swapped", [](M&, K& k) { k.scales_swapped = true; }},
    {"q_takes_k_scale", [](M&, K& k) { k.q_takes_k_scale = true; }},
    {"scales_of_first_head", [](M&, K& k) { k.scale_head = ScaleHead::First; }},
    {"scales_by_query_head", [](M&, K& k) { k.scale_head = ScaleHead::QueryHead; }},
    {"scales_of_first_sequence", [](M&, K& k) { k.first_sequence_scale = true; }},
    {"scales_lost_in_prefix", [](M&, K& k) { k.unscaled_pages = 1; }},
    {"softmax_scale_dropped", [](M&, K& k) { k.softmax_scale = 0; }},
    {"softmax_scale_squared", [](M&, K& k) { k.softmax_scale = 2; }},
    {"exp2_without_log2e", [](M&, K& k) { k.score_factor = 0.6931471805599453; }},
    // formats
    {"cache_read_as_fnuz", [](M&, K& k) { k.k_read_as = k.v_read_as = DType::E4M3FNUZ; }},
    {"cache_read_as_e5m2", [](M&, K& k) { k.k_read_as = k.v_read_as = DType::E5M2; }},
    {"cache_read_as_e4m3", [](M&, K& k) { k.k_read_as = k.v_read_as = DType::E4M3FN; }},
    {"cache_read_as_integers", [](M&, K& k) { k.bytes_as_integers = true; }},
    {"k_alone_read_as_fnuz", [](M&, K& k) { k.k_read_as = DType::E4M3FNUZ; }},
    {"cache_read_as_f16", [](M&, K& k) { k.k_read_as = k.v_read_as = DType::F16; }},
    {"cache_read_as_bf16", [](M&, K& k) { k.k_read_as = k.v_read_as = DType::BF16; }},
    {"q_cast_to_e4m3", [](M& m, K&) { m.q_cast = DType::E4M3FN; }},
    {"kv_cast_to_e4m3", [](M& m, K&) { m.k_cast = m.v_cast = DType::E4M3FN; }},
    {"output_truncated", [](M& m, K&) { m.truncated_output = true; }},
    {"output_through_e4m3", [](M&, K& k) { k.out_through = DType::E4M3FN; }},
    {"p_through_e5m2", [](M& m, K&) { m.p = DType::E5M2; }},
    {"p_through_e4m3", [](M& m, K&) { m.p = DType::E4M3FN; }},
    {"p_truncated", [](M& m, K&) { m.truncated_p = true; }},
    {"p_without_offset", [](M& m, K&) { m.p_offset = 0; }},
    {"p_normalised_first", [](M& m, K&) { m.p_normalised = true; }},
    {"p_saturates", [](M& m, K&) { m.rescale_threshold = 8; }},
    {"bf16_accumulator",
     [](M& m, K&) {
       m.pv = {DType::BF16, 0, 0};
     }},
    {"f16_accumulator",
     [](M& m, K&) {
       m.pv = {DType::F16, 0, 0};
     }},
    {"narrow_scores",
     [](M& m, K&) {
       m.qk = {DType::F32, 9, 32};
     }},
    {"narrow_accumulator",
     [](M& m, K&) {
       m.pv = {DType::F32, 9, 32};
     }},
    {"scores_in_bf16", [](M&, K& k) { k.scores_in_bf16_first = true; }},
    {"row_sum_of_rounded", [](M& m, K&) { m.row_sum_rounded = true; }},
    // softmax
    {"rescale_missing", [](M&, K& k) { k.no_rescale = true; }},
    {"rescale_missing_last", [](M&, K& k) { k.no_last_rescale = true; }},
    {"rescale_of_sum_missing", [](M&, K& k) { k.no_sum_rescale = true; }},
    {"rescale_of_output_missing", [](M&, K& k) { k.no_out_rescale = true; }},
    {"first_tile_dropped", [](M&, K& k) { k.first_tile_lost = true; }},
    {"last_tile_dropped", [](M&, K& k) { k.last_tile_lost = true; }},
    {"last_tile_twice", [](M&, K& k) { k.last_tile_twice = true; }},
    {"maximum_frozen", [](M&, K& k) { k.frozen_maximum = true; }},
    {"uniform_attention", [](M&, K& k) { k.uniform = true; }},
    {"cap_dropped", [](M&, K& k) { k.no_cap = true; }},
    {"cap_before_scale", [](M&, K& k) { k.cap_before_scale = true; }},
    {"cap_after_mask", [](M&, K& k) { k.cap_after_mask = true; }},
    {"cap_twice", [](M&, K& k) { k.cap_twice = true; }},
    {"sink_dropped", [](M&, K& k) { k.no_sink = true; }},
    {"sink_doubled", [](M&, K& k) { k.sink_times = 2; }},
    {"sink_scaled", [](M&, K& k) { k.scaled_sink = true; }},
    {"sink_of_next_head", [](M&, K& k) { k.sink_head_shift = 1; }},
    {"sink_per_split", [](M&, K& k) { k.sink_per_split = true; }},
    {"merge_unweighted", [](M&, K& k) { k.unweighted_merge = true; }},
    {"merge_base_2", [](M&, K& k) { k.base_2_merge = true; }},
    {"last_split_dropped", [](M&, K& k) { k.last_split_lost = true; }},
    {"lse_in_base_2", [](M&, K& k) { k.base_2_lse = true; }},
    {"lse_without_maximum", [](M&, K& k) { k.lse_without_max = true; }},
    {"lse_without_sink", [](M&, K& k) { k.lse_without_sink = true; }},
    // indices
    {"length_minus_one", [](M&, K& k) { k.length_shift = -1; }},
    {"length_plus_one", [](M&, K& k) { k.length_shift = 1; }},
    {"last_page_read_in_full", [](M&, K& k) { k.full_last_page = true; }},
    {"window_left_plus_one", [](M&, K& k) { k.left_shift = 1; }},
    {"window_left_minus_one", [](M&, K& k) { k.left_shift = -1; }},
    {"window_right_plus_one", [](M&, K& k) { k.right_shift = 1; }},
    {"window_right_minus_one", [](M&, K& k) { k.right_shift = -1; }},
    {"window_dropped", [](M&, K& k) { k.no_window = true; }},
    {"causal_plus_one", [](M&, K& k) { k.causal_shift = 1; }},
    {"causal_minus_one", [](M&, K& k) { k.causal_shift = -1; }},
    {"causal_top_left", [](M&, K& k) { k.top_left = true; }},
    {"causal_dropped", [](M&, K& k) { k.no_causal = true; }},
    {"chunk_dropped", [](M&, K& k) { k.no_chunk = true; }},
    {"heads_modulo", [](M&, K& k) { k.head_map = HeadMap::Modulo; }},
    {"next_kv_head", [](M&, K& k) { k.head_map = HeadMap::Next; }},
    {"pages_of_next_sequence", [](M&, K& k) { k.table_row_shift = 1; }},
    {"first_page_repeated", [](M&, K& k) { k.first_page_repeated = true; }},
    {"page_taken_for_slot", [](M&, K& k) { k.page_is_slot = true; }},
    {"page_stride_too_long", [](M&, K& k) { k.page_stride_shift = 1; }},
    {"k_and_v_swapped", [](M&, K& k) { k.kv_swapped = true; }},
    {"v_of_next_page", [](M&, K& k) { k.v_page_shift = 1; }},
    {"flat_offset_wraps", [](M&, K& k) { k.flat_wraps = true; }},
    {"head_dim_tail_dropped", [](M&, K& k) { k.k_dims_lost = 8; }},
    {"query_row_off_by_one", [](M&, K& k) { k.q_row_shift = 1; }},
    {"query_strides_ignored", [](M&, K& k) { k.dense_q = true; }},
    {"unused_slots_times_zero", [](M&, K& k) { k.zero_times_unused = true; }},
    {"nan_swallowed", [](M&, K& k) { k.nan_swallowed = true; }},
    {"output_rows_reversed", [](M&, K& k) { k.rows_swapped = true; }},
    {"output_tail_not_written", [](M&, K& k) { k.tail_not_written = true; }},
    {"last_row_not_written", [](M&, K& k) { k.last_row_not_written = true; }},
    {"nan_for_empty_rows", [](M&, K& k) { k.nan_for_empty = true; }},
    {"empty_rows_not_written", [](M&, K& k) { k.empty_not_written = true; }},
    // writes
    {"write_scale_dropped", [](M&, K& k) { k.write_unscaled = true; }},
    {"write_scale_inverted", [](M&, K& k) { k.write_inverted = true; }},
    {"write_k_scale_for_v", [](M&, K& k) { k.write_k_scale_for_v = true; }},
    {"write_overflows_to_nan", [](M&, K& k) { k.write_wraps = true; }},
    {"write_truncates", [](M&, K& k) { k.write_truncates = true; }},
    {"write_slot_off_by_one", [](M&, K& k) { k.write_slot_shift = 1; }},
};

}  // namespace

std::span<const Fault> faults() { return kFaults; }

}  // namespace attest::tile
