#include "harness/run/worker.h"

#include "harness/core/error.h"
#include "harness/run/session.h"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>
#include <string>

namespace attest {
namespace {

bool send_line(std::string text) {
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const auto n = send(kWorkerSocket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

int worker_main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a worker does not outlive its harness
  Session session(kWorkerArena);
  std::string pending;
  char buffer[65536];
  for (;;) {
    const auto n = recv(kWorkerSocket, buffer, sizeof buffer, 0);
    if (n <= 0) return 0;
    pending.append(buffer, static_cast<std::size_t>(n));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      nlohmann::json reply;
      const auto request = nlohmann::json::parse(pending.substr(0, end));
      try {
        reply = session.answer(request);
      } catch (const UsageError& error) { reply = {{"status", "error"}, {"type", "usage"}, {"text", error.what()}}; }
      reply["id"] = request.at("id");
      pending.erase(0, end + 1);
      if (!send_line(reply.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) return 0;
    }
  }
}

}  // namespace attest
