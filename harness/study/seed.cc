#include "harness/study/seed.h"

#include "harness/core/error.h"
#include "harness/study/faults/delivery.h"
#include "harness/study/faults/output_faults.h"

#include <fmt/format.h>

#include <algorithm>

namespace attest {
namespace {

Tensor copy(const Tensor& from, std::span<const std::byte> bytes) {
  Tensor to(from.view().dtype, from.view().shape);
  std::copy(bytes.begin(), bytes.end(), to.bytes().begin());
  return to;
}

std::vector<bool> written_storages(const Call& call) {
  std::vector<bool> written(call.storages.size());
  for (std::size_t i = 0; i < kSlots; ++i)
    if (call.slots[i] && (is_output(static_cast<Slot>(i)) || is_cache(static_cast<Slot>(i))))
      written[call.slots[i]->storage] = true;
  return written;
}

// The caches as they should be after the call: where it only reads them, as they were given.
Outcomes right_caches(const Subject& subject, const Call& given) {
  Outcomes right;
  if (subject.prepared.problem.op != Op::Attend) {
    right.caches = subject.right.caches;
    return right;
  }
  for (const auto& [storage, bytes] : subject.right.caches) {
    const auto now = given.storages[storage].bytes();
    right.caches[storage].assign(now.begin(), now.end());
  }
  return right;
}

std::optional<Failure> conduct_of(const Launched& l, const Outcomes& right) {
  if (auto failure = check_conduct(l)) return failure;
  return check_caches(l, right);
}

}  // namespace

Call copy(const Call& call) {
  Call to;
  for (const Tensor& storage : call.storages) to.storages.push_back(copy(storage, storage.bytes()));
  to.slots = call.slots;
  to.layout = call.layout;
  to.one_hot = call.one_hot;
  return to;
}

Outputs copy(const Outputs& outputs) {
  Outputs to{.reply = outputs.reply, .storages = {}, .conduct = outputs.conduct};
  for (const Tensor& storage : outputs.storages)
    to.storages.push_back(storage.view().data ? copy(storage, storage.bytes()) : Tensor());
  return to;
}

TensorView view(const Outputs& outputs, const Call& call, Slot slot) {
  const SlotRef& r = call.ref(slot);
  return {outputs.storages[r.storage].view().data + static_cast<std::size_t>(r.offset) * byte_size(r.dtype), r.dtype,
          r.shape, r.strides};
}

bool same_bits(const Outputs& a, const Outputs& b) {
  if (a.reply.status != b.reply.status || a.conduct.has_value() != b.conduct.has_value()) return false;
  return std::equal(a.storages.begin(), a.storages.end(), b.storages.begin(), b.storages.end(),
                    [](const Tensor& x, const Tensor& y) {
                      if (!x.view().data || !y.view().data) return x.view().data == y.view().data;
                      const auto left = x.bytes(), right = y.bytes();
                      return std::equal(left.begin(), left.end(), right.begin(), right.end());
                    });
}

std::optional<Subject> set_up(const Case& c, Host& host) {
  const Contract& contract = host.contract();
  const auto kind = expectation(contract, c).kind;
  if (kind != Expectation::Kind::Take && kind != Expectation::Kind::Diverge) return std::nullopt;
  if (const Reply opened = host.open(); !opened.ok())
    throw InfraError(fmt::format("{}: {}", contract.backend, opened.text));
  const Reply supports = host.ask({{"do", "supports"}, {"problem", to_json(make_problem(c, contract))}});
  if (!supports.ok()) return std::nullopt;
  Prepared prepared = prepare(c, host);
  if (!prepared.layout.ok()) return std::nullopt;
  return Subject{.c = c,
                 .contract = &contract,
                 .prepared = std::move(prepared),
                 .right = {},
                 .workspace = supports.body.value("workspace", std::size_t{0}),
                 .healthy = {}};
}

std::optional<Subject> make_subject(const Case& c, Host& host, Precision precision) {
  std::optional<Subject> subject = set_up(c, host);
  if (!subject) return std::nullopt;
  const Prepared& made = subject->prepared;
  subject->right = right_outcomes(c, host.contract(), made.problem, made.call, precision);
  subject->healthy = launch(*subject, made.call, "", host);
  return subject;
}

Outputs launch(const Subject& subject, const Call& given, const std::string& fault, Host& host) {
  if (const Reply opened = host.open(); !opened.ok())
    throw InfraError(fmt::format("{}: {}", host.contract().backend, opened.text));
  Problem problem = subject.prepared.problem;
  problem.fault = fault;
  Outputs left;
  left.reply = host.ask({{"do", "supports"}, {"problem", to_json(problem)}});  // a fault it does not know is declined
  if (!left.reply.ok()) return left;
  const std::string kernel = expected_kernel(*subject.contract, subject.c);
  const Launch launched = plan_and_launch({problem, subject.prepared.before, given, kernel, subject.workspace}, host);
  left.reply = launched.reply;
  left.conduct = launched.damage;
  if (!left.reply.ok()) return left;
  if (!left.conduct)
    left.conduct = conduct_of({problem, given, host.arena(), left.reply.body, kernel}, right_caches(subject, given));
  const auto written = written_storages(given);
  for (std::size_t i = 0; i < given.storages.size(); ++i)
    left.storages.push_back(written[i] ? copy(given.storages[i], host.arena().storage(i)) : Tensor());
  return left;
}

Outputs commit(const Fault& fault, const Subject& subject, Host& host) {
  switch (fault.tier) {
    case FaultTier::Model: return launch(subject, subject.prepared.call, fault.name, host);
    case FaultTier::Delivery: {
      Call given = copy(subject.prepared.call);
      tamper(fault, subject.c, subject.prepared.problem, given);
      return launch(subject, given, "", host);
    }
    case FaultTier::Output: break;
  }
  Outputs left = copy(subject.healthy);
  if (left.reply.ok()) deface(fault, subject, left);
  return left;
}

}  // namespace attest
