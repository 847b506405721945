// Constants of the engine's own exp, which both of its forms evaluate in the same order: x = n ln 2 + r, |r| <= ln 2 /
// 2, and e^r by its Taylor series to r^7 (the rest is below 6e-9); or x log2 e = n + f, 0 <= f < 1, and 2^f by the
// polynomial of degree 3 of FlashAttention-4 (flash_attn/cute/utils.py: within 8.8e-5, and 1 at 0).
#pragma once

namespace attest::tile {

constexpr float kLog2e = 1.44269504F;
constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;  // the high part has 9 bits: n times it is exact
constexpr float kTaylor[]{1.0F / 5040, 1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F};
constexpr float kCubic[]{0.07711909F, 0.22756439F, 0.69514614F, 1.0F};
constexpr float kLowest = -104.5F, kHighest = 89.0F;  // e^x is 0 below, infinite above, in binary32
constexpr int kLeastExponent = -250;                  // a matrix step whose largest product is below is aligned to this

}  // namespace attest::tile
