// The address that in=select writes into V: (position, KV head, sequence, seed) in signed base-8 digits, which every
// format holds, repeated over the dims. An output that is off can be read back: it says which key it came from.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace attest {

struct SelectAddress {
  int position = 0, head_kv = 0, seq = 0, seed = 0;  // below 2^15, 2^6, 2^6, 2^6; what is larger is folded
  bool operator==(const SelectAddress&) const = default;
};

// V at `dim`, in stored units.
double select_digit(const SelectAddress& address, int dim);

// What dim_v values spell, each divided by its scale; nullopt where they are no address, or digits that repeat over
// the dims disagree. Digits past dim_v are taken from `expected`.
std::optional<SelectAddress> read_address(const std::function<double(int dim)>& stored, int dim_v,
                                          const SelectAddress& expected);

// "read sequence 1, position 37, head 2 instead of sequence 0, position 37, head 2"
std::string text(const SelectAddress& read, const SelectAddress& wanted);

}  // namespace attest
