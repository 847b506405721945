// The journal: every field comes back, whatever its text; a killed run loses nothing but its torn line; what is no
// journal, or another run's, is refused with its place.
#include "harness/core/error.h"
#include "harness/record/journal.h"
#include "tests/core/temp_folder.h"
#include "tests/record/headers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attest {
namespace {

using test::header;
using test::kHostile;
using test::message_of;
using test::read_file;
using test::TempFolder;

constexpr double kInf = std::numeric_limits<double>::infinity();
Verdict full() {
  return {.token = kHostile,
          .outcome = Outcome::Xfail,
          .kind = FailKind::Nondeterministic,
          .message = kHostile,
          .ratio = 1.25,
          .lse_ratio = 3e-7,
          .worst = Miss{.place = {3, 2, 1, -1}, .expected = -0.5, .actual = 123456, .bound = 1e-300},
          .elements = std::int64_t{1} << 40,
          .failing = 7,
          .cells = {"0.1", "2.5"},
          .diagnosis = {kHostile, "99 % of the excess lies in KV head 1"},
          .ran = kHostile,
          .waiver = kHostile,
          .ms = {.inputs = 0.125, .reference = 1234567.5, .kernel = 0.001, .judge = 3}};
}

void expect_same(double a, double b) { EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << " " << b; }

void expect_same(const Verdict& a, const Verdict& b) {
  EXPECT_EQ(a.token, b.token);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.message, b.message);
  expect_same(a.ratio, b.ratio);
  expect_same(a.lse_ratio, b.lse_ratio);
  ASSERT_EQ(a.worst.has_value(), b.worst.has_value());
  if (a.worst) {
    EXPECT_EQ(a.worst->place, b.worst->place);
    expect_same(a.worst->expected, b.worst->expected);
    expect_same(a.worst->actual, b.worst->actual);
    expect_same(a.worst->bound, b.worst->bound);
  }
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.failing, b.failing);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.diagnosis, b.diagnosis);
  EXPECT_EQ(a.ran, b.ran);
  EXPECT_EQ(a.waiver, b.waiver);
  EXPECT_EQ(a.ms.inputs, b.ms.inputs);
  EXPECT_EQ(a.ms.reference, b.ms.reference);
  EXPECT_EQ(a.ms.kernel, b.ms.kernel);
  EXPECT_EQ(a.ms.judge, b.ms.judge);
}

TEST(Journal, EveryFieldComesBack) {
  const TempFolder folder;
  const std::string path = folder.path("j");
  std::vector<Verdict> verdicts{full(), {.token = "bare", .outcome = Outcome::NotRun}};
  for (const double odd : {kInf, -kInf, std::nan(""), 0.0}) {
    Verdict v = full();
    v.token = "odd" + std::to_string(verdicts.size());
    v.ratio = v.lse_ratio = v.worst->expected = v.worst->actual = v.worst->bound = odd;
    verdicts.push_back(v);
  }
  for (int i = 0; i <= static_cast<int>(Outcome::Infra); ++i)
    verdicts.push_back({.token = "o" + std::to_string(i), .outcome = static_cast<Outcome>(i)});
  for (int i = 0; i <= static_cast<int>(FailKind::Error); ++i)
    verdicts.push_back({.token = "k" + std::to_string(i), .outcome = Outcome::Fail, .kind = static_cast<FailKind>(i)});
  const BackendRecord backend{kHostile, "1.0", kHostile};
  {
    Journal journal(path, header());
    journal.append(backend);
    for (const Verdict& v : verdicts) journal.append(v);
  }
  const JournalContent content = read_journals({path});
  ASSERT_EQ(content.headers.size(), 1U);
  const JournalHeader &h = content.headers[0], right = header();
  EXPECT_EQ(h.attest, right.attest);
  EXPECT_EQ(h.fingerprint, right.fingerprint);
  EXPECT_EQ(h.program, right.program);
  EXPECT_EQ(h.options, right.options);
  EXPECT_EQ(h.command, right.command);
  EXPECT_EQ(h.reference, right.reference);
  EXPECT_EQ(h.shard, right.shard);
  EXPECT_EQ(h.cases, right.cases);
  EXPECT_EQ(h.environment, right.environment);
  EXPECT_EQ(content.backends, std::vector{backend});
  ASSERT_EQ(content.verdicts.size(), verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) expect_same(content.verdicts[i], verdicts[i]);
}

TEST(Journal, NumbersKeepSixDigitsAtEveryMagnitude) {
  const TempFolder folder;
  for (const double value : {5e-324, 1.23456789e-310, 0.1 + 0.2, 123456789.0, 1.7976931348623157e308, -1e-45}) {
    Verdict v{.token = "t", .ratio = value, .elements = 1};
    const auto path = folder.write("j", to_json_line(header()) + "\n" + to_json_line(v) + "\n");
    const double back = read_journals({path}).verdicts.at(0).ratio;
    EXPECT_NEAR(back / value, 1, 5e-6) << value;
  }
}

TEST(Journal, OneRecordIsOneLine) {
  EXPECT_EQ(to_json_line(full()).find('\n'), std::string::npos);
  EXPECT_EQ(to_json_line(header()).find('\n'), std::string::npos);
  Verdict broken{.token = "t", .message = "\xff\xfe no UTF-8"};
  EXPECT_NE(to_json_line(broken).find("no UTF-8"), std::string::npos) << "bytes that are no UTF-8 do not end the run";
}

TEST(Journal, ShardsMergeAndTheLastRecordWins) {
  const TempFolder folder;
  const auto line = [](const Verdict& v) { return to_json_line(v) + "\n"; };
  const std::string backend = to_json_line(BackendRecord{"b", "1", "x"}) + "\n",
                    newer = to_json_line(BackendRecord{"b", "2", "x"}) + "\n";
  const std::string first = to_json_line(header()) + "\n" + backend + line({.token = "a", .outcome = Outcome::Crash}) +
                            line({.token = "b", .outcome = Outcome::Pass});
  const std::string second = to_json_line(header()) + "\n" + backend + newer +
                             line({.token = "c", .outcome = Outcome::Pass}) +
                             line({.token = "a", .outcome = Outcome::Fail, .kind = FailKind::Lse});
  const auto check = [](const JournalContent& content) {
    EXPECT_EQ(content.headers.size(), 2U);
    EXPECT_EQ(content.backends.size(), 2U) << "each version once";
    ASSERT_EQ(content.verdicts.size(), 3U);
    EXPECT_EQ(content.verdicts[0].token, "a");
    EXPECT_EQ(summary(content.verdicts[0]), "FAIL(lse)");
    EXPECT_EQ(content.verdicts[1].token, "b");
    EXPECT_EQ(content.verdicts[2].token, "c");
  };
  const auto one = folder.write("1", first), two = folder.write("2", second);
  check(read_journals({one, two}));
  check(read_journals({folder.write("both", first + second)}));
}

TEST(Journal, RefusesWhatIsNoRecordWithItsPlace) {
  const TempFolder folder;
  const std::string head = to_json_line(header()) + "\n";
  const std::vector<std::pair<std::string, std::string>> rows{
      {"no json\n", "no journal record"},
      {"\n", "no journal record"},
      {"[]\n", "no journal record"},
      {"3\n", "no journal record"},
      {"{}\n", "no journal record: [json.exception.out_of_range.403] key 'token' not found"},
      {"{\"token\":\"t\"}\n", "no journal record: [json.exception.out_of_range.403] key 'outcome' not found"},
      {"{\"token\":\"t\",\"outcome\":\"GOOD\"}\n", "no journal record: unknown outcome \"GOOD\""},
      {"{\"token\":\"t\",\"outcome\":\"FAIL\",\"kind\":\"odd\"}\n",
       "no journal record: unknown kind of failure \"odd\""},
      {"{\"token\":\"t\",\"outcome\":\"FAIL\",\"elements\":1,\"ratio\":\"many\"}\n",
       "no journal record: 'many' is no number"},
      {"{\"token\":\"t\",\"outcome\":\"FAIL\",\"worst\":{\"seq\":1}}\n", "no journal record"},
      {"{\"backend\":\"b\"}\n", "no journal record"},
      {"{\"journal\":2}\n", "no journal record: journal format 2 (this program reads 1)"},
      {to_json_line(header("f2")) + "\n",
       "no journal record: its fingerprint is f2, that of the first header is f1: they are of different runs"},
      {"{\"token\":\"torn, but not the last\n", "no journal record"},
  };
  for (const auto& [line, message] : rows) {
    const auto path = folder.write(
        "j", head + to_json_line(Verdict{.token = "a"}) + "\n" + line + to_json_line(Verdict{.token = "z"}) + "\n");
    const auto said = message_of<UsageError>([&] { read_journals({path}); });
    EXPECT_EQ(said.find(path + ":3: " + message), 0U) << said;
  }
  const auto one = folder.write("1", head), two = folder.write("2", to_json_line(header("f2")) + "\n");
  EXPECT_EQ(
      message_of<UsageError>([&] {
        read_journals({one, two});
      }),
      two + ":1: no journal record: its fingerprint is f2, that of the first header is f1: they are of different runs");
}

TEST(Journal, NeedsAHeader) {
  const TempFolder folder;
  const auto good = folder.write("good", to_json_line(header()) + "\n");
  for (const std::string& text : {std::string(), to_json_line(Verdict{.token = "a"}) + "\n", to_json_line(header())}) {
    const auto path = folder.write("j", text);
    EXPECT_EQ(message_of<UsageError>([&] { read_journals({path}); }), path + ": no journal: it has no header line");
    EXPECT_EQ(message_of<UsageError>([&] {
                read_journals({good, path});
              }),
              path + ": no journal: it has no header line")
        << "nor does another file's count";
  }
  EXPECT_EQ(message_of<UsageError>([&] { Journal(folder.path("no/such/folder"), header()); }),
            folder.path("no/such/folder") + ": can't write the journal: No such file or directory");
  EXPECT_EQ(message_of<InfraError>([&] { Journal("/dev/full", header()); }),
            "/dev/full: can't write the journal: No space left on device");
}

TEST(Journal, RepeatsACase) {
  EXPECT_EQ(repeat_command({}, "decode/b/seq=1x1#1"), "attest run 'decode/b/seq=1x1#1'");
  EXPECT_EQ(repeat_command(header(), "t"), "ci/attest run --plugin './my lib.so' 't'");
}

}  // namespace
}  // namespace attest
