// What a failing kernel's fault looks like. The kernel runs the failing case and its siblings (sibling.h); the model of
// its declared arithmetic (model.h) runs them healthy and under each fault of the catalogue that is in scope; faults
// are ranked by how well what they leave agrees with what the kernel left (match.h). The kernel's own tile size and
// split count are not known, so the model has several, and a fault is ranked by its best.
#pragma once

#include "harness/core/fault.h"
#include "harness/record/verdict.h"
#include "harness/study/diagnosis/match.h"
#include "harness/study/diagnosis/model.h"
#include "harness/study/seed.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace attest {

struct Suspect {
  std::vector<std::string> names;  // faults that leave the same everywhere: one answer
  std::string says;                // of the first
  Match match;                     // over all cases that were compared
  double ratio = 0;    // largest |actual - faulty| / bound of the failing case; inf where NaN or Inf stand elsewhere
  double healthy = 0;  // the same without the fault
  bool matches() const { return match.ratio <= 1 || (match.shape < 0.15 && match.residual < 0.3); }
};

struct Diagnosis {
  std::string sentence;             // of a failure that has no numbers to compare; empty where there are
  std::vector<Suspect> suspects;    // the best first
  std::vector<std::string> places;  // of the excess (excess.h)
  int cases = 0;                    // that were compared, the failing one and its siblings
  // The best matches, and better than the next by far.
  bool certain() const;
};

struct DiagnoseOptions {
  std::vector<int> tiles{16, 32, 64, 128, 256};
  std::vector<int> splits{2, 4, 8};  // in place of the case's own, where the kernel splits
  // What the kernel leaves on a case that was made ready; unset: it is launched as the case says.
  std::function<Outputs(const Subject&, Host&)> launch;
  std::chrono::milliseconds budget{20'000};  // siblings that come after it are left out
};

// `failed` is the verdict of the case on that host's kernel. Throws nothing of a kernel's doing; InfraError where no
// worker can be started.
Diagnosis diagnose(const Case& c, const Verdict& failed, Host& kernel, Models& models,
                   const std::vector<Fault>& catalogue, const DiagnoseOptions& options = {});

// What needs no model to be said; empty where numbers are to be compared.
std::string sentence_of(const Verdict& verdict);

// "matches: k_scale_dropped: K's scale is not multiplied in (ratio 0.31; healthy 41.7)", the next ones, the places.
std::vector<std::string> lines(const Diagnosis& diagnosis);

}  // namespace attest
