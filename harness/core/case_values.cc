#include "harness/core/case_values.h"

#include <cmath>

namespace attest::case_values {
namespace {

constexpr std::size_t kMostSequences = 65'536;

std::vector<std::string> float_names() {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(DType::E5M2FNUZ); ++i) all.emplace_back(name(static_cast<DType>(i)));
  return all;
}

}  // namespace

const Names<Phase> kPhases{{Phase::Decode, "decode"},
                           {Phase::Prefill, "prefill"},
                           {Phase::Mixed, "mixed"},
                           {Phase::Write, "write"},
                           {Phase::Rope, "rope"}};
const Names<Table> kTables{{Table::Shuffled, "shuffled"},
                           {Table::Ordered, "ordered"},
                           {Table::Aliased, "aliased"},
                           {Table::Interleaved, "interleaved"}};
const Names<Scales> kScales{{Scales::None, "none"},        {Scales::KOnly, "k_only"}, {Scales::VOnly, "v_only"},
                            {Scales::Unit, "unit"},        {Scales::Odd, "odd"},      {Scales::Head, "head"},
                            {Scales::SeqHead, "seq_head"}, {Scales::Wide, "wide"}};
const Names<Strides> kStrides{{Strides::Dense, "dense"},
                              {Strides::Padded, "padded"},
                              {Strides::PaddedOut, "padded_out"},
                              {Strides::Fused, "fused"}};
const Names<Graph> kGraphs{{Graph::Eager, "eager"},   {Graph::Full, "full"},   {Graph::Piecewise, "piecewise"},
                           {Graph::Padded, "padded"}, {Graph::Mixed, "mixed"}, {Graph::Compile, "compile"}};
const Names<Probe> kProbes{{Probe::Gauss, "gauss"},     {Probe::Peaky, "peaky"},       {Probe::Outlier, "outlier"},
                           {Probe::Select, "select"},   {Probe::Sentinel, "sentinel"}, {Probe::Identity, "identity"},
                           {Probe::Mass, "mass"},       {Probe::Ramp, "ramp"},         {Probe::Tail, "tail"},
                           {Probe::Sink, "sink"},       {Probe::Cap, "cap"},           {Probe::Ties, "ties"},
                           {Probe::Extreme, "extreme"}, {Probe::Special, "special"},   {Probe::Codes, "codes"}};
const Names<Poison> kPoisons{{Poison::Nan, "nan"}, {Poison::Huge, "huge"}, {Poison::Zero, "zero"}};
const Names<Relation> kRelations{{Relation::None, "none"},
                                 {Relation::PagesMoved, "pages_moved"},
                                 {Relation::PoisonChanged, "poison_changed"},
                                 {Relation::VNegated, "v_negated"},
                                 {Relation::NeighboursChanged, "neighbours_changed"},
                                 {Relation::BatchAlone, "batch_alone"},
                                 {Relation::SplitsChanged, "splits_changed"},
                                 {Relation::PrefillAsDecode, "prefill_as_decode"}};
const Names<PlanUse> kPlans{{PlanUse::Fresh, "fresh"}, {PlanUse::Reused, "reused"}};
const Names<RopeStyle> kStyles{{RopeStyle::Neox, "neox"}, {RopeStyle::Interleaved, "interleaved"}};

Wrong parse_float_dtype(std::string_view text, DType& to) {
  const auto dtype = dtype_from_name(text);
  if (!dtype || !is_float(*dtype)) return fmt::format("'{}' is no dtype{}", text, suggestion(text, float_names()));
  to = *dtype;
  return std::nullopt;
}

Wrong parse_optional_dtype(std::string_view text, std::string_view unset, std::optional<DType>& to) {
  if (text == unset) return to.reset(), std::nullopt;
  DType dtype{};
  if (auto wrong = parse_float_dtype(text, dtype)) return wrong;
  to = dtype;
  return std::nullopt;
}

std::string print_optional_dtype(const std::optional<DType>& dtype, std::string_view unset) {
  return std::string(dtype ? name(*dtype) : unset);
}

Wrong parse_int(std::string_view text, int least, int& to) {
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

Wrong parse_seq(Case& c, std::string_view text) {
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
    if (c.seq.size() + static_cast<std::size_t>(times) > kMostSequences)
      return fmt::format("'{}' makes more than {} sequences", whole, kMostSequences);
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

Wrong parse_mask(Case& c, std::string_view text) {
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

Wrong parse_heads(Case& c, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2 || parse_int(parts[0], 1, c.heads_q) || parse_int(parts[1], 1, c.heads_kv))
    return fmt::format("'{}' is no pair HEADS_Q:HEADS_KV", text);
  return std::nullopt;
}

std::string print_probe(const Case& c) {
  return c.probe == Probe::File ? "file:" + c.directory : word_of(kProbes, c.probe);
}

Wrong parse_probe(Case& c, std::string_view text) {
  constexpr std::string_view file = "file:";
  if (text.starts_with(file) && text.size() > file.size()) {
    c.probe = Probe::File;
    c.directory = text.substr(file.size());
    return std::nullopt;
  }
  c.directory.clear();
  return parse_word(kProbes, text, c.probe);
}

Wrong parse_cap(Case& c, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    return fmt::format("'{}' is no soft cap: a number, 0 for none", text);
  c.cap = *value + 0.0;  // no -0: it would be another token for the same case
  return std::nullopt;
}

Wrong parse_kv(Case& c, std::string_view text) {
  if (!cache_dtype(text, c.q)) return fmt::format("'{}' is no KV cache{}", text, suggestion(text, cache_names()));
  c.kv = text;
  return std::nullopt;
}

}  // namespace attest::case_values
