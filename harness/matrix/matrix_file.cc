#include "harness/matrix/matrix_file.h"

#include "harness/core/case_keys.h"
#include "harness/core/words.h"
#include "harness/matrix/axis.h"
#include "harness/matrix/conditions.h"
#include "harness/matrix/pairwise.h"
#include "harness/matrix/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace attest {
namespace {

using Node = YAML::Node;

constexpr std::array<std::string_view, 4> kTiers{"smoke", "ci", "nightly", "full"};
constexpr std::size_t kMostCases = 200'000;  // of one block's product

struct Axis {
  std::string key;  // of a case, or phase, backend, seed
  std::vector<std::string> values;
  Node node;
};

struct Exclusion {
  When when;
  std::string because;
};

struct Block {
  std::string name;
  Tier tier = Tier::Ci;
  bool pairwise = false;
  std::vector<Axis> axes;
  std::vector<Exclusion> exclusions;
  Node node;
};

std::vector<std::string> block_keys() {
  std::vector<std::string> all{"name", "tier", "cover", "exclude", "phase", "backend", "seed"};
  for (auto& key : case_key_names()) all.push_back(std::move(key));
  return all;
}

class Expander {
 public:
  Expander(const std::string& path, const ContractBook& contracts, const MatrixOptions& options)
      : file_(path), contracts_(contracts), options_(options) {}

  void expand(Matrix& matrix, std::map<std::string, std::string>& seen) {
    bool any = false;
    file_.each(file_.root(), {"blocks", "define"}, [&](const std::string& key, const Node&, const Node& value) {
      if (key == "define") return;  // anchors
      if (!value.IsSequence() || value.size() == 0) file_.fail(value, "blocks: expected a list of blocks");
      any = true;
      for (const Node& node : value) expand_block(read_block(node), matrix, seen);
    });
    if (!any) file_.fail(file_.root(), "a matrix needs 'blocks'");
  }

 private:
  template <typename Parse>
  auto read_word(const Node& node, const std::string& key, const std::vector<std::string>& words, const Parse& parse) {
    const auto text = file_.scalar(node, key);
    const auto value = parse(text);
    if (!value) file_.fail(node, fmt::format("{}: '{}' is unknown{}", key, text, suggestion(text, words)));
    return *value;
  }

  Block read_block(const Node& node) {
    Block block;
    block.node = node;
    file_.each(node, block_keys(), [&](const std::string& key, const Node& at, const Node& value) {
      if (key == "name")
        block.name = file_.scalar(value, key);
      else if (key == "tier")
        block.tier = read_word(value, key, tier_names(), [](const std::string& t) { return tier_from_name(t); });
      else if (key == "cover")
        block.pairwise = read_word(value, key, {"product", "pairwise"}, [](const std::string& t) {
          return t == "pairwise" ? std::optional(true) : t == "product" ? std::optional(false) : std::nullopt;
        });
      else if (key == "exclude")
        block.exclusions = read_exclusions(value);
      else
        block.axes.push_back(read_axis(key, at, value));
    });
    if (block.name.empty()) file_.fail(node, "a block needs 'name'");
    for (const char* needed : {"phase", "backend", "seq"})
      if (std::none_of(block.axes.begin(), block.axes.end(), [&](const Axis& axis) { return axis.key == needed; }))
        file_.fail(node, fmt::format("block '{}' needs '{}'", block.name, needed));
    return block;
  }

  std::vector<Exclusion> read_exclusions(const Node& node) {
    std::vector<Exclusion> all;
    for (const Node& item : file_.items(node, "exclude")) {
      Exclusion exclusion;
      exclusion.when = read_conditions(file_, item, {"because"});
      file_.each(item, {}, [&](const std::string& key, const Node&, const Node& value) {
        if (key == "because") exclusion.because = file_.scalar(value, key);
      });
      if (exclusion.because.empty()) file_.fail(item, "an exclude needs its 'because'");
      if (exclusion.when.empty()) file_.fail(item, "an exclude needs a condition");
      all.push_back(std::move(exclusion));
    }
    return all;
  }

  Axis read_axis(const std::string& key, const Node& at, const Node& value) {
    Axis axis{key, {}, value};
    for (const auto& text : file_.scalars(value, key)) {
      const auto expanded = expand_range(text);
      if (!expanded) file_.fail(value, fmt::format("{}: '{}' is no range FROM..TO or FROM..TO..STEP", key, text));
      for (const auto& one : *expanded) check_axis_value(key, one, value);
      axis.values.insert(axis.values.end(), expanded->begin(), expanded->end());
    }
    if (key == "backend" && !options_.only_backend.empty()) axis.values = {options_.only_backend};
    if (key == "backend")
      for (auto& backend : axis.values) backend = contracts_.canonical(backend);
    if (axis.values.empty()) file_.fail(at, fmt::format("{}: an empty list makes an empty product", key));
    return axis;
  }

  // Lengths in pages must make sense for some page; the block's own pages are known only to make_case().
  static std::string any_lengths(const std::string& seq) {
    for (const int page : {1, 4096})
      if (const auto lengths = resolve_pages(seq, page)) return *lengths;
    return seq;
  }

  void check_axis_value(const std::string& key, const std::string& text, const Node& node) {
    std::optional<std::string> wrong;
    Case scratch;
    if (key == "phase")
      wrong = parse_phase(text)
                  ? std::nullopt
                  : std::optional(fmt::format("'{}' is unknown{}", text, suggestion(text, phase_names())));
    else if (key == "seed")
      wrong = parse_number<std::uint64_t>(text) ? std::nullopt : std::optional(fmt::format("'{}' is no number", text));
    else if (key == "backend")
      wrong = contracts_.unknown(text);
    else
      wrong = find_case_key(key)->parse(scratch, key == "seq" ? any_lengths(text) : text);
    if (wrong) file_.fail(node, fmt::format("{}: {}", key, *wrong));
  }

  Case make_case(const Block& block, const std::vector<int>& row) {
    Case c;
    c.seed = options_.seed;
    for (std::size_t i = 0; i < block.axes.size(); ++i) {
      const Axis& axis = block.axes[i];
      const std::string& text = axis.values[static_cast<std::size_t>(row[i])];
      if (axis.key == "phase")
        c.phase = *parse_phase(text);
      else if (axis.key == "backend")
        c.backend = text;
      else if (axis.key == "seed")
        c.seed = *parse_number<std::uint64_t>(text);
      else if (axis.key != "seq")
        find_case_key(axis.key)->parse(c, text);
    }
    const auto seq =
        std::find_if(block.axes.begin(), block.axes.end(), [](const Axis& axis) { return axis.key == "seq"; });
    const std::string& text =
        seq->values[static_cast<std::size_t>(row[static_cast<std::size_t>(seq - block.axes.begin())])];
    const auto resolved = resolve_pages(text, c.page);
    if (!resolved) file_.fail(seq->node, fmt::format("seq: '{}' makes no lengths with page={}", text, c.page));
    if (const auto wrong = find_case_key("seq")->parse(c, *resolved)) file_.fail(seq->node, "seq: " + *wrong);
    return c;
  }

  std::vector<std::vector<int>> product(const Block& block) {
    std::size_t size = 1;
    for (const Axis& axis : block.axes)
      if ((size *= axis.values.size()) > kMostCases)
        file_.fail(block.node,
                   fmt::format("block '{}' multiplies to more than {} cases: split it, or say cover: pairwise",
                               block.name, kMostCases));
    std::vector<std::vector<int>> rows;
    std::vector<int> row(block.axes.size(), 0);
    for (std::size_t n = 0; n < size; ++n) {
      if (allowed(block, row)) rows.push_back(row);
      for (std::size_t i = row.size(); i-- > 0;) {
        if (++row[i] < static_cast<int>(block.axes[i].values.size())) break;
        row[i] = 0;
      }
    }
    return rows;
  }

  std::vector<std::vector<int>> pairwise(const Block& block, Matrix& matrix) {
    std::vector<int> sizes;
    for (const Axis& axis : block.axes) sizes.push_back(static_cast<int>(axis.values.size()));
    PairCover cover = cover_pairs(sizes, [&](const std::vector<int>& row) { return allowed(block, row); });
    const auto text = [&](std::size_t axis, int value) {
      return fmt::format("{}={}", block.axes[axis].key, block.axes[axis].values[static_cast<std::size_t>(value)]);
    };
    for (const auto& pair : cover.unreached)
      matrix.unreached.push_back(fmt::format("{}: block '{}' has no case with both {} and {}", file_.place(block.node),
                                             block.name, text(pair.axis_a, pair.value_a),
                                             text(pair.axis_b, pair.value_b)));
    return std::move(cover.rows);
  }

  // Not excluded; a combination that contradicts itself must be.
  bool allowed(const Block& block, const std::vector<int>& row) {
    const Case c = make_case(block, row);
    if (std::any_of(block.exclusions.begin(), block.exclusions.end(),
                    [&](const Exclusion& e) { return holds(e.when, c); }))
      return false;
    if (const auto why = contradiction(c))
      file_.fail(block.node,
                 fmt::format("block '{}' makes {}: {} (exclude it, with a because)", block.name, token(c), *why));
    return true;
  }

  void expand_block(const Block& block, Matrix& matrix, std::map<std::string, std::string>& seen) {
    if (block.tier > options_.tier) {
      matrix.left_out.push_back(
          fmt::format("{}: block '{}' is of tier {}", file_.place(block.node), block.name, name(block.tier)));
      return;
    }
    const auto rows = block.pairwise ? pairwise(block, matrix) : product(block);
    if (rows.empty())
      file_.fail(block.node, fmt::format("block '{}' is empty: every combination is excluded", block.name));
    for (const auto& row : rows) {
      const Case c = make_case(block, row);
      const std::string text = token(c);
      const auto [first, fresh] = seen.try_emplace(text, file_.place(block.node));
      if (fresh)
        matrix.cases.push_back({c, text, block.name, file_.place(block.node)});
      else if (options_.only_backend.empty())
        file_.fail(block.node,
                   fmt::format("block '{}' makes {} again, which {} already makes", block.name, text, first->second));
    }
  }

  YamlFile file_;
  const ContractBook& contracts_;
  const MatrixOptions& options_;
};

}  // namespace

std::string_view name(Tier tier) { return kTiers[static_cast<std::size_t>(tier)]; }

std::optional<Tier> tier_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kTiers.size(); ++i)
    if (kTiers[i] == text) return static_cast<Tier>(i);
  return std::nullopt;
}

std::vector<std::string> tier_names() { return {kTiers.begin(), kTiers.end()}; }

Matrix read_matrix(const std::vector<std::string>& paths, const ContractBook& contracts, const MatrixOptions& options) {
  Matrix matrix;
  std::map<std::string, std::string> seen;
  for (const auto& path : paths) Expander(path, contracts, options).expand(matrix, seen);
  return matrix;
}

}  // namespace attest
