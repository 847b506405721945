#include "harness/run/protocol.h"

#include <fmt/format.h>

#include <algorithm>

namespace attest {
namespace {

// The ABI's numbers are this program's enumerators.
static_assert(static_cast<int>(DType::F64) == ATTEST_F64 && static_cast<int>(DType::E5M2FNUZ) == ATTEST_FP8_E5M2FNUZ &&
              static_cast<int>(DType::U8) == ATTEST_U8);
static_assert(static_cast<int>(Op::Write) == ATTEST_OP_WRITE && static_cast<int>(Op::Rope) == ATTEST_OP_ROPE);
static_assert(static_cast<int>(Phase::Decode) == ATTEST_DECODE && static_cast<int>(Phase::Rope) == ATTEST_ROPE);
static_assert(static_cast<int>(Slot::Q) == ATTEST_Q && static_cast<int>(Slot::LenKv) == ATTEST_LEN_KV &&
              static_cast<int>(Slot::Count) == ATTEST_NUM_SLOTS);

constexpr std::array<std::string_view, 8> kStatusNames{"ok",      "unsupported", "rejected", "error",
                                                       "missing", "crash",       "timeout",  "memory"};

constexpr std::ptrdiff_t kAnswers = 5;  // of these a worker itself may give

// A message is one line of a report, whatever a kernel put into it.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  return text;
}

}  // namespace

std::string_view name(Reply::Status status) { return kStatusNames[static_cast<std::size_t>(status)]; }

std::optional<std::string> malformed(const nlohmann::json& json) {
  if (!json.is_object()) return "no JSON object";
  if (!json.contains("id") || !json["id"].is_number_unsigned()) return "no id";
  const auto is_status = [&](std::string_view status) { return json["status"] == status; };
  if (!json.contains("status") || !json["status"].is_string() ||
      std::none_of(kStatusNames.begin(), kStatusNames.begin() + kAnswers, is_status))
    return "no status";
  for (const auto key : {"type", "text", "version", "about", "ran"})
    if (json.contains(key) && !json[key].is_string()) return fmt::format("'{}' is no text", key);
  if (json.contains("ms") && !json["ms"].is_number()) return "'ms' is no number";
  if (json.contains("workspace") && !json["workspace"].is_number_unsigned()) return "'workspace' is no size";
  if (!json.contains("produced")) return std::nullopt;
  if (!json["produced"].is_object()) return "'produced' is no object";
  for (const auto& [slot, tensor] : json["produced"].items()) {
    if (!tensor.is_object() || !tensor.contains("dtype") || !tensor["dtype"].is_string() || !tensor.contains("shape") ||
        !tensor["shape"].is_array())
      return fmt::format("produced '{}' has no dtype and shape", slot);
    for (const auto& size : tensor["shape"])
      if (!size.is_number_integer()) return fmt::format("produced '{}' has a shape of other than integers", slot);
  }
  return std::nullopt;
}

Reply reply_from_json(const nlohmann::json& json) {
  Reply reply{.status = Reply::Status::Error,
              .type = one_line(json.value("type", "")),
              .text = one_line(json.value("text", "")),
              .body = json};
  const auto at = std::find(kStatusNames.begin(), kStatusNames.end(), json.at("status").get<std::string>());
  reply.status = static_cast<Reply::Status>(at - kStatusNames.begin());
  return reply;
}

nlohmann::json to_json(const Problem& p) {
  const bool window = p.mask.kind == Mask::Kind::Window, chunk = p.mask.kind == Mask::Kind::Chunk;
  return {{"op", static_cast<int>(p.op)},
          {"phase", static_cast<int>(p.phase)},
          {"q_dtype", static_cast<int>(p.q)},
          {"k_dtype", static_cast<int>(p.k_new)},
          {"v_dtype", static_cast<int>(p.v_new)},
          {"cache_dtype", static_cast<int>(p.cache)},
          {"out_dtype", static_cast<int>(p.out)},
          {"cache_name", p.cache_name},
          {"heads_q", p.heads_q},
          {"heads_kv", p.heads_kv},
          {"dim", p.dim},
          {"dim_v", p.dim_v},
          {"page_size", p.page_size},
          {"num_seqs", p.seqs.size()},
          {"total_q", p.total_q},
          {"max_len_q", p.max_len_q},
          {"max_len_kv", p.max_len_kv},
          {"num_pages", p.num_pages},
          {"pages_per_seq", p.pages_per_seq},
          {"causal", p.mask.kind == Mask::Kind::Causal || chunk ? 1 : 0},
          {"window_left", window ? p.mask.left : -1},
          {"window_right", window ? p.mask.right : -1},
          {"chunk", chunk ? p.mask.chunk : 0},
          {"splits", p.splits},
          {"softmax_scale", p.softmax_scale},
          {"softcap", p.softcap},
          {"rotary_dim", p.rotary_dim},
          {"rotary_interleaved", p.style == RopeStyle::Interleaved ? 1 : 0},
          {"fault", p.fault}};
}

AbiProblem::AbiProblem(const nlohmann::json& json) : cache_name_(json.at("cache_name")), fault_(json.at("fault")) {
  problem.struct_size = sizeof problem;
  problem.op = json.at("op");
  problem.phase = json.at("phase");
  problem.q_dtype = json.at("q_dtype");
  problem.k_dtype = json.at("k_dtype");
  problem.v_dtype = json.at("v_dtype");
  problem.cache_dtype = json.at("cache_dtype");
  problem.out_dtype = json.at("out_dtype");
  problem.cache_name = cache_name_.c_str();
  problem.heads_q = json.at("heads_q");
  problem.heads_kv = json.at("heads_kv");
  problem.dim = json.at("dim");
  problem.dim_v = json.at("dim_v");
  problem.page_size = json.at("page_size");
  problem.num_seqs = json.at("num_seqs");
  problem.total_q = json.at("total_q");
  problem.max_len_q = json.at("max_len_q");
  problem.max_len_kv = json.at("max_len_kv");
  problem.num_pages = json.at("num_pages");
  problem.pages_per_seq = json.at("pages_per_seq");
  problem.causal = json.at("causal");
  problem.window_left = json.at("window_left");
  problem.window_right = json.at("window_right");
  problem.chunk = json.at("chunk");
  problem.splits = json.at("splits");
  problem.softmax_scale = json.at("softmax_scale");
  problem.softcap = json.at("softcap");
  problem.rotary_dim = json.at("rotary_dim");
  problem.rotary_interleaved = json.at("rotary_interleaved");
  problem.fault = fault_.c_str();
}

}  // namespace attest
