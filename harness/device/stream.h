// The stream that a plug-in launches on. On the cpu device a launch runs at once when nothing is being captured.
#pragma once

#include "backends/abi.h"

namespace attest {

// An eager stream of the cpu device.
class CpuStream {
 public:
  CpuStream();
  attest_stream* abi() { return &stream_; }

 private:
  static attest_status enqueue(attest_stream* stream, attest_launch_fn fn, const void* args, size_t size,
                               attest_message* message);

  attest_stream stream_;
};

}  // namespace attest
