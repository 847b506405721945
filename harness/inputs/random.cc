#include "harness/inputs/random.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace attest {
namespace {

std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64 (Steele, Lea, Flood 2014)
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9;
  x ^= x >> 27;
  x *= 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream) : key_(mix(seed + kGolden)) {
  for (const char c : stream) key_ = mix(key_ ^ static_cast<unsigned char>(c) ^ kGolden);
}

std::uint64_t Random::bits(std::uint64_t index) const { return mix(key_ + kGolden * (mix(index + kGolden) | 1)); }

std::uint64_t Random::below(std::uint64_t limit, std::uint64_t index) const {
  return ((bits(index) >> 32) * limit) >> 32;
}

double Random::gauss(std::uint64_t index) const {
  std::int64_t sum = 0;
  for (std::uint64_t word = 0; word < 3; ++word) {
    const std::uint64_t b = bits(index * 3 + word);
    for (int part = 0; part < 4; ++part) sum += static_cast<std::int64_t>(b >> (16 * part) & 0xFFFF);
  }
  return static_cast<double>(sum - 6 * 65535) * 0x1p-16;
}

std::vector<int> Random::permutation(int size, std::uint64_t index) const {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i, index + i)]);
  return order;
}

std::uint64_t coordinate_index(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  return ((a * 0x100003 + b) * 0x100019 + c) * 0x10003F + d;
}

}  // namespace attest
