#include "harness/inputs/file_inputs.h"

#include "harness/core/error.h"
#include "harness/core/npy.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace attest {

namespace {

std::int64_t integer(const Call& call, Slot slot, std::initializer_list<std::int64_t> index) {
  return call.view(slot).integer(index);
}

// Everything here decides which memory is read: it must fit the token.
std::optional<std::string> misfit(const Call& call, const Problem& p, Slot slot) {
  const auto seqs = static_cast<std::int64_t>(p.seqs.size());
  for (std::int64_t seq = 0; seq < seqs; ++seq) {
    const int len_kv = p.seqs[static_cast<std::size_t>(seq)].len_kv, first_row = p.first_row(static_cast<int>(seq));
    if (slot == Slot::LenKv && integer(call, slot, {seq}) != len_kv)
      return fmt::format("sequence {} has {} keys, the token says {}", seq, integer(call, slot, {seq}), len_kv);
    if (slot == Slot::CuLenQ && integer(call, slot, {seq}) != first_row)
      return fmt::format("sequence {} begins at row {}, the token says {}", seq, integer(call, slot, {seq}), first_row);
    if (slot == Slot::PageTable)
      for (int page = 0; page * p.page_size < len_kv; ++page)
        if (const auto id = integer(call, slot, {seq, page}); id < 0 || id >= p.num_pages)
          return fmt::format("page {} of sequence {} is {}, the pool has {}", page, seq, id, p.num_pages);
  }
  if (slot == Slot::CuLenQ && integer(call, slot, {seqs}) != p.total_q)
    return fmt::format("ends at row {}, the token says {}", integer(call, slot, {seqs}), p.total_q);
  const std::int64_t slots = std::int64_t{p.num_pages} * p.page_size;
  for (std::int64_t token = 0; slot == Slot::SlotMapping && token < p.total_q; ++token)
    if (integer(call, slot, {token}) >= slots)
      return fmt::format("token {} goes to slot {}, the pool has {}", token, integer(call, slot, {token}), slots);
  return std::nullopt;
}

}  // namespace

void read_inputs(Call& call, const Problem& problem, const std::string& directory) {
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
    if (const auto wrong = misfit(call, problem, slot)) throw UsageError(fmt::format("{}: {}", path, *wrong));
    ++read;
  }
  if (read == 0)
    throw UsageError(fmt::format("in=file:{}: no <slot>.npy in it, such as q.npy or k_cache.npy", directory));
}

}  // namespace attest
