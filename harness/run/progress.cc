#include "harness/run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace attest {
namespace {

constexpr double kBarEvery = 0.1, kLineEvery = 10;  // seconds

}  // namespace

Progress::Progress(std::size_t total, bool verbose, const JournalHeader& header)
    : total_(total),
      terminal_(isatty(STDOUT_FILENO)),
      verbose_(verbose),
      header_(header),
      begin_(std::chrono::steady_clock::now()) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Progress::count(const Verdict& v) {
  ++done_;
  ++counts_[v.outcome];
}

void Progress::show(const Verdict& v) {
  count(v);
  if (is_failure(v.outcome)) {
    clear_bar();
    fmt::print("{}  {}  {}\n", summary(v), v.token, v.message);
    for (const auto& line : v.diagnosis) fmt::print("    {}\n", line);
    fmt::print("    repeat: {}\n", repeat_command(header_, v.token));
  } else if (verbose_) {
    clear_bar();
    fmt::print("{}  {}{}{}\n", summary(v), v.token, v.ratio > 0 ? fmt::format("  ratio {:.3g}", v.ratio) : "",
               v.message.empty() ? "" : "  " + v.message);
  }
  bar();
  std::fflush(stdout);
}

void Progress::bar() {
  const double now = seconds(), rate = static_cast<double>(done_) / std::max(now, 1e-3);
  if (now - last_bar_ < (terminal_ ? kBarEvery : kLineEvery) || (!terminal_ && now < kLineEvery)) return;
  last_bar_ = now;
  std::size_t failed = 0;
  for (const auto& [outcome, count] : counts_)
    if (is_failure(outcome)) failed += count;
  const std::string text = fmt::format("{}/{} cases, {} failed, {:.0f} cases/s, {:.0f} s left", done_, total_, failed,
                                       rate, static_cast<double>(total_ - done_) / rate);
  if (!terminal_) return fmt::print("{}\n", text);
  winsize size{};
  const int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  const int width = std::clamp(columns - static_cast<int>(text.size()) - 4, 0, 40);
  const int filled = static_cast<int>(static_cast<double>(width) * static_cast<double>(done_) /
                                      static_cast<double>(std::max<std::size_t>(total_, 1)));
  fmt::print(
      "\r\033[K{}{}{} {}", width ? "[" : "",
      std::string(static_cast<std::size_t>(filled), '=') + std::string(static_cast<std::size_t>(width - filled), ' '),
      width ? "]" : "", text);
}

void Progress::clear_bar() {
  if (terminal_) fmt::print("\r\033[K");
}

void Progress::finish(std::size_t without_verdict) {
  clear_bar();
  const auto count = [&](Outcome outcome) { return counts_.contains(outcome) ? counts_.at(outcome) : 0; };
  std::size_t failed = 0;
  for (const auto& [outcome, n] : counts_)
    if (is_failure(outcome)) failed += n;
  std::string text = fmt::format("{} passed, {} failed", count(Outcome::Pass), failed);
  for (const auto& [outcome, words] :
       {std::pair{Outcome::Xfail, "xfail"}, {Outcome::Unsupported, "unsupported"}, {Outcome::NotRun, "not run"}})
    if (count(outcome)) text += fmt::format(", {} {}", count(outcome), words);
  if (without_verdict) text += fmt::format(", {} without a verdict", without_verdict);
  fmt::print("{} in {:.1f} s ({:.0f} cases/s)\n", text, seconds(),
             static_cast<double>(done_) / std::max(seconds(), 1e-3));
}

}  // namespace attest
