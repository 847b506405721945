// Every way in which liar lies, with a case that shows it and the verdict that it must get.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/record/verdict.h"

namespace attest::test {

struct LiarMode {
  std::string fault;
  std::string token;  // without the fault
  Outcome outcome;
  std::optional<FailKind> kind;
};

inline void PrintTo(const LiarMode& mode, std::ostream* to) { *to << mode.fault; }  // for GoogleTest

inline const std::vector<LiarMode>& liar_modes() {
  const std::string decode = "decode/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=1x15,1x33/scales=odd#3";
  const std::string prefill = "prefill/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=5x15,3x33#3";
  const std::string special = "decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33/in=special#3";
  const std::string reused = "decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33/plan=reused#3";
  const std::string write = "write/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=3x15,2x33/scales=odd#3";
  const std::string rope = "rope/liar/q=bf16/k=fp8_e4m3/h=6:2/d=32/seq=1x15,3x33#3";
  const std::string fnuz = "decode/liar/q=bf16/kv=fp8_e4m3fnuz/h=6:2/d=32/page=16/seq=1x15,1x33#3";
  const auto related = [](const std::string& phase, const std::string& relation) {
    return phase + "/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=64/page=16/seq=2x15,2x33,1x40/scales=odd/rel=" + relation + "#3";
  };
  const auto fails = [](const std::string& fault, const std::string& token, FailKind kind) {
    return LiarMode{fault, token, Outcome::Fail, kind};
  };
  static const std::vector<LiarMode> all{
      fails("mask_off_by_one", prefill, FailKind::Numeric),
      fails("dropped_k_scale", decode, FailKind::Numeric),
      fails("dropped_v_scale", decode, FailKind::Numeric),
      fails("swapped_heads", decode, FailKind::Numeric),
      fails("unwritten_row", prefill, FailKind::Special),
      fails("stale_rows", reused, FailKind::Numeric),
      fails("frozen_length", reused, FailKind::Numeric),
      fails("nan_swallowed", special, FailKind::Special),
      fails("lse_base_2", decode, FailKind::Lse),
      fails("drifting", decode, FailKind::Nondeterministic),
      fails("writes_past_end", decode, FailKind::Guard),
      fails("touches_input", decode, FailKind::InputMutated),
      fails("touches_cache", decode, FailKind::CacheWrite),
      fails("slot_off_by_one", write, FailKind::CacheWrite),
      fails("truncating_write", write, FailKind::CacheWrite),
      fails("wrong_dtype", decode, FailKind::Dtype),
      fails("rope_k_in_q_dtype", rope, FailKind::Dtype),
      fails("wrong_shape", decode, FailKind::Shape),
      fails("wrong_kernel", decode, FailKind::WrongKernel),
      fails("accepts", fnuz, FailKind::Accepted),
      fails("wrong_message", fnuz, FailKind::Message),
      fails("refuses", decode, FailKind::Rejected),
      fails("fails", decode, FailKind::Error),
      fails("writes_past_end_late", decode, FailKind::Guard),
      fails("touches_input_late", decode, FailKind::InputMutated),
      fails("wrong_kernel_late", decode, FailKind::WrongKernel),
      fails("writes_past_end_early", reused, FailKind::Guard),
      fails("declines_late", decode, FailKind::Guard),
      fails("bits_by_page", related("decode", "pages_moved"), FailKind::Relation),
      fails("bits_by_poison", related("decode", "poison_changed"), FailKind::Relation),
      fails("bits_by_sign", related("decode", "v_negated"), FailKind::Relation),
      fails("bits_by_neighbour", related("decode", "neighbours_changed"), FailKind::Relation),
      fails("bits_by_batch", related("decode", "batch_alone"), FailKind::Relation),
      fails("bits_by_splits", related("decode", "splits_changed"), FailKind::Relation),
      fails("bits_by_rows", related("prefill", "prefill_as_decode"), FailKind::Relation),
      fails("misplaces", decode, FailKind::Error),
      fails("collides", decode, FailKind::Error),
      fails("wants_all_memory", decode, FailKind::Error),
      fails("says_nonsense", decode, FailKind::Error),
      {"crashes_asked", decode, Outcome::Crash, std::nullopt},
      {"declines", decode, Outcome::Unsupported, std::nullopt},
      {"crash", decode, Outcome::Crash, std::nullopt},
      {"exit", decode, Outcome::Crash, std::nullopt},
      {"garbles", decode, Outcome::Crash, std::nullopt},
      {"hang", decode, Outcome::Timeout, std::nullopt},
      {"eat_memory", decode, Outcome::Memory, std::nullopt},
  };
  return all;
}

}  // namespace attest::test
