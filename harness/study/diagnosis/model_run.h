// The model in one shape, a tile size and a split count, on every clue of a diagnosis: healthy, and under faults.
#pragma once

#include "harness/study/diagnosis/match.h"
#include "harness/study/diagnosis/model.h"
#include "harness/study/diagnosis/sibling.h"

#include <optional>
#include <vector>

namespace attest {

// One case on the kernel under suspicion: what it left.
struct Clue {
  Case c;  // as the kernel was asked, its fault with it
  Subject subject;
  std::vector<Sight> sights;
  Seen seen;
};

struct Shape {  // of a model
  int tile = 0, splits = 0;
};

void append(Seen& to, Seen from);

// The model's own copy of each clue: its layout differs from the kernel's. One for all shapes.
using Bench = std::vector<std::optional<Subject>>;

class ModelRun {
 public:
  ModelRun(Bench& bench, const std::vector<Clue>& clues, const Contract& of, Models& models, Shape shape);

  const Seen& healthy() const { return healthy_seen_; }  // of all clues

  // On the first `count` clues. nullopt: its bits are those of the healthy model everywhere, or it is not known.
  std::optional<Seen> under(const Fault& fault, std::size_t count);

 private:
  Seen nothing(std::size_t clue) const { return Seen(clues_[clue].sights.size()); }

  Bench& bench_;
  const std::vector<Clue>& clues_;
  Shape shape_;
  std::vector<Host*> hosts_;
  std::vector<Outputs> healthy_;  // by clue
  Seen healthy_seen_;
};

}  // namespace attest
