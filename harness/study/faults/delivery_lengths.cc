#include "harness/inputs/inputs.h"
#include "harness/study/faults/delivery_faults.h"
#include "harness/study/faults/edit.h"

#include <array>

namespace attest {
namespace {

using D = Delivery;

TensorView lengths(const D& d) { return d.call.view(Slot::LenKv); }
TensorView first_rows(const D& d) { return d.call.view(Slot::CuLenQ); }

// At least the sequence's own rows are left: shorter ones would be another kind of fault.
void one_short(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    if (const auto n = lengths(d).integer({seq}); n > 1) put_integer(lengths(d), {seq}, n - 1);
}

void one_long(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    if (const auto n = lengths(d).integer({seq}); n > 0 && n < d.problem.max_len_kv)
      put_integer(lengths(d), {seq}, n + 1);
}

void swapped(const D& d) {
  if (d.seqs() < 2) return;
  const auto first = lengths(d).integer({0}), last = lengths(d).integer({d.seqs() - 1});
  put_integer(lengths(d), {0}, last);
  put_integer(lengths(d), {d.seqs() - 1}, first);
}

void last_page_dropped(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq)
    if (const auto n = lengths(d).integer({seq}), page = std::int64_t{d.problem.page_size}; n > page)
      put_integer(lengths(d), {seq}, n / page * page - (n % page == 0 ? page : 0));
}

void rounded_up(const D& d) {
  for (int seq = 0; seq < d.seqs(); ++seq) {
    const auto n = lengths(d).integer({seq}), page = std::int64_t{d.problem.page_size};
    const auto full = (n + page - 1) / page * page;
    if (full <= d.problem.max_len_kv) put_integer(lengths(d), {seq}, full);  // the plan allows no more
  }
}

void of_longest(const D& d) {
  std::int64_t most = 0;
  for (int seq = 0; seq < d.seqs(); ++seq) most = std::max(most, lengths(d).integer({seq}));
  for (int seq = 0; seq < d.seqs(); ++seq)
    if (lengths(d).integer({seq}) > 0) put_integer(lengths(d), {seq}, most);
}

// What a captured graph would replay: the lengths of the launch before this one.
void of_previous_launch(const D& d) {
  const Case other = with_other_lengths(d.c);
  for (int seq = 0; seq < d.seqs(); ++seq)
    put_integer(lengths(d), {seq}, other.seq[static_cast<std::size_t>(seq)].len_kv);
}

// The border between two sequences' rows moves by one, where the plan's longest sequence allows it.
void border_moved(const D& d) {
  const TensorView cu = first_rows(d);
  for (int seq = 1; seq < d.seqs(); ++seq) {
    const auto begin = cu.integer({seq - 1}), border = cu.integer({seq}), end = cu.integer({seq + 1});
    if (border - begin > 1 && end - border > 0 && end - border < d.problem.max_len_q)
      put_integer(cu, {seq}, border - 1);
    else if (end - border > 1 && border - begin > 0 && border - begin < d.problem.max_len_q)
      put_integer(cu, {seq}, border + 1);
  }
}

void slots_off_by_one(const D& d) {
  const TensorView map = d.call.view(Slot::SlotMapping);
  for (std::int64_t token = 0; token < map.shape[0]; ++token)
    if (const auto slot = map.integer({token}); slot >= 0)
      put_integer(map, {token}, (slot + 1) % (std::int64_t{d.problem.num_pages} * d.problem.page_size));
}

void slots_swapped(const D& d) {
  const TensorView map = d.call.view(Slot::SlotMapping);
  for (std::int64_t token = 0; token + 1 < map.shape[0]; token += 2) {
    const auto a = map.integer({token}), b = map.integer({token + 1});
    put_integer(map, {token}, b);
    put_integer(map, {token + 1}, a);
  }
}

void last_token_not_written(const D& d) {
  const TensorView map = d.call.view(Slot::SlotMapping);
  for (std::int64_t token = map.shape[0] - 1; token >= 0; --token)
    if (map.integer({token}) >= 0) return put_integer(map, {token}, -1);
}

constexpr std::array<DeliveryFault, 11> kFaults{{
    {"len_kv_one_short", one_short},
    {"len_kv_one_long", one_long},
    {"len_kv_swapped", swapped},
    {"len_kv_last_page_dropped", last_page_dropped},
    {"len_kv_rounded_up", rounded_up},
    {"len_kv_of_longest", of_longest},
    {"len_kv_of_previous_launch", of_previous_launch},
    {"cu_len_q_border_moved", border_moved},
    {"slot_mapping_off_by_one", slots_off_by_one},
    {"slot_mapping_swapped", slots_swapped},
    {"last_token_not_written", last_token_not_written},
}};

}  // namespace

std::span<const DeliveryFault> length_faults() { return kFaults; }

}  // namespace attest
