#include "harness/inputs/select_address.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace attest {
namespace {

constexpr int kDigits = 11;

std::array<int, kDigits> digits(const SelectAddress& a) {
  return {a.position & 7,       a.position >> 3 & 7, a.position >> 6 & 7, a.position >> 9 & 7,
          a.position >> 12 & 7, a.head_kv & 7,       a.head_kv >> 3 & 7,  a.seq & 7,
          a.seq >> 3 & 7,       a.seed & 7,          a.seed >> 3 & 7};
}

int sign(int dim) { return dim % 2 ? -1 : 1; }

std::string describe(const SelectAddress& a) {
  return fmt::format("sequence {}, position {}, head {}", a.seq, a.position, a.head_kv);
}

}  // namespace

double select_digit(const SelectAddress& address, int dim) {
  return sign(dim) * digits(address)[static_cast<std::size_t>(dim % kDigits)];
}

std::optional<SelectAddress> read_address(const std::function<double(int dim)>& stored, int dim_v,
                                          const SelectAddress& expected) {
  constexpr double kExact = 0.02;  // of a digit: what a rounding of the output leaves of it
  std::array<int, kDigits> d = digits(expected);
  for (int dim = 0; dim < dim_v; ++dim) {
    const double value = sign(dim) * stored(dim), digit = std::round(value);
    if (!(std::abs(value - digit) <= kExact * std::max(1.0, digit)) || digit < 0 || digit > 7) return std::nullopt;
    int& known = d[static_cast<std::size_t>(dim % kDigits)];
    if (dim >= kDigits && known != static_cast<int>(digit)) return std::nullopt;
    known = static_cast<int>(digit);
  }
  return SelectAddress{.position = d[0] | d[1] << 3 | d[2] << 6 | d[3] << 9 | d[4] << 12,
                       .head_kv = d[5] | d[6] << 3,
                       .seq = d[7] | d[8] << 3,
                       .seed = d[9] | d[10] << 3};
}

std::string text(const SelectAddress& read, const SelectAddress& wanted) {
  return fmt::format("read {}{} instead of {}", read.seed == wanted.seed ? "" : "of other inputs ", describe(read),
                     describe(wanted));
}

}  // namespace attest
