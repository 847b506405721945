#include "harness/record/waiver.h"

#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <regex>

namespace attest {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string seen_of(const Verdict& verdict) {
  return verdict.kind ? std::string(name(*verdict.kind)) : lower(name(verdict.outcome));
}

bool is_date(const std::string& text) {
  static const std::regex form(R"((\d{4})-(\d\d)-(\d\d))");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return false;
  using namespace std::chrono;
  return year_month_day(year(std::stoi(part[1])), month(static_cast<unsigned>(std::stoul(part[2]))),
                        day(static_cast<unsigned>(std::stoul(part[3]))))
      .ok();
}

void apply_to_pass(const std::vector<const Waiver*>& naming, const std::string& today, Verdict& verdict) {
  for (const Waiver* w : naming) {
    if (today > w->expires) {
      verdict.message += fmt::format("{}{} waived it as {} until {}: remove the waiver",
                                     verdict.message.empty() ? "" : "; ", w->place, w->seen, w->expires);
      continue;
    }
    verdict.outcome = Outcome::Xpass;
    verdict.waiver = w->reference;
    verdict.message = fmt::format("passes, but {} waives it as {}: remove or narrow the waiver", w->place, w->seen);
    return;
  }
}

}  // namespace

std::optional<std::string> check(const Waiver& w) {
  for (const auto& [field, value] : {std::pair{"backend", &w.backend},
                                     {"version", &w.version},
                                     {"cases", &w.cases},
                                     {"seen", &w.seen},
                                     {"reference", &w.reference},
                                     {"expires", &w.expires}})
    if (value->empty()) return fmt::format("a waiver needs '{}'", field);
  if (!is_date(w.expires)) return fmt::format("expires: '{}' is no date YYYY-MM-DD", w.expires);
  constexpr std::string_view found = "found here ";
  const bool dated = w.reference.starts_with(found) && is_date(w.reference.substr(found.size(), 10));
  if (!dated && w.reference.find("://") == std::string::npos)
    return fmt::format("reference: '{}' is neither an issue's address nor 'found here YYYY-MM-DD'", w.reference);
  const bool outcome = w.seen == "crash" || w.seen == "timeout" || w.seen == "memory" || w.seen == "vacuous";
  if (!outcome && !fail_kind_from_name(w.seen)) return fmt::format("seen: '{}' is no kind of failure", w.seen);
  return std::nullopt;
}

void apply(const std::vector<Waiver>& waivers, const Waived& what, const std::string& today, Verdict& verdict) {
  std::vector<const Waiver*> naming;
  for (const Waiver& w : waivers)
    if (glob_match(w.backend, what.backend) && w.version == what.version && glob_match(w.cases, what.token))
      naming.push_back(&w);
  if (naming.empty()) return;
  if (verdict.outcome == Outcome::Pass) return apply_to_pass(naming, today, verdict);
  if (!is_failure(verdict.outcome) || verdict.outcome == Outcome::Xpass || verdict.outcome == Outcome::Infra) return;
  const std::string seen = seen_of(verdict);
  for (const Waiver* w : naming) {
    if (w->seen != seen || today > w->expires) continue;
    verdict.outcome = Outcome::Xfail;
    verdict.waiver = w->reference;
    return;
  }
  for (const Waiver* w : naming)
    verdict.message += w->seen == seen ? fmt::format(" ({} waived this until {})", w->place, w->expires)
                                       : fmt::format(" ({} waives {}, not {})", w->place, w->seen, seen);
}

}  // namespace attest
