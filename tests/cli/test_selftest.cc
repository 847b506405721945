// attest selftest from the outside: exit codes, files, and what it complains about.
#include "tests/cli/command.h"

namespace attest {
namespace {

class SelftestCommand : public test::Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("suite.yaml",
          "blocks:\n  - {name: one, phase: decode, backend: liar, q: bf16, kv: auto, h: '2:2', d: 16, page: 16,"
          " seq: '1x7,1x16', seed: 1}\n");
  }
  // With these faults of the model and of the output.
  test::Ran selftest(const std::string& model, const std::string& output, const std::string& options = "") {
    write("model.yaml", "faults: [" + model + "]\n");
    write("output.yaml", "faults: [" + output + "]\n");
    return run("selftest suite.yaml --catalogue . --jobs 1 " + options);
  }
};

TEST_F(SelftestCommand, HoldsAndWritesItsReports) {
  const auto ran = selftest("{name: swapped_heads, says: s}", "{name: gain, says: s}",
                            "--compare-rules --json t.json --html t.html --markdown t.md");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_TRUE(ran.output.ends_with("2 faults, 2 killed, 0 survived, 0 false alarms\n")) << ran.output;
  EXPECT_NE(read("t.json").find("\"holds\": true"), std::string::npos);
  EXPECT_NE(read("t.html").find("2 faults, 2 killed"), std::string::npos);
  EXPECT_NE(read("t.md").find("| llama.cpp |"), std::string::npos);
  EXPECT_NE(read("t.md").find("--compare-rules"), std::string::npos) << "the command that makes it";
}

TEST_F(SelftestCommand, FailsWhereAFaultIsNotSeeded) {
  const auto ran = selftest("{name: swapped_heads, says: s}, {name: no_such_fault, says: s}", "{name: gain, says: s}");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.says("not seeded: no_such_fault in liar changed no bit")) << ran.output;
}

TEST_F(SelftestCommand, SaysWhatIsWrongWithItsInput) {
  EXPECT_EQ(selftest("{name: a, says: s}", "{name: gains, says: s}").exit_code, 2) << "an unknown fault of output";
  EXPECT_TRUE(selftest("{name: a, says: s}", "{name: gain, says: s}", "--faults 'x*'").says("no fault matches x*"));
  EXPECT_TRUE(selftest("{name: a, says: s}", "{name: gain, says: s}", "--backend 'x*'").says("no case matches"));
  EXPECT_EQ(run("selftest suite.yaml --catalogue nowhere").exit_code, 2);
}

TEST_F(SelftestCommand, OneFaultAlone) {
  const auto ran = selftest("{name: no_such_fault, says: s}", "{name: gain, says: s}", "--faults gain");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_TRUE(ran.says("1 faults, 1 killed"));
}

}  // namespace
}  // namespace attest
