#include "harness/run/checks.h"

#include "harness/core/words.h"
#include "harness/run/what_was_read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace attest {
namespace {

std::string shape_text(const Dims& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool is_written(const Call& call, std::size_t storage, bool (*kind)(Slot)) {
  for (std::size_t i = 0; i < kSlots; ++i)
    if (call.slots[i] && call.slots[i]->storage == storage && kind(static_cast<Slot>(i))) return true;
  return false;
}

std::string slot_names(const Call& call, std::size_t storage) {
  std::string names;
  for (std::size_t i = 0; i < kSlots; ++i)
    if (call.slots[i] && call.slots[i]->storage == storage)
      names += (names.empty() ? "" : ", ") + std::string(kSlotNames[i]);
  return names;
}

// For each byte of an output's storage: does it lie in the tensor itself, or in a gap?
std::vector<bool> inside(const Call& call, std::size_t storage) {
  std::vector<bool> mask(call.storages[storage].bytes().size());
  for (const auto& ref : call.slots) {
    if (!ref || ref->storage != storage) continue;
    const std::size_t size = byte_size(ref->dtype);
    Dims index(ref->shape.size(), 0);
    for (std::int64_t n = element_count(ref->shape); n > 0; --n) {
      std::int64_t at = ref->offset;
      for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * ref->strides[axis];
      std::fill_n(mask.begin() + at * static_cast<std::int64_t>(size), size, true);
      for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < ref->shape[axis]) break;
        index[axis] = 0;
      }
    }
  }
  return mask;
}

std::string cache_place(const Problem& p, const CachePlace& place, std::int64_t element) {
  const CacheExtents& e = place.extents;
  for (std::int64_t page = 0; page < e.pages; ++page)
    for (std::int64_t slot = 0; slot < e.page_size; ++slot)
      for (std::int64_t head = 0; head < e.heads; ++head)
        for (std::int64_t dim = 0; dim < place.width; ++dim)
          if (place.index(page, slot, head, dim) == element)
            return fmt::format("page {}, slot {} (flat slot {}), KV head {}, dim {}", page, slot,
                               page * p.page_size + slot, head, dim);
  return fmt::format("element {} (padding)", element);
}

Failure numeric_failure(const Comparison& c, std::string_view what, bool proven) {
  if (c.special)
    return {FailKind::Special,
            fmt::format("{} has a NaN or Inf out of place at {}; {} of {} elements fail", what, text(*c.special),
                        c.failing, c.elements),
            c.special};
  // Beyond the worst case the declared arithmetic is not what ran; short of it the roundings would have to conspire.
  return {FailKind::Numeric,
          fmt::format("{} is outside its {} at {} (ratio {:.3g}); {} of {} elements fail", what,
                      proven ? "bound" : "likely bound (six sigma)", text(*c.worst), c.ratio, c.failing, c.elements),
          c.worst};
}

// One output against its bound; the verdict keeps the worst of several.
std::optional<Failure> check_output(const Launched& l, Slot slot, const ExpectedTensor& right, Verdict& verdict) {
  const Comparison c = compare(right, elements_of(l.arena.view(l.call, slot)), l.problem);
  verdict.elements += c.elements;
  verdict.failing += c.failing;
  if (c.worst && (!verdict.worst || !(c.ratio <= verdict.ratio))) {
    verdict.ratio = c.ratio;
    verdict.worst = c.worst;
  }
  verdict.cells.insert(verdict.cells.end(), c.cells.begin(), c.cells.end());
  if (c.holds()) return std::nullopt;
  return numeric_failure(c, name(slot),
                         !compare(right, elements_of(l.arena.view(l.call, slot)), l.problem, BoundTier::Det).holds());
}

// A one-hot output that is off says which key it came from.
std::optional<Failure> with_words(const Launched& l, const ExpectedTensor& right, std::optional<Failure> failure) {
  if (!failure || !failure->worst || !l.call.one_hot) return failure;
  const auto words = what_was_read(l.problem, l.call, right, l.arena.view(l.call, Slot::Out), failure->worst->place);
  if (words) failure->message += "; " + *words;
  return failure;
}

std::optional<Failure> check_lse(const Launched& l, const ExpectedTensor& right, Verdict& verdict) {
  Comparison c = compare(right, elements_of_lse(l.arena.view(l.call, Slot::Lse)), l.problem);
  verdict.lse_ratio = c.ratio;
  if (c.holds()) return std::nullopt;
  const bool proven =
      !compare(right, elements_of_lse(l.arena.view(l.call, Slot::Lse)), l.problem, BoundTier::Det).holds();
  Failure failure = numeric_failure(c, "lse", proven);
  failure.kind = FailKind::Lse;
  if (failure.worst) failure.worst->place.dim = -1;
  return failure;
}

}  // namespace

std::optional<Failure> check_kernel(const Launched& l) {
  const auto ran = l.body.value("ran", "");
  if (glob_match(l.expected_kernel, ran)) return std::nullopt;
  // Where no row has a key to look at, none need run.
  const auto attends = [](const Sequence& s) { return s.len_q > 0 && s.len_kv > 0; };
  if (ran.empty() && std::none_of(l.problem.seqs.begin(), l.problem.seqs.end(), attends)) return std::nullopt;
  return Failure{FailKind::WrongKernel, fmt::format("kernel '{}' ran, the contract says '{}'", ran, l.expected_kernel)};
}

std::optional<Failure> check_produced(const Launched& l) {
  if (!l.body.contains("produced")) return std::nullopt;
  for (const auto& [key, produced] : l.body.at("produced").items()) {
    const auto slot = slot_from_name(key);
    if (!slot || !l.call.has(*slot)) continue;
    const SlotRef& wanted = l.call.ref(*slot);
    const auto shape = produced.at("shape").get<Dims>();
    if (shape != wanted.shape)
      return Failure{FailKind::Shape,
                     fmt::format("{} has shape {}, expected {}", key, shape_text(shape), shape_text(wanted.shape))};
    const auto dtype = produced.at("dtype").get<std::string>();
    if (dtype != name(wanted.dtype))
      return Failure{FailKind::Dtype, fmt::format("{} is {}, expected {}", key, dtype, name(wanted.dtype))};
  }
  return std::nullopt;
}

std::optional<Failure> check_untouched(const Launched& l) {
  if (const auto damaged = l.arena.guard_damage(l.call)) return Failure{FailKind::Guard, *damaged};
  for (std::size_t i = 0; i < l.call.storages.size(); ++i) {
    if (is_written(l.call, i, is_cache)) continue;  // check_caches
    const auto before = l.call.storages[i].bytes(), after = l.arena.storage(i);
    if (is_written(l.call, i, is_output)) {
      const auto mask = inside(l.call, i);
      for (std::size_t byte = 0; byte < mask.size(); ++byte)
        if (!mask[byte] && before[byte] != after[byte])
          return Failure{FailKind::Guard, fmt::format("{}: wrote into the gaps between its rows, first at byte {}",
                                                      slot_names(l.call, i), byte)};
    } else if (const auto at = std::mismatch(before.begin(), before.end(), after.begin()).first; at != before.end()) {
      return Failure{FailKind::InputMutated,
                     fmt::format("input {} was changed, first at byte {}", slot_names(l.call, i), at - before.begin())};
    }
  }
  return std::nullopt;
}

std::optional<Failure> check_values(const Launched& l, const Outcomes& right, Verdict& verdict) {
  std::optional<Failure> failure;
  const auto keep_first = [&](std::optional<Failure> found) { failure = failure ? failure : found; };
  if (l.problem.op == Op::Rope) {
    keep_first(check_output(l, Slot::QOut, right.values.out, verdict));
    keep_first(check_output(l, Slot::KOut, right.values.k_out, verdict));
  } else if (l.problem.op != Op::Write) {
    keep_first(with_words(l, right.values.out, check_output(l, Slot::Out, right.values.out, verdict)));
    if (l.call.has(Slot::Lse)) keep_first(check_lse(l, right.values.lse, verdict));
  }
  if (verdict.cells.size() > 8) verdict.cells.resize(8);
  return failure;
}

std::optional<Failure> check_caches(const Launched& l, const Outcomes& right) {
  for (const auto& [storage, bytes] : right.caches) {
    const auto after = l.arena.storage(storage);
    const auto at = std::mismatch(bytes.begin(), bytes.end(), after.begin()).first;
    if (at == bytes.end()) continue;
    const std::size_t size = byte_size(l.problem.cache), element = static_cast<std::size_t>(at - bytes.begin()) / size;
    std::int64_t differing = 0;
    for (std::size_t i = 0; i < bytes.size() / size; ++i)
      differing += !std::equal(&bytes[i * size], &bytes[i * size] + size, &after[i * size]);
    // In a storage of both, K's elements are looked for first.
    const bool is_k = storage == l.call.ref(Slot::KCache).storage;
    std::string where =
        cache_place(l.problem, is_k ? l.call.layout.k : l.call.layout.v, static_cast<std::int64_t>(element));
    std::string what(name(is_k ? Slot::KCache : Slot::VCache));
    if (l.call.layout.one_storage && where.find("padding") != std::string::npos) {
      where = cache_place(l.problem, l.call.layout.v, static_cast<std::int64_t>(element));
      what = name(Slot::VCache);
    }
    const auto code = [&](const std::byte* from) { return load_code(l.problem.cache, from); };
    const auto before = l.call.storages[storage].bytes();
    return Failure{
        FailKind::CacheWrite,
        fmt::format("{} holds 0x{:x} at {}, expected 0x{:x} (before the call 0x{:x}); {} of {} elements differ", what,
                    code(&after[element * size]), where, code(&bytes[element * size]), code(&before[element * size]),
                    differing, bytes.size() / size)};
  }
  return std::nullopt;
}

std::optional<Failure> check_conduct(const Launched& l) {
  if (auto failure = check_kernel(l)) return failure;
  if (auto failure = check_produced(l)) return failure;
  return check_untouched(l);
}

std::optional<Failure> check_launch(const Launched& l, const Outcomes& right, Verdict& verdict) {
  verdict.ran = l.body.value("ran", "");
  if (auto failure = check_conduct(l)) return failure;
  if (auto failure = check_values(l, right, verdict)) return failure;
  return check_caches(l, right);
}

std::optional<Failure> check_nothing_written(const Call& call, const Arena& arena) {
  if (const auto damaged = arena.guard_damage(call)) return Failure{FailKind::Guard, *damaged};
  for (std::size_t i = 0; i < call.storages.size(); ++i) {
    const auto before = call.storages[i].bytes();
    if (std::equal(before.begin(), before.end(), arena.storage(i).begin())) continue;
    return Failure{FailKind::InputMutated,
                   fmt::format("rejected the call, but had written to {}", slot_names(call, i))};
  }
  return std::nullopt;
}

std::vector<std::byte> written_bytes(const Call& call, const Arena& arena) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < call.storages.size(); ++i)
    if (is_written(call, i, is_output) || is_written(call, i, is_cache)) {
      const auto bytes = arena.storage(i);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  return all;
}

}  // namespace attest
