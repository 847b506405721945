// Runs the built program in a folder of its own and keeps what it printed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace attest::test {

struct Ran {
  int exit_code;
  std::string output;  // of both streams
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("attest_cli_") + info->test_suite_name() + "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Ran run(const std::string& arguments, const std::string& environment = "") const {
    return shell("ATTEST_HOME='" ATTEST_SOURCE_DIR "' " + environment + " " ATTEST_PROGRAM " " + arguments);
  }

  Ran shell(const std::string& command) const {
    std::FILE* pipe = popen(("cd '" + folder_.string() + "' && { " + command + " ; } 2>&1").c_str(), "r");
    Ran ran{0, ""};
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.output.append(buffer, n);
    const int status = pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ran;
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  std::string read(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  std::filesystem::path folder_;
};

inline const std::string kHealthy = "'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16#1'";

}  // namespace attest::test
