#include "harness/core/claim_fields.h"

#include "harness/core/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace attest {
namespace {

using Wrong = std::optional<std::string>;

Wrong read_dtype(const std::string& text, DType& to) {
  const auto dtype = dtype_from_name(text);
  if (!dtype || !is_float(*dtype)) return fmt::format("'{}' is no floating-point dtype", text);
  to = *dtype;
  return std::nullopt;
}

Wrong read_dtype(const std::string& text, std::optional<DType>& to) {
  if (text == "none") return to.reset(), std::nullopt;
  DType dtype{};
  if (auto wrong = read_dtype(text, dtype)) return wrong;
  to = dtype;
  return std::nullopt;
}

// An error of infinity would accept anything, one of NaN nothing.
Wrong read_error(const std::string& text, double& to) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    return fmt::format("'{}' is no error: a finite number of at least 0", text);
  to = *value;
  return std::nullopt;
}

Wrong read_floor(const std::string& text, double& to) {
  const auto value = parse_number<double>(text);
  if (!value || !(*value < 0)) return fmt::format("'{}' is no floor: a number below 0, -inf for none", text);
  to = *value;
  return std::nullopt;
}

Wrong read_count(const std::string& text, int& to) {
  const auto value = parse_number<int>(text);
  if (!value || *value < 0) return fmt::format("'{}' is no count", text);
  to = *value;
  return std::nullopt;
}

// A dtype, or "mma:FRACTION,STEP".
Wrong read_accumulator(const std::string& text, Accumulator& to) {
  constexpr std::string_view mma = "mma:";
  if (!text.starts_with(mma)) return to = {}, read_dtype(text, to.dtype);
  const auto parts = split(std::string_view(text).substr(mma.size()), ',');
  const auto fraction = parse_number<int>(parts[0]), step = parse_number<int>(parts.back());
  if (parts.size() != 2 || !fraction || !step || *fraction < 1 || *fraction > 35 || *step < 1)
    return fmt::format("'{}' is no accumulator: a dtype, or mma:FRACTION_BITS,PRODUCTS_A_STEP", text);
  to = {DType::F32, *fraction, *step};
  return std::nullopt;
}

template <typename Value>
Wrong read_word(const std::string& text, Value& to, std::initializer_list<std::pair<std::string_view, Value>> words) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) {
    if (word == text) return to = value, std::nullopt;
    names.emplace_back(word);
  }
  return fmt::format("'{}' is unknown{}", text, suggestion(text, names));
}

Wrong read_flag(const std::string& text, bool& to) {
  return read_word<bool>(text, to, {{"true", true}, {"false", false}});
}

using A = Arithmetic;
constexpr std::array<ClaimField<A>, 24> kArithmetic{{
    {"q_cast", "format the kernel rounds q to before QK", "none",
     [](A& a, const std::string& t) { return read_dtype(t, a.q_cast); }},
    {"k_cast", "format the kernel rounds K to before QK", "none",
     [](A& a, const std::string& t) { return read_dtype(t, a.k_cast); }},
    {"v_cast", "format the kernel rounds V to before PV", "none",
     [](A& a, const std::string& t) { return read_dtype(t, a.v_cast); }},
    {"qk_acc", "accumulator of QK: a dtype, or mma:FRACTION_BITS,PRODUCTS_A_STEP", "f32",
     [](A& a, const std::string& t) { return read_accumulator(t, a.qk_acc); }},
    {"product_roundings", "roundings of each product beyond its addition", "0",
     [](A& a, const std::string& t) { return read_count(t, a.product_roundings); }},
    {"score_roundings", "roundings of a score after the product", "3",
     [](A& a, const std::string& t) { return read_count(t, a.score_roundings); }},
    {"score", "format that scores are stored in", "none",
     [](A& a, const std::string& t) { return read_dtype(t, a.score); }},
    {"tanh_abs", "absolute error of tanh in the soft cap", "0",
     [](A& a, const std::string& t) { return read_error(t, a.tanh_abs); }},
    {"exp_rel", "relative error of exp", "0", [](A& a, const std::string& t) { return read_error(t, a.exp_rel); }},
    {"exp_floor", "exp(x) may be 0 for x below this", "-inf",
     [](A& a, const std::string& t) { return read_floor(t, a.exp_floor); }},
    {"p", "format of P as it enters PV", "f32", [](A& a, const std::string& t) { return read_dtype(t, a.p); }},
    {"p_offset", "P is scaled by 2^this when it is rounded", "0",
     [](A& a, const std::string& t) { return read_count(t, a.p_offset); }},
    {"row_sum", "the row sum adds rounded or unrounded P", "unrounded",
     [](A& a, const std::string& t) {
       return read_word<bool>(t, a.row_sum_rounded, {{"rounded", true}, {"unrounded", false}});
     }},
    {"sum_acc", "accumulator of the row sum", "f32",
     [](A& a, const std::string& t) { return read_dtype(t, a.sum_acc); }},
    {"pv_acc", "accumulator of PV, as of QK", "f32",
     [](A& a, const std::string& t) { return read_accumulator(t, a.pv_acc); }},
    {"tile", "keys between two rescales, 0: all", "0",
     [](A& a, const std::string& t) { return read_count(t, a.tile); }},
    {"order", "of a row's tiles: any, ascending, descending", "any",
     [](A& a, const std::string& t) {
       return read_word<TileOrder>(
           t, a.order,
           {{"any", TileOrder::Any}, {"ascending", TileOrder::Ascending}, {"descending", TileOrder::Descending}});
     }},
    {"promoted", "each tile's PV starts at 0 and is added in binary32", "false",
     [](A& a, const std::string& t) { return read_flag(t, a.promoted); }},
    {"carry", "format of m, l and o between tiles", "f32",
     [](A& a, const std::string& t) { return read_dtype(t, a.carry); }},
    {"rescale_threshold", "powers of two that the maximum in use may lag behind", "0",
     [](A& a, const std::string& t) { return read_error(t, a.rescale_threshold); }},
    {"final_roundings", "roundings from the sum to the output's cast", "2",
     [](A& a, const std::string& t) { return read_count(t, a.final_roundings); }},
    {"unscaled", "format the output is rounded to before v_scale multiplies it", "none",
     [](A& a, const std::string& t) { return read_dtype(t, a.unscaled); }},
    {"partial", "format of the partial outputs of splits, none: no splits", "none",
     [](A& a, const std::string& t) { return read_dtype(t, a.partial); }},
    {"rope", "format of cosines, sines, products and sums of rope", "f32",
     [](A& a, const std::string& t) { return read_dtype(t, a.rope); }},
}};

using W = WriteArithmetic;
constexpr std::array<ClaimField<W>, 3> kWrite{{
    {"overflow", "saturate or ieee", "saturate",
     [](W& w, const std::string& t) {
       return read_word<Overflow>(t, w.overflow, {{"saturate", Overflow::Saturate}, {"ieee", Overflow::Ieee}});
     }},
    {"scale", "divide by the scale, or multiply by its rounded reciprocal", "divide",
     [](W& w, const std::string& t) {
       return read_word<bool>(t, w.by_reciprocal, {{"divide", false}, {"reciprocal", true}});
     }},
    {"compute", "format of the scaled value before the cast", "f32",
     [](W& w, const std::string& t) { return read_dtype(t, w.compute); }},
}};

using R = CallRules;
constexpr std::array<ClaimField<R>, 7> kRules{{
    {"out", "dtype of the output, or q", "q",
     [](R& r, const std::string& t) { return t == "q" ? (r.out.reset(), Wrong()) : read_dtype(t, r.out); }},
    {"kv_enters_as", "stored, or q: the caller casts K and V to q's dtype first", "stored",
     [](R& r, const std::string& t) {
       return read_word<bool>(t, r.k_to_q, {{"stored", false}, {"q", true}});
     }},
    {"empty_row", "output of a row that sees no key: zero, nan, unspecified", "zero",
     [](R& r, const std::string& t) {
       return read_word<EmptyRow>(
           t, r.empty_row, {{"zero", EmptyRow::Zero}, {"nan", EmptyRow::Nan}, {"unspecified", EmptyRow::Unspecified}});
     }},
    {"lse", "returns the LSE in natural log", "false", [](R& r, const std::string& t) { return read_flag(t, r.lse); }},
    {"scales", "on a cache that is not quantised: always (applied) or quantised_only (inert)", "always",
     [](R& r, const std::string& t) {
       return read_word<ScalesApply>(t, r.scales,
                                     {{"always", ScalesApply::Always}, {"quantised_only", ScalesApply::QuantisedOnly}});
     }},
    {"unused", "what unused slots may hold: anything or finite", "anything",
     [](R& r, const std::string& t) {
       return read_word<bool>(t, r.unused_finite, {{"anything", false}, {"finite", true}});
     }},
    {"determinism", "none, run_to_run, batch_invariant, split_invariant", "run_to_run",
     [](R& r, const std::string& t) {
       return read_word<Determinism>(t, r.determinism,
                                     {{"none", Determinism::None},
                                      {"run_to_run", Determinism::RunToRun},
                                      {"batch_invariant", Determinism::BatchInvariant},
                                      {"split_invariant", Determinism::SplitInvariant}});
     }},
}};

}  // namespace

std::span<const ClaimField<Arithmetic>> arithmetic_fields() { return kArithmetic; }
std::span<const ClaimField<WriteArithmetic>> write_fields() { return kWrite; }
std::span<const ClaimField<CallRules>> call_rule_fields() { return kRules; }

}  // namespace attest
