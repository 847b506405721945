#include "harness/study/diagnosis/model_run.h"

#include <algorithm>
#include <iterator>

namespace attest {

void append(Seen& to, Seen from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

ModelRun::ModelRun(Bench& bench, const std::vector<Clue>& clues, const Contract& of, Models& models, Shape shape)
    : bench_(bench), clues_(clues), shape_(shape) {
  for (std::size_t i = 0; i < clues.size(); ++i) {
    hosts_.push_back(&models.host(of, clues[i].c, shape.tile));
    healthy_.emplace_back();
    if (bench[i]) {
      bench[i]->prepared.problem.splits = shape.splits;
      healthy_[i] = launch(*bench[i], bench[i]->prepared.call, "", *hosts_[i]);
    }
    append(healthy_seen_, bench[i] ? seen(*bench[i], healthy_[i]) : nothing(i));
  }
}

std::optional<Seen> ModelRun::under(const Fault& fault, std::size_t count) {
  Seen all;
  bool changed = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!bench_[i]) {
      append(all, nothing(i));
      continue;
    }
    Subject& subject = *bench_[i];
    subject.prepared.problem.splits = shape_.splits;
    std::swap(subject.healthy, healthy_[i]);
    const Outputs left = commit(fault, subject, *hosts_[i]);
    changed |= !same_bits(left, subject.healthy);
    std::swap(subject.healthy, healthy_[i]);
    if (left.reply.status == Reply::Status::Unsupported) return std::nullopt;
    append(all, seen(subject, left));
  }
  return changed ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace attest
