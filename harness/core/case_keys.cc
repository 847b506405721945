#include "harness/core/case_keys.h"

#include "harness/core/case_values.h"

#include <algorithm>
#include <array>

namespace attest {
namespace {

using namespace case_values;

bool always(const Case&) { return true; }
bool never(const Case&) { return false; }
bool with_cache(const Case& c) { return c.phase != Phase::Rope; }

const std::array<CaseKey, 27> kKeys{{
    {"q", "dtype of q", always, [](const Case& c) { return std::string(name(c.q)); },
     [](Case& c, std::string_view t) { return parse_float_dtype(t, c.q); }},
    {"k", "dtype of the new K (rope: of K), q's unless said", never,
     [](const Case& c) { return print_optional_dtype(c.k, "same"); },
     [](Case& c, std::string_view t) { return parse_optional_dtype(t, "same", c.k); }},
    {"v", "dtype of the new V, q's unless said", never, [](const Case& c) { return print_optional_dtype(c.v, "same"); },
     [](Case& c, std::string_view t) { return parse_optional_dtype(t, "same", c.v); }},
    {"kv", "the KV cache by name: auto stores q's dtype", with_cache, [](const Case& c) { return c.kv; }, parse_kv},
    {"out", "dtype of the output, the contract's unless said", never,
     [](const Case& c) { return print_optional_dtype(c.out, "contract"); },
     [](Case& c, std::string_view t) { return parse_optional_dtype(t, "contract", c.out); }},
    {"h", "heads, HEADS_Q:HEADS_KV", always, [](const Case& c) { return fmt::format("{}:{}", c.heads_q, c.heads_kv); },
     parse_heads},
    {"d", "head dim of q and k", always, [](const Case& c) { return std::to_string(c.dim); },
     [](Case& c, std::string_view t) { return parse_int(t, 1, c.dim); }},
    {"dv", "head dim of v, d unless said", never,
     [](const Case& c) { return c.dim_v ? std::to_string(*c.dim_v) : std::string("same"); },
     [](Case& c, std::string_view t) -> Wrong {
       if (t == "same") return c.dim_v.reset(), std::nullopt;
       int dim = 0;
       if (auto wrong = parse_int(t, 1, dim)) return wrong;
       c.dim_v = dim;
       return std::nullopt;
     }},
    {"page", "slots a page", with_cache, [](const Case& c) { return std::to_string(c.page); },
     [](Case& c, std::string_view t) { return parse_int(t, 1, c.page); }},
    {"seq", "sequences, LEN_QxLEN_KV separated by commas, N* repeats", always, print_seq, parse_seq},
    {"table", "page table: shuffled, ordered, aliased (shared prefixes), interleaved", never,
     [](const Case& c) { return word_of(kTables, c.table); },
     [](Case& c, std::string_view t) { return parse_word(kTables, t, c.table); }},
    {"mask", "causal, full, window:LEFT,RIGHT, chunk:N", never, print_mask, parse_mask},
    {"cap", "soft cap on the logits, 0: none", never, [](const Case& c) { return fmt::format("{}", c.cap); },
     parse_cap},
    {"sink", "dtype of the sink logits, or none", never,
     [](const Case& c) { return print_optional_dtype(c.sink, "none"); },
     [](Case& c, std::string_view t) { return parse_optional_dtype(t, "none", c.sink); }},
    {"scales", "none, k_only, v_only, unit, odd (no powers of two), head, seq_head, wide (head, 2^-6 to 2^6)", never,
     [](const Case& c) { return word_of(kScales, c.scales); },
     [](Case& c, std::string_view t) { return parse_word(kScales, t, c.scales); }},
    {"strides",
     "dense, padded (gaps between tokens and heads of q, k, v), padded_out (of out too), fused (slices of one storage)",
     never, [](const Case& c) { return word_of(kStrides, c.strides); },
     [](Case& c, std::string_view t) { return parse_word(kStrides, t, c.strides); }},
    {"splits", "KV splits, 0: the kernel's choice", never, [](const Case& c) { return std::to_string(c.splits); },
     [](Case& c, std::string_view t) { return parse_int(t, 0, c.splits); }},
    {"plan", "fresh, or reused: planned with other lengths, launched with these", never,
     [](const Case& c) { return word_of(kPlans, c.plan); },
     [](Case& c, std::string_view t) { return parse_word(kPlans, t, c.plan); }},
    {"rot", "rope: rotary dim, 0: the head dim", never, [](const Case& c) { return std::to_string(c.rot); },
     [](Case& c, std::string_view t) { return parse_int(t, 0, c.rot); }},
    {"style", "rope: neox (halves) or interleaved (pairs)", never,
     [](const Case& c) { return word_of(kStyles, c.style); },
     [](Case& c, std::string_view t) { return parse_word(kStyles, t, c.style); }},
    {"offsets", "rope: on adds an offset to each position", never,
     [](const Case& c) { return std::string(c.offsets ? "on" : "off"); },
     [](Case& c, std::string_view t) {
       return parse_word(Names<bool>{{true, "on"}, {false, "off"}}, t, c.offsets);
     }},
    {"graph", "eager, full, piecewise, padded, mixed, compile", never,
     [](const Case& c) { return word_of(kGraphs, c.graph); },
     [](Case& c, std::string_view t) { return parse_word(kGraphs, t, c.graph); }},
    {"in",
     "inputs: gauss, peaky, outlier, select, sentinel, identity, mass, ramp, tail, sink, cap, ties, extreme, special, "
     "codes, file:DIR",
     never, print_probe, parse_probe},
    {"keys", "positions of a sequence whose V is not zero, 0: all", never,
     [](const Case& c) { return std::to_string(c.keys); },
     [](Case& c, std::string_view t) { return parse_int(t, 0, c.keys); }},
    {"poison", "what lies in unused places: nan, huge or zero", never,
     [](const Case& c) { return word_of(kPoisons, c.poison); },
     [](Case& c, std::string_view t) { return parse_word(kPoisons, t, c.poison); }},
    {"rel",
     "a second launch that must agree: none, pages_moved, poison_changed, v_negated, neighbours_changed, batch_alone, "
     "splits_changed, prefill_as_decode",
     never, [](const Case& c) { return word_of(kRelations, c.rel); },
     [](Case& c, std::string_view t) { return parse_word(kRelations, t, c.rel); }},
    {"fault", "a fault that the backend is asked to commit", never,
     [](const Case& c) { return c.fault.empty() ? std::string("none") : c.fault; },
     [](Case& c, std::string_view t) -> Wrong {
       if (t.empty()) return "'' is no fault: its name, or none";
       c.fault = t == "none" ? "" : std::string(t);
       return std::nullopt;
     }},
}};

struct Derived {
  std::string_view name;
  std::string (*value)(const Case&);
};

template <int Sequence::*Length>
std::string least(const Case& c) {
  return std::to_string(std::ranges::min(c.seq, {}, Length).*Length);
}
template <int Sequence::*Length>
std::string most(const Case& c) {
  return std::to_string(std::ranges::max(c.seq, {}, Length).*Length);
}

const std::array<Derived, 15> kDerived{{
    {"backend", [](const Case& c) { return c.backend; }},
    {"phase", [](const Case& c) { return std::string(name(c.phase)); }},
    {"group", [](const Case& c) { return std::to_string(c.group()); }},
    {"heads_q", [](const Case& c) { return std::to_string(c.heads_q); }},
    {"heads_kv", [](const Case& c) { return std::to_string(c.heads_kv); }},
    {"dim_v", [](const Case& c) { return std::to_string(c.value_dim()); }},
    {"k_dtype", [](const Case& c) { return std::string(name(c.k_dtype())); }},
    {"v_dtype", [](const Case& c) { return std::string(name(c.v_dtype())); }},
    {"cache", [](const Case& c) { return std::string(name(*cache_dtype(c.kv, c.q))); }},
    {"num_seqs", [](const Case& c) { return std::to_string(c.seq.size()); }},
    {"min_len_q", least<&Sequence::len_q>},
    {"max_len_q", most<&Sequence::len_q>},
    {"min_len_kv", least<&Sequence::len_kv>},
    {"max_len_kv", most<&Sequence::len_kv>},
    {"rotary_dim", [](const Case& c) { return std::to_string(c.rot ? c.rot : c.dim); }},
}};

}  // namespace

std::span<const CaseKey> case_keys() { return kKeys; }

const CaseKey* find_case_key(std::string_view name) {
  for (const CaseKey& key : kKeys)
    if (key.name == name) return &key;
  return nullptr;
}

std::vector<std::string> case_key_names() {
  std::vector<std::string> all;
  for (const CaseKey& key : kKeys) all.emplace_back(key.name);
  return all;
}

std::optional<Phase> parse_phase(std::string_view text) {
  Phase phase{};
  if (parse_word(kPhases, text, phase)) return std::nullopt;
  return phase;
}

std::vector<std::string> phase_names() { return words(kPhases); }

std::string_view name(Phase phase) { return kPhases[static_cast<std::size_t>(phase)].second; }

std::optional<std::string> case_value(const Case& c, std::string_view key) {
  if (const CaseKey* found = find_case_key(key)) return found->print(c);
  for (const Derived& derived : kDerived)
    if (derived.name == key) return derived.value(c);
  return std::nullopt;
}

std::vector<std::string> case_value_names() {
  auto all = case_key_names();
  for (const Derived& derived : kDerived) all.emplace_back(derived.name);
  return all;
}

}  // namespace attest
