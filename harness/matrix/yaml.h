// Reading YAML with a place for every complaint: FILE:LINE: what is wrong, the value, what would be right.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>
#include <vector>

namespace attest {

class YamlFile {
 public:
  // Throws UsageError: unreadable, or no YAML.
  explicit YamlFile(const std::string& path);

  const std::string& path() const { return path_; }
  const YAML::Node& root() const { return root_; }
  std::string place(const YAML::Node& node) const;  // "cases/smoke.yaml:12"
  [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const;

  // Calls `visit(key, key's node, value)` for each entry, those merged by `<<` first; of a merged list the first wins.
  // Throws UsageError for a node that is no mapping, a key given twice, one without a value, and one that is not in
  // `known`.
  void each(const YAML::Node& mapping, const std::vector<std::string>& known,
            const std::function<void(const std::string&, const YAML::Node&, const YAML::Node&)>& visit) const;

  std::string scalar(const YAML::Node& node, const std::string& what) const;
  std::vector<std::string> scalars(const YAML::Node& node, const std::string& what) const;  // a list, or one

  // The items of a list, those of lists within it in their place: an alias of a list may stand among others.
  std::vector<YAML::Node> items(const YAML::Node& list, const std::string& what, int depth = 0) const;

 private:
  std::string path_;
  YAML::Node root_;
};

}  // namespace attest
