// Diagnoses for the command line: `attest diagnose`, and the failing cases of a run.
#pragma once

#include "harness/cli/paths.h"
#include "harness/cli/selection.h"
#include "harness/record/journal.h"
#include "harness/study/diagnosis/diagnose.h"

#include <chrono>
#include <memory>

namespace attest {

// The catalogue and the models, read when the first case needs them.
class Explainer {
 public:
  Explainer(const ContractBook& contracts, const Paths& paths, const HostOptions& host);
  // `kernel` has run the case and failed it. Throws what the catalogue or a worker throws.
  Diagnosis explain(const Case& c, const Verdict& failed, Host& kernel,
                    std::chrono::milliseconds budget = std::chrono::milliseconds(10'000));

 private:
  std::vector<Fault> catalogue_;
  Models models_;
};

// The lines of one failing case's diagnosis. What goes wrong on the way is said in them and fails nothing.
std::vector<std::string> explained(const Case& c, const Verdict& failed, const Selection& selection, const Paths& paths,
                                   const HostOptions& host);

// Diagnoses the first few failing cases of a run, one of each backend and kind of failure first, prints what they look
// like and appends their verdicts with it. Which ones does not depend on the order in which cases ended.
void explain_failures(const Selection& selection, const Paths& paths, const HostOptions& host,
                      const JournalContent& content, Journal& journal);

}  // namespace attest
