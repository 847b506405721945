#include "backends/loader.h"

#include "harness/core/error.h"

#include <dlfcn.h>
#include <unistd.h>

#include <fmt/format.h>

namespace attest {

const attest_backend& load_plugin(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) throw UsageError(fmt::format("plug-in '{}': no such file", path));
  const std::string slashed = path.find('/') == std::string::npos ? "./" + path : path;  // else dlopen searches
  void* library = dlopen(slashed.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw UsageError(fmt::format("plug-in '{}': can't be loaded: {}", path, dlerror()));
  const auto entry = reinterpret_cast<const attest_backend* (*)()>(dlsym(library, "attest_backend_entry"));
  if (!entry)
    throw UsageError(fmt::format("plug-in '{}': does not export attest_backend_entry (see backends/abi.h)", path));
  const attest_backend* backend = entry();
  if (!backend) throw UsageError(fmt::format("plug-in '{}': attest_backend_entry() returned no table", path));
  if (backend->abi_version != ATTEST_ABI_VERSION)
    throw UsageError(fmt::format(
        "plug-in '{}': built for ABI version {}, this program speaks {}; rebuild it against this backends/abi.h", path,
        backend->abi_version, ATTEST_ABI_VERSION));
  constexpr auto required = offsetof(attest_backend, workspace_bytes);  // the first optional member
  if (backend->struct_size < required)
    throw UsageError(fmt::format("plug-in '{}': its table has {} bytes, version {} needs at least {}", path,
                                 backend->struct_size, ATTEST_ABI_VERSION, required));
  return *backend;
}

}  // namespace attest
