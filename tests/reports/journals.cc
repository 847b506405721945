#include "tests/reports/journals.h"

#include "harness/core/case.h"

#include <fmt/format.h>

#include <limits>

namespace attest::test {
namespace {

JournalHeader header(std::size_t cases) {
  return {.attest = "0.1.0",
          .fingerprint = "f00d",
          .program = "attest",
          .options = "--plugin ./libmine.so",
          .command = "attest run cases/all.yaml",
          .reference = "f64",
          .shard = "1/1",
          .cases = cases,
          .environment = {{"cpu", "a <fast> one"}, {"os", "Linux"}}};
}

Verdict failed(std::string token) {
  Verdict v = passed(std::move(token), 12.34);
  v.outcome = Outcome::Fail;
  v.kind = FailKind::Numeric;
  v.message = "out is outside its bound";
  v.diagnosis = {"matches: k_scale ignored (ratio 0.31; healthy 41.7)"};
  v.worst = Miss{.place = {1, 5, 0, 77}, .expected = -0.5, .actual = -0.375, .bound = 0.01};
  v.failing = 1200;
  v.cells = {"1.4", "1.5"};
  return v;
}

Verdict other(std::string token, Outcome outcome, std::string message) {
  return {.token = std::move(token), .outcome = outcome, .message = std::move(message)};
}

}  // namespace

Verdict passed(std::string token, double ratio) {
  return {.token = std::move(token),
          .outcome = Outcome::Pass,
          .ratio = ratio,
          .elements = 4096,
          .ran = "attend_kernel",
          .ms = {.inputs = 1, .reference = 20, .kernel = 3, .judge = 0.5}};
}

JournalContent every_outcome() {
  const std::string a = "decode/alpha/q=bf16/kv=fp8_e4m3/h=8:2/d=64/page=16/seq=1x15,1x16";
  const std::string b = "decode/beta/q=bf16/kv=auto/h=8:2/d=128/page=16/seq=1x15";
  JournalContent journal;
  journal.headers = {header(kEveryOutcomeCases)};
  journal.backends = {{"beta", "2.0", "the second"}, {"alpha", "1.0", "the first"}, {"beta", "2.0", "the second"}};
  journal.verdicts = {
      passed(b + "#1", 0.05),
      passed(b + "/graph=full#2", 0.6),
      passed(a + "#3", 0.41),
      passed(a + "#4", 0.2),
      failed(a + "/graph=full#5"),
      failed(a + "/graph=full#6"),
      passed("rope/beta/q=bf16/k=f32/h=8:2/d=64/seq=4x16#7", 0.3),
      passed("write/beta/q=bf16/kv=fp8/h=8:2/d=64/page=16/seq=4x16#8", 0.3),
      other(b + "#9", Outcome::Xpass, "passes, but it is waived"),
      other(b + "#10", Outcome::Vacuous, "the case would also accept zeros"),
      other(b + "#11", Outcome::Crash, "SIGSEGV"),
      other(b + "#12", Outcome::Infra, "can't map shared memory"),
      other(b + "/graph=padded#13", Outcome::Unsupported, "the kernel declines: no padding"),
      other(b + "/graph=compile#14", Outcome::NotRun, "no GPU; get one"),
      other(a + "#15", Outcome::Xfail, "12 elements fail"),
  };
  journal.verdicts.back().kind = FailKind::Lse;
  journal.verdicts.back().waiver = "issue 812";
  return journal;
}

JournalContent with_text(const std::string& text) {
  const std::string token = "decode/alpha/q=bf16/kv=fp8_e4m3/h=8:2/d=64/page=16/seq=1x15/fault=";
  JournalContent journal;
  journal.headers = {header(9)};
  journal.headers.front().command = journal.headers.front().options = text;
  journal.headers.front().environment[text] = text;
  journal.backends = {{"alpha", text, text}, {text, text, text}};
  for (const Outcome outcome :
       {Outcome::Fail, Outcome::Xfail, Outcome::Unsupported, Outcome::NotRun, Outcome::Crash, Outcome::Pass}) {
    Verdict v = failed(token + text + fmt::format("#{}", static_cast<int>(outcome)));
    v.outcome = outcome;
    v.message = v.ran = v.waiver = text;
    v.diagnosis = {text};
    v.cells = {text};
    journal.verdicts.push_back(v);
  }
  journal.verdicts.push_back(other(text, Outcome::Fail, text));
  journal.verdicts.push_back(other("decode/" + text + "/q=bf16#1", Outcome::Fail, text));
  journal.verdicts.push_back(passed("decode/<i>&|`\"/q=bf16/kv=auto/h=8:2/d=64/page=16/seq=1x15#1", 0.4));
  return journal;
}

JournalContent many(int count, int nth_fails) {
  JournalContent journal;
  journal.headers = {header(static_cast<std::size_t>(count))};
  const std::vector<std::string> backends{"alpha", "beta", "gamma", "delta"}, kvs{"auto", "fp8_e4m3", "fp8_e5m2"},
      graphs{"eager", "full", "piecewise"};
  for (int i = 0; i < count; ++i) {
    const auto pick = [&](const auto& from, int divisor) {
      return from[static_cast<std::size_t>(i / divisor) % from.size()];
    };
    const Case c =
        parse_token(fmt::format("decode/{}/q=bf16/kv={}/h=8:2/d={}/page=16/seq=1x15,1x16,1x255,3*1x4096/"
                                "scales=odd/graph={}/in=peaky#{}",
                                pick(backends, 1), pick(kvs, 4), 64 << (i / 12 % 3), pick(graphs, 36), i));
    journal.verdicts.push_back(nth_fails && i % nth_fails == 0 ? failed(token(c)) : passed(token(c), 0.4));
    journal.verdicts.back().message =
        "a message of the usual length, which is about eighty characters or a little more";
  }
  return journal;
}

}  // namespace attest::test
