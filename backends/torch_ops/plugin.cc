// The plug-in around operators.h. Options: binding (a file), and whatever its text refers to by ${name}.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/plugin.h"
#include "backends/torch_ops/operators.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <array>
#include <memory>
#include <stdexcept>

namespace attest::torch_ops {
namespace {

struct Context {
  Binding binding;
};

struct Plan {
  const Binding* binding;
  const Operation* operation;
  Scope scope;
  std::array<attest_tensor, ATTEST_NUM_SLOTS> produced{};
  std::array<bool, ATTEST_NUM_SLOTS> has_produced{};
};

bool cpu_has(const std::string& feature) {
  __builtin_cpu_init();
  if (feature == "avx2") return __builtin_cpu_supports("avx2");
  if (feature == "f16c") return __builtin_cpu_supports("avx2");  // every AVX2 processor has it
  if (feature == "avx512f") return __builtin_cpu_supports("avx512f");
  if (feature == "avx512bw") return __builtin_cpu_supports("avx512bw");
  if (feature == "avx512dq") return __builtin_cpu_supports("avx512dq");
  if (feature == "avx512vl") return __builtin_cpu_supports("avx512vl");
  if (feature == "avx512bf16") return __builtin_cpu_supports("avx512bf16");
  throw std::runtime_error("the binding asks for the unknown CPU feature " + feature);
}

// The empty libtorch.so that lies beside this plug-in (torch_stub.c). The loader then takes every later need of a
// library of that name as met.
void load_torch_stub() {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&load_torch_stub), &here);
  const std::string plugin(here.dli_fname);
  const std::string stub = plugin.substr(0, plugin.rfind('/')) + "/stub/libtorch.so";
  if (!dlopen(stub.c_str(), RTLD_NOW | RTLD_GLOBAL)) throw std::runtime_error(dlerror());
}

attest_status load(const Binding& binding, attest_message* message) {
  if (access(binding.library.c_str(), R_OK) != 0)
    return plugin::fail(ATTEST_MISSING, message, "no file " + binding.library + "; ci/setup fetches it");
  for (const auto& feature : binding.cpu)
    if (!cpu_has(feature)) return plugin::fail(ATTEST_MISSING, message, "this processor lacks " + feature + ", which " + binding.library + " is built for");
  load_torch_stub();
  // Lazily: these libraries are Python modules too, and name functions of an interpreter that is not here.
  if (!dlopen(binding.library.c_str(), RTLD_LAZY | RTLD_LOCAL)) return plugin::fail(ATTEST_ERROR, message, dlerror(), "dlopen");
  Scope scope{};
  for (const auto& question : binding.available)
    if (!call(question, scope).at(0).toBool()) return plugin::fail(ATTEST_MISSING, message, question.op + " says that this machine can't run it");
  return ATTEST_OK;
}

attest_status open(const attest_option* given, size_t count, void** context, attest_message* message) {
  return plugin::guarded(message, [&] {
    at::set_num_threads(1);
    Options options;
    for (size_t i = 0; i < count; ++i) options[given[i].key] = given[i].value;
    if (!options.contains("binding")) return plugin::fail(ATTEST_ERROR, message, "the contract needs the option 'binding'");
    auto made = std::make_unique<Context>(Context{read_binding(options.at("binding"), options)});
    if (const auto status = load(made->binding, message); status != ATTEST_OK) return status;
    *context = made.release();
    return ATTEST_OK;
  });
}

void close(void* context) { delete static_cast<Context*>(context); }

attest_status describe(void* context, attest_description* description) {
  const Binding& binding = static_cast<Context*>(context)->binding;
  *description = {.version = binding.version.c_str(), .about = binding.about.c_str()};
  return ATTEST_OK;
}

attest_status supports(void* context, const attest_problem* problem, attest_message* message) {
  const Binding& binding = static_cast<Context*>(context)->binding;
  if (binding.operations.contains(static_cast<attest_op>(problem->op))) return ATTEST_OK;
  return plugin::fail(ATTEST_UNSUPPORTED, message, "the binding has no such operation");
}

// A refusal of the operator's own, or a failure of ours.
template <typename Body>
attest_status operator_guarded(attest_message* message, const Body& body) {
  return plugin::guarded(message, [&] {
    try {
      return body();
    } catch (const c10::NotImplementedError& error) {
      return plugin::fail(ATTEST_REJECTED, message, error.what_without_backtrace(), "NotImplementedError");
    } catch (const c10::Error& error) {
      return plugin::fail(ATTEST_REJECTED, message, error.what_without_backtrace(), "c10::Error");
    }
  });
}

attest_status plan(void* context, const attest_problem* problem, const attest_slots* slots, attest_plan** out, attest_message* message) {
  return operator_guarded(message, [&] {
    const Binding& binding = static_cast<Context*>(context)->binding;
    auto made = std::make_unique<Plan>();
    made->binding = &binding;
    made->operation = &binding.operations.at(static_cast<attest_op>(problem->op));
    made->scope = {problem, slots, {}};
    for (const auto& step : made->operation->plan) call(step, made->scope);
    *out = reinterpret_cast<attest_plan*>(made.release());
    return ATTEST_OK;
  });
}

void keep_result(Plan& plan, attest_slot slot, const at::Tensor& result) {
  const attest_tensor* to = plan.scope.slots->at[slot];
  if (!to) return;
  attest_tensor& produced = plan.produced[slot];
  produced = *to;
  produced.dtype = abi_dtype(result.scalar_type());
  produced.ndim = static_cast<std::int32_t>(std::min<std::int64_t>(result.dim(), ATTEST_MAX_DIMS));
  for (int axis = 0; axis < produced.ndim; ++axis) produced.shape[axis] = result.size(axis);
  plan.has_produced[slot] = true;
  const at::Tensor target = view_of(*to);
  if (target.sizes() == result.sizes()) target.copy_(result);
}

attest_status run(const void* args, attest_message* message) {
  Plan& plan = **static_cast<Plan* const*>(args);
  return operator_guarded(message, [&] {
    for (const auto& step : plan.operation->launch) {
      const auto results = call(step, plan.scope);
      for (std::size_t i = 0; i < step.returns.size(); ++i) keep_result(plan, step.returns[i], results.at(i).toTensor());
    }
    return ATTEST_OK;
  });
}

attest_status launch(attest_plan* plan, attest_stream* stream, attest_message* message) { return stream->enqueue(stream, run, &plan, sizeof plan, message); }

attest_status result(attest_plan* handle, attest_result* result) {
  auto& plan = *reinterpret_cast<Plan*>(handle);
  *result = {.ran = plan.binding->ran.c_str(), .produced = {}};
  for (std::size_t i = 0; i < ATTEST_NUM_SLOTS; ++i)
    if (plan.has_produced[i]) result->produced[i] = &plan.produced[i];
  return ATTEST_OK;
}

void free_plan(attest_plan* plan) { delete reinterpret_cast<Plan*>(plan); }

constexpr attest_backend kBackend{
    .abi_version = ATTEST_ABI_VERSION,
    .struct_size = sizeof(attest_backend),
    .open = open,
    .close = close,
    .describe = describe,
    .supports = supports,
    .plan = plan,
    .launch = launch,
    .result = result,
    .free_plan = free_plan,
    .workspace_bytes = nullptr,
    .cache_index = nullptr,
    .decode_row = nullptr,
};

}  // namespace
}  // namespace attest::torch_ops

extern "C" const attest_backend* attest_backend_entry(void) { return &attest::torch_ops::kBackend; }
