// LibTorch's threads wait for each other by spinning: on a machine that is busy, small problems take fifty times as
// long. The harness runs one thread a process too.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace {

struct OneThread : testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};

const auto* const environment = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace
