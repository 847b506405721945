#include "reports/findings.h"

#include "harness/core/case_keys.h"
#include "reports/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace attest::report {
namespace {

const Sequence* sequence_of(const Entry& entry, int seq) {
  if (!entry.parsed || seq < 0 || static_cast<std::size_t>(seq) >= entry.parsed->seq.size()) return nullptr;
  return &entry.parsed->seq[static_cast<std::size_t>(seq)];
}

struct Setting {
  std::string key, value;
};

bool has(const Case& c, const Setting& setting) { return case_value(c, setting.key) == setting.value; }

// Keys that have one value in all entries of the group.
std::vector<Setting> common_settings(const Summary& summary, const Group& group) {
  std::vector<const Case*> cases;
  for (const std::size_t i : group.entries) {
    if (!summary.entries[i].parsed) return {};
    cases.push_back(&*summary.entries[i].parsed);
  }
  auto keys = case_key_names();
  keys.insert(keys.begin(), "phase");
  std::vector<Setting> common;
  for (const std::string& key : keys) {
    const Setting first{key, case_value(*cases.front(), key).value_or("")};
    if (std::ranges::all_of(cases, [&](const Case* c) { return has(*c, first); })) common.push_back(first);
  }
  return common;
}

}  // namespace

std::string place_text(const Entry& entry, const Place& place) {
  std::string text = fmt::format("sequence {}", place.seq);
  if (const Sequence* s = sequence_of(entry, place.seq)) text += fmt::format(" ({}x{})", s->len_q, s->len_kv);
  text += fmt::format(", head {}", place.head);
  const bool has_groups = entry.parsed && entry.parsed->phase != Phase::Rope && entry.parsed->group() > 1;
  if (has_groups && place.head >= 0) text += fmt::format(" (KV head {})", place.head / entry.parsed->group());
  text += fmt::format(", row {}", place.row);
  if (place.dim >= 0) text += fmt::format(", dim {}", place.dim);
  return text;
}

double error_of(const Miss& miss) { return std::abs(miss.actual - miss.expected); }
double ratio_of(const Miss& miss) { return miss.actual == miss.expected ? 0 : error_of(miss) / miss.bound; }

std::string failing_text(const Verdict& verdict) {
  std::string text;
  if (verdict.failing > 0)
    text = fmt::format("{} of {} elements", count_text(static_cast<std::size_t>(verdict.failing)),
                       count_text(static_cast<std::size_t>(std::max(verdict.elements, verdict.failing))));
  if (!verdict.cells.empty())
    text += fmt::format("{}sequence.head {}", text.empty() ? "" : "; ", fmt::join(verdict.cells, ", "));
  return text;
}

std::string seen_text(const Verdict& verdict) {
  if (verdict.kind) return std::string(name(*verdict.kind));
  if (verdict.outcome == Outcome::Xfail) return "kind not recorded";
  std::string text(name(verdict.outcome));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string_view symbol(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return "✓";
    case Outcome::Xfail: return "≈";
    case Outcome::Unsupported: return "–";
    case Outcome::NotRun: return "○";
    default: return "✗";
  }
}

std::vector<Group> grouped(const Summary& summary, const std::function<bool(const Verdict&)>& wanted,
                           const Title& title) {
  std::map<std::string, Group> by_title;
  for (std::size_t i = 0; i < summary.entries.size(); ++i) {
    const Entry& entry = summary.entries[i];
    if (!wanted(*entry.verdict)) continue;
    const std::string text = title(entry);
    Group& group = by_title[text];
    group.title = text;
    group.entries.push_back(i);
  }
  std::vector<Group> groups;
  for (auto& [text, group] : by_title) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::ranges::greater{}, [](const Group& group) { return group.entries.size(); });
  return groups;
}

std::string reason_text(const Entry& entry) {
  return entry.verdict->message.empty() ? "no reason given" : entry.verdict->message;
}

std::string waiver_text(const Entry& entry) {
  return entry.verdict->waiver.empty() ? "no reference given" : entry.verdict->waiver;
}

std::string seen_counts(const Summary& summary, const Group& group) {
  std::map<std::string, std::size_t> counts;
  for (const std::size_t i : group.entries) ++counts[seen_text(*summary.entries[i].verdict)];
  std::string text;
  for (const auto& [seen, n] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", seen, count_text(n));
  return text;
}

SharedKeys shared_keys(const Summary& summary, const Group& failing) {
  SharedKeys shared;
  if (failing.entries.size() < 2) return shared;
  const std::string& backend = summary.entries[failing.entries.front()].backend;
  std::vector<const Case*> passing;
  for (const Entry& entry : summary.entries)
    if (entry.parsed && entry.backend == backend && entry.verdict->outcome == Outcome::Pass)
      passing.push_back(&*entry.parsed);
  shared.passing = passing.size();

  constexpr std::size_t most = 4;
  std::vector<std::pair<std::size_t, Setting>> telling;  // with how many passing cases have it too
  for (const Setting& setting : common_settings(summary, failing)) {
    const auto with = std::ranges::count_if(passing, [&](const Case* c) { return has(*c, setting); });
    if (2 * static_cast<std::size_t>(with) < passing.size()) telling.emplace_back(with, setting);
  }
  std::ranges::stable_sort(telling, {}, [](const auto& entry) { return entry.first; });
  if (telling.size() > most) telling.resize(most);
  for (const auto& [with, setting] : telling) shared.keys.push_back(setting.key + "=" + setting.value);
  shared.passing_with = static_cast<std::size_t>(std::ranges::count_if(passing, [&](const Case* c) {
    return std::ranges::all_of(telling, [&](const auto& entry) { return has(*c, entry.second); });
  }));
  return shared;
}

std::vector<std::size_t> slowest(const Summary& summary, std::size_t most) {
  const auto ms = [&](std::size_t i) { return summary.entries[i].verdict->ms.total(); };
  std::vector<std::size_t> timed;
  for (std::size_t i = 0; i < summary.entries.size(); ++i)
    if (ms(i) > 0) timed.push_back(i);
  std::ranges::stable_sort(timed, std::ranges::greater{}, ms);
  if (timed.size() > most) timed.resize(most);
  return timed;
}

}  // namespace attest::report
