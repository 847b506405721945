#include "harness/matrix/pairwise.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace attest {
namespace {

constexpr int kTries = 2'000;

class Cover {
 public:
  Cover(const std::vector<int>& sizes, const std::function<bool(const std::vector<int>&)>& allowed)
      : sizes_(sizes), allowed_(allowed) {}

  PairCover run() {
    for (std::size_t a = 0; a < sizes_.size(); ++a)
      for (std::size_t b = a + 1; b < sizes_.size(); ++b)
        for (int va = 0; va < sizes_[a]; ++va)
          for (int vb = 0; vb < sizes_[b]; ++vb) pairs_.push_back({a, va, b, vb});
    for (const auto& pair : pairs_) missing_.insert(key(pair));
    for (const auto& pair : pairs_) {
      if (!missing_.contains(key(pair))) continue;
      if (!add_row_with(pair)) {
        result_.unreached.push_back(pair);
        missing_.erase(key(pair));
      }
    }
    if (pairs_.empty()) add_single_axis();
    return std::move(result_);
  }

 private:
  static std::uint64_t key(std::size_t axis_a, int value_a, std::size_t axis_b, int value_b) {
    if (axis_a > axis_b) return key(axis_b, value_b, axis_a, value_a);
    return (static_cast<std::uint64_t>(axis_a) << 48) | (static_cast<std::uint64_t>(value_a) << 32) |
           (static_cast<std::uint64_t>(axis_b) << 16) | static_cast<std::uint64_t>(value_b);
  }
  static std::uint64_t key(const PairCover::Pair& p) { return key(p.axis_a, p.value_a, p.axis_b, p.value_b); }

  std::uint64_t random() {  // xorshift: only spreads the tries, the result is the same every time
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  int random_below(int limit) { return static_cast<int>(random() % static_cast<std::uint64_t>(limit)); }

  bool add_row_with(const PairCover::Pair& pair) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      // The first tries fill greedily, later ones anyhow.
      const auto row = fill(pair, attempt < kTries / 20);
      if (!allowed_(row)) continue;
      take(row);
      return true;
    }
    return false;
  }

  std::vector<int> fill(const PairCover::Pair& pair, bool greedy) {
    std::vector<int> row(sizes_.size(), -1);
    row[pair.axis_a] = pair.value_a;
    row[pair.axis_b] = pair.value_b;
    for (std::size_t axis = 0; axis < row.size(); ++axis) {
      if (row[axis] >= 0) continue;
      const int first = random_below(sizes_[axis]);
      row[axis] = greedy ? best_value(row, axis, first) : first;
    }
    return row;
  }

  // The value that completes the most missing pairs with what is in the row; ties go to the first one from `first` on.
  int best_value(const std::vector<int>& row, std::size_t axis, int first) const {
    int best = first, most = -1;
    for (int step = 0; step < sizes_[axis]; ++step) {
      const int value = (first + step) % sizes_[axis];
      int gain = 0;
      for (std::size_t other = 0; other < row.size(); ++other)
        if (other != axis && row[other] >= 0) gain += missing_.contains(key(axis, value, other, row[other]));
      if (gain > most) {
        most = gain;
        best = value;
      }
    }
    return best;
  }

  void take(const std::vector<int>& row) {
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a + 1; b < row.size(); ++b) missing_.erase(key(a, row[a], b, row[b]));
    result_.rows.push_back(row);
  }

  void add_single_axis() {
    for (int value = 0; !sizes_.empty() && value < sizes_[0]; ++value)
      if (allowed_({value})) result_.rows.push_back({value});
  }

  const std::vector<int>& sizes_;
  const std::function<bool(const std::vector<int>&)>& allowed_;
  std::vector<PairCover::Pair> pairs_;
  std::unordered_set<std::uint64_t> missing_;
  std::uint64_t state_ = 0x2545F4914F6CDD1D;
  PairCover result_;
};

}  // namespace

PairCover cover_pairs(const std::vector<int>& sizes, const std::function<bool(const std::vector<int>&)>& allowed) {
  return Cover(sizes, allowed).run();
}

}  // namespace attest
