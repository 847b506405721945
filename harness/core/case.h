// A case: one kernel, one problem, one set of inputs. It prints as one short token and parses back from it:
//
//     decode/fa3_vllm/q=bf16/kv=fp8_e4m3/h=8:2/d=128/page=16/seq=1x15,1x16,1x255/scales=odd/in=select#17
//
// phase / backend / keys in one fixed order, defaults left out / # seed. The token is the filter, the
// journal's key and the command that repeats the case. A case is a value; nothing changes it once made.
// The same keys are the axes of a matrix file and the filters of the command line (case_keys.h).
#pragma once

#include "harness/core/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

enum class Phase { Decode, Prefill, Mixed, Write, Rope };
enum class Table { Shuffled, Ordered, Aliased, Interleaved };
enum class Scales { None, KOnly, VOnly, Unit, Odd, Head, SeqHead, Wide };
enum class Strides { Dense, Padded, PaddedOut, Fused };
enum class Graph { Eager, Full, Piecewise, Padded, Mixed, Compile };
enum class Probe {
  Gauss,
  Peaky,
  Outlier,
  Select,
  Sentinel,
  Identity,
  Mass,
  Ramp,
  Tail,
  Sink,
  Cap,
  Ties,
  Extreme,
  Special,
  Codes,
  File
};
enum class Poison { Nan, Huge, Zero };
enum class PlanUse { Fresh, Reused };
// What is launched beside the case, and how its output must go with the case's own (harness/run/relation.h).
enum class Relation {
  None,
  PagesMoved,
  PoisonChanged,
  VNegated,
  NeighboursChanged,
  BatchAlone,
  SplitsChanged,
  PrefillAsDecode
};
enum class RopeStyle { Neox, Interleaved };

struct Sequence {
  int len_q = 1;
  int len_kv = 1;
  bool operator==(const Sequence&) const = default;
};

// Which keys a query row sees. Row r of a sequence stands at position i = len_kv - len_q + r (bottom-right).
struct Mask {
  enum class Kind { Causal, Full, Window, Chunk } kind = Kind::Causal;
  int left = -1;  // Window: keys i - left .. i + right; -1 is unbounded
  int right = -1;
  int chunk = 0;  // Chunk: keys of i's own block of this many positions, up to i
  bool operator==(const Mask&) const = default;
};

struct KeyRange {  // [begin, end)
  int begin = 0;
  int end = 0;
  int size() const { return end > begin ? end - begin : 0; }
};
KeyRange visible_keys(const Mask& mask, const Sequence& sequence, int row);

struct Case {
  Phase phase = Phase::Decode;
  std::string backend;
  DType q = DType::BF16;
  std::optional<DType> k;  // dtype of new K and V as they reach the kernel; q's unless set
  std::optional<DType> v;
  std::string kv = "auto";   // the cache's name as a server spells it: "auto" is not the same as "bf16"
  std::optional<DType> out;  // the contract's choice unless set
  int heads_q = 8;
  int heads_kv = 2;
  int dim = 128;             // of q and k
  std::optional<int> dim_v;  // dim unless set
  int page = 16;             // slots a page
  std::vector<Sequence> seq;
  Table table = Table::Shuffled;
  Mask mask;
  double cap = 0;             // soft cap, 0: none
  std::optional<DType> sink;  // one sink logit a query head, in this dtype
  Scales scales = Scales::None;
  Strides strides = Strides::Dense;
  int splits = 0;  // 0: the kernel's own choice
  PlanUse plan = PlanUse::Fresh;
  int rot = 0;  // rope: rotary dim, 0: dim
  RopeStyle style = RopeStyle::Neox;
  bool offsets = false;  // rope: an offset added to each position
  Graph graph = Graph::Eager;
  Probe probe = Probe::Gauss;
  std::string directory;  // Probe::File reads its tensors here
  int keys = 0;           // positions of a sequence whose V is not zero, 0: all
  Poison poison = Poison::Nan;
  Relation rel = Relation::None;
  std::string fault;  // a fault that the backend is asked to commit
  std::uint64_t seed = 0;

  DType k_dtype() const { return k.value_or(q); }
  DType v_dtype() const { return v.value_or(q); }
  int value_dim() const { return dim_v.value_or(dim); }
  int group() const { return heads_q / heads_kv; }
  bool operator==(const Case&) const = default;
};

std::string_view name(Phase phase);
std::string token(const Case& c);
std::string token_without_seed(const Case& c);  // what waivers match

// Throws UsageError with the place in the token, the value and what would be right.
Case parse_token(std::string_view text);

// Bits that tell all positions of the longest sequence apart, at least 1.
int select_code_bits(const std::vector<Sequence>& seqs);

// nullopt, or why the values do not make a case together ("h=8:3: 8 query heads are no multiple of 3").
std::optional<std::string> contradiction(const Case& c);

// The names a KV cache is asked for by, and the format each stores; "auto" stores q's.
std::optional<DType> cache_dtype(std::string_view kv_name, DType q);
std::vector<std::string> cache_names();

}  // namespace attest
