#include "harness/study/faults/delivery_faults.h"
#include "harness/study/faults/edit.h"

#include <array>

namespace attest {
namespace {

using D = Delivery;

TensorView table(const D& d) { return d.call.view(Slot::PageTable); }

void swap_entries(const TensorView& t, std::int64_t row_a, std::int64_t at_a, std::int64_t row_b, std::int64_t at_b) {
  const auto a = t.integer({row_a, at_a}), b = t.integer({row_b, at_b});
  put_integer(t, {row_a, at_a}, b);
  put_integer(t, {row_b, at_b}, a);
}

// Two sequences that both have pages, or {0, 0}.
std::array<int, 2> two_sequences(const D& d) {
  std::array<int, 2> found{0, 0};
  int n = 0;
  for (int seq = 0; seq < d.seqs() && n < 2; ++seq)
    if (d.pages_of(seq) > 0) found[static_cast<std::size_t>(n++)] = seq;
  return n == 2 ? found : std::array<int, 2>{0, 0};
}

// As many leading entries as both rows really have: nothing is handed over that no sequence owns.
void rows_swapped(const D& d) {
  const auto [a, b] = two_sequences(d);
  for (int i = 0; i < std::min(d.pages_of(a), d.pages_of(b)); ++i) swap_entries(table(d), a, i, b, i);
}

void shifted(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    for (int i = 0; i + 1 < d.pages_of(seq); ++i) swap_entries(table(d), seq, i, seq, i + 1);
}

void page_duplicated(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    if (d.pages_of(seq) > 1) put_integer(table(d), {seq, 1}, table(d).integer({seq, 0}));
}

void page_of_neighbour(const D& d) {
  const auto [a, b] = two_sequences(d);
  put_integer(table(d), {a, 0}, table(d).integer({b, 0}));
}

void pages_of_first(const D& d) {
  const auto [a, b] = two_sequences(d);
  for (int i = 0; i < std::min(d.pages_of(a), d.pages_of(b)); ++i)
    put_integer(table(d), {b, i}, table(d).integer({a, i}));
}

void last_page_missing(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    if (d.pages_of(seq) > 1)
      put_integer(table(d), {seq, d.pages_of(seq) - 1}, table(d).integer({seq, d.pages_of(seq) - 2}));
}

void pages_reversed(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq) {
    const int full = d.problem.seqs[static_cast<std::size_t>(seq)].len_kv / d.problem.page_size;
    for (int i = 0; i < full / 2; ++i) swap_entries(table(d), seq, i, seq, full - 1 - i);
  }
}

// Every table begins at the pool's first page, as if a pool of another layer were indexed.
void entry_off_by_one(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    for (int i = 0; i < d.pages_of(seq); ++i)
      put_integer(table(d), {seq, i}, (table(d).integer({seq, i}) + 1) % d.problem.num_pages);
}

// One sequence's page as it is before anything was written into it.
template <Slot Cache>
void page_never_written(const D& d) {
  const TensorView t = table(d);
  const CachePlace& place = Cache == Slot::KCache ? d.call.layout.k : d.call.layout.v;
  const Tensor& storage = d.call.storages[d.call.ref(Cache).storage];
  const std::size_t size = byte_size(d.problem.cache);
  for (int seq = 0; seq < d.seqs(); ++seq) {
    if (d.pages_of(seq) == 0) continue;
    const auto page = t.integer({seq, 0});
    const int slots = std::min(d.problem.page_size, d.problem.seqs[static_cast<std::size_t>(seq)].len_kv);
    for (int slot = 0; slot < slots; ++slot)
      for (int head = 0; head < d.problem.heads_kv; ++head)
        for (std::int64_t dim = 0; dim < place.width; ++dim)
          store_code(d.problem.cache,
                     storage.view().data + static_cast<std::size_t>(place.index(page, slot, head, dim)) * size, 0);
  }
}

constexpr std::array<DeliveryFault, 10> kFaults{{
    {"page_tables_swapped", rows_swapped},
    {"page_table_shifted", shifted},
    {"page_duplicated", page_duplicated},
    {"page_of_neighbour", page_of_neighbour},
    {"pages_of_first_sequence", pages_of_first},
    {"last_page_missing", last_page_missing},
    {"pages_reversed", pages_reversed},
    {"page_ids_off_by_one", entry_off_by_one},
    {"k_page_never_written", page_never_written<Slot::KCache>},
    {"v_page_never_written", page_never_written<Slot::VCache>},
}};

}  // namespace

std::span<const DeliveryFault> page_faults() { return kFaults; }

}  // namespace attest
