// A folder of a test's own, gone with its owner.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace attest::test {

class TempFolder {
 public:
  TempFolder() : path_(testing::TempDir() + "/attest_XXXXXX") {
    if (!mkdtemp(path_.data())) throw std::runtime_error("no folder " + path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  // The file's path.
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The message of the exception that `run` throws, "" when it throws none of that type.
template <typename Error, typename Run>
std::string message_of(const Run& run) {
  try {
    run();
  } catch (const Error& error) { return error.what(); }
  return "";
}

}  // namespace attest::test
