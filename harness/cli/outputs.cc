#include "harness/cli/outputs.h"

#include "harness/core/error.h"
#include "reports/reports.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace attest {
namespace {

struct Format {
  const char *option, *help;
  std::string OutputOptions::*path;
  std::string (*render)(const JournalContent&);
};

constexpr std::array<Format, 4> kFormats{{
    {"--json", "Write all verdicts as JSON", &OutputOptions::json, json_report},
    {"--junit", "Write a JUnit report", &OutputOptions::junit, junit_report},
    {"--md", "Write a Markdown report", &OutputOptions::md, markdown_report},
    {"--html", "Write an HTML report: one file, nothing loaded", &OutputOptions::html, html_report},
}};

}  // namespace

void add_outputs(CLI::App& app, OutputOptions& options) {
  for (const Format& format : kFormats)
    app.add_option(format.option, options.*format.path, format.help)->type_name("FILE");
}

void check_outputs(const OutputOptions& options) {
  for (const Format& format : kFormats) {
    const std::string& path = options.*format.path;
    if (path.empty()) continue;
    std::FILE* file = std::fopen(path.c_str(), "a");  // leaves an older report as it is until the new one is there
    if (!file) throw UsageError(fmt::format("{}: can't write {}: {}", format.option, path, std::strerror(errno)));
    std::fclose(file);
  }
}

void write_outputs(const OutputOptions& options, const JournalContent& journal) {
  for (const Format& format : kFormats) {
    const std::string& path = options.*format.path;
    if (path.empty()) continue;
    std::ofstream file(path, std::ios::binary);
    if (!(file << format.render(journal)).flush())
      throw InfraError(fmt::format("{}: can't write {}: {}", format.option, path, std::strerror(errno)));
  }
}

}  // namespace attest
