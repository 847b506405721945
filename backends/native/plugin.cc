// The plug-in around native.h. Option cast=false leaves out the rule K, V -> q's dtype.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/native/native.h"
#include "backends/plugin_table.h"

#include <ATen/ops/from_blob.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>

namespace attest::native {
namespace {

struct Kernel {
  struct Plan : Call {
    attest_status run(attest_message* message) {
      try {
        problem.op == ATTEST_OP_ROPE ? rotate(*this) : attend(*this);
      } catch (const c10::Error& error) {
        return plugin::fail(ATTEST_REJECTED, message, error.what_without_backtrace(), "c10::Error");
      }
      return ATTEST_OK;
    }

    // SDPA returns a tensor of its own: its dtype is what the harness is to check, its shape is that of one sequence.
    attest_result result() {
      attest_result result{.ran = ran.c_str(), .produced = {}};
      const attest_slot slot = problem.op == ATTEST_OP_ROPE ? ATTEST_K_OUT : ATTEST_OUT;
      if (!out.defined()) return result;
      produced = at(slot);
      for (std::int32_t dtype = 0; dtype <= ATTEST_FP8_E5M2FNUZ; ++dtype)
        if (scalar_type(dtype) == out.scalar_type()) produced.dtype = dtype;
      result.produced[slot] = &produced;
      return result;
    }
  };

  bool cast = true;

  static attest_status open(const plugin::Options& options, std::unique_ptr<Kernel>& made, attest_message*) {
    at::set_num_threads(1);
    made = std::make_unique<Kernel>();
    made->cast = !options.contains("cast") || options.at("cast") != "false";
    return ATTEST_OK;
  }

  attest_description describe() const {
    return {.version = TORCH_VERSION,
            .about = cast ? "LibTorch scaled_dot_product_attention, K and V cast to q's dtype"
                          : "LibTorch scaled_dot_product_attention, K and V as they lie in the cache"};
  }

  attest_status supports(const attest_problem&, attest_message*) const { return ATTEST_OK; }

  attest_status plan(const attest_problem& problem, const attest_slots& slots, std::unique_ptr<Plan>& made,
                     attest_message*) {
    made = std::make_unique<Plan>();
    made->problem = problem;
    made->slots = slots;
    made->cast = cast;
    return ATTEST_OK;
  }
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

extern "C" const attest_backend* attest_backend_entry(void) { return &attest::plugin::kTable<attest::native::Kernel>; }
