#include "harness/core/case.h"

#include "harness/core/case_keys.h"
#include "harness/core/error.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace attest {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 28;

// '/' and '#' separate the token's parts, and a shell and a journal must hand it on as it is; a file name may hold
// anything.
constexpr std::string_view kEscaped = "%/#'";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c <= ' ' || c > '~' || kEscaped.find(c) != std::string_view::npos)
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  return out;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const auto hex = text.substr(i, 3);
    if (hex.size() == 3 && hex[0] == '%' &&
        std::from_chars(hex.data() + 1, hex.data() + 3, code, 16).ptr == hex.data() + 3) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

const std::vector<std::pair<std::string, DType>>& caches() {
  static const std::vector<std::pair<std::string, DType>> all{
      {"f32", DType::F32},
      {"f16", DType::F16},
      {"float16", DType::F16},
      {"bf16", DType::BF16},
      {"bfloat16", DType::BF16},
      {"fp8", DType::E4M3FN},
      {"fp8_e4m3", DType::E4M3FN},
      {"fp8_e4m3fn", DType::E4M3FN},
      {"fp8_e5m2", DType::E5M2},
      {"fp8_e4m3fnuz", DType::E4M3FNUZ},
      {"fp8_e5m2fnuz", DType::E5M2FNUZ},
      {"q8_0", DType::Q8_0},
      {"q4_0", DType::Q4_0},
  };
  return all;
}

[[noreturn]] void reject(std::string_view token, const std::string& why) {
  throw UsageError(fmt::format("token '{}': {}", token, why));
}

}  // namespace

KeyRange visible_keys(const Mask& mask, const Sequence& sequence, int row) {
  const std::int64_t position = std::int64_t{sequence.len_kv} - sequence.len_q + row;
  std::int64_t begin = 0, end = sequence.len_kv;
  switch (mask.kind) {
    case Mask::Kind::Full: break;
    case Mask::Kind::Causal: end = position + 1; break;
    case Mask::Kind::Window:
      if (mask.left >= 0) begin = position - mask.left;
      if (mask.right >= 0) end = position + mask.right + 1;
      break;
    case Mask::Kind::Chunk:
      if (position >= 0) begin = position / mask.chunk * mask.chunk;
      end = position + 1;
      break;
  }
  const auto inside = [&](std::int64_t at) {
    return static_cast<int>(std::clamp<std::int64_t>(at, 0, sequence.len_kv));
  };
  return {inside(begin), inside(end)};
}

std::optional<DType> cache_dtype(std::string_view kv_name, DType q) {
  if (kv_name == "auto") return q;
  for (const auto& [name, dtype] : caches())
    if (name == kv_name) return dtype;
  return std::nullopt;
}

std::vector<std::string> cache_names() {
  std::vector<std::string> all{"auto"};
  for (const auto& [name, dtype] : caches()) all.push_back(name);
  return all;
}

std::string token_without_seed(const Case& c) {
  static const Case defaults;
  std::string text = fmt::format("{}/{}", name(c.phase), c.backend);
  for (const CaseKey& key : case_keys()) {
    const std::string value = key.print(c);
    if (key.shown(c) || value != key.print(defaults)) text += fmt::format("/{}={}", key.name, escape(value));
  }
  return text;
}

std::string token(const Case& c) { return fmt::format("{}#{}", token_without_seed(c), c.seed); }

Case parse_token(std::string_view text) {
  Case c;
  const auto hash = text.rfind('#');
  if (hash == std::string_view::npos) reject(text, "no #SEED at its end");
  const auto seed = parse_number<std::uint64_t>(text.substr(hash + 1));
  if (!seed) reject(text, fmt::format("seed '{}' is no number", text.substr(hash + 1)));
  c.seed = *seed;

  const auto parts = split(text.substr(0, hash), '/');
  if (parts.size() < 2) reject(text, "it begins with PHASE/BACKEND/");
  const auto phase = parse_phase(parts[0]);
  if (!phase) reject(text, fmt::format("phase '{}' is unknown{}", parts[0], suggestion(parts[0], phase_names())));
  c.phase = *phase;
  c.backend = parts[1];
  if (c.backend.empty() || c.backend.find('=') != std::string::npos)
    reject(text, fmt::format("'{}' is no backend's name", parts[1]));

  std::vector<std::string_view> seen;
  for (const auto part : std::span(parts).subspan(2)) {
    const auto equal = part.find('=');
    const auto key_name = part.substr(0, equal);
    const CaseKey* key = find_case_key(key_name);
    if (!key) reject(text, fmt::format("key '{}' is unknown{}", key_name, suggestion(key_name, case_key_names())));
    if (equal == std::string_view::npos) reject(text, fmt::format("key '{}' has no value", key_name));
    if (std::find(seen.begin(), seen.end(), key_name) != seen.end())
      reject(text, fmt::format("key '{}' is given twice", key_name));
    seen.push_back(key_name);
    if (const auto wrong = key->parse(c, unescape(part.substr(equal + 1))))
      reject(text, fmt::format("{}: {}", key_name, *wrong));
  }
  if (const auto why = contradiction(c)) reject(text, *why);
  return c;
}

int select_code_bits(const std::vector<Sequence>& seqs) {
  unsigned last = 1;
  for (const Sequence& s : seqs) last = std::max(last, static_cast<unsigned>(std::max(s.len_kv - 1, 1)));
  return std::bit_width(last);
}

// Why a case has no second launch of the relation it asks for.
std::optional<std::string> unrelated(const Case& c) {
  const auto why = [&](std::string_view text) {
    return fmt::format("rel={}: {}", find_case_key("rel")->print(c), text);
  };
  if (c.rel == Relation::None) return std::nullopt;
  if (c.phase != Phase::Decode && c.phase != Phase::Prefill) return why("only decode and prefill have one");
  if (c.plan == PlanUse::Reused) return why("plan=reused launches something else before");
  if (c.graph != Graph::Eager) return why("graph modes have comparisons of their own");
  if (c.rel == Relation::PrefillAsDecode && c.phase != Phase::Prefill) return why("the case is no prefill");
  if (c.rel == Relation::PrefillAsDecode && c.seq.front().len_q == 0) return why("sequence 0 has no rows");
  if ((c.rel == Relation::NeighboursChanged || c.rel == Relation::BatchAlone) && c.seq.size() < 2)
    return why("there is one sequence only");
  if (c.rel == Relation::NeighboursChanged && c.table == Table::Aliased)
    return why("under table=aliased sequences share pages");
  return std::nullopt;
}

std::optional<std::string> contradiction(const Case& c) {
  if (c.seq.empty()) return "seq: a case needs at least one sequence";
  if (c.heads_q % c.heads_kv != 0)
    return fmt::format("h={}:{}: {} query heads are no multiple of {} KV heads", c.heads_q, c.heads_kv, c.heads_q,
                       c.heads_kv);
  const int rotary = c.rot ? c.rot : c.dim;
  if (c.phase == Phase::Rope && (rotary > c.dim || rotary % 2 != 0))
    return fmt::format("rot={}: a rotary dim is even and at most d={}", rotary, c.dim);
  for (const auto& s : c.seq)
    if ((c.phase == Phase::Rope || c.phase == Phase::Write) && s.len_kv < s.len_q)
      return fmt::format("seq={}x{}: new tokens stand at positions from len_kv - len_q on, which is negative", s.len_q,
                         s.len_kv);
  std::int64_t tokens = 0;
  for (const auto& s : c.seq) tokens += std::int64_t{s.len_q} + s.len_kv;
  if (tokens > kMostTokens) return fmt::format("seq: {} tokens in all are more than {}", tokens, kMostTokens);
  if (c.probe == Probe::Select) {
    // Codes of the positions must fit into the dims, and a soft cap would leave other keys a share (docs/design.md).
    const int bits = select_code_bits(c.seq);
    if (bits > c.dim) return fmt::format("in=select: d={} can't hold the {}-bit codes of the positions", c.dim, bits);
    if (c.cap > 0) return fmt::format("in=select: under cap={} no key can win by 104 nats", c.cap);
  }
  if (c.probe == Probe::Sink && !c.sink) return "in=sink: the case has no sink= to weigh as much as all keys";
  if (c.probe == Probe::Cap && !(c.cap > 0)) return "in=cap: the case has no cap= for its logits to reach";
  if (c.keys > 0 && (c.probe == Probe::Codes || c.phase == Phase::Rope))
    return fmt::format("keys={}: {} has no V to thin out", c.keys, c.phase == Phase::Rope ? "rope" : "in=codes");
  if (auto wrong = unrelated(c)) return wrong;
  if (c.probe == Probe::Special && c.table == Table::Aliased)
    return "in=special: under table=aliased a NaN that one sequence sees would lie under another's mask";
  if (c.probe == Probe::Codes && c.phase != Phase::Write)
    return "in=codes: every code of the cache, NaN and Inf among them, is for phase write";
  if (c.phase == Phase::Decode && std::any_of(c.seq.begin(), c.seq.end(), [](auto& s) { return s.len_q > 8; }))
    return "seq: a decode step has at most 8 query rows a sequence; longer ones are phase prefill or mixed";
  return std::nullopt;
}

}  // namespace attest
