// The table of a plug-in written as a C++ class. A Kernel is what was opened, its Plan one planned call:
//
//     struct Kernel {
//       struct Plan {
//         attest_status run(attest_message*);     // one launch, when the stream gets to it
//         attest_result result();
//       };
//       static attest_status open(const Options&, std::unique_ptr<Kernel>&, attest_message*);
//       attest_description describe() const;
//       attest_status supports(const attest_problem&, attest_message*) const;
//       attest_status plan(const attest_problem&, const attest_slots&, std::unique_ptr<Plan>&, attest_message*);
//     };
//     extern "C" const attest_backend* attest_backend_entry(void) { return &attest::plugin::kTable<Kernel>; }
//
// What these functions throw becomes ATTEST_ERROR.
#pragma once

#include "backends/plugin.h"

#include <map>
#include <memory>

namespace attest::plugin {

using Options = std::map<std::string, std::string>;

template <typename Kernel>
struct Table {
  using Plan = typename Kernel::Plan;

  static attest_status open(const attest_option* given, size_t count, void** context, attest_message* message) {
    return guarded(message, [&] {
      Options options;
      for (size_t i = 0; i < count; ++i) options[given[i].key] = given[i].value;
      std::unique_ptr<Kernel> kernel;
      const attest_status status = Kernel::open(options, kernel, message);
      if (status == ATTEST_OK) *context = kernel.release();
      return status;
    });
  }

  static void close(void* context) { delete static_cast<Kernel*>(context); }

  static attest_status describe(void* context, attest_description* description) {
    *description = static_cast<Kernel*>(context)->describe();
    return ATTEST_OK;
  }

  static attest_status supports(void* context, const attest_problem* problem, attest_message* message) {
    return guarded(message, [&] { return static_cast<Kernel*>(context)->supports(*problem, message); });
  }

  static attest_status plan(void* context, const attest_problem* problem, const attest_slots* slots, attest_plan** out,
                            attest_message* message) {
    return guarded(message, [&] {
      std::unique_ptr<Plan> made;
      const attest_status status = static_cast<Kernel*>(context)->plan(*problem, *slots, made, message);
      if (status == ATTEST_OK) *out = reinterpret_cast<attest_plan*>(made.release());
      return status;
    });
  }

  static attest_status run(const void* args, attest_message* message) {
    Plan* plan = *static_cast<Plan* const*>(args);
    return guarded(message, [&] { return plan->run(message); });
  }

  static attest_status launch(attest_plan* plan, attest_stream* stream, attest_message* message) {
    return stream->enqueue(stream, run, &plan, sizeof plan, message);
  }

  static attest_status result(attest_plan* plan, attest_result* result) {
    *result = reinterpret_cast<Plan*>(plan)->result();
    return ATTEST_OK;
  }

  static void free_plan(attest_plan* plan) { delete reinterpret_cast<Plan*>(plan); }
};

template <typename Kernel>
inline constexpr attest_backend kTable{
    .abi_version = ATTEST_ABI_VERSION,
    .struct_size = sizeof(attest_backend),
    .open = Table<Kernel>::open,
    .close = Table<Kernel>::close,
    .describe = Table<Kernel>::describe,
    .supports = Table<Kernel>::supports,
    .plan = Table<Kernel>::plan,
    .launch = Table<Kernel>::launch,
    .result = Table<Kernel>::result,
    .free_plan = Table<Kernel>::free_plan,
    .workspace_bytes = nullptr,
    .cache_index = nullptr,
    .decode_row = nullptr,
};

}  // namespace attest::plugin
