#include "harness/cli/fingerprint.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

namespace attest {
namespace {

class Fnv1a {  // 64 bits; a fingerprint guards against mistakes, not against attack
 public:
  void add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(0);
  }
  std::uint64_t value() const { return hash_; }

 private:
  void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001B3; }
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string fingerprint(const Selection& selection, const Paths& paths, const std::string& mode) {
  Fnv1a hash;
  hash.add(ATTEST_VERSION);
  hash.add(mode);
  std::set<std::string> contracts;
  for (const auto& listed : selection.all) {
    hash.add(listed.token);
    contracts.insert(selection.contracts.find(listed.c.backend).file);
  }
  for (const auto& file : contracts) hash.add(content(file));
  hash.add(content(paths.waivers));
  return fmt::format("{:016x}", hash.value());
}

}  // namespace attest
