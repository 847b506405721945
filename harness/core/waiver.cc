#include "harness/core/waiver.h"

#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace attest {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string seen_of(const Verdict& verdict) { return verdict.kind ? std::string(name(*verdict.kind)) : lower(name(verdict.outcome)); }

bool is_date(const std::string& text) { return std::regex_match(text, std::regex(R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))")); }

}  // namespace

std::optional<std::string> check(const Waiver& w) {
  for (const auto& [field, value] : {std::pair{"backend", &w.backend}, {"version", &w.version}, {"cases", &w.cases}, {"seen", &w.seen}, {"reference", &w.reference}, {"expires", &w.expires}})
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

const Waiver* find_waiver(const std::vector<Waiver>& waivers, const std::string& backend, const std::string& version, const std::string& token) {
  for (const Waiver& w : waivers)
    if (glob_match(w.backend, backend) && w.version == version && glob_match(w.cases, token)) return &w;
  return nullptr;
}

void apply(const Waiver& w, const std::string& today, Verdict& verdict) {
  const bool expired = today > w.expires;
  if (verdict.outcome == Outcome::Pass && expired) {
    verdict.message += fmt::format("{}{} waived it as {} until {}: remove the waiver", verdict.message.empty() ? "" : "; ", w.place, w.seen, w.expires);
    return;
  }
  if (verdict.outcome == Outcome::Pass) {
    verdict.outcome = Outcome::Xpass;
    verdict.waiver = w.reference;
    verdict.message = fmt::format("passes, but {} waives it as {}: remove or narrow the waiver", w.place, w.seen);
    return;
  }
  if (!is_failure(verdict.outcome) || verdict.outcome == Outcome::Xpass || verdict.outcome == Outcome::Infra) return;
  if (seen_of(verdict) != w.seen) {
    verdict.message += fmt::format(" ({} waives {}, not {})", w.place, w.seen, seen_of(verdict));
  } else if (expired) {
    verdict.message += fmt::format(" ({} waived this until {})", w.place, w.expires);
  } else {
    verdict.outcome = Outcome::Xfail;
    verdict.waiver = w.reference;
  }
}

}  // namespace attest
