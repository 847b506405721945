// What a person sees while a sweep runs: a bar with rate and time left on a terminal, plain lines elsewhere. Every line
// that reports a failure ends with the command that repeats it.
#pragma once

#include "harness/record/journal.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

namespace attest {

class Progress {
 public:
  Progress(std::size_t total, bool verbose, const JournalHeader& header);

  void count(const Verdict& verdict);  // without showing it
  void show(const Verdict& verdict);
  // The last line: "640 passed, 2 failed, 14 xfail, ... in 12.3 s (52 cases/s)".
  void finish(std::size_t without_verdict);

 private:
  void bar();
  void clear_bar();
  double seconds() const;

  std::size_t total_, done_ = 0;
  bool terminal_, verbose_;
  JournalHeader header_;
  std::map<Outcome, std::size_t> counts_;
  std::chrono::steady_clock::time_point begin_;
  double last_bar_ = -1;
};

}  // namespace attest
