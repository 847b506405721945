#include "harness/matrix/yaml.h"

#include "harness/core/error.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace attest {
namespace {

constexpr int kDeepest = 50;         // an anchor that holds an alias of itself has no end
constexpr int kMostNodes = 200'000;  // with every alias written out

struct Entry {
  std::string key;
  YAML::Node key_node, value;
};

void put(std::vector<Entry>& entries, const Entry& entry) {
  const auto old = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == entry.key; });
  if (old == entries.end()) {
    entries.push_back(entry);
    return;
  }
  // Not `*old = entry`: assigning a node changes the document's, for every other user of an anchor.
  old->key_node.reset(entry.key_node);
  old->value.reset(entry.value);
}

// yaml-cpp leaves `<<` to its user.
void collect(const YamlFile& file, const YAML::Node& mapping, std::vector<Entry>& entries, int depth) {
  if (!mapping.IsMap()) file.fail(mapping, "expected a mapping (key: value)");
  if (depth > kDeepest) file.fail(mapping, "merges itself");
  std::vector<std::string> own;
  for (const auto& pair : mapping) {
    if (pair.first.Scalar() != "<<") continue;
    if (pair.second.IsSequence())  // the first of several wins, as YAML's merge type has it
      for (std::size_t i = pair.second.size(); i-- > 0;) collect(file, pair.second[i], entries, depth + 1);
    else
      collect(file, pair.second, entries, depth + 1);
  }
  for (const auto& pair : mapping) {
    const std::string key = pair.first.Scalar();
    if (key == "<<") continue;
    if (std::find(own.begin(), own.end(), key) != own.end())
      file.fail(pair.first, fmt::format("key '{}' is given twice", key));
    own.push_back(key);
    put(entries, {key, pair.first, pair.second});
  }
}

// Counts nodes with aliases written out: a few lines of aliases of aliases can stand for more than memory holds.
void count(const YamlFile& file, const YAML::Node& node, int depth, int& nodes) {
  if (depth > kDeepest) return;  // named where it is read
  if (++nodes > kMostNodes) file.fail(node, fmt::format("holds more than {} values, aliases written out", kMostNodes));
  if (node.IsSequence())
    for (const auto& item : node) count(file, item, depth + 1, nodes);
  if (node.IsMap())
    for (const auto& pair : node) count(file, pair.second, depth + 1, nodes);
}

}  // namespace

YamlFile::YamlFile(const std::string& path) : path_(path) {
  std::ifstream stream(path);
  if (!stream) throw UsageError(fmt::format("{}: can't be read: {}", path, std::strerror(errno)));
  std::stringstream text;
  if (!(text << stream.rdbuf()) && stream.bad()) throw UsageError(fmt::format("{}: can't be read", path));
  try {
    const auto documents = YAML::LoadAll(text.str());
    if (documents.size() > 1)
      throw UsageError(
          fmt::format("{}: holds {} YAML documents (---), expected one", place(documents[1]), documents.size()));
    if (!documents.empty()) root_ = documents[0];
  } catch (const YAML::Exception& error) {
    throw UsageError(fmt::format("{}:{}: no YAML: {}", path, error.mark.line + 1, error.msg));
  }
  if (!root_.IsMap()) throw UsageError(fmt::format("{}:1: expected a mapping (key: value) at the top", path));
  int nodes = 0;
  count(*this, root_, 0, nodes);
}

std::string YamlFile::place(const YAML::Node& node) const {
  return fmt::format("{}:{}", path_, std::max(node.Mark().line, 0) + 1);
}

void YamlFile::fail(const YAML::Node& node, const std::string& message) const {
  throw UsageError(place(node) + ": " + message);
}

void YamlFile::each(const YAML::Node& mapping, const std::vector<std::string>& known,
                    const std::function<void(const std::string&, const YAML::Node&, const YAML::Node&)>& visit) const {
  std::vector<Entry> entries;
  collect(*this, mapping, entries, 0);
  for (const Entry& entry : entries) {
    if (!known.empty() && std::find(known.begin(), known.end(), entry.key) == known.end())
      fail(entry.key_node, fmt::format("key '{}' is unknown{}", entry.key, suggestion(entry.key, known)));
    if (entry.value.IsNull()) fail(entry.key_node, fmt::format("key '{}' has no value", entry.key));
    visit(entry.key, entry.key_node, entry.value);
  }
}

std::string YamlFile::scalar(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar()) fail(node, fmt::format("{}: expected one value", what));
  return node.Scalar();
}

std::vector<std::string> YamlFile::scalars(const YAML::Node& node, const std::string& what) const {
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> all;
  for (const auto& item : items(node, what)) all.push_back(scalar(item, what));
  return all;
}

std::vector<YAML::Node> YamlFile::items(const YAML::Node& list, const std::string& what, int depth) const {
  if (!list.IsSequence()) fail(list, fmt::format("{}: expected a list", what));
  if (depth > kDeepest) fail(list, fmt::format("{}: a list that holds itself", what));
  std::vector<YAML::Node> all;
  for (const auto& item : list) {
    if (!item.IsSequence()) {
      all.push_back(item);
      continue;
    }
    const auto inner = items(item, what, depth + 1);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

}  // namespace attest
