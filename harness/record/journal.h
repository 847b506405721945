// The record of a run: append-only JSON lines, one a case, flushed as they come, so that a run that dies has lost
// nothing. Reports are functions of it; shards merge by concatenation; --resume continues it.
//
//     {"journal":1,"attest":"0.1.0","fingerprint":"...","cases":640,...}    a header, one a run or shard
//     {"backend":"native","version":"2.13.0","about":"..."}                 once for each backend that was opened
//     {"token":"decode/native/...#1","outcome":"PASS","ratio":0.41,...}     one for each case
//
// The fingerprint covers what the verdicts depend on: cases, contracts, waivers, program version, reference mode;
// not the host and not the shard. Journals with different fingerprints do not mix.
#pragma once

#include "harness/record/verdict.h"

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace attest {

struct JournalHeader {
  std::string attest;  // program version
  std::string fingerprint;
  std::string program = "attest";  // how the user calls this program
  std::string options;             // what must be said again to repeat one case, e.g. --plugin
  std::string command;             // what was run
  std::string reference = "f64";
  std::string shard = "1/1";
  std::size_t cases = 0;                           // of this run or shard
  std::map<std::string, std::string> environment;  // for reports: cpu, os, compiler, libraries
};

// "attest run 'TOKEN'": what repeats one case.
std::string repeat_command(const JournalHeader& header, const std::string& token);

struct BackendRecord {
  std::string backend, version, about;
  bool operator==(const BackendRecord&) const = default;
};

struct JournalContent {
  std::vector<JournalHeader> headers;
  std::vector<BackendRecord> backends;
  std::vector<Verdict> verdicts;  // the last record of each token, in order of first appearance
};

// One journal, or the shards of one run. Throws UsageError "FILE:LINE: ..." for a line that is no record, and when
// headers disagree on the fingerprint. A last line without its newline is the trace of a killed run and is left out.
JournalContent read_journals(const std::vector<std::string>& paths);

class Journal {
 public:
  // Starts a new file. Throws UsageError when it can't be written.
  // Neither writes over a file that is something else.
  Journal(const std::string& path, const JournalHeader& header);
  // Continues one: throws UsageError when its fingerprint is another. Drops a torn last line; where there is no file,
  // or its header itself is torn, starts a new one.
  static Journal resume(const std::string& path, const JournalHeader& header);

  void append(const BackendRecord& backend);
  void append(const Verdict& verdict);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Journal() = default;
  void open(const std::string& path, const char* mode);
  void line(const std::string& text);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

std::string to_json_line(const JournalHeader& header);
std::string to_json_line(const BackendRecord& backend);
std::string to_json_line(const Verdict& verdict);

}  // namespace attest
