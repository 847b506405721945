#include "harness/device/stream.h"

#include <cstddef>
#include <cstring>
#include <memory>

namespace attest {

CpuStream::CpuStream() : stream_{.struct_size = sizeof(attest_stream), .native = nullptr, .enqueue = enqueue} {}

attest_status CpuStream::enqueue(attest_stream*, attest_launch_fn fn, const void* args, size_t size,
                                 attest_message* message) {
  // A copy, as a captured launch would have: a plug-in must not count on its arguments' address.
  const auto copy = std::make_unique_for_overwrite<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1);
  std::memcpy(copy.get(), args, size);
  return fn(copy.get(), message);
}

}  // namespace attest
