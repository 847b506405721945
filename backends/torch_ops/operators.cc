#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/torch_ops/operators.h"

#include "backends/plugin.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <array>
#include <charconv>
#include <stdexcept>

namespace attest::torch_ops {
namespace {

constexpr std::array<std::pair<std::int32_t, at::ScalarType>, 11> kDtypes{{
    {ATTEST_F64, at::kDouble},
    {ATTEST_F32, at::kFloat},
    {ATTEST_F16, at::kHalf},
    {ATTEST_BF16, at::kBFloat16},
    {ATTEST_FP8_E4M3FN, at::kFloat8_e4m3fn},
    {ATTEST_FP8_E5M2, at::kFloat8_e5m2},
    {ATTEST_FP8_E4M3FNUZ, at::kFloat8_e4m3fnuz},
    {ATTEST_FP8_E5M2FNUZ, at::kFloat8_e5m2fnuz},
    {ATTEST_I32, at::kInt},
    {ATTEST_I64, at::kLong},
    {ATTEST_U8, at::kByte},
}};

c10::IValue problem_value(const attest_problem& p, const std::string& field) {
  const bool causal = p.causal || p.window_right == 0;
  const std::pair<std::string_view, c10::IValue> fields[]{
      {"num_seqs", std::int64_t{p.num_seqs}},
      {"total_q", std::int64_t{p.total_q}},
      {"max_len_q", std::int64_t{p.max_len_q}},
      {"max_len_kv", std::int64_t{p.max_len_kv}},
      {"heads_q", std::int64_t{p.heads_q}},
      {"heads_kv", std::int64_t{p.heads_kv}},
      {"dim", std::int64_t{p.dim}},
      {"dim_v", std::int64_t{p.dim_v}},
      {"page_size", std::int64_t{p.page_size}},
      {"splits", std::int64_t{p.splits}},
      {"window_left", std::int64_t{p.window_left}},
      {"window_right", std::int64_t{p.window_right}},
      {"window_keys", std::int64_t{p.window_left < 0 ? -1 : p.window_left + 1}},  // counting the row's own key
      {"causal", causal},
      {"softmax_scale", p.softmax_scale},
      {"softcap", p.softcap},
      {"cache_name", std::string(p.cache_name)},
  };
  for (const auto& [name, value] : fields)
    if (name == field) return value;
  throw std::runtime_error("the binding asks for problem field '" + field + "', which there is not");
}

// A literal as the schema's type wants it.
c10::IValue literal(const std::string& text, const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::BoolType: return text == "true";
    case c10::TypeKind::StringType: return text;
    case c10::TypeKind::FloatType: return std::stod(text);
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return static_cast<std::int64_t>(std::stoll(text));
    case c10::TypeKind::OptionalType:
      return text == "none" ? c10::IValue() : literal(text, type->castRaw<c10::OptionalType>()->getElementType());
    default: throw std::runtime_error("the binding gives '" + text + "' for an argument of type " + type->str());
  }
}

c10::IValue evaluate(const Argument& argument, const c10::Argument& wanted, const Scope& scope) {
  const attest_tensor* tensor = argument.slot < ATTEST_NUM_SLOTS ? scope.slots->at[argument.slot] : nullptr;
  switch (argument.kind) {
    case Argument::Kind::Problem: return problem_value(*scope.problem, argument.text);
    case Argument::Kind::Value: return literal(argument.text, wanted.type());
    case Argument::Kind::Result: return scope.results.at(argument.text);
    case Argument::Kind::Number: return tensor ? plugin::value(*tensor, 0) : argument.otherwise;
    default: break;
  }
  if (!tensor) {
    if (argument.optional) return c10::IValue();
    throw std::runtime_error("argument '" + wanted.name() + "' needs slot '" + argument.text +
                             "', which this call lacks");
  }
  const at::Tensor view = view_of(*tensor);
  if (argument.kind == Argument::Kind::Dtype) return static_cast<std::int64_t>(view.scalar_type());
  return argument.kind == Argument::Kind::Bytes && is_fp8(plugin::dtype_of(*tensor)) ? view.view(at::kByte) : view;
}

}  // namespace

at::Tensor view_of(const attest_tensor& tensor) {
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  for (const auto& [dtype, type] : kDtypes)
    if (dtype == tensor.dtype) return at::from_blob(tensor.data, {tensor.shape, rank}, {tensor.strides, rank}, type);
  throw std::runtime_error("torch has no dtype for this tensor");
}

std::int32_t abi_dtype(at::ScalarType wanted) {
  for (const auto& [dtype, type] : kDtypes)
    if (type == wanted) return dtype;
  return -1;
}

std::vector<c10::IValue> call(const OperatorCall& call, Scope& scope) {
  const auto dot = call.op.find('.');
  const auto op = c10::Dispatcher::singleton().findSchema(
      {call.op.substr(0, dot), dot == std::string::npos ? "" : call.op.substr(dot + 1)});
  if (!op) throw std::runtime_error("no operator " + call.op + " in this library");
  const auto& wanted = op->schema().arguments();
  for (const auto& [name, argument] : call.arguments)
    if (std::none_of(wanted.begin(), wanted.end(),
                     [&, given = name](const c10::Argument& a) { return a.name() == given; }))
      throw std::runtime_error("operator " + call.op + " has no argument '" + name + "': " + c10::str(op->schema()));
  std::vector<c10::IValue> stack;
  for (const c10::Argument& argument : wanted) {
    const auto given = std::find_if(call.arguments.begin(), call.arguments.end(),
                                    [&](const auto& pair) { return pair.first == argument.name(); });
    if (given != call.arguments.end())
      stack.push_back(evaluate(given->second, argument, scope));
    else if (argument.default_value())
      stack.push_back(*argument.default_value());
    else
      throw std::runtime_error("operator " + call.op + " needs the argument '" + argument.name() +
                               "', which the binding does not give: " + c10::str(op->schema()));
  }
  op->callBoxed(&stack);
  if (!call.as.empty()) scope.results[call.as] = stack.at(0);
  return stack;
}

}  // namespace attest::torch_ops
