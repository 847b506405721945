#include "harness/cli/environment.h"

#include <torch/headeronly/version.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

namespace attest {
namespace {

// The value behind the first line of a file that begins with `key`, up to and with its separator.
std::string value_of(const std::string& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t\"", at + 1), end = line.find_last_not_of(" \t\"");
    if (begin != std::string::npos && end >= begin) return line.substr(begin, end - begin + 1);
  }
  return "unknown";
}

}  // namespace

std::map<std::string, std::string> environment() {
  utsname kernel{};
  uname(&kernel);
  return {
      {"cpu", value_of("/proc/cpuinfo", "model name", ':')},
      {"cores", std::to_string(std::thread::hardware_concurrency())},
      {"os", fmt::format("{}, {} {}", value_of("/etc/os-release", "PRETTY_NAME", '='), kernel.sysname, kernel.machine)},
      {"compiler", fmt::format("{} {}",
#ifdef __clang__
                               "clang",
#else
                               "g++",
#endif
                               __VERSION__)},
      {"libtorch", TORCH_VERSION}};
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

}  // namespace attest
