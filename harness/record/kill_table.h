// What a self-test found: which faults were seeded into which cases, and which rules saw them. Plain data, filled by
// harness/study/selftest/selftest.h; reports are functions of it. What it means is worked out here, from the trials
// alone.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

// Ran: the kernel failed, crashed, or another one ran. Bytes: guards, inputs, gaps, cache bytes. Special: NaN and Inf
// as sets. Det and Prb: the worst case and the likely bound of the output. Lse: its own bound.
enum class KillRule { Ran, Bytes, Special, Det, Prb, Lse };
constexpr std::size_t kKillRules = 6;
std::string_view name(KillRule rule);

using Margins = std::array<double, kKillRules>;  // by rule: the largest ratio, infinite where nothing is measured; > 1
                                                 // kills

struct SeededFault {
  std::string name, tier, says;
  std::map<std::string, std::string> unseen;  // by mode: why it can't be seen there
};

struct Mode {  // a backend of the suite
  std::string name, about;
  double required = 1;  // share of the faults in scope that must be seen
};

struct HealthyCase {
  std::string token, probe;
  std::size_t mode = 0;
  Margins margins{};
  std::vector<bool> others;    // by rule of other suites: is the healthy kernel refused?
  std::optional<double> gain;  // the smallest gain error seen
  std::optional<int> keys;     // the fewest keys with a wrong V seen in its longest sequence
  int longest = 0;             // KV length of that sequence
};

struct Trial {
  std::size_t fault = 0, hc = 0;  // of KillTable's lists
  bool changed = false;           // any bit of what the kernel left
  Margins margins{};
  std::vector<bool> others;  // by rule of other suites: does it kill?
};

struct ComparedRule {  // of another suite
  std::string name, formula, source;
};

struct KillTable {
  std::string command, version;
  bool whole = true;  // the whole catalogue on the whole suite: the counts below are required
  double seconds = 0;
  std::vector<SeededFault> faults;
  std::vector<Mode> modes;
  std::vector<HealthyCase> cases;
  std::vector<Trial> trials;
  std::vector<ComparedRule> other_rules;  // where they were compared
  std::vector<std::string> declined;      // cases that the contract or the plug-in does not take
};

// The largest margin over the rules that decide a verdict (all but Det, which Prb sharpens).
double decisive(const Margins& margins);
inline bool killed(const Margins& margins) { return !(decisive(margins) <= 1); }

struct FaultInMode {
  std::size_t fault = 0, mode = 0;
  int tried = 0, changed = 0, kills = 0;  // cases
  double margin = 0;                      // the largest
  Margins margins{};                      // by rule
  std::map<std::string, Margins> probes;  // those that kill it: by rule, the largest margin
  bool killed() const { return kills > 0; }
};

struct ModeScore {
  std::size_t mode = 0, in_scope = 0, killed = 0, robust = 0;  // robust: margin of at least 2
  double score() const { return in_scope ? static_cast<double>(killed) / static_cast<double>(in_scope) : 0; }
  // Upper end of the 95 % interval of the share of such faults that is missed: 3/k without a survivor (rule of three).
  std::optional<double> missed_at_most() const;
};

struct KillSummary {
  std::vector<FaultInMode> rows;  // by mode, then fault; in scope only
  std::vector<ModeScore> scores;
  std::vector<FaultInMode> survivors, unseeded;
  std::vector<std::size_t> false_alarms;                 // cases
  std::set<std::string> probes;                          // of the suite
  std::map<std::string, std::set<std::string>> only_by;  // probe -> "fault in mode" that it alone kills
  std::vector<std::string> problems;                     // why the self-test fails; empty: it holds
};

KillSummary summarize(const KillTable& table);

// One acceptance rule over the trials that other suites' rules judge too (attention, not writes), in one mode.
struct RuleScore {
  std::size_t faults = 0, killed = 0;              // in scope, over all probes
  std::size_t plain_faults = 0, plain_killed = 0;  // over random inputs alone (probe gauss)
  std::size_t cases = 0, alarms = 0;               // healthy cases, and those refused
};

// By mode. `rule`: an index of other_rules; nullopt: the harness's own verdict.
std::vector<RuleScore> score_rule(const KillTable& table, std::optional<std::size_t> rule);

}  // namespace attest
