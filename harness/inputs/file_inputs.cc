#include "harness/inputs/file_inputs.h"

#include "harness/core/error.h"
#include "harness/core/npy.h"

#include <fmt/format.h>

#include <filesystem>

namespace attest {

void read_inputs(Call& call, const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    throw UsageError(fmt::format("in=file:{}: no such folder", directory));
  int read = 0;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const auto slot = static_cast<Slot>(i);
    const std::string path = fmt::format("{}/{}.npy", directory, name(slot));
    if (is_output(slot) || !std::filesystem::exists(path, error)) continue;
    if (!call.has(slot)) throw UsageError(fmt::format("{}: this case has no tensor {}", path, name(slot)));
    read_npy(path, call.view(slot));
    ++read;
  }
  if (read == 0)
    throw UsageError(fmt::format("in=file:{}: no <slot>.npy in it, such as q.npy or k_cache.npy", directory));
}

}  // namespace attest
