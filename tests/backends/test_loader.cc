// Loading plug-ins: one in C works, and each that can't is refused in one clear line.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "backends/loader.h"
#include "harness/core/error.h"
#include "harness/device/stream.h"

namespace attest {
namespace {

std::string plugin(const std::string& name) { return std::string(ATTEST_TEST_PLUGINS) + "/lib" + name + ".so"; }

std::string refusal(const std::string& path) {
  try {
    load_plugin(path);
  } catch (const UsageError& error) { return error.what(); }
  return "loaded";
}

TEST(Loader, APluginInC) {
  const attest_backend& backend = load_plugin(plugin("c_plugin"));
  attest_message message{};
  void* context = nullptr;
  ASSERT_EQ(backend.open(nullptr, 0, &context, &message), ATTEST_OK);
  attest_description description{};
  ASSERT_EQ(backend.describe(context, &description), ATTEST_OK);
  EXPECT_STREQ(description.version, "1.0");

  float data[4] = {1, 2, 3, 4};
  const attest_tensor out{.data = data, .dtype = ATTEST_F32, .ndim = 3, .shape = {1, 1, 4}, .strides = {4, 4, 1}};
  attest_slots slots{};
  slots.at[ATTEST_OUT] = &out;
  attest_problem problem{.struct_size = sizeof(attest_problem), .max_len_kv = 1};
  ASSERT_EQ(backend.supports(context, &problem, &message), ATTEST_OK);
  attest_plan* plan = nullptr;
  ASSERT_EQ(backend.plan(context, &problem, &slots, &plan, &message), ATTEST_OK);
  CpuStream stream;
  ASSERT_EQ(backend.launch(plan, stream.abi(), &message), ATTEST_OK);
  EXPECT_EQ(data[3], 0);
  attest_result result{};
  ASSERT_EQ(backend.result(plan, &result), ATTEST_OK);
  EXPECT_STREQ(result.ran, "c");
  backend.free_plan(plan);
  problem.max_len_kv = 2;
  EXPECT_EQ(backend.supports(context, &problem, &message), ATTEST_UNSUPPORTED);
  EXPECT_STREQ(message.text, "one key only");
  backend.close(context);
}

TEST(Loader, RefusesInOneLine) {
  const std::string text = testing::TempDir() + "/not_a_library.so";
  std::ofstream(text) << "text\n";
  const std::pair<std::string, std::string> cases[]{
      {plugin("no_such_plugin"), "no such file"},
      {text, "can't be loaded"},
      {plugin("c_plugin_no_entry"), "does not export attest_backend_entry"},
      {plugin("c_plugin_other_abi"), "built for ABI version 2, this program speaks 1"},
      {plugin("c_plugin_short"), "its table has 16 bytes"},
  };
  for (const auto& [path, what] : cases) {
    const std::string line = refusal(path);
    EXPECT_NE(line.find(what), std::string::npos) << line;
    EXPECT_NE(line.find(path), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
  std::remove(text.c_str());
}

TEST(Loader, TheProgramsOwnPluginsExportOneSymbol) {
  for (const char* name : {"liar", "native", "torch_ops"}) {
    const std::string path = std::string(ATTEST_BACKENDS) + "/libattest_" + name + ".so";
    const std::string command = "nm -D --defined-only " + path + " | grep -vc ' attest_backend_entry$'";
    std::FILE* pipe = popen(command.c_str(), "r");
    char line[32] = "";
    ASSERT_NE(std::fgets(line, sizeof line, pipe), nullptr);
    pclose(pipe);
    EXPECT_STREQ(line, "0\n") << path;
  }
}

}  // namespace
}  // namespace attest
