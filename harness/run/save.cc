#include "harness/run/save.h"

#include "harness/core/error.h"
#include "harness/core/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace attest {
namespace {

void save_expected(const std::string& path, const std::vector<double>& values, const ExpectedTensor& like) {
  Dims shape{like.rows, like.heads, like.dim};
  Dims strides = contiguous_strides(shape);
  write_npy(path, {reinterpret_cast<std::byte*>(const_cast<double*>(values.data())), DType::F64, std::move(shape),
                   std::move(strides)});
}

void save_expected_tensor(const std::string& folder, std::string_view slot, const ExpectedTensor& tensor) {
  if (tensor.value.empty()) return;
  save_expected(fmt::format("{}/{}.expected.npy", folder, slot), tensor.value, tensor);
  save_expected(fmt::format("{}/{}.bound.npy", folder, slot), tensor.bound, tensor);
}

}  // namespace

std::string folder_name(const std::string& token) {
  std::string name = token;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ':' || c == '*' || c == '#' || c == '%'; }, '_');
  return name.size() > 200 ? fmt::format("{}_{:016x}", name.substr(0, 180), std::hash<std::string>()(token)) : name;
}

void save_tensors(const std::string& folder, const std::string& token, const CaseTrace& trace) {
  const std::string to = fmt::format("{}/{}", folder, folder_name(token));
  std::error_code error;
  std::filesystem::create_directories(to, error);
  if (error) throw InfraError(fmt::format("{}: can't be made: {}", to, error.message()));
  std::ofstream(to + "/token.txt") << token << "\n";
  const Call& call = *trace.call;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (!call.has(slot)) continue;
    const SlotRef& ref = call.ref(slot);
    if (!is_output(slot)) write_npy(fmt::format("{}/{}.npy", to, name(slot)), call.view(slot));
    if (!is_output(slot) && !is_cache(slot)) continue;
    TensorView after = call.view(slot);
    after.data = trace.left[ref.storage].view().data + static_cast<std::size_t>(ref.offset) * byte_size(ref.dtype);
    write_npy(fmt::format("{}/{}.actual.npy", to, name(slot)), after);
  }
  const bool rope = trace.problem->op == Op::Rope;
  save_expected_tensor(to, rope ? "q_out" : "out", trace.right.values.out);
  save_expected_tensor(to, "k_out", trace.right.values.k_out);
  if (call.has(Slot::Lse)) save_expected_tensor(to, "lse", trace.right.values.lse);
}

}  // namespace attest
