#include "harness/study/diagnosis/excess.h"

#include "reference/gather.h"

#include <ATen/ops/bmm.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

namespace attest {
namespace {

constexpr double kNearlyAll = 0.9;                           // of the excess
constexpr double kSmallPart = 0.75;                          // of the elements: a part larger than this tells nothing
constexpr std::int64_t kMostScores = std::int64_t{1} << 24;  // more are not looked at for their heaviest key

struct Piece {  // of the output: one (row, head), or one dim of all of them
  int seq = 0, row = 0, token = 0, head = 0, dim = 0;
  double excess = 0;
};

// The name of the part that a piece belongs to; empty: none.
using PartOf = std::function<std::string(const Piece&)>;

double excess_of(double expected, double actual, double bound) {
  if (bound == INFINITY) return 0;
  if (std::isnan(expected) ? std::isnan(actual) : actual == expected) return 0;
  if (!std::isfinite(expected) || !std::isfinite(actual)) return kLargestExcess;
  const double ratio = std::abs(actual - expected) / bound;
  return ratio > 1 ? std::min(ratio, kLargestExcess) : 0;
}

struct Excess {
  std::vector<Piece> cells, dims;
};

Excess sum_up(const ExpectedTensor& expected, const Element& actual, const Problem& problem) {
  Excess sums;
  for (int dim = 0; dim < expected.dim; ++dim) sums.dims.push_back({.dim = dim});
  for (int seq = 0, first = 0; seq < static_cast<int>(problem.seqs.size()); ++seq) {
    const int rows = problem.seqs[static_cast<std::size_t>(seq)].len_q;
    for (int row = 0; row < rows; ++row)
      for (int head = 0; head < expected.heads; ++head) {
        Piece cell{.seq = seq, .row = row, .token = first + row, .head = head};
        for (int dim = 0; dim < expected.dim; ++dim) {
          const std::size_t i = expected.index(first + row, head, dim);
          const double excess = excess_of(expected.value[i], actual(first + row, head, dim), expected.bound[i]);
          cell.excess += excess;
          sums.dims[static_cast<std::size_t>(dim)].excess += excess;
        }
        sums.cells.push_back(cell);
      }
    first += rows;
  }
  return sums;
}

std::optional<std::string> carrier(const std::vector<Piece>& pieces, const PartOf& part_of) {
  struct Part {
    double excess = 0;
    std::size_t pieces = 0;
  };
  std::map<std::string, Part> parts;
  double all = 0;
  for (const Piece& piece : pieces) {
    Part& part = parts[part_of(piece)];
    part.excess += piece.excess;
    ++part.pieces;
    all += piece.excess;
  }
  for (const auto& [name, part] : parts) {
    const bool small = static_cast<double>(part.pieces) <= kSmallPart * static_cast<double>(pieces.size());
    if (!name.empty() && small && part.excess > kNearlyAll * all)
      return fmt::format("{:.0f} % of the excess lies in {}", std::floor(100 * part.excess / all), name);
  }
  return std::nullopt;
}

std::string row_part(const Problem& problem, const Piece& at) {
  const int rows = problem.seqs[static_cast<std::size_t>(at.seq)].len_q;
  if (rows < 2) return "";
  if (at.row == rows - 1) return "the last rows of their sequences";
  return at.row == 0 ? "the first rows of their sequences" : "the rows between the first and the last";
}

// Where the heaviest key of the piece's row lies.
std::string key_part(const Problem& problem, const Piece& at, int position) {
  const int length = problem.seqs[static_cast<std::size_t>(at.seq)].len_kv, size = problem.page_size;
  const std::string rows = "rows whose heaviest key lies in ";
  if (position / size == (length - 1) / size) return rows + (length % size ? "the last partial page" : "the last page");
  return rows + (position < size ? "the first page" : "a page between the first and the last");
}

std::string split_part(const Problem& problem, const Piece& at, int position) {
  if (problem.splits < 2) return "";
  const int length = problem.seqs[static_cast<std::size_t>(at.seq)].len_kv;
  const int each = (length + problem.splits - 1) / problem.splits;
  return fmt::format("rows whose heaviest key lies in split {} of {}", position / each, problem.splits);
}

std::vector<PartOf> cell_cuts(const Problem& problem, int heads, const std::vector<int>& keys, int tile) {
  const int group = std::max(1, heads / std::max(problem.heads_kv, 1));
  std::vector<PartOf> cuts{
      [](const Piece& at) { return fmt::format("sequence {}", at.seq); },
      [group](const Piece& at) { return fmt::format("KV head {}", at.head / group); },
      [group](const Piece& at) { return group < 2 ? std::string() : fmt::format("query head {}", at.head); },
      [&problem](const Piece& at) { return row_part(problem, at); }};
  if (keys.empty()) return cuts;
  using ByKey = std::function<std::string(const Piece&, int)>;
  const auto add = [&](const ByKey& part) {
    cuts.push_back([&keys, heads, part](const Piece& at) {
      const int position = keys[static_cast<std::size_t>(at.token * heads + at.head)];
      return position < 0 ? std::string() : part(at, position);
    });
  };
  add([&problem](const Piece& at, int position) { return key_part(problem, at, position); });
  add([&problem](const Piece& at, int position) { return split_part(problem, at, position); });
  add([tile](const Piece&, int position) {
    return tile <= 0 ? std::string() : fmt::format("rows whose heaviest key lies in tile {}", position / tile);
  });
  return cuts;
}

std::vector<PartOf> dim_cuts(int dims) {
  std::vector<PartOf> cuts;
  for (const int size : {8, 16, (dims + 1) / 2})
    cuts.push_back([size, dims](const Piece& at) {
      const int first = at.dim / size * size;
      return fmt::format("dims {} to {}", first, std::min(first + size, dims) - 1);
    });
  return cuts;
}

}  // namespace

std::vector<std::string> excess_places(const ExpectedTensor& expected, const Element& actual, const Problem& problem,
                                       const std::vector<int>& keys, int tile) {
  const Excess sums = sum_up(expected, actual, problem);
  std::vector<std::string> places;
  for (const PartOf& cut : cell_cuts(problem, expected.heads, keys, tile))
    if (const auto place = carrier(sums.cells, cut)) places.push_back(*place);
  for (const PartOf& cut : dim_cuts(expected.dim))
    if (const auto place = carrier(sums.dims, cut)) {
      places.push_back(*place);
      break;  // a wider block says nothing more
    }
  return places;
}

std::vector<int> heaviest_keys(const Problem& problem, const Call& call) {
  const auto heads = static_cast<std::size_t>(problem.heads_q);
  std::vector<int> keys(static_cast<std::size_t>(problem.total_q) * heads, -1);
  const CacheReader cache(problem, call, false);
  for (int seq = 0; seq < static_cast<int>(problem.seqs.size()); ++seq) {
    const Sequence& s = problem.seqs[static_cast<std::size_t>(seq)];
    if (s.len_q * s.len_kv == 0 || std::int64_t{s.len_q} * s.len_kv * problem.heads_q > kMostScores) continue;
    const at::Tensor factors = score_factors(problem, call, seq).reshape({-1, 1, 1});
    const at::Tensor scores = at::bmm(queries(problem, call, seq), cache.keys(seq).transpose(1, 2))
                                  .mul_(factors)
                                  .masked_fill_(hidden(problem, seq), -INFINITY)
                                  .contiguous();
    const double* row_scores = scores.const_data_ptr<double>();  // [heads_kv, (row, head of the group), len_kv]
    for (int head_kv = 0; head_kv < problem.heads_kv; ++head_kv)
      for (int row = 0; row < s.len_q; ++row)
        for (int g = 0; g < problem.group(); ++g, row_scores += s.len_kv) {
          const double* best = std::max_element(row_scores, row_scores + s.len_kv);
          const std::size_t token = static_cast<std::size_t>(problem.first_row(seq) + row);
          if (*best > -INFINITY)
            keys[token * heads + static_cast<std::size_t>(head_kv * problem.group() + g)] =
                static_cast<int>(best - row_scores);
        }
  }
  return keys;
}

}  // namespace attest
