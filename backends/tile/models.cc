#include "backends/tile/model.h"

#include <array>
#include <charconv>

namespace attest::tile {
namespace {

constexpr Accumulator kHalfPrecision{DType::F32, 25, 16};  // Hopper's wgmma on 16-bit operands (MMA-Sim)
constexpr Accumulator kHopperFp8{DType::F32, 13, 32};

std::array<Model, 5> models() {
  Model a{.name = "a"};
  a.qk = a.pv = kHalfPrecision;
  a.p = DType::BF16;
  Model b = a;
  b.name = "b";
  Model c{.name = "c"};
  c.qk = c.pv = kHopperFp8;
  c.p = DType::E4M3FN;
  c.p_offset = 8;
  c.descending = true;
  Model rpa{.name = "rpa"};
  rpa.tile = 256;
  rpa.carry = DType::BF16;
  Model f16 = a;
  f16.name = "f16";
  f16.p = DType::F16;
  return {a, b, c, rpa, f16};
}

std::optional<int> integer(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool read(const std::string& text, DType& to) {
  const auto dtype = dtype_from_name(text);
  if (dtype && is_float(*dtype)) to = *dtype;
  return dtype && is_float(*dtype);
}
bool read(const std::string& text, std::optional<DType>& to) {
  if (text == "none") return to.reset(), true;
  return read(text, to.emplace());
}
bool read(const std::string& text, int& to, int least) {
  const auto value = integer(text);
  if (value && *value >= least) to = *value;
  return value && *value >= least;
}
bool read(const std::string& text, bool& to, std::string_view yes, std::string_view no) {
  if (text != yes && text != no) return false;
  to = text == yes;
  return true;
}

// "f32", "mma:13,32"
bool read(const std::string& text, Accumulator& to) {
  if (!text.starts_with("mma:")) {
    to = {};
    return read(text, to.dtype);
  }
  const auto comma = text.find(',');
  if (comma == std::string::npos) return false;
  const auto fraction = integer(std::string_view(text).substr(4, comma - 4)),
             step = integer(std::string_view(text).substr(comma + 1));
  // Past 27 bits the aligned products no longer fit an integer of 32.
  if (!fraction || !step || *fraction < 1 || *fraction > 27 || *step < 1) return false;
  to = {DType::F32, *fraction, *step};
  return true;
}

struct Field {
  std::string_view name;
  bool (*set)(Model& model, const std::string& value);
};

constexpr std::array<Field, 17> kFields{{
    {"q_cast", [](Model& m, const std::string& t) { return read(t, m.q_cast); }},
    {"k_cast", [](Model& m, const std::string& t) { return read(t, m.k_cast); }},
    {"v_cast", [](Model& m, const std::string& t) { return read(t, m.v_cast); }},
    {"qk_acc", [](Model& m, const std::string& t) { return read(t, m.qk); }},
    {"pv_acc", [](Model& m, const std::string& t) { return read(t, m.pv); }},
    {"score", [](Model& m, const std::string& t) { return read(t, m.score); }},
    {"p", [](Model& m, const std::string& t) { return read(t, m.p); }},
    {"p_offset", [](Model& m, const std::string& t) { return read(t, m.p_offset, 0); }},
    {"row_sum", [](Model& m, const std::string& t) { return read(t, m.row_sum_rounded, "rounded", "unrounded"); }},
    {"tile", [](Model& m, const std::string& t) { return read(t, m.tile, 1); }},
    {"order",
     [](Model& m, const std::string& t) { return t == "any" || read(t, m.descending, "descending", "ascending"); }},
    {"promoted", [](Model& m, const std::string& t) { return read(t, m.promoted, "true", "false"); }},
    {"carry", [](Model& m, const std::string& t) { return read(t, m.carry); }},
    {"rescale_threshold",
     [](Model& m, const std::string& t) {
       const auto value = integer(t);
       if (value) m.rescale_threshold = *value;
       return value.has_value();
     }},
    {"partial",
     [](Model& m, const std::string& t) {
       std::optional<DType> partial;
       const bool good = read(t, partial);
       m.partial = partial.value_or(DType::F32);
       return good;
     }},
    {"unscaled", [](Model& m, const std::string& t) { return read(t, m.unscaled); }},
    {"exp",
     [](Model& m, const std::string& t) {
       m.exp = t == "cubic" ? Exp::Cubic : Exp::Full;
       return t == "cubic" || t == "full";
     }},
}};

}  // namespace

std::optional<Model> find_model(const std::string& name) {
  for (const Model& model : models())
    if (model.name == name) return model;
  return std::nullopt;
}

std::optional<std::string> configure(Model& model, const std::map<std::string, std::string>& options) {
  for (const auto& [key, value] : options) {
    if (key == "model") continue;
    if (key == "tanh" && (value == "full" || value == "approximate")) {
      model.tanh = value == "full" ? Tanh::Full : Tanh::Approximate;
      continue;
    }
    bool known = false, good = false;
    for (const Field& field : kFields)
      if (field.name == key) known = true, good = field.set(model, value);
    if (!known) return "unknown option '" + key + "'";
    if (!good) return "option " + key + ": '" + value + "' can't be";
  }
  return std::nullopt;
}

}  // namespace attest::tile
