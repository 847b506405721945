#include "harness/matrix/contract_file.h"

#include "harness/core/case_keys.h"
#include "harness/core/error.h"
#include "harness/core/words.h"
#include "harness/matrix/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace attest {
namespace {

using Node = YAML::Node;

class Reader {
 public:
  Reader(const std::string& path, const std::string& deps) : file_(path), deps_(deps) {}

  std::vector<Contract> read() {
    Contract base;
    base.file = file_.path();
    std::vector<std::pair<std::string, Node>> variants;
    file_.each(file_.root(), kKeys, [&](const std::string& key, const Node& at, const Node& value) {
      if (key == "variants")
        file_.each(value, {}, [&](const std::string& name, const Node&, const Node& options) {
          variants.emplace_back(name, options);
        });
      else
        read_key(base, key, at, value);
    });
    for (const auto& [what, text] :
         {std::pair{"backend", &base.backend}, {"about", &base.about}, {"plugin", &base.plugin}})
      if (text->empty()) throw UsageError(fmt::format("{}:1: a contract needs '{}'", file_.path(), what));
    check_name(base.backend);
    if (base.ops.empty()) throw UsageError(fmt::format("{}:1: a contract needs 'ops'", file_.path()));
    if (variants.empty()) return {base};
    std::vector<Contract> all;
    for (const auto& [name, options] : variants) {
      check_name(name);
      all.push_back(base);
      all.back().backend = name;
      if (name != base.backend) all.back().aliases.clear();
      read_options(all.back(), options);
    }
    return all;
  }

  // It stands in tokens and globs as it is.
  void check_name(const std::string& name) const {
    const auto fits = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '+';
    };
    if (!std::all_of(name.begin(), name.end(), fits))
      throw UsageError(fmt::format("{}:1: '{}' is no backend's name: letters, digits and _ - . +", file_.path(), name));
  }

 private:
  inline static const std::vector<std::string> kKeys{
      "backend", "aliases",  "about",       "plugin", "options", "variants",   "ops",   "takes",
      "rejects", "declines", "divergences", "ran",    "rules",   "arithmetic", "write", "layout"};

  void read_key(Contract& c, const std::string& key, const Node& at, const Node& value) {
    if (key == "backend")
      c.backend = file_.scalar(value, key);
    else if (key == "aliases")
      c.aliases = file_.scalars(value, key);
    else if (key == "about")
      c.about = file_.scalar(value, key);
    else if (key == "plugin")
      c.plugin = file_.scalar(value, key);
    else if (key == "options")
      read_options(c, value);
    else if (key == "ops")
      read_ops(c, value);
    else if (key == "takes")
      c.takes = read_conditions(file_, value);
    else if (key == "rejects")
      c.rejects = read_rules(value, "message", true);
    else if (key == "declines")
      c.declines = read_rules(value, "because", false);
    else if (key == "divergences")
      c.divergences = read_rules(value, "what", true);
    else if (key == "layout")
      read_layouts(c, value);
    else
      claims_of(c, key) = read_claims(key, at, value);
  }

  static std::vector<ClaimRule>& claims_of(Contract& c, const std::string& section) {
    if (section == "ran") return c.ran;
    if (section == "rules") return c.rules;
    return section == "write" ? c.write : c.arithmetic;
  }

  void read_options(Contract& c, const Node& node) {
    file_.each(node, {}, [&](const std::string& key, const Node&, const Node& value) {
      std::string text = file_.scalar(value, key);
      const std::string here = std::filesystem::path(file_.path()).parent_path().string();
      for (const auto& [name, folder] :
           {std::pair<std::string, std::string>{"${deps}", deps_}, {"${here}", here.empty() ? "." : here}})
        for (auto found = text.find(name); found != std::string::npos; found = text.find(name, found + folder.size()))
          text.replace(found, name.size(), folder);
      const auto old =
          std::find_if(c.options.begin(), c.options.end(), [&](const auto& option) { return option.first == key; });
      if (old != c.options.end())
        old->second = text;
      else
        c.options.emplace_back(key, text);
    });
  }

  void read_ops(Contract& c, const Node& node) {
    file_.each(node, phase_names(), [&](const std::string& phase, const Node&, const Node& value) {
      const std::string text = file_.scalar(value, phase);
      std::vector<std::string> names;
      for (const Op op : {Op::Write, Op::Attend, Op::WriteAttend, Op::Rope}) {
        names.emplace_back(name(op));
        if (text == name(op)) c.ops[*parse_phase(phase)] = op;
      }
      if (!c.ops.contains(*parse_phase(phase)))
        file_.fail(value, fmt::format("{}: '{}' is no operation{}", phase, text, suggestion(text, names)));
    });
  }

  std::vector<Rule> read_rules(const Node& node, const std::string& text_key, bool needs_source) {
    if (!node.IsSequence()) file_.fail(node, "expected a list of rules");
    std::vector<Rule> rules;
    for (const Node& item : node) {
      Rule rule;
      file_.each(item, {"when", text_key, "source"}, [&](const std::string& key, const Node&, const Node& value) {
        if (key == "when")
          rule.when = read_conditions(file_, value);
        else
          (key == "source" ? rule.source : rule.text) = file_.scalar(value, key);
      });
      if (rule.when.empty()) file_.fail(item, "a rule needs 'when'");
      if (rule.text.empty()) file_.fail(item, fmt::format("a rule needs '{}'", text_key));
      if (rule.source.empty() && needs_source) file_.fail(item, "a rule needs its 'source'");
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  std::vector<ClaimRule> read_claims(const std::string& section, const Node& at, const Node& node) {
    if (!node.IsSequence())
      file_.fail(at, fmt::format("{}: expected a list of claims, each with an optional 'when'", section));
    std::vector<ClaimRule> rules;
    for (const Node& item : node) {
      ClaimRule rule;
      file_.each(item, {}, [&](const std::string& key, const Node& key_node, const Node& value) {
        if (key == "when")
          rule.when = read_conditions(file_, value);
        else
          rule.claims.push_back(read_claim(section, key, key_node, value));
      });
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  Claim read_claim(const std::string& section, const std::string& field, const Node& at, const Node& node) {
    Claim claim{.field = field, .value = "", .source = "", .assumed = false};
    file_.each(node, {"is", "source", "assumed"}, [&](const std::string& key, const Node&, const Node& value) {
      if (key == "is")
        claim.value = file_.scalar(value, field);
      else
        claim.source = file_.scalar(value, field);
      if (key == "assumed") claim.assumed = true;
    });
    if (claim.value.empty()) file_.fail(at, fmt::format("{}.{}: a claim needs 'is'", section, field));
    if (claim.source.empty())
      file_.fail(at, fmt::format("{}.{}: a claim needs its 'source', or 'assumed' with the reason", section, field));
    if (const auto wrong = check_claim(section, claim))
      file_.fail(at, fmt::format("{}.{}: {}", section, field, *wrong));
    return claim;
  }

  std::vector<CacheAxis> read_axes(const Node& node) {
    std::vector<CacheAxis> axes;
    for (const auto& text : file_.scalars(node, "axes")) {
      const auto axis = cache_axis_from_name(text);
      if (!axis)
        file_.fail(node, fmt::format("'{}' is no axis of a cache{}", text,
                                     suggestion(text, {"page", "slot", "head", "kv", "dim"})));
      axes.push_back(*axis);
    }
    return axes;
  }

  CacheSpec read_cache(const Node& node) {
    CacheSpec spec;
    file_.each(node, {"shape", "storage", "order"}, [&](const std::string& key, const Node&, const Node& value) {
      (key == "shape" ? spec.shape : key == "storage" ? spec.storage : spec.order) = read_axes(value);
    });
    if (spec.storage.empty()) spec.storage = spec.shape;
    if (spec.order.empty()) spec.order = spec.storage;
    if (const auto wrong = check(spec)) file_.fail(node, *wrong);
    return spec;
  }

  void read_layouts(Contract& c, const Node& node) {
    file_.each(node, {}, [&](const std::string& strides, const Node& at, const Node& value) {
      Case scratch;
      if (const auto wrong = find_case_key("strides")->parse(scratch, strides)) file_.fail(at, *wrong);
      LayoutSpec layout;
      file_.each(value, {"k", "v", "indexed_by"}, [&](const std::string& key, const Node&, const Node& part) {
        if (key == "indexed_by") {
          if (file_.scalar(part, key) != "plugin") file_.fail(part, "indexed_by can only be 'plugin'");
          layout.indexed_by_plugin = true;
        } else {
          (key == "k" ? layout.k : layout.v) = read_cache(part);
        }
      });
      if (layout.k.shape.empty() || layout.v.shape.empty()) file_.fail(at, "a layout needs 'k' and 'v'");
      if (const auto wrong = check(layout)) file_.fail(at, *wrong);
      c.layouts[scratch.strides] = layout;
    });
  }

  YamlFile file_;
  std::string deps_;
};

}  // namespace

std::vector<Contract> read_contracts(const std::string& path, const std::string& deps) {
  return Reader(path, deps).read();
}

ContractBook ContractBook::read(const std::string& folder, const std::string& deps) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  if (error) throw UsageError(fmt::format("{}: no folder of contracts: {}", folder, error.message()));
  std::sort(paths.begin(), paths.end());
  ContractBook book;
  for (const auto& path : paths)
    for (auto& contract : read_contracts(path, deps)) book.add(std::move(contract));
  return book;
}

void ContractBook::add(Contract contract) {
  const auto taken = [&](const std::string& name) {
    throw UsageError(
        fmt::format("{}: backend '{}' has a contract already, in {}", contract.file, name, find(name).file));
  };
  if (!unknown(contract.backend)) taken(contract.backend);
  for (const auto& alias : contract.aliases) {
    const auto old = aliases_.find(alias);
    if (contracts_.contains(alias) || (old != aliases_.end() && old->second != contract.backend)) taken(alias);
    aliases_[alias] = contract.backend;
  }
  const std::string name = contract.backend;
  contracts_.emplace(name, std::move(contract));
}

void ContractBook::replace(Contract contract) {
  contracts_.erase(contract.backend);
  aliases_.erase(contract.backend);
  add(std::move(contract));
}

const Contract& ContractBook::find(const std::string& backend) const {
  if (const auto why = unknown(backend)) throw UsageError(*why);
  const auto alias = aliases_.find(backend);
  return contracts_.at(alias == aliases_.end() ? backend : alias->second);
}

std::optional<std::string> ContractBook::unknown(const std::string& backend) const {
  if (contracts_.contains(backend) || aliases_.contains(backend)) return std::nullopt;
  return fmt::format("backend '{}' is unknown{}", backend, suggestion(backend, names()));
}

std::vector<std::string> ContractBook::names() const {
  std::vector<std::string> all;
  for (const auto& [name, contract] : contracts_) all.push_back(name);
  return all;
}

}  // namespace attest
