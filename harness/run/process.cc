#include "harness/run/process.h"

#include "harness/core/error.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

extern char** environ;

namespace attest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWatchMs = 10;
constexpr std::size_t kLastWords = 300;  // bytes of a worker's output that a message quotes
constexpr std::size_t kKeptOutput = std::size_t{1} << 20, kLongestReply = std::size_t{16} << 20;

// One thread a process: kernels are timed and, some of them, planned for that. Memory that a kernel allocates and does
// not initialise holds the same bytes on every run: what it makes of them is seen again.
std::vector<std::string> worker_environment() {
  std::vector<std::string> all{"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",
                               "MALLOC_PERTURB_=85"};
  const std::size_t own = all.size();
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const auto same_name = [&](const std::string& other) {
      return text.starts_with(other.substr(0, other.find('=') + 1));
    };
    if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own), same_name)) all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, int arena_fd) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw InfraError(fmt::format("no socket for a worker: {}", std::strerror(errno)));
  socket_ = ends[0];
  output_ = memfd_create("attest-worker-output", MFD_CLOEXEC);
  if (output_ >= 0) fcntl(output_, F_SETFL, O_APPEND);
  // Above the numbers that the child is given, so that no dup2 below overwrites a source of the next one.
  const int socket_source = fcntl(ends[1], F_DUPFD_CLOEXEC, 10), arena_source = fcntl(arena_fd, F_DUPFD_CLOEXEC, 10);
  if (output_ < 0 || socket_source < 0 || arena_source < 0)
    throw InfraError(fmt::format("no file descriptors for a worker: {}", std::strerror(errno)));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_, 1);
  posix_spawn_file_actions_adddup2(&actions, output_, 2);
  posix_spawn_file_actions_adddup2(&actions, socket_source, kWorkerSocket);
  posix_spawn_file_actions_adddup2(&actions, arena_source, kWorkerArena);
  // A group of its own: Ctrl-C goes to the harness alone, which lets the running cases end.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const auto environment = worker_environment();
  const int error = posix_spawn(&pid_, command[0].c_str(), &actions, &attributes, pointers(command).data(),
                                pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (const int fd : {ends[1], socket_source, arena_source})
    if (fd >= 0) close(fd);
  if (error != 0) {
    pid_ = -1;
    throw InfraError(fmt::format("can't start the worker {}: {}", command[0], std::strerror(error)));
  }
}

WorkerProcess::~WorkerProcess() {
  kill_and_reap();
  for (const int fd : {socket_, output_})
    if (fd >= 0) close(fd);
}

// What arrived so far, when it is a whole line. Anything but the answer to the last request ends the process: a child
// that a kernel forked and let run on would answer too.
std::optional<Reply> WorkerProcess::take_reply() {
  const auto newline = pending_.find('\n');
  if (newline == std::string::npos) {
    if (pending_.size() > kLongestReply)
      return end(Reply::Status::Crash, fmt::format("answered with more than {} bytes", kLongestReply));
    return std::nullopt;
  }
  const std::string line = pending_.substr(0, newline);
  pending_.erase(0, newline + 1);
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (const auto wrong = malformed(json))
    return end(Reply::Status::Crash,
               fmt::format("answered with something that is no reply ({}): {}", *wrong, line.substr(0, kLastWords)));
  if (json.at("id") != asked_)
    return end(Reply::Status::Crash,
               "answered a request that was not asked last: does it fork, or write to the socket?");
  return reply_from_json(json);
}

Reply WorkerProcess::ask(const nlohmann::json& request, const WorkerLimits& limits) {
  const std::size_t before = resident();
  const auto deadline = Clock::now() + limits.answer;
  if (output_ >= 0 && printed() > kKeptOutput && ftruncate(output_, 0) != 0)
    throw InfraError(fmt::format("can't drop a worker's output: {}", std::strerror(errno)));
  auto numbered = request;
  numbered["id"] = ++asked_;
  const std::string text = numbered.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const auto n = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return end(Reply::Status::Crash, how_it_died());
    sent += static_cast<std::size_t>(n);
  }
  for (;;) {
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, kWatchMs) > 0) {
      char buffer[65536];
      const auto n = recv(socket_, buffer, sizeof buffer, 0);
      if (n > 0)
        pending_.append(buffer, static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR)
        return end(Reply::Status::Crash, how_it_died());
      if (auto reply = take_reply()) return *reply;
    } else if (is_gone()) {  // while a child of its own holds the socket open
      return end(Reply::Status::Crash, how_it_died());
    }
    if (Clock::now() > deadline)
      return end(Reply::Status::Timeout, fmt::format("no answer within {} ms", limits.answer.count()));
    if (const std::size_t now = resident() + printed(); now > before + limits.memory)
      return end(Reply::Status::Memory, fmt::format("its memory grew by {} MiB over one request (limit {})",
                                                    (now - before) >> 20, limits.memory >> 20));
  }
}

Reply WorkerProcess::end(Reply::Status status, const std::string& what) {
  kill_and_reap();
  const std::string words = last_words();
  return {
      .status = status, .type = "", .text = words.empty() ? what : fmt::format("{}; its last words: {}", what, words)};
}

std::string WorkerProcess::how_it_died() {
  // Its socket closed, so it is gone or about to be.
  for (int i = 0; i < 200 && !is_gone(); ++i) usleep(10'000);
  if (!gone_) return "closed its socket without an answer";
  if (WIFSIGNALED(exit_status_))
    return fmt::format("killed by signal {} ({})", WTERMSIG(exit_status_), strsignal(WTERMSIG(exit_status_)));
  return fmt::format("exited with code {} without an answer", WEXITSTATUS(exit_status_));
}

std::string WorkerProcess::last_words() {
  const std::size_t size = printed(), want = std::min(size, kLastWords);
  if (size == 0) return "";
  std::string text(want, '\0');
  const auto n = pread(output_, text.data(), want, static_cast<off_t>(size - want));
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  const auto last = text.find_last_not_of(' ');
  return last == std::string::npos ? "" : text.substr(0, last + 1);
}

std::size_t WorkerProcess::resident() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  std::size_t total = 0, pages = 0;
  file >> total >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t WorkerProcess::printed() const {
  struct stat info {};
  return output_ >= 0 && fstat(output_, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

bool WorkerProcess::is_gone() {
  if (!gone_ && waitpid(pid_, &exit_status_, WNOHANG) == pid_) gone_ = true;
  return gone_;
}

// With its whole group: a child that it forked must not write to the next case's tensors.
void WorkerProcess::kill_and_reap() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  if (!gone_) waitpid(pid_, &exit_status_, 0);
  pid_ = -1;
}

}  // namespace attest
