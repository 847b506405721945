// The plug-in around operators.h. Options: binding (a file), and whatever its text refers to by ${name}.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/plugin_table.h"
#include "backends/torch_ops/operators.h"

#include <ATen/core/Tensor.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace attest::torch_ops {
namespace {

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

// The empty libtorch.so that lies beside this plug-in (empty_torch.c). The loader then takes every later need of a
// library of that name as met.
void load_empty_torch() {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&load_empty_torch), &here);
  const std::string plugin(here.dli_fname);
  const std::string library = plugin.substr(0, plugin.rfind('/')) + "/empty/libtorch.so";
  if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) throw std::runtime_error(dlerror());
}

attest_status load(const Binding& binding, attest_message* message) {
  if (access(binding.library.c_str(), R_OK) != 0)
    return plugin::fail(ATTEST_MISSING, message, "no file " + binding.library + "; ci/setup fetches it");
  for (const auto& feature : binding.cpu)
    if (!cpu_has(feature))
      return plugin::fail(ATTEST_MISSING, message,
                          "this processor lacks " + feature + ", which " + binding.library + " is built for");
  load_empty_torch();
  // Lazily: these libraries are Python modules too, and name functions of an interpreter that is not here.
  if (!dlopen(binding.library.c_str(), RTLD_LAZY | RTLD_LOCAL))
    return plugin::fail(ATTEST_ERROR, message, dlerror(), "dlopen");
  Scope scope{};
  for (const auto& question : binding.available)
    if (!call(question, scope).at(0).toBool())
      return plugin::fail(ATTEST_MISSING, message, question.op + " says that this machine can't run it");
  return ATTEST_OK;
}

// A refusal of the operator's own, or a failure of ours.
template <typename Body>
attest_status operator_guarded(attest_message* message, const Body& body) {
  try {
    return body();
  } catch (const c10::NotImplementedError& error) {
    return plugin::fail(ATTEST_REJECTED, message, error.what_without_backtrace(), "NotImplementedError");
  } catch (const c10::Error& error) {
    return plugin::fail(ATTEST_REJECTED, message, error.what_without_backtrace(), "c10::Error");
  }
}

struct Kernel {
  struct Plan {
    const Binding* binding;
    const Operation* operation;
    Scope scope;
    std::array<attest_tensor, ATTEST_NUM_SLOTS> produced{};
    std::array<bool, ATTEST_NUM_SLOTS> has_produced{};

    attest_status run(attest_message* message);
    attest_result result();
    void keep(attest_slot slot, const at::Tensor& returned);
  };

  Binding binding;

  static attest_status open(const Options& options, std::unique_ptr<Kernel>& made, attest_message* message) {
    at::set_num_threads(1);
    if (!options.contains("binding"))
      return plugin::fail(ATTEST_ERROR, message, "the contract needs the option 'binding'");
    made = std::make_unique<Kernel>(Kernel{read_binding(options.at("binding"), options)});
    return load(made->binding, message);
  }

  attest_description describe() const { return {.version = binding.version.c_str(), .about = binding.about.c_str()}; }

  attest_status supports(const attest_problem& problem, attest_message* message) const {
    if (binding.operations.contains(static_cast<attest_op>(problem.op))) return ATTEST_OK;
    return plugin::fail(ATTEST_UNSUPPORTED, message, "the binding has no such operation");
  }

  attest_status plan(const attest_problem& problem, const attest_slots& slots, std::unique_ptr<Plan>& made,
                     attest_message* message) {
    return operator_guarded(message, [&] {
      made = std::make_unique<Plan>(
          Plan{&binding, &binding.operations.at(static_cast<attest_op>(problem.op)), {&problem, &slots, {}}});
      for (const auto& step : made->operation->plan) call(step, made->scope);
      return ATTEST_OK;
    });
  }
};

attest_status Kernel::Plan::run(attest_message* message) {
  return operator_guarded(message, [&] {
    for (const auto& step : operation->launch) {
      const auto results = call(step, scope);
      for (std::size_t i = 0; i < step.returns.size(); ++i) keep(step.returns[i], results.at(i).toTensor());
    }
    return ATTEST_OK;
  });
}

// What the operator returned goes into the slot; its own shape and dtype are what the harness is to check.
void Kernel::Plan::keep(attest_slot slot, const at::Tensor& returned) {
  const attest_tensor* to = scope.slots->at[slot];
  if (!to) return;
  attest_tensor& meta = produced[slot];
  meta = *to;
  meta.dtype = abi_dtype(returned.scalar_type());
  meta.ndim = static_cast<std::int32_t>(std::min<std::int64_t>(returned.dim(), ATTEST_MAX_DIMS));
  for (int axis = 0; axis < meta.ndim; ++axis) meta.shape[axis] = returned.size(axis);
  has_produced[slot] = true;
  const at::Tensor target = view_of(*to);
  if (target.sizes() == returned.sizes()) target.copy_(returned);
}

attest_result Kernel::Plan::result() {
  attest_result result{.ran = binding->ran.c_str(), .produced = {}};
  for (std::size_t i = 0; i < ATTEST_NUM_SLOTS; ++i)
    if (has_produced[i]) result.produced[i] = &produced[i];
  return result;
}

}  // namespace
}  // namespace attest::torch_ops

extern "C" const attest_backend* attest_backend_entry(void) {
  return &attest::plugin::kTable<attest::torch_ops::Kernel>;
}
