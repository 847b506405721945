#include "harness/core/npy.h"

#include "harness/core/error.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <regex>

namespace attest {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

std::string descriptor(DType dtype) {
  switch (dtype) {
    case DType::F64: return "<f8";
    case DType::F32: return "<f4";
    case DType::F16: return "<f2";
    case DType::BF16: return "<V2";
    case DType::I32: return "<i4";
    case DType::I64: return "<i8";
    case DType::U8: return "|u1";
    default: return "|V1";
  }
}

std::string shape_text(const Dims& shape) {
  std::string text = "(";
  for (const auto size : shape) text += fmt::format("{},{}", size, shape.size() == 1 ? "" : " ");
  if (shape.size() > 1) text.resize(text.size() - 2);
  return text + ")";
}

// Calls `visit` with the byte address of each element, in C order.
void for_each_element(const TensorView& view, const std::function<void(std::byte*)>& visit) {
  const std::int64_t count = element_count(view.shape);
  Dims index(view.shape.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * view.strides[axis];
    visit(view.data + static_cast<std::size_t>(at) * byte_size(view.dtype));
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < view.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

void write_npy(const std::string& path, const TensorView& view) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descriptor(view.dtype),
                                   shape_text(view.shape));
  header.append((64 - (kMagic.size() + 2 + header.size() + 1) % 64) % 64, ' ').append("\n");
  std::ofstream file(path, std::ios::binary);
  const auto length = static_cast<std::uint16_t>(header.size());
  file.write(kMagic.data(), kMagic.size())
      .write(reinterpret_cast<const char*>(&length), 2)
      .write(header.data(), static_cast<std::streamsize>(header.size()));
  for_each_element(view, [&](const std::byte* at) {
    file.write(reinterpret_cast<const char*>(at), static_cast<std::streamsize>(byte_size(view.dtype)));
  });
  if (!file.flush()) throw UsageError(fmt::format("{}: can't be written", path));
}

void read_npy(const std::string& path, const TensorView& view) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(8, '\0'), header;
  std::uint16_t length = 0;
  if (!file.read(magic.data(), 8) || magic != kMagic || !file.read(reinterpret_cast<char*>(&length), 2))
    throw UsageError(fmt::format("{}: no .npy file of format 1.0", path));
  header.resize(length);
  file.read(header.data(), length);
  std::smatch found;
  if (!std::regex_search(
          header, found,
          std::regex(R"('descr':\s*'[<|=]?([fiuV])(\d)'.*'fortran_order':\s*False.*'shape':\s*(\([^)]*\)))")))
    throw UsageError(fmt::format("{}: needs C order, little-endian numbers; its header is {}", path, header));
  const std::string shape = std::regex_replace(found[3].str(), std::regex(R"(,\s*\))"), ")");
  const std::string wanted = std::regex_replace(shape_text(view.shape), std::regex(R"(,\s*\))"), ")");
  if (shape != wanted) throw UsageError(fmt::format("{}: its shape is {}, the case's is {}", path, shape, wanted));
  const std::string own = descriptor(view.dtype);
  const char kind = found[1].str()[0];
  const bool raw = own[1] == 'V' && (kind == 'u' || (kind == 'f' && view.dtype == DType::E5M2));
  if (static_cast<std::size_t>(found[2].str()[0] - '0') != byte_size(view.dtype) || (!raw && own[1] != kind))
    throw UsageError(fmt::format("{}: its elements are {}{}, the case's are {} ({})", path, found[1].str(),
                                 found[2].str(), name(view.dtype), own));
  for_each_element(view, [&](std::byte* at) {
    file.read(reinterpret_cast<char*>(at), static_cast<std::streamsize>(byte_size(view.dtype)));
  });
  if (!file) throw UsageError(fmt::format("{}: shorter than its header says", path));
  if (file.peek() != std::ifstream::traits_type::eof())
    throw UsageError(fmt::format("{}: longer than its header says", path));
}

}  // namespace attest
