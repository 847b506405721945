#include "harness/run/relation.h"

#include "harness/core/case_keys.h"

#include <fmt/format.h>

#include <cmath>

namespace attest {
namespace {

std::uint64_t code_at(const TensorView& view, std::int64_t element) {
  return load_code(view.dtype, view.data + static_cast<std::size_t>(element) * byte_size(view.dtype));
}
void put_code(const TensorView& view, std::int64_t element, std::uint64_t code) {
  store_code(view.dtype, view.data + static_cast<std::size_t>(element) * byte_size(view.dtype), code);
}
void negate(const TensorView& view, std::int64_t element) {
  const double value = decode(view.dtype, code_at(view, element));
  if (!std::isnan(value)) put_code(view, element, encode(view.dtype, -value));
}

// The storage of a cache, seen from its first element: places index from there.
TensorView storage_of(const Call& call, Slot slot) { return call.storages[call.ref(slot).storage].view(); }

// Calls visit(element in the one call, in the other) for each element of a key.
template <typename Visit>
void for_key(const Call& a, const CachePlace& in_a, const Call& b, const CachePlace& in_b, int seq, int position,
             int page_size, const Visit& visit) {
  const auto page = [&](const Call& call) { return call.view(Slot::PageTable).integer({seq, position / page_size}); };
  const std::int64_t slot = position % page_size, page_a = page(a), page_b = page(b);
  for (std::int64_t head = 0; head < in_a.extents.heads; ++head)
    for (std::int64_t dim = 0; dim < in_a.width; ++dim)
      visit(in_a.index(page_a, slot, head, dim), in_b.index(page_b, slot, head, dim));
}

// Row `row` of the second launch's sequence is this one of the first's: both end at the same position.
int row_in_first(const Problem& first, const Problem& second, int seq, int row) {
  const auto at = static_cast<std::size_t>(seq);
  return first.first_row(seq) + first.seqs[at].len_q - second.seqs[at].len_q + row;
}

void copy_rows(const Problem& first, const Call& from, const Problem& second, const Call& to) {
  const TensorView a = from.view(Slot::Q), b = to.view(Slot::Q);
  for (int seq = 0; seq < static_cast<int>(second.seqs.size()); ++seq)
    for (int row = 0; row < second.seqs[static_cast<std::size_t>(seq)].len_q; ++row)
      for (int head = 0; head < first.heads_q; ++head)
        for (int dim = 0; dim < first.dim; ++dim)
          put_code(b, b.offset({second.first_row(seq) + row, head, dim}),
                   code_at(a, a.offset({row_in_first(first, second, seq, row), head, dim})));
}

void copy_keys(const Call& from, const Problem& second, const Call& to) {
  const auto copy = [&](Slot slot, const CachePlace& a, const CachePlace& b) {
    const TensorView source = storage_of(from, slot), target = storage_of(to, slot);
    for (int seq = 0; seq < static_cast<int>(second.seqs.size()); ++seq)
      for (int position = 0; position < second.seqs[static_cast<std::size_t>(seq)].len_kv; ++position)
        for_key(from, a, to, b, seq, position, second.page_size,
                [&](std::int64_t x, std::int64_t y) { put_code(target, y, code_at(source, x)); });
  };
  copy(Slot::KCache, from.layout.k, to.layout.k);
  copy(Slot::VCache, from.layout.v, to.layout.v);
}

// Per tensor, head or sequence and head: the second call's sequences come first in the first's.
void copy_small(const Call& from, const Call& to) {
  for (const Slot slot : {Slot::QScale, Slot::KScale, Slot::VScale, Slot::Sinks}) {
    if (!to.has(slot)) continue;
    const TensorView a = from.view(slot), b = to.view(slot);
    for (std::int64_t i = 0; i < element_count(b.shape); ++i) put_code(b, i, code_at(a, i));
  }
}

void negate_keys(const Problem& p, const Call& call, int first_seq) {
  const TensorView values = storage_of(call, Slot::VCache);
  std::vector<bool> done(static_cast<std::size_t>(call.layout.v.storage));  // pages may be shared
  for (int seq = first_seq; seq < static_cast<int>(p.seqs.size()); ++seq)
    for (int position = 0; position < p.seqs[static_cast<std::size_t>(seq)].len_kv; ++position)
      for_key(call, call.layout.v, call, call.layout.v, seq, position, p.page_size, [&](std::int64_t x, std::int64_t) {
        if (!done[static_cast<std::size_t>(x)]) negate(values, x);
        done[static_cast<std::size_t>(x)] = true;
      });
}

void negate_rows(const Problem& p, const Call& call, int first_seq) {
  const TensorView q = call.view(Slot::Q);
  for (int row = p.first_row(first_seq); row < p.total_q; ++row)
    for (int head = 0; head < p.heads_q; ++head)
      for (int dim = 0; dim < p.dim; ++dim) negate(q, q.offset({row, head, dim}));
}

}  // namespace

Left left_by(const Call& call, const Arena& arena) {
  Left left;
  const auto read = [&](Slot slot, std::vector<double>& to) {
    if (!call.has(slot)) return;
    const TensorView view = arena.view(call, slot);
    if (slot == Slot::Lse) {
      for (std::int64_t row = 0; row < view.shape[1]; ++row)
        for (std::int64_t head = 0; head < view.shape[0]; ++head) to.push_back(view.value({head, row}));
      return;
    }
    for (std::int64_t row = 0; row < view.shape[0]; ++row)
      for (std::int64_t head = 0; head < view.shape[1]; ++head)
        for (std::int64_t dim = 0; dim < view.shape[2]; ++dim) to.push_back(view.value({row, head, dim}));
  };
  read(Slot::Out, left.out);
  read(Slot::Lse, left.lse);
  return left;
}

Related related(const Case& c, const Contract& contract) {
  const Determinism claimed = call_rules(contract, c).determinism;
  Related second{.c = c, .sequences = static_cast<int>(c.seq.size()), .bitwise = claimed != Determinism::None};
  second.c.rel = Relation::None;
  switch (c.rel) {
    case Relation::None: break;
    case Relation::PagesMoved: second.c.table = c.table == Table::Ordered ? Table::Shuffled : Table::Ordered; break;
    case Relation::PoisonChanged: second.c.poison = c.poison == Poison::Zero ? Poison::Huge : Poison::Zero; break;
    case Relation::VNegated: second.negates_v = true; break;
    case Relation::NeighboursChanged:
      second.changes_neighbours = true;
      second.sequences = 1;
      break;
    case Relation::BatchAlone:
      second.c.seq.resize(1);
      second.sequences = 1;
      second.bitwise = claimed >= Determinism::BatchInvariant;
      break;
    case Relation::SplitsChanged:
      second.c.splits = c.splits == 1 ? 3 : 1;
      second.bitwise = claimed >= Determinism::SplitInvariant;
      break;
    case Relation::PrefillAsDecode:
      second.c.phase = Phase::Decode;
      second.c.seq = {{1, c.seq.front().len_kv}};
      second.sequences = 1;
      second.bitwise = claimed >= Determinism::BatchInvariant;
      break;
  }
  return second;
}

Call related_call(const Related& second, const Problem& first_problem, const Call& first, const Problem& problem,
                  Call call) {
  copy_rows(first_problem, first, problem, call);
  copy_keys(first, problem, call);
  copy_small(first, call);
  if (second.negates_v) negate_keys(problem, call, 0);
  if (second.changes_neighbours) {
    negate_keys(problem, call, 1);
    negate_rows(problem, call, 1);
  }
  return call;
}

std::optional<Failure> compare_related(const Related& second, const Problem& first_problem, const Left& first,
                                       const Problem& problem, const Left& left, const Expected& right) {
  const auto differ = [&](std::string_view what, const std::vector<double>& a, const std::vector<double>& b,
                          const ExpectedTensor& tensor, double sign) -> std::optional<Failure> {
    const int width = tensor.dim;
    for (int seq = 0; seq < second.sequences; ++seq)
      for (int row = 0; row < problem.seqs[static_cast<std::size_t>(seq)].len_q; ++row)
        for (int head = 0; head < problem.heads_q; ++head)
          for (int dim = 0; dim < width; ++dim) {
            const int here = row_in_first(first_problem, problem, seq, row);
            const std::size_t i = tensor.index(here, head, dim);
            const auto j =
                static_cast<std::size_t>(((problem.first_row(seq) + row) * problem.heads_q + head) * width + dim);
            const double x = a[i], y = sign * b[j], allowed = second.bitwise ? 0 : 2 * tensor.bound[i];
            if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= allowed) continue;
            return Failure{
                FailKind::Relation,
                fmt::format("{} at sequence {}, head {}, row {}{} is {:.9g}, and {:.9g} in the second launch; "
                            "{}",
                            what, seq, head, here - first_problem.first_row(seq),
                            width > 1 ? fmt::format(", dim {}", dim) : "", x, b[j],
                            second.bitwise ? "they must agree bit for bit"
                                           : fmt::format("both bounds allow {:.3g} between them", allowed))};
          }
    return std::nullopt;
  };
  if (auto failure = differ("out", first.out, left.out, right.out, second.negates_v ? -1 : 1)) return failure;
  if (first.lse.empty() || left.lse.empty()) return std::nullopt;
  return differ("lse", first.lse, left.lse, right.lse, 1);
}

RelationResult check_relation(const Case& c, const Prepared& first, const Left& left, const Expected& right,
                              Host& host) {
  const Related second = related(c, host.contract());
  const std::string name = find_case_key("rel")->print(c);
  if (auto wrong = contradiction(second.c)) return {.unsupported = fmt::format("rel={}: {}", name, *wrong)};
  if (const Expectation expected = expectation(host.contract(), second.c); expected.kind != Expectation::Kind::Take)
    return {.unsupported =
                fmt::format("rel={}: the contract does not take the second launch: {}", name, expected.text)};
  const Reply supports = host.ask({{"do", "supports"}, {"problem", to_json(make_problem(second.c, host.contract()))}});
  if (supports.status == Reply::Status::Unsupported)
    return {.unsupported = fmt::format("rel={}: the kernel declines the second launch: {}", name, supports.text)};
  if (!supports.ok()) return {.reply = supports};
  Prepared made = prepare(second.c, host);
  if (!made.layout.ok()) return {.reply = made.layout};
  made.call = related_call(second, first.problem, first.call, made.problem, std::move(made.call));
  const std::string kernel = expected_kernel(host.contract(), second.c);
  const auto workspace = supports.body.value("workspace", std::size_t{0});
  auto [reply, damage] = plan_and_launch({made.problem, made.before, made.call, kernel, workspace}, host);
  if (damage) return {.failure = damage};
  if (!reply.ok()) return {.reply = reply};
  if (auto failure = check_conduct({made.problem, made.call, host.arena(), reply.body, kernel}))
    return {.failure = failure};
  auto failure = compare_related(second, first.problem, left, made.problem, left_by(made.call, host.arena()), right);
  if (failure) failure->message = fmt::format("{}: {}", name, failure->message);
  return {.failure = failure};
}

}  // namespace attest
