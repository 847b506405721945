// The journal as a file: what is written is there at once, a killed run is gone on with, and nothing else is written
// over.
#include "harness/core/error.h"
#include "harness/record/journal.h"
#include "tests/core/temp_folder.h"
#include "tests/record/headers.h"

#include <gtest/gtest.h>

namespace attest {
namespace {

using test::header;
using test::kHostile;
using test::message_of;
using test::read_file;
using test::TempFolder;

TEST(Journal, IsWrittenCaseByCase) {
  const TempFolder folder;
  const std::string path = folder.path("j");
  Journal journal(path, header());
  journal.append(Verdict{.token = "a", .message = kHostile});
  EXPECT_EQ(read_journals({path}).verdicts.size(), 1U) << "before the journal is closed";
}

TEST(Journal, ATornLastLineIsLeftOut) {
  const TempFolder folder;
  const std::string whole = to_json_line(header()) + "\n" + to_json_line(Verdict{.token = "a"}) + "\n";
  const std::string last = to_json_line(Verdict{.token = "b"});
  for (std::size_t bytes = 0; bytes <= last.size(); ++bytes) {  // killed anywhere, even just before the newline
    const auto content = read_journals({folder.write("j", whole + last.substr(0, bytes))});
    ASSERT_EQ(content.verdicts.size(), 1U) << bytes;
  }
  EXPECT_EQ(read_journals({folder.write("j", whole + last + "\n")}).verdicts.size(), 2U);
}

TEST(Journal, ResumeDropsTheTornLineAndGoesOn) {
  const TempFolder folder;
  const std::string whole =
      to_json_line(header()) + "\n" + to_json_line(Verdict{.token = "a", .message = "kept"}) + "\n";
  const std::vector<std::string> cut{"", "{", "{\"token\":\"b\",\"outcome\":\"PASS\"}",
                                     "{\"token\":\"" + std::string(5000, 'x')};
  for (const auto& torn : cut) {
    const auto path = folder.write("j", whole + torn);
    JournalHeader now = header();
    now.command = "another command of the same run";
    {
      Journal journal = Journal::resume(path, now);
      journal.append(Verdict{.token = "c"});
      Journal moved = std::move(journal);
      moved.append(BackendRecord{"b", "1", ""});
    }
    EXPECT_EQ(read_file(path),
              whole + to_json_line(Verdict{.token = "c"}) + "\n" + to_json_line(BackendRecord{"b", "1", ""}) + "\n");
  }
}

TEST(Journal, StartsAnewWhereItWasKilledBeforeItsHeaderWasWhole) {
  const TempFolder folder;
  const std::string line = to_json_line(header());
  for (std::size_t bytes = 0; bytes <= line.size(); ++bytes) {
    const std::string path = folder.write("j", line.substr(0, bytes));
    Journal::resume(path, header()).append(Verdict{.token = "a"});
    ASSERT_EQ(read_journals({path}).verdicts.size(), 1U) << bytes;
  }
  Journal::resume(folder.write("j", "") + ".new", header()).append(Verdict{.token = "a"});
}

TEST(Journal, DoesNotWriteOverAnythingElse) {
  const TempFolder folder;
  for (const char* text : {"blocks:\n", "x", "\n", "{\"token\":\"a\"}\n", "{}"}) {
    const std::string path = folder.write("j", text);
    EXPECT_THROW(Journal(path, header()), UsageError) << text;
    EXPECT_THROW(Journal::resume(path, header()), UsageError) << text;
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  }
  const std::string old = folder.write("j", to_json_line(header()) + "\n" + to_json_line(Verdict{.token = "a"}) + "\n");
  Journal(old, header());
  EXPECT_TRUE(read_journals({old}).verdicts.empty());
}

TEST(Journal, ResumeRefusesAnotherRun) {
  const TempFolder folder;
  const std::string before = to_json_line(header("old")) + "\n{\"torn";
  const auto path = folder.write("j", before);
  EXPECT_EQ(message_of<UsageError>([&] { Journal::resume(path, header("new")); }),
            path +
                ": the journal is of another run (fingerprint old, now new): cases, contracts, waivers or the program "
                "changed; start a new one without --resume");
  EXPECT_EQ(read_file(path), before) << "and leaves the file as it is";
}

TEST(Journal, IsWrittenByOneRunAtATime) {
  const TempFolder folder;
  const std::string path = folder.path("j");
  {
    const Journal first(path, header());
    EXPECT_THROW(Journal(path, header()), UsageError);
    EXPECT_THROW(Journal::resume(path, header()), UsageError);
    EXPECT_EQ(read_journals({path}).headers.size(), 1U) << "what the first wrote is still there";
  }
  EXPECT_NO_THROW(Journal::resume(path, header()));
}

}  // namespace
}  // namespace attest
