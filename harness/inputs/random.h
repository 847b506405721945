// The only source of randomness: a pure function of (seed, stream, index), computed on integers, so that inputs are
// the same bytes on every machine and any element can be made without the ones before it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace attest {

class Random {
 public:
  Random(std::uint64_t seed, std::string_view stream);

  std::uint64_t bits(std::uint64_t index) const;
  std::uint64_t below(std::uint64_t limit, std::uint64_t index) const;  // 0 .. limit-1; limit < 2^32
  // Mean 0, variance 1, |x| <= 6: twelve 16-bit integers summed, a multiple of 2^-16.
  double gauss(std::uint64_t index) const;
  std::vector<int> permutation(int size, std::uint64_t index) const;

 private:
  std::uint64_t key_;
};

// One index for four coordinates (sequence, position or row, head, dim).
std::uint64_t coordinate_index(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d = 0);

}  // namespace attest
