#include "backends/torch_ops/binding.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace attest::torch_ops {
namespace {

constexpr std::array<std::string_view, ATTEST_NUM_SLOTS> kSlotNames{
    "q",       "q_rope",  "k_new",   "k_rope", "v_new",      "positions",    "offsets", "cos_sin",
    "k_cache", "v_cache", "out",     "lse",    "page_table", "slot_mapping", "len_kv",  "cu_len_q",
    "q_scale", "k_scale", "v_scale", "sinks",  "alibi",      "workspace",    "q_out",   "k_out"};

class Reader {
 public:
  Reader(const std::string& path, const Options& options) : path_(path), options_(options) {}

  Binding read() {
    YAML::Node root;
    try {
      root = YAML::LoadFile(path_);
    } catch (const YAML::Exception& error) {
      throw std::runtime_error(path_ + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg);
    }
    Binding binding;
    for (const auto& entry : mapping(root)) {
      const auto key = entry.first.Scalar();
      if (key == "library")
        binding.library = text(entry.second);
      else if (key == "version")
        binding.version = text(entry.second);
      else if (key == "about")
        binding.about = text(entry.second);
      else if (key == "ran")
        binding.ran = text(entry.second);
      else if (key == "cpu")
        binding.cpu = words(text(entry.second));
      else if (key == "available")
        binding.available = calls(entry.second);
      else if (key == "operations")
        read_operations(entry.second, binding);
      else
        fail(entry.first, "key '" + key + "' is unknown (library, version, about, ran, cpu, available, operations)");
    }
    if (binding.library.empty()) fail(root, "a binding needs 'library'");
    return binding;
  }

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(node.Mark().line + 1) + ": " + what);
  }

  const YAML::Node& mapping(const YAML::Node& node) const {
    if (!node.IsMap()) fail(node, "expected a mapping");
    return node;
  }

  std::string text(const YAML::Node& node) const {
    if (!node.IsScalar()) fail(node, "expected one value");
    std::string out = node.Scalar();
    for (auto at = out.find("${"); at != std::string::npos; at = out.find("${", at)) {
      const auto end = out.find('}', at);
      const auto option = end == std::string::npos ? options_.end() : options_.find(out.substr(at + 2, end - at - 2));
      if (option == options_.end()) fail(node, "no option for '" + out.substr(at) + "'");
      out.replace(at, end - at + 1, option->second);
      at += option->second.size();
    }
    return out;
  }

  static std::vector<std::string> words(const std::string& line) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin < line.size();) {
      const auto end = std::min(line.find(' ', begin), line.size());
      if (end > begin) all.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    return all;
  }

  void read_operations(const YAML::Node& node, Binding& binding) {
    constexpr std::array<std::string_view, 4> names{"write", "attend", "write_attend", "rope"};
    for (const auto& entry : mapping(node)) {
      const auto found = std::find(names.begin(), names.end(), entry.first.Scalar());
      if (found == names.end())
        fail(entry.first, "'" + entry.first.Scalar() + "' is no operation (write, attend, write_attend, rope)");
      Operation& operation = binding.operations[static_cast<attest_op>(found - names.begin())];
      for (const auto& stage : mapping(entry.second)) {
        if (stage.first.Scalar() == "plan")
          operation.plan = calls(stage.second);
        else if (stage.first.Scalar() == "launch")
          operation.launch = calls(stage.second);
        else
          fail(stage.first, "'" + stage.first.Scalar() + "' is no stage (plan, launch)");
      }
    }
  }

  std::vector<OperatorCall> calls(const YAML::Node& node) {
    if (!node.IsSequence()) fail(node, "expected a list of calls");
    std::vector<OperatorCall> all;
    for (const auto& item : node) {
      OperatorCall call;
      for (const auto& entry : mapping(item)) {
        const auto key = entry.first.Scalar();
        if (key == "call")
          call.op = text(entry.second);
        else if (key == "as")
          call.as = text(entry.second);
        else if (key == "returns")
          for (const auto& name : entry.second) call.returns.push_back(slot(name, text(name)));
        else if (key == "with")
          for (const auto& argument : mapping(entry.second))
            call.arguments.emplace_back(argument.first.Scalar(), read_argument(argument.second));
        else
          fail(entry.first, "key '" + key + "' is unknown (call, with, as, returns)");
      }
      if (call.op.empty()) fail(item, "a call needs 'call'");
      all.push_back(std::move(call));
    }
    return all;
  }

  attest_slot slot(const YAML::Node& node, std::string_view name) const {
    for (std::size_t i = 0; i < kSlotNames.size(); ++i)
      if (kSlotNames[i] == name) return static_cast<attest_slot>(i);
    fail(node, "'" + std::string(name) + "' is no slot");
  }

  Argument read_argument(const YAML::Node& node) {
    if (node.IsScalar()) return read_slot(node, Argument::Kind::Slot);
    Argument argument{};
    std::string kind;
    for (const auto& entry : mapping(node)) {
      const auto key = entry.first.Scalar();
      if (key == "else")
        argument.otherwise = entry.second.as<double>();
      else
        kind = key;
    }
    const auto value = kind.empty() ? node : node[kind];
    if (kind == "problem")
      argument.kind = Argument::Kind::Problem, argument.text = text(value);
    else if (kind == "value")
      argument.kind = Argument::Kind::Value, argument.text = text(value);
    else if (kind == "result")
      argument.kind = Argument::Kind::Result, argument.text = text(value);
    else if (kind == "bytes" || kind == "dtype" || kind == "number") {
      const double otherwise = argument.otherwise;
      argument = read_slot(value, kind == "bytes"   ? Argument::Kind::Bytes
                                  : kind == "dtype" ? Argument::Kind::Dtype
                                                    : Argument::Kind::Number);
      argument.otherwise = otherwise;
    } else {
      fail(node,
           "an argument is a slot, or one of {problem:}, {value:}, {result:}, {bytes:}, {dtype:}, {number:, else:}");
    }
    return argument;
  }

  Argument read_slot(const YAML::Node& node, Argument::Kind kind) {
    std::string name = text(node);
    Argument argument{.kind = kind, .text = name};
    if (name.ends_with('?')) {
      argument.optional = true;
      name.pop_back();
    }
    argument.slot = slot(node, name);
    return argument;
  }

  std::string path_;
  const Options& options_;
};

}  // namespace

Binding read_binding(const std::string& path, const Options& options) { return Reader(path, options).read(); }

}  // namespace attest::torch_ops
