#include "harness/run/host.h"

#include "harness/core/error.h"

#include <fmt/format.h>

#include <filesystem>

namespace attest {
namespace {

// Starting up does not count against a case: neither its time nor the memory of the libraries that it loads.
constexpr std::chrono::milliseconds kOpenLimit{120'000};
constexpr std::size_t kOpenMemory = std::size_t{8} << 30;

}  // namespace

std::string plugin_path(const Contract& contract, const std::string& backends) {
  if (contract.plugin.find('/') != std::string::npos || contract.plugin.ends_with(".so")) return contract.plugin;
  return fmt::format("{}/libattest_{}.so", backends, contract.plugin);
}

Host::Host(const Contract& contract, const HostOptions& options) : contract_(contract), options_(options) {}

Reply Host::open() {
  if (opened_ && (session_ || (worker_ && worker_->alive()))) return {};
  opened_ = false;
  plans_ = 0;
  if (options_.in_process)
    session_ = std::make_unique<Session>(arena_.fd());
  else
    worker_ = std::make_unique<WorkerProcess>(std::vector<std::string>{options_.program, "--worker"}, arena_.fd());
  const std::string path = std::filesystem::absolute(plugin_path(contract_, options_.backends)).string();
  WorkerLimits limits = options_.limits;
  limits.answer = std::max(limits.answer, kOpenLimit);
  limits.memory = std::max(limits.memory, kOpenMemory);
  const Reply reply = send({{"do", "open"}, {"plugin", path}, {"options", contract_.options}}, limits);
  if (reply.status == Reply::Status::Error && reply.type == "usage") throw UsageError(reply.text);
  if (!reply.ok()) return reply;
  version_ = reply.body.value("version", "");
  about_ = reply.body.value("about", "");
  opened_ = true;
  return reply;
}

Reply Host::ask(const nlohmann::json& request) {
  if (request.at("do") == "plan") ++plans_;
  return send(request, options_.limits);
}

void Host::restart() {
  opened_ = false;
  plans_ = 0;
}

Reply Host::send(const nlohmann::json& request, const WorkerLimits& limits) {
  if (worker_) return worker_->ask(request, limits);
  auto answer = session_->answer(request);
  answer["id"] = 0U;
  if (const auto wrong = malformed(answer)) return {.status = Reply::Status::Error, .type = "plug-in", .text = *wrong};
  return reply_from_json(answer);
}

}  // namespace attest
