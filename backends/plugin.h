// C++ convenience over backends/abi.h for plug-ins written in C++: exceptions become statuses, slots become spans of
// known shape. A plug-in may include this, abi.h, and harness/core/dtype.h; nothing else of attest.
#pragma once

#include "backends/abi.h"
#include "harness/core/dtype.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

namespace attest::plugin {

inline void copy_text(char* to, std::size_t capacity, std::string_view text) {
  const std::size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

inline attest_status fail(attest_status status, attest_message* message, std::string_view text,
                          std::string_view type = "") {
  copy_text(message->type, sizeof message->type, type);
  copy_text(message->text, sizeof message->text, text);
  return status;
}

// Runs `body`, which returns a status; what it throws becomes ATTEST_ERROR with its text.
template <typename Body>
attest_status guarded(attest_message* message, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) { return fail(ATTEST_ERROR, message, error.what(), "exception"); } catch (...) {
    return fail(ATTEST_ERROR, message, "unknown exception");
  }
}

inline DType dtype_of(const attest_tensor& tensor) { return static_cast<DType>(tensor.dtype); }

// Address and value of one element.
template <typename... Index>
std::byte* element(const attest_tensor& tensor, Index... index) {
  const std::int64_t indices[]{static_cast<std::int64_t>(index)...};
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < sizeof...(index); ++axis) at += indices[axis] * tensor.strides[axis];
  return static_cast<std::byte*>(tensor.data) + at * static_cast<std::int64_t>(byte_size(dtype_of(tensor)));
}

template <typename... Index>
double value(const attest_tensor& tensor, Index... index) {
  return decode(dtype_of(tensor), load_code(dtype_of(tensor), element(tensor, index...)));
}

template <typename... Index>
void store(const attest_tensor& tensor, double number, Index... index) {
  store_code(dtype_of(tensor), element(tensor, index...), encode(dtype_of(tensor), number));
}

template <typename... Index>
std::int64_t integer(const attest_tensor& tensor, Index... index) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  if (tensor.dtype == ATTEST_I64)
    std::memcpy(&wide, element(tensor, index...), sizeof wide);
  else
    std::memcpy(&narrow, element(tensor, index...), sizeof narrow), wide = narrow;
  return wide;
}

// A scale for a (sequence, KV head): [1], [Hkv] or [B, Hkv]; 1 when the slot is absent.
inline double scale(const attest_tensor* tensor, std::int64_t seq, std::int64_t head_kv) {
  if (!tensor) return 1;
  if (tensor->ndim == 2) return value(*tensor, seq, head_kv);
  return value(*tensor, tensor->shape[0] == 1 ? 0 : head_kv);
}

}  // namespace attest::plugin
