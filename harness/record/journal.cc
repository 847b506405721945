#include "harness/record/journal.h"

#include "harness/core/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include <sys/file.h>
#include <unistd.h>

namespace attest {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// JSON has no NaN and no Inf; six digits are enough for a reader and the same on every run.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return Json::parse(fmt::format("{:.6g}", value));
}

double from_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto text = json.get<std::string>();
  if (text == "nan") return std::nan("");
  if (text != "inf" && text != "-inf") throw std::invalid_argument("'" + text + "' is no number");
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

JournalHeader header_from(const Json& json) {
  JournalHeader header;
  header.attest = json.at("attest");
  header.fingerprint = json.at("fingerprint");
  header.program = json.at("program");
  header.options = json.at("options");
  header.command = json.at("command");
  header.reference = json.at("reference");
  header.shard = json.at("shard");
  header.cases = json.at("cases");
  for (const auto& [key, value] : json.at("environment").items()) header.environment[key] = value;
  return header;
}

Verdict verdict_from(const Json& json) {
  Verdict v;
  v.token = json.at("token");
  const auto outcome = outcome_from_name(json.at("outcome").get<std::string>());
  if (!outcome) throw std::invalid_argument("unknown outcome " + json.at("outcome").dump());
  v.outcome = *outcome;
  if (json.contains("kind")) {
    v.kind = fail_kind_from_name(json.at("kind").get<std::string>());
    if (!v.kind) throw std::invalid_argument("unknown kind of failure " + json.at("kind").dump());
  }
  v.message = json.value("message", "");
  v.ratio = json.contains("ratio") ? from_number(json.at("ratio")) : 0;
  v.lse_ratio = json.contains("lse_ratio") ? from_number(json.at("lse_ratio")) : 0;
  if (json.contains("worst")) {
    const Json& w = json.at("worst");
    v.worst = Miss{.place = {w.at("seq"), w.at("head"), w.at("row"), w.at("dim")},
                   .expected = from_number(w.at("expected")),
                   .actual = from_number(w.at("actual")),
                   .bound = from_number(w.at("bound"))};
  }
  v.elements = json.value("elements", std::int64_t{0});
  v.failing = json.value("failing", std::int64_t{0});
  if (json.contains("cells")) v.cells = json.at("cells").get<std::vector<std::string>>();
  if (json.contains("diagnosis")) v.diagnosis = json.at("diagnosis").get<std::vector<std::string>>();
  v.ran = json.value("ran", "");
  v.waiver = json.value("waiver", "");
  if (json.contains("ms")) {
    const Json& ms = json.at("ms");
    v.ms = {
        .inputs = ms.at("inputs"), .reference = ms.at("reference"), .kernel = ms.at("kernel"), .judge = ms.at("judge")};
  }
  return v;
}

class JournalReader {
 public:
  void read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw UsageError(fmt::format("{}: can't read the journal: {}", path, std::strerror(errno)));
    const std::size_t headers = content_.headers.size();
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      if (file.eof()) break;  // torn: the newline is written last
      try {
        add(Json::parse(text));
      } catch (const std::exception& error) {
        throw UsageError(fmt::format("{}:{}: no journal record: {}", path, line, error.what()));
      }
    }
    if (content_.headers.size() == headers)
      throw UsageError(fmt::format("{}: no journal: it has no header line", path));
  }

  JournalContent take() { return std::move(content_); }

 private:
  void add(const Json& json) {
    if (json.contains("journal")) return add_header(json);
    if (json.contains("backend")) {
      const BackendRecord backend{json.at("backend"), json.at("version"), json.at("about")};
      if (std::find(content_.backends.begin(), content_.backends.end(), backend) == content_.backends.end())
        content_.backends.push_back(backend);
      return;
    }
    Verdict verdict = verdict_from(json);
    const auto [at, fresh] = index_.try_emplace(verdict.token, content_.verdicts.size());
    if (fresh)
      content_.verdicts.push_back(std::move(verdict));
    else
      content_.verdicts[at->second] = std::move(verdict);
  }

  void add_header(const Json& json) {
    if (json.at("journal") != kFormat)
      throw std::invalid_argument(
          fmt::format("journal format {} (this program reads {})", json.at("journal").dump(), kFormat));
    content_.headers.push_back(header_from(json));
    const auto &first = content_.headers.front().fingerprint, &last = content_.headers.back().fingerprint;
    if (first != last)
      throw std::invalid_argument(fmt::format(
          "its fingerprint is {}, that of the first header is {}: they are of different runs", last, first));
  }

  JournalContent content_;
  std::unordered_map<std::string, std::size_t> index_;  // of content_.verdicts by token
};

enum class Found { Nothing, TornHeader, AJournal, SomethingElse };

// What lies at a path, by its first line.
Found look_at(const std::string& path) {
  constexpr std::string_view begin = "{\"journal\":";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return Found::Nothing;  // a device, a pipe: nothing to lose
  std::ifstream file(path);
  std::string first;
  std::getline(file, first);
  if (first.empty()) return file.eof() || !file ? Found::Nothing : Found::SomethingElse;
  const std::string_view start = std::string_view(first).substr(0, begin.size());
  if (!begin.starts_with(start)) return Found::SomethingElse;
  return file.eof() ? Found::TornHeader : Found::AJournal;
}

}  // namespace

std::string repeat_command(const JournalHeader& header, const std::string& token) {
  return fmt::format("{} run {}'{}'", header.program, header.options.empty() ? "" : header.options + " ", token);
}

std::string to_json_line(const JournalHeader& header) {
  Json json{{"journal", kFormat},
            {"attest", header.attest},
            {"fingerprint", header.fingerprint},
            {"program", header.program},
            {"options", header.options},
            {"command", header.command},
            {"reference", header.reference},
            {"shard", header.shard},
            {"cases", header.cases}};
  json["environment"] = header.environment;
  return dump(json);
}

std::string to_json_line(const BackendRecord& backend) {
  return dump(Json{{"backend", backend.backend}, {"version", backend.version}, {"about", backend.about}});
}

std::string to_json_line(const Verdict& v) {
  Json json{{"token", v.token}, {"outcome", name(v.outcome)}};
  if (v.kind) json["kind"] = name(*v.kind);
  if (!v.message.empty()) json["message"] = v.message;
  if (v.elements) {
    json["ratio"] = number(v.ratio);
    json["elements"] = v.elements;
  }
  if (v.lse_ratio != 0) json["lse_ratio"] = number(v.lse_ratio);
  if (v.failing) json["failing"] = v.failing;
  if (v.worst) {
    const auto& [seq, head, row, dim] = v.worst->place;
    json["worst"] = Json{{"seq", seq}, {"head", head}, {"row", row}, {"dim", dim}};
    json["worst"]["expected"] = number(v.worst->expected);
    json["worst"]["actual"] = number(v.worst->actual);
    json["worst"]["bound"] = number(v.worst->bound);
  }
  if (!v.cells.empty()) json["cells"] = v.cells;
  if (!v.diagnosis.empty()) json["diagnosis"] = v.diagnosis;
  if (!v.ran.empty()) json["ran"] = v.ran;
  if (!v.waiver.empty()) json["waiver"] = v.waiver;
  const auto ms = [](double t) { return Json::parse(fmt::format("{:.3f}", t)); };
  json["ms"] = Json{{"inputs", ms(v.ms.inputs)},
                    {"reference", ms(v.ms.reference)},
                    {"kernel", ms(v.ms.kernel)},
                    {"judge", ms(v.ms.judge)}};
  return dump(json);
}

JournalContent read_journals(const std::vector<std::string>& paths) {
  JournalReader reader;
  for (const auto& path : paths) reader.read(path);
  return reader.take();
}

Journal::Journal(const std::string& path, const JournalHeader& header) : path_(path) {
  if (look_at(path) == Found::SomethingElse)
    throw UsageError(fmt::format("{}: exists and is no journal; it is not written over", path));
  open(path, "a");
  if (ftruncate(fileno(file_.get()), 0) != 0 && errno != EINVAL)  // a device or a pipe has no length
    throw UsageError(fmt::format("{}: can't begin the journal anew: {}", path, std::strerror(errno)));
  line(to_json_line(header));
}

Journal Journal::resume(const std::string& path, const JournalHeader& header) {
  const Found found = look_at(path);
  if (found == Found::Nothing || found == Found::TornHeader) return Journal(path, header);
  const JournalContent before = read_journals({path});
  if (before.headers.front().fingerprint != header.fingerprint)
    throw UsageError(
        fmt::format("{}: the journal is of another run (fingerprint {}, now {}): cases, contracts, waivers or the "
                    "program changed; start a new one without --resume",
                    path, before.headers.front().fingerprint, header.fingerprint));
  Journal journal;
  journal.path_ = path;
  journal.open(path, "r+");
  // Go on after the last whole line.
  long end = 0;
  for (int c = std::fgetc(journal.file_.get()); c != EOF; c = std::fgetc(journal.file_.get()))
    if (c == '\n') end = std::ftell(journal.file_.get());
  std::fseek(journal.file_.get(), end, SEEK_SET);
  if (ftruncate(fileno(journal.file_.get()), end) != 0)
    throw UsageError(fmt::format("{}: can't drop the torn last line: {}", path, std::strerror(errno)));
  return journal;
}

// One run at a time writes to a journal.
void Journal::open(const std::string& path, const char* mode) {
  file_.reset(std::fopen(path.c_str(), mode));
  if (!file_) throw UsageError(fmt::format("{}: can't write the journal: {}", path, std::strerror(errno)));
  if (flock(fileno(file_.get()), LOCK_EX | LOCK_NB) != 0)
    throw UsageError(fmt::format("{}: another run is writing this journal; give one of them --journal FILE", path));
}

void Journal::append(const BackendRecord& backend) { line(to_json_line(backend)); }
void Journal::append(const Verdict& verdict) { line(to_json_line(verdict)); }

void Journal::line(const std::string& text) {
  if (std::fwrite((text + "\n").data(), 1, text.size() + 1, file_.get()) != text.size() + 1 ||
      std::fflush(file_.get()) != 0)
    throw InfraError(fmt::format("{}: can't write the journal: {}", path_, std::strerror(errno)));
}

}  // namespace attest
