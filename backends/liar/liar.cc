// The plug-in around kernel.h: what it claims, what it lies about beside the arithmetic, and how it goes down.
#include "backends/liar/kernel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string_view>

namespace attest::liar {
namespace {

constexpr std::array<std::string_view, 30> kFaults{
    "",               "mask_off_by_one", "dropped_k_scale", "dropped_v_scale",  "swapped_heads",     "unwritten_row",
    "stale_rows",     "frozen_length",   "nan_swallowed",   "lse_base_2",       "drifting",          "writes_past_end",
    "touches_input",  "touches_cache",   "slot_off_by_one", "truncating_write", "wrong_dtype",       "wrong_shape",
    "wrong_kernel",   "accepts",         "wrong_message",   "refuses",          "declines",          "fails",
    "crash",          "exit",            "hang",            "eat_memory",       "rope_k_in_q_dtype", "garbles"};

struct Plan : Call {
  attest_tensor produced{};          // what it says it returned, under the faults about that
  std::vector<std::byte> first_out;  // the output of the first launch
};

attest_status open(const attest_option*, size_t, void** context, attest_message*) {
  *context = nullptr;
  return ATTEST_OK;
}

void close(void*) {}

attest_status describe(void*, attest_description* description) {
  *description = {.version = "1", .about = "a right kernel in scalar binary64 that lies on request"};
  return ATTEST_OK;
}

attest_status supports(void*, const attest_problem* problem, attest_message* message) {
  const bool fnuz = problem->cache_dtype == ATTEST_FP8_E4M3FNUZ || problem->cache_dtype == ATTEST_FP8_E5M2FNUZ;
  const std::string_view fault = problem->fault;
  if (std::find(kFaults.begin(), kFaults.end(), fault) == kFaults.end())
    return plugin::fail(ATTEST_UNSUPPORTED, message, "liar knows no fault '" + std::string(fault) + "'");
  if (fnuz && fault == "wrong_message") return plugin::fail(ATTEST_REJECTED, message, "something is not right", "ValueError");
  if (fnuz && fault != "accepts") return plugin::fail(ATTEST_REJECTED, message, "fnuz caches are not read here", "ValueError");
  if (fault == "refuses") return plugin::fail(ATTEST_REJECTED, message, "not today", "ValueError");
  if (fault == "declines") return plugin::fail(ATTEST_UNSUPPORTED, message, "declined on request");
  return ATTEST_OK;
}

attest_status plan(void*, const attest_problem* problem, const attest_slots* slots, attest_plan** out, attest_message* message) {
  return plugin::guarded(message, [&] {
    auto* made = new Plan;
    made->problem = *problem;
    made->slots = *slots;
    made->fault = problem->fault;
    if (made->lies("frozen_length"))
      for (int seq = 0; seq < problem->num_seqs; ++seq) made->frozen_len.push_back(plugin::integer(made->at(ATTEST_LEN_KV), seq));
    *out = reinterpret_cast<attest_plan*>(made);
    return ATTEST_OK;
  });
}

[[noreturn]] void eat_memory() {
  for (;;) {
    constexpr std::size_t bite = std::size_t{64} << 20;
    auto* bytes = static_cast<volatile char*>(std::malloc(bite));
    for (std::size_t i = 0; bytes && i < bite; i += 4096) bytes[i] = 1;
  }
}

[[noreturn]] void hang() {
  for (;;) {
    const timespec second{1, 0};
    nanosleep(&second, nullptr);
  }
}

void go_down(const Call& call) {
  if (call.lies("crash")) std::raise(SIGSEGV);
  if (call.lies("exit")) std::_Exit(0);
  if (call.lies("hang")) hang();
  if (call.lies("eat_memory")) eat_memory();
  if (call.lies("garbles")) {  // on the worker's socket, where only replies belong
    constexpr std::string_view noise = "no reply\n";
    if (::write(3, noise.data(), noise.size()) < 0) std::abort();
  }
}

std::span<std::byte> storage_of(const attest_tensor& tensor) {
  const auto elements = static_cast<std::size_t>(tensor.shape[0] * tensor.strides[0]);
  return {static_cast<std::byte*>(tensor.data), elements * byte_size(plugin::dtype_of(tensor))};
}

attest_status run(const void* args, attest_message* message) {
  Plan& call = **static_cast<Plan* const*>(args);
  std::puts("a kernel may print what it likes");
  go_down(call);
  if (call.lies("fails")) return plugin::fail(ATTEST_ERROR, message, "failed on request", "RuntimeError");
  switch (call.problem.op) {
    case ATTEST_OP_ROPE: rotate(call); break;
    case ATTEST_OP_WRITE: write(call); break;
    case ATTEST_OP_WRITE_ATTEND: write(call); attend(call); break;
    default: attend(call); break;
  }
  if (call.lies("writes_past_end")) *(storage_of(call.at(ATTEST_OUT)).data() + storage_of(call.at(ATTEST_OUT)).size()) ^= std::byte{1};
  if (call.lies("touches_input")) storage_of(call.at(ATTEST_Q))[0] ^= std::byte{1};
  if (call.lies("touches_cache")) storage_of(call.at(ATTEST_V_CACHE))[0] ^= std::byte{1};
  if (call.lies("stale_rows")) {
    const auto out = storage_of(call.at(ATTEST_OUT));
    if (call.launches == 0) call.first_out.assign(out.begin(), out.end());
    else std::copy(call.first_out.begin(), call.first_out.end(), out.begin());
  }
  ++call.launches;
  return ATTEST_OK;
}

attest_status launch(attest_plan* plan, attest_stream* stream, attest_message* message) {
  return stream->enqueue(stream, run, &plan, sizeof plan, message);
}

attest_status result(attest_plan* plan, attest_result* out) {
  auto& call = *reinterpret_cast<Plan*>(plan);
  *out = {};
  out->ran = call.lies("wrong_kernel") ? "another" : "liar";
  const bool rope = call.problem.op == ATTEST_OP_ROPE;
  const attest_slot slot = rope ? ATTEST_K_OUT : ATTEST_OUT;
  if (!call.has(slot)) return ATTEST_OK;
  call.produced = call.at(slot);
  if (call.lies("wrong_dtype")) call.produced.dtype = ATTEST_F64;
  if (call.lies("rope_k_in_q_dtype")) call.produced.dtype = call.at(ATTEST_Q).dtype;
  if (call.lies("wrong_shape")) call.produced.shape[2] += 1;
  out->produced[slot] = &call.produced;
  return ATTEST_OK;
}

void free_plan(attest_plan* plan) { delete reinterpret_cast<Plan*>(plan); }

int64_t cache_index(void*, const attest_problem* problem, int32_t cache, int64_t page, int64_t slot, int64_t head, int64_t dim) {
  return rotated_index(*problem, cache == ATTEST_K_CACHE ? problem->dim : problem->dim_v, page, slot, head, dim);
}

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
    .cache_index = cache_index,
    .decode_row = nullptr,
};

}  // namespace
}  // namespace attest::liar

extern "C" const attest_backend* attest_backend_entry(void) { return &attest::liar::kBackend; }
