// The plug-in around native.h. Option cast=false leaves out the rule K, V -> q's dtype.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/native/native.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>

#include <string_view>

namespace attest::native {
namespace {

struct Context {
  bool cast = true;
};

attest_status open(const attest_option* options, size_t count, void** context, attest_message* message) {
  return plugin::guarded(message, [&] {
    at::set_num_threads(1);
    auto* made = new Context;
    for (size_t i = 0; i < count; ++i)
      if (std::string_view(options[i].key) == "cast") made->cast = std::string_view(options[i].value) != "false";
    *context = made;
    return ATTEST_OK;
  });
}

void close(void* context) { delete static_cast<Context*>(context); }

attest_status describe(void* context, attest_description* description) {
  const bool cast = static_cast<Context*>(context)->cast;
  *description = {.version = TORCH_VERSION, .about = cast ? "LibTorch scaled_dot_product_attention, K and V cast to q's dtype" : "LibTorch scaled_dot_product_attention, K and V as they lie in the cache"};
  return ATTEST_OK;
}

attest_status supports(void*, const attest_problem*, attest_message*) { return ATTEST_OK; }

attest_status plan(void* context, const attest_problem* problem, const attest_slots* slots, attest_plan** out, attest_message* message) {
  return plugin::guarded(message, [&] {
    auto* call = new Call;
    call->problem = *problem;
    call->slots = *slots;
    call->cast = static_cast<Context*>(context)->cast;
    *out = reinterpret_cast<attest_plan*>(call);
    return ATTEST_OK;
  });
}

attest_status run(const void* args, attest_message* message) {
  Call& call = **static_cast<Call* const*>(args);
  return plugin::guarded(message, [&] {
    try {
      call.problem.op == ATTEST_OP_ROPE ? rotate(call) : attend(call);
    } catch (const c10::Error& error) {
      return plugin::fail(ATTEST_REJECTED, message, error.what_without_backtrace(), "c10::Error");
    }
    return ATTEST_OK;
  });
}

attest_status launch(attest_plan* plan, attest_stream* stream, attest_message* message) { return stream->enqueue(stream, run, &plan, sizeof plan, message); }

// SDPA returns a tensor of its own: its dtype is what the harness is to check, its shape is that of one sequence.
attest_status result(attest_plan* plan, attest_result* result) {
  auto& call = *reinterpret_cast<Call*>(plan);
  *result = {.ran = call.ran.c_str(), .produced = {}};
  const attest_slot slot = call.problem.op == ATTEST_OP_ROPE ? ATTEST_K_OUT : ATTEST_OUT;
  if (!call.out.defined()) return ATTEST_OK;
  call.produced = call.at(slot);
  for (std::int32_t dtype = 0; dtype <= ATTEST_FP8_E5M2FNUZ; ++dtype)
    if (scalar_type(dtype) == call.out.scalar_type()) call.produced.dtype = dtype;
  result->produced[slot] = &call.produced;
  return ATTEST_OK;
}

void free_plan(attest_plan* plan) { delete reinterpret_cast<Call*>(plan); }

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

at::ScalarType scalar_type(std::int32_t dtype) {
  switch (dtype) {
    case ATTEST_F64: return at::kDouble;
    case ATTEST_F32: return at::kFloat;
    case ATTEST_F16: return at::kHalf;
    case ATTEST_BF16: return at::kBFloat16;
    case ATTEST_FP8_E4M3FN: return at::kFloat8_e4m3fn;
    case ATTEST_FP8_E5M2: return at::kFloat8_e5m2;
    case ATTEST_FP8_E4M3FNUZ: return at::kFloat8_e4m3fnuz;
    case ATTEST_FP8_E5M2FNUZ: return at::kFloat8_e5m2fnuz;
    case ATTEST_I32: return at::kInt;
    case ATTEST_I64: return at::kLong;
    default: return at::kByte;
  }
}

at::Tensor view_of(const attest_tensor& tensor) {
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  return at::from_blob(tensor.data, {tensor.shape, rank}, {tensor.strides, rank}, scalar_type(tensor.dtype));
}

}  // namespace attest::native

extern "C" const attest_backend* attest_backend_entry(void) { return &attest::native::kBackend; }
