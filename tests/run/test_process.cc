// The worker process from the outside: what it says, how it ends, and that nothing of it outlives its owner.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/run/arena.h"
#include "harness/run/process.h"
#include "tests/run/program.h"

namespace attest {
namespace {

using nlohmann::json;

const json kOpenLiar{{"do", "open"}, {"plugin", ATTEST_BACKENDS "/libattest_liar.so"}, {"options", json::array()}};

// A worker that is a shell script: it reads the socket's requests and does as it is told.
WorkerProcess shell_worker(const Arena& arena, const std::string& script) {
  return WorkerProcess({"/bin/sh", "-c", script}, arena.fd());
}

TEST(Process, AnswersAndStaysAlive) {
  Arena arena;
  WorkerProcess worker({ATTEST_PROGRAM, "--worker"}, arena.fd());
  const Reply reply = worker.ask(kOpenLiar, {});
  ASSERT_TRUE(reply.ok()) << reply.text;
  EXPECT_EQ(reply.body.at("version"), "1");
  EXPECT_EQ(worker.ask({{"do", "dance"}}, {}).status, Reply::Status::Error);
  EXPECT_TRUE(worker.alive());
}

TEST(Process, AskedBeforeItOpenedIsAnError) {
  Arena arena;
  WorkerProcess worker({ATTEST_PROGRAM, "--worker"}, arena.fd());
  EXPECT_EQ(worker.ask({{"do", "launch"}}, {}).status, Reply::Status::Error);
}

TEST(Process, ExitAndSignalAreCrashesWithTheirReason) {
  Arena arena;
  auto exits = shell_worker(arena, "exit 7");
  const Reply code = exits.ask({{"do", "x"}}, {});
  EXPECT_EQ(code.status, Reply::Status::Crash);
  EXPECT_NE(code.text.find("code 7"), std::string::npos) << code.text;
  auto dies = shell_worker(arena, "echo last words >&2; kill -ABRT $$");
  const Reply signal = dies.ask({{"do", "x"}}, {});
  EXPECT_EQ(signal.status, Reply::Status::Crash);
  EXPECT_NE(signal.text.find("signal 6"), std::string::npos) << signal.text;
  EXPECT_NE(signal.text.find("last words"), std::string::npos) << signal.text;
  EXPECT_FALSE(dies.alive());
}

TEST(Process, SilenceIsATimeoutAndTheProcessIsGone) {
  Arena arena;
  auto worker = shell_worker(arena, "sleep 60");
  const Reply reply = worker.ask({{"do", "x"}}, {.answer = std::chrono::milliseconds(200)});
  EXPECT_EQ(reply.status, Reply::Status::Timeout);
  EXPECT_FALSE(worker.alive());
}

TEST(Process, GarbageOnTheSocketIsACrash) {
  Arena arena;
  for (const char* garbage :
       {"hello", "{}", "[1,2]", "{\"status\":", "17", R"({"status":"ok"})", R"({"id":1,"status":17})",
        R"({"id":1,"status":"crash"})", R"({"id":1,"status":"ok","ms":"x"})", R"({"id":1,"status":"ok","ran":[]})",
        R"({"id":1,"status":"ok","workspace":-1})", R"({"id":1,"status":"ok","produced":{"out":{"dtype":"f32"}}})",
        R"({"id":7,"status":"ok"})"}) {
    auto worker = shell_worker(arena, std::string("echo '") + garbage + "' >&3; sleep 5");
    EXPECT_EQ(worker.ask({{"do", "x"}}, {}).status, Reply::Status::Crash) << garbage;
  }
}

TEST(Process, ChatterDoesNotHoldOffTheDeadline) {
  Arena arena;
  auto worker = shell_worker(arena, "while :; do printf x >&3; done");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(worker.ask({{"do", "x"}}, {.answer = std::chrono::milliseconds(300)}).status, Reply::Status::Timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Process, AnAnswerTooLongForAReplyIsACrash) {
  Arena arena;
  auto worker = shell_worker(arena, "tr '\\0' x < /dev/zero >&3");
  EXPECT_EQ(worker.ask({{"do", "x"}}, {}).status, Reply::Status::Crash);
}

TEST(Process, WhatItPrintsCountsAsItsMemory) {
  Arena arena;
  auto worker = shell_worker(arena, "tr '\\0' x < /dev/zero");
  EXPECT_EQ(worker.ask({{"do", "x"}}, {.memory = std::size_t{64} << 20}).status, Reply::Status::Memory);
}

// A child that it leaves behind holds the socket open, answers in its place, and dies with it.
TEST(Process, AForkedChildIsNotTheWorker) {
  Arena arena;
  auto dies = shell_worker(arena, "sleep 30 & exit 9");
  const auto begin = std::chrono::steady_clock::now();
  const Reply reply = dies.ask({{"do", "x"}}, {});
  EXPECT_EQ(reply.status, Reply::Status::Crash);
  EXPECT_NE(reply.text.find("code 9"), std::string::npos) << reply.text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));

  auto answers = shell_worker(arena, R"(printf '{"id":1,"status":"ok"}\n{"id":1,"status":"ok"}\n' >&3; sleep 5)");
  EXPECT_TRUE(answers.ask({{"do", "x"}}, {}).ok());
  EXPECT_EQ(answers.ask({{"do", "x"}}, {}).status, Reply::Status::Crash);

  pid_t child = 0;
  {
    auto leaves = shell_worker(arena, R"(sleep 60 & printf '{"id":1,"status":"ok","child":%d}\n' $! >&3; sleep 60)");
    const Reply left = leaves.ask({{"do", "x"}}, {});
    child = left.body.at("child");
  }
  const auto state = [&] {  // empty: gone; Z: dead, until init looks
    std::string text;
    std::getline(std::ifstream(fmt::format("/proc/{}/stat", child)), text);
    return text.empty() ? ' ' : text[text.rfind(')') + 2];
  };
  for (int i = 0; i < 100 && state() != ' ' && state() != 'Z'; ++i) usleep(10'000);
  EXPECT_TRUE(state() == ' ' || state() == 'Z') << state();
}

TEST(Process, CannotTakeTheArenaAway) {
  Arena arena;
  Call call;
  call.storages.emplace_back(DType::F32, Dims{4096});
  arena.stage(call, GuardMode::Bands, 0);
  EXPECT_NE(ftruncate(arena.fd(), 0), 0);
  EXPECT_EQ(arena.storage(0).size(), 16384U);
  arena.stage(call, GuardMode::Bands, 1 << 20);  // it can still grow
}

TEST(Process, AClosedSocketIsACrash) {
  Arena arena;
  auto worker = shell_worker(arena, "exec 3>&-; sleep 0.1");
  EXPECT_EQ(worker.ask({{"do", "x"}}, {}).status, Reply::Status::Crash);
}

TEST(Process, ManyRepliesInOnePieceAndOneInMany) {
  Arena arena;
  auto worker = shell_worker(
      arena,
      R"(printf '{"id":1,"status":"ok","n":1}\n{"id":2,"sta' >&3; sleep 0.1; printf 'tus":"ok","n":2}\n' >&3; sleep 5)");
  EXPECT_EQ(worker.ask({{"do", "x"}}, {}).body.at("n"), 1);
  EXPECT_EQ(worker.ask({{"do", "x"}}, {}).body.at("n"), 2);
}

TEST(Process, SeesTheArenaAndNothingElseOfItsOwner) {
  Arena arena, other;  // the other's descriptor, and the test's own, must not be there
  auto worker = shell_worker(
      arena,
      R"sh(for fd in /proc/$$/fd/*; do all="$all $(readlink $fd)"; done; printf '{"id":1,"status":"ok","all":"%s"}\n' "$all" >&3; sleep 5)sh");
  const auto all = worker.ask({{"do", "x"}}, {}).body.at("all").get<std::string>();
  std::size_t arenas = 0;
  for (auto at = all.find("memfd:attest "); at != std::string::npos; at = all.find("memfd:attest ", at + 1)) ++arenas;
  EXPECT_EQ(arenas, 1U) << all;
}

TEST(Process, NoSuchProgram) {
  Arena arena;
  EXPECT_THROW(WorkerProcess({"/no/such/program"}, arena.fd()), InfraError);
}

TEST(Process, DiesWithItsOwner) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    Arena arena;
    WorkerProcess worker({ATTEST_PROGRAM, "--worker"}, arena.fd());
    const Reply reply = worker.ask(kOpenLiar, {});
    const char ok = reply.ok() ? 'y' : 'n';
    if (write(fds[1], &ok, 1) != 1) _exit(1);
    kill(getpid(), SIGKILL);
  }
  char ok = 0;
  ASSERT_EQ(read(fds[0], &ok, 1), 1);
  EXPECT_EQ(ok, 'y');
  int status = 0;
  waitpid(owner, &status, 0);
  // Its worker, if it lived, would still hold the pipe's end open; the read ends when all are gone.
  close(fds[1]);
  EXPECT_EQ(read(fds[0], &ok, 1), 0);
}

}  // namespace
}  // namespace attest
