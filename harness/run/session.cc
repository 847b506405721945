#include "harness/run/session.h"

#include "backends/loader.h"
#include "harness/core/error.h"

#include <sys/mman.h>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace attest {
namespace {

using Json = nlohmann::json;

Json status_json(attest_status status, const attest_message& message) {
  constexpr std::array<std::string_view, 5> names{"ok", "unsupported", "rejected", "error", "missing"};
  if (status < ATTEST_OK || status > ATTEST_MISSING)
    return {{"status", "error"},
            {"type", "plug-in"},
            {"text", fmt::format("gave the unknown status {}", static_cast<int>(status))}};
  Json json{{"status", names[static_cast<std::size_t>(status)]}};
  if (status == ATTEST_OK) return json;
  json["type"] = std::string(message.type, strnlen(message.type, sizeof message.type));
  json["text"] = std::string(message.text, strnlen(message.text, sizeof message.text));
  return json;
}

Json error_json(const std::string& text) { return {{"status", "error"}, {"type", "harness"}, {"text", text}}; }

// Plug-ins promise to let no exception through; one that breaks the promise must not look like a crash.
template <typename Body>
Json guarded(const Body& body) {
  try {
    return body();
  } catch (const UsageError&) { throw; } catch (const std::exception& error) {
    return {{"status", "error"}, {"type", "exception"}, {"text", error.what()}};
  } catch (...) { return {{"status", "error"}, {"type", "exception"}, {"text", "unknown exception"}}; }
}

}  // namespace

Session::~Session() {
  free_plan();
  if (backend_) backend_->close(context_);
  if (base_) munmap(base_, bytes_);
}

Json Session::answer(const Json& request) {
  const auto what = request.at("do").get<std::string>();
  return guarded([&]() -> Json {
    if (what == "open") return open(request);
    if (!backend_) return error_json("no plug-in is open");
    if (what == "supports") return supports(request);
    if (what == "cache_index") return cache_index(request);
    if (what == "plan") return plan(request);
    if (what == "launch") return launch();
    if (what == "free") return free_plan(), Json{{"status", "ok"}};
    return error_json("unknown request " + what);
  });
}

Json Session::open(const Json& request) {
  const attest_backend& backend = load_plugin(request.at("plugin"));
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& option : request.at("options")) texts.emplace_back(option.at(0), option.at(1));
  std::vector<attest_option> options;
  for (const auto& [key, value] : texts) options.push_back({key.c_str(), value.c_str()});
  attest_message message{};
  const attest_status status = backend.open(options.data(), options.size(), &context_, &message);
  if (status != ATTEST_OK) return status_json(status, message);
  backend_ = &backend;
  attest_description description{};
  if (backend_->describe(context_, &description) != ATTEST_OK) return error_json("the plug-in can't describe itself");
  const auto text = [](const char* of) { return of ? of : ""; };
  return {{"status", "ok"}, {"version", text(description.version)}, {"about", text(description.about)}};
}

Json Session::supports(const Json& request) {
  const AbiProblem problem(request.at("problem"));
  attest_message message{};
  Json json = status_json(backend_->supports(context_, &problem.problem, &message), message);
  if (json["status"] == "ok" && backend_->workspace_bytes)
    json["workspace"] = backend_->workspace_bytes(context_, &problem.problem);
  return json;
}

Json Session::cache_index(const Json& request) {
  if (!backend_->cache_index)
    return error_json("the contract's layout is the plug-in's own, but it has no cache_index()");
  const AbiProblem holder(request.at("problem"));
  const attest_problem& p = holder.problem;
  map_arena(request.at("arena"));
  auto* to = reinterpret_cast<std::int64_t*>(base_);
  for (const auto cache : {ATTEST_K_CACHE, ATTEST_V_CACHE})
    for (int page = 0; page < p.num_pages; ++page)
      for (int slot = 0; slot < p.page_size; ++slot)
        for (int head = 0; head < p.heads_kv; ++head)
          for (int dim = 0; dim < (cache == ATTEST_K_CACHE ? p.dim : p.dim_v); ++dim)
            *to++ = backend_->cache_index(context_, &p, cache, page, slot, head, dim);
  return {{"status", "ok"}};
}

void Session::map_arena(const Json& arena) {
  const std::size_t bytes = arena.at("bytes");
  for (const auto& [offset, count] : forbidden_)
    if (base_) mprotect(base_ + offset, count, PROT_READ | PROT_WRITE);
  forbidden_.clear();
  if (bytes != bytes_) {
    if (base_) munmap(base_, bytes_);
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd_, 0);
    if (mapping == MAP_FAILED)
      throw std::runtime_error(fmt::format("can't map {} bytes of shared memory: {}", bytes, std::strerror(errno)));
    base_ = static_cast<std::byte*>(mapping);
    bytes_ = bytes;
  }
  for (const auto& page : arena.value("forbidden", Json::array())) {
    forbidden_.emplace_back(page.at(0), page.at(1));
    if (mprotect(base_ + forbidden_.back().first, forbidden_.back().second, PROT_NONE) != 0)
      throw std::runtime_error("no guard pages: mprotect failed");
  }
}

void Session::bind_slots(const Json& tensors) {
  slots_ = {};
  for (const Json& json : tensors) {
    const auto slot = slot_from_name(json.at("slot").get<std::string>());
    const auto dtype = dtype_from_name(json.at("dtype").get<std::string>());
    if (!slot || !dtype) throw std::runtime_error("unknown slot or dtype: " + json.dump());
    const auto index = static_cast<std::size_t>(*slot);
    attest_tensor& tensor = tensors_[index];
    tensor = {.data = base_ + json.at("offset").get<std::size_t>(),
              .dtype = static_cast<std::int32_t>(*dtype),
              .ndim = static_cast<std::int32_t>(json.at("shape").size()),
              .shape = {},
              .strides = {}};
    for (std::size_t axis = 0; axis < json.at("shape").size(); ++axis) {
      tensor.shape[axis] = json.at("shape")[axis];
      tensor.strides[axis] = json.at("strides")[axis];
    }
    slots_.at[index] = &tensor;
  }
}

Json Session::plan(const Json& request) {
  free_plan();
  problem_ = std::make_unique<AbiProblem>(request.at("problem"));
  map_arena(request.at("arena"));
  bind_slots(request.at("arena").at("tensors"));
  attest_message message{};
  const attest_status status = backend_->plan(context_, &problem_->problem, &slots_, &plan_, &message);
  if (status != ATTEST_OK) plan_ = nullptr;
  return status_json(status, message);
}

Json Session::launch() {
  if (!plan_) return error_json("launch without a plan");
  attest_message message{};
  const auto begin = std::chrono::steady_clock::now();
  const attest_status status = backend_->launch(plan_, stream_.abi(), &message);
  const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
  Json json = status_json(status, message);
  json["ms"] = ms.count();
  if (status != ATTEST_OK) return json;
  attest_result result{};
  if (backend_->result(plan_, &result) != ATTEST_OK) return error_json("the plug-in has no result of its launch");
  json["ran"] = result.ran ? result.ran : "";
  for (std::size_t i = 0; i < kSlots; ++i) {
    const attest_tensor* tensor = result.produced[i];
    if (!tensor) continue;
    if (tensor->ndim < 0 || tensor->ndim > ATTEST_MAX_DIMS || tensor->dtype < ATTEST_F64 || tensor->dtype > ATTEST_U8)
      return error_json(fmt::format("the plug-in says it produced {} of {} dims and dtype {}", kSlotNames[i],
                                    tensor->ndim, tensor->dtype));
    Json shape = Json::array();
    for (int axis = 0; axis < tensor->ndim; ++axis) shape.push_back(tensor->shape[axis]);
    json["produced"][std::string(kSlotNames[i])] = {{"dtype", name(static_cast<DType>(tensor->dtype))},
                                                    {"shape", shape}};
  }
  return json;
}

void Session::free_plan() {
  if (plan_) backend_->free_plan(plan_);
  plan_ = nullptr;
}

}  // namespace attest
