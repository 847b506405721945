#include "harness/run/arena.h"

#include "harness/core/error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace attest {
namespace {

nlohmann::json describe_slot(Slot slot, std::size_t offset, DType dtype, const Dims& shape, const Dims& strides) {
  return {{"slot", name(slot)}, {"offset", offset}, {"dtype", name(dtype)}, {"shape", shape}, {"strides", strides}};
}

// The slots that lie in a storage, for messages.
std::string slots_of(const Call& call, std::size_t storage) {
  std::string names;
  for (std::size_t i = 0; i < kSlots; ++i)
    if (call.slots[i] && call.slots[i]->storage == storage)
      names += (names.empty() ? "" : ", ") + std::string(kSlotNames[i]);
  return names;
}

}  // namespace

// Sealed against shrinking: a kernel that truncates the memory must not pull it from under the harness.
Arena::Arena() : fd_(memfd_create("attest", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (fd_ < 0 || fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    throw InfraError(fmt::format("no shared memory: memfd_create: {}", std::strerror(errno)));
}

Arena::~Arena() {
  if (base_) munmap(base_, bytes_);
  if (fd_ >= 0) close(fd_);
}

void Arena::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (base_) munmap(base_, bytes_);
  base_ = nullptr;
  bytes_ = 0;
  const std::size_t whole = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  if (ftruncate(fd_, static_cast<off_t>(whole)) != 0)
    throw InfraError(fmt::format("no shared memory of {} bytes: {}", whole, std::strerror(errno)));
  void* mapping = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapping == MAP_FAILED)
    throw InfraError(fmt::format("can't map {} bytes of shared memory: {}", whole, std::strerror(errno)));
  base_ = static_cast<std::byte*>(mapping);
  bytes_ = whole;
}

void Arena::stage(const Call& call, GuardMode mode, std::size_t workspace) {
  std::size_t cursor = 0;
  regions_.clear();
  workspace_.reset();
  for (const Tensor& storage : call.storages) regions_.push_back(place(cursor, storage.bytes().size(), mode));
  if (workspace) workspace_ = place(cursor, workspace, mode);
  reserve(cursor);
  restage(call);
}

void Arena::restage(const Call& call) {
  const std::span<std::byte> all(base_, bytes_);
  for (std::size_t i = 0; i < call.storages.size(); ++i) {
    const auto from = call.storages[i].bytes();
    std::copy(from.begin(), from.end(), all.begin() + static_cast<std::ptrdiff_t>(regions_[i].payload));
    write_bands(all, regions_[i]);
  }
  if (!workspace_) return;
  std::fill_n(base_ + workspace_->payload, workspace_->bytes, std::byte{0xFF});
  write_bands(all, *workspace_);
}

std::span<std::byte> Arena::storage(std::size_t index) const {
  return {base_ + regions_[index].payload, regions_[index].bytes};
}

TensorView Arena::view(const Call& call, Slot slot) const {
  const SlotRef& ref = call.ref(slot);
  return {storage(ref.storage).data() + static_cast<std::size_t>(ref.offset) * byte_size(ref.dtype), ref.dtype,
          ref.shape, ref.strides};
}

std::optional<std::string> Arena::guard_damage(const Call& call) const {
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (const auto found = damage({base_, bytes_}, regions_[i]))
      return fmt::format("{}: {}", slots_of(call, i), found->text());
  if (workspace_)
    if (const auto found = damage({base_, bytes_}, *workspace_)) return fmt::format("workspace: {}", found->text());
  return std::nullopt;
}

nlohmann::json Arena::describe(const Call& call) const {
  nlohmann::json tensors = nlohmann::json::array(), forbidden = nlohmann::json::array();
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (!call.slots[i]) continue;
    const SlotRef& ref = *call.slots[i];
    const std::size_t offset =
        regions_[ref.storage].payload + static_cast<std::size_t>(ref.offset) * byte_size(ref.dtype);
    tensors.push_back(describe_slot(static_cast<Slot>(i), offset, ref.dtype, ref.shape, ref.strides));
  }
  if (workspace_)
    tensors.push_back(describe_slot(Slot::Workspace, workspace_->payload, DType::U8,
                                    {static_cast<std::int64_t>(workspace_->bytes)}, {1}));
  const auto forbid = [&](const Region& region) {
    if (!region.pages) return;
    for (const ByteRange& page : {page_before(region), page_after(region)})
      forbidden.push_back({page.offset, page.bytes});
  };
  for (const Region& region : regions_) forbid(region);
  if (workspace_) forbid(*workspace_);
  return {{"bytes", bytes_}, {"tensors", tensors}, {"forbidden", forbidden}};
}

}  // namespace attest
