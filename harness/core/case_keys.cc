#include "harness/core/case_keys.h"

#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace attest {
namespace {

template <typename Enum>
using Names = std::vector<std::pair<Enum, std::string_view>>;

const Names<Phase> kPhases{{Phase::Decode, "decode"}, {Phase::Prefill, "prefill"}, {Phase::Mixed, "mixed"},
                           {Phase::Write, "write"},   {Phase::Rope, "rope"}};
const Names<Table> kTables{{Table::Shuffled, "shuffled"}, {Table::Ordered, "ordered"}, {Table::Aliased, "aliased"},
                           {Table::Interleaved, "interleaved"}};
const Names<Scales> kScales{{Scales::None, "none"}, {Scales::KOnly, "k_only"}, {Scales::VOnly, "v_only"},
                            {Scales::Unit, "unit"}, {Scales::Odd, "odd"},      {Scales::Head, "head"},
                            {Scales::SeqHead, "seq_head"}};
const Names<Strides> kStrides{{Strides::Dense, "dense"}, {Strides::Padded, "padded"}, {Strides::PaddedOut, "padded_out"}, {Strides::Fused, "fused"}};
const Names<Graph> kGraphs{{Graph::Eager, "eager"},   {Graph::Full, "full"},   {Graph::Piecewise, "piecewise"},
                           {Graph::Padded, "padded"}, {Graph::Mixed, "mixed"}, {Graph::Compile, "compile"}};
const Names<Probe> kProbes{{Probe::Gauss, "gauss"},       {Probe::Peaky, "peaky"}, {Probe::Outlier, "outlier"},       {Probe::Select, "select"},
                           {Probe::Sentinel, "sentinel"}, {Probe::Identity, "identity"}, {Probe::Mass, "mass"},
                           {Probe::Special, "special"},
                           {Probe::Codes, "codes"}};
const Names<Poison> kPoisons{{Poison::Nan, "nan"}, {Poison::Huge, "huge"}, {Poison::Zero, "zero"}};
const Names<PlanUse> kPlans{{PlanUse::Fresh, "fresh"}, {PlanUse::Reused, "reused"}};
const Names<RopeStyle> kStyles{{RopeStyle::Neox, "neox"}, {RopeStyle::Interleaved, "interleaved"}};

template <typename Enum>
std::vector<std::string> words(const Names<Enum>& names) {
  std::vector<std::string> all;
  for (const auto& [value, word] : names) all.emplace_back(word);
  return all;
}

template <typename Enum>
std::string word_of(const Names<Enum>& names, Enum value) {
  for (const auto& [v, word] : names)
    if (v == value) return std::string(word);
  return "?";
}

using Problem = std::optional<std::string>;  // what is wrong with a value

template <typename Enum>
Problem parse_word(const Names<Enum>& names, std::string_view text, Enum& to) {
  for (const auto& [value, word] : names)
    if (word == text) return to = value, std::nullopt;
  return fmt::format("'{}' is unknown{}", text, suggestion(text, words(names)));
}

std::vector<std::string> float_names() {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(DType::E5M2FNUZ); ++i) all.emplace_back(name(static_cast<DType>(i)));
  return all;
}

Problem parse_float_dtype(std::string_view text, DType& to) {
  const auto dtype = dtype_from_name(text);
  if (!dtype || !is_float(*dtype)) return fmt::format("'{}' is no dtype{}", text, suggestion(text, float_names()));
  to = *dtype;
  return std::nullopt;
}

Problem parse_optional_dtype(std::string_view text, std::string_view unset, std::optional<DType>& to) {
  if (text == unset) return to.reset(), std::nullopt;
  DType dtype{};
  if (auto wrong = parse_float_dtype(text, dtype)) return wrong;
  to = dtype;
  return std::nullopt;
}

std::string print_optional_dtype(const std::optional<DType>& dtype, std::string_view unset) {
  return std::string(dtype ? name(*dtype) : unset);
}

Problem parse_int(std::string_view text, int least, int& to) {
  const auto value = parse_number<int>(text);
  if (!value || *value < least) return fmt::format("'{}' is no integer of at least {}", text, least);
  to = *value;
  return std::nullopt;
}

std::string print_seq(const Case& c) {
  std::string text;
  for (std::size_t i = 0; i < c.seq.size();) {
    std::size_t run = 1;
    while (i + run < c.seq.size() && c.seq[i + run] == c.seq[i]) ++run;
    text += fmt::format("{}{}{}x{}", text.empty() ? "" : ",", run > 1 ? fmt::format("{}*", run) : "", c.seq[i].len_q,
                        c.seq[i].len_kv);
    i += run;
  }
  return text;
}

constexpr std::size_t kMostSequences = 65'536;

Problem parse_seq(Case& c, std::string_view text) {
  c.seq.clear();
  for (auto part : split(text, ',')) {
    const std::string_view whole = part;
    int times = 1;
    if (const auto star = part.find('*'); star != std::string_view::npos) {
      if (auto wrong = parse_int(part.substr(0, star), 1, times)) return "in '" + std::string(whole) + "': " + *wrong;
      part.remove_prefix(star + 1);
    }
    const auto cross = part.find('x');
    Sequence sequence;
    if (cross == std::string_view::npos || parse_int(part.substr(0, cross), 0, sequence.len_q) ||
        parse_int(part.substr(cross + 1), 0, sequence.len_kv))
      return fmt::format("'{}' is no sequence: LEN_QxLEN_KV, or N*LEN_QxLEN_KV", whole);
    if (c.seq.size() + static_cast<std::size_t>(times) > kMostSequences) return fmt::format("'{}' makes more than {} sequences", whole, kMostSequences);
    c.seq.insert(c.seq.end(), static_cast<std::size_t>(times), sequence);
  }
  return std::nullopt;
}

std::string print_mask(const Case& c) {
  switch (c.mask.kind) {
    case Mask::Kind::Causal: return "causal";
    case Mask::Kind::Full: return "full";
    case Mask::Kind::Window: return fmt::format("window:{},{}", c.mask.left, c.mask.right);
    case Mask::Kind::Chunk: return fmt::format("chunk:{}", c.mask.chunk);
  }
  return "?";
}

Problem parse_mask(Case& c, std::string_view text) {
  constexpr std::string_view window = "window:", chunk = "chunk:";
  if (text == "causal") return c.mask = Mask{}, std::nullopt;
  if (text == "full") return c.mask = Mask{.kind = Mask::Kind::Full}, std::nullopt;
  if (text.starts_with(window)) {
    const auto sides = split(text.substr(window.size()), ',');
    Mask mask{.kind = Mask::Kind::Window};
    if (sides.size() == 2 && !parse_int(sides[0], -1, mask.left) && !parse_int(sides[1], -1, mask.right))
      return c.mask = mask, std::nullopt;
  }
  if (text.starts_with(chunk)) {
    Mask mask{.kind = Mask::Kind::Chunk};
    if (!parse_int(text.substr(chunk.size()), 1, mask.chunk)) return c.mask = mask, std::nullopt;
  }
  return fmt::format("'{}' is no mask: causal, full, window:LEFT,RIGHT (-1 unbounded) or chunk:N", text);
}

Problem parse_heads(Case& c, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2 || parse_int(parts[0], 1, c.heads_q) || parse_int(parts[1], 1, c.heads_kv))
    return fmt::format("'{}' is no pair HEADS_Q:HEADS_KV", text);
  return std::nullopt;
}

std::string print_probe(const Case& c) {
  return c.probe == Probe::File ? "file:" + c.directory : word_of(kProbes, c.probe);
}

Problem parse_probe(Case& c, std::string_view text) {
  constexpr std::string_view file = "file:";
  if (text.starts_with(file) && text.size() > file.size()) {
    c.probe = Probe::File;
    c.directory = text.substr(file.size());
    return std::nullopt;
  }
  c.directory.clear();
  return parse_word(kProbes, text, c.probe);
}

Problem parse_cap(Case& c, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0) return fmt::format("'{}' is no soft cap: a number, 0 for none", text);
  c.cap = *value + 0.0;  // no -0: it would be another token for the same case
  return std::nullopt;
}

Problem parse_kv(Case& c, std::string_view text) {
  if (!cache_dtype(text, c.q)) return fmt::format("'{}' is no KV cache{}", text, suggestion(text, cache_names()));
  c.kv = text;
  return std::nullopt;
}

bool always(const Case&) { return true; }
bool never(const Case&) { return false; }
bool with_cache(const Case& c) { return c.phase != Phase::Rope; }

const std::array<CaseKey, 25> kKeys{{
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
     [](Case& c, std::string_view t) -> Problem {
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
    {"cap", "soft cap on the logits, 0: none", never, [](const Case& c) { return fmt::format("{}", c.cap); }, parse_cap},
    {"sink", "dtype of the sink logits, or none", never, [](const Case& c) { return print_optional_dtype(c.sink, "none"); },
     [](Case& c, std::string_view t) { return parse_optional_dtype(t, "none", c.sink); }},
    {"scales", "none, k_only, v_only, unit, odd (no powers of two), head, seq_head", never,
     [](const Case& c) { return word_of(kScales, c.scales); },
     [](Case& c, std::string_view t) { return parse_word(kScales, t, c.scales); }},
    {"strides", "dense, padded (gaps between tokens and heads of q, k, v), padded_out (of out too), fused (slices of one storage)", never,
     [](const Case& c) { return word_of(kStrides, c.strides); },
     [](Case& c, std::string_view t) { return parse_word(kStrides, t, c.strides); }},
    {"splits", "KV splits, 0: the kernel's choice", never, [](const Case& c) { return std::to_string(c.splits); },
     [](Case& c, std::string_view t) { return parse_int(t, 0, c.splits); }},
    {"plan", "fresh, or reused: planned with other lengths, launched with these", never,
     [](const Case& c) { return word_of(kPlans, c.plan); },
     [](Case& c, std::string_view t) { return parse_word(kPlans, t, c.plan); }},
    {"rot", "rope: rotary dim, 0: the head dim", never, [](const Case& c) { return std::to_string(c.rot); },
     [](Case& c, std::string_view t) { return parse_int(t, 0, c.rot); }},
    {"style", "rope: neox (halves) or interleaved (pairs)", never, [](const Case& c) { return word_of(kStyles, c.style); },
     [](Case& c, std::string_view t) { return parse_word(kStyles, t, c.style); }},
    {"offsets", "rope: on adds an offset to each position", never,
     [](const Case& c) { return std::string(c.offsets ? "on" : "off"); },
     [](Case& c, std::string_view t) { return parse_word(Names<bool>{{true, "on"}, {false, "off"}}, t, c.offsets); }},
    {"graph", "eager, full, piecewise, padded, mixed, compile", never, [](const Case& c) { return word_of(kGraphs, c.graph); },
     [](Case& c, std::string_view t) { return parse_word(kGraphs, t, c.graph); }},
    {"in", "inputs: gauss, peaky, outlier, select, sentinel, identity, mass, special, codes, file:DIR", never, print_probe, parse_probe},
    {"poison", "what lies in unused places: nan, huge or zero", never, [](const Case& c) { return word_of(kPoisons, c.poison); },
     [](Case& c, std::string_view t) { return parse_word(kPoisons, t, c.poison); }},
    {"fault", "a fault that the backend is asked to commit", never,
     [](const Case& c) { return c.fault.empty() ? std::string("none") : c.fault; },
     [](Case& c, std::string_view t) -> Problem {
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
