#include "harness/study/shrink_moves.h"

#include "harness/core/case_keys.h"
#include "harness/core/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace attest {
namespace {

constexpr std::array<std::string_view, 14> kOptions{"out",  "dv",     "table", "mask",    "cap",   "sink",    "scales",
                                                    "plan", "splits", "style", "offsets", "graph", "strides", "poison"};

// Lengths to cut to: round ones, and around each page edge that lies on the way, because a fault may need a partial
// page, a full one, or one key more.
std::vector<int> lengths_below(int length, int page) {
  std::set<int> all;
  for (const int l : ladder(length)) all.insert(l);
  for (int pages = 1; pages * page < length; pages *= 2)
    for (const int l : {pages * page - 1, pages * page, pages * page + 1, pages * page + length % page}) all.insert(l);
  std::vector<int> out;
  for (const int l : all)
    if (l >= 1 && l < length) out.push_back(l);
  return out;
}

int longest(const Case& c) { return std::ranges::max(c.seq, {}, &Sequence::len_kv).len_kv; }

// A sequence of at most `length` keys. One that is cut keeps no more rows than keys where it had none above.
Sequence cut(const Sequence& s, int length) {
  Sequence shorter = s;
  shorter.len_kv = std::min(s.len_kv, length);
  if (s.len_q <= s.len_kv) shorter.len_q = std::min(s.len_q, shorter.len_kv);
  return shorter;
}

int scaled(int value, int to, int from) {
  return value <= 0 ? value : std::max(1, static_cast<int>(std::int64_t{value} * to / from));
}

// A window or a chunk that bites at 4,096 keys does not at 40, so each cut is also tried with the mask cut alike.
std::vector<Case> all_lengths(const Case& c) {
  std::vector<Case> out;
  const int from = longest(c);
  for (const int length : lengths_below(from, c.page)) {
    Case shorter = c;
    for (Sequence& s : shorter.seq) s = cut(s, length);
    out.push_back(shorter);
    shorter.mask.left = scaled(c.mask.left, length, from);
    shorter.mask.chunk = scaled(c.mask.chunk, length, from);
    if (shorter.mask != c.mask) out.push_back(shorter);
  }
  return out;
}

std::vector<Case> one_length(const Case& c) {
  std::vector<Case> out;
  for (std::size_t i = 0; i < c.seq.size() && c.seq.size() > 1; ++i)
    for (const int length : lengths_below(c.seq[i].len_kv, c.page)) {
      out.push_back(c);
      out.back().seq[i] = cut(c.seq[i], length);
    }
  return out;
}

std::vector<Case> rows(const Case& c) {
  std::vector<Case> out;
  for (const int count : ladder(std::ranges::max(c.seq, {}, &Sequence::len_q).len_q)) {
    out.push_back(c);
    for (Sequence& s : out.back().seq) s.len_q = std::min(s.len_q, count);
  }
  return out;
}

// One sequence, then ever larger runs of them, then all but one.
std::vector<Case> sequences(const Case& c) {
  std::vector<Case> out;
  const std::size_t n = c.seq.size();
  for (std::size_t count = 1; count < n; count *= 2)
    for (std::size_t first = 0; first < n; first += count) {
      const std::size_t last = std::min(n, first + count);
      out.push_back(c);
      out.back().seq = {c.seq.begin() + static_cast<std::ptrdiff_t>(first),
                        c.seq.begin() + static_cast<std::ptrdiff_t>(last)};
    }
  for (std::size_t left_out = 0; left_out < n && n > 2; ++left_out) {
    out.push_back(c);
    out.back().seq.erase(out.back().seq.begin() + static_cast<std::ptrdiff_t>(left_out));
  }
  return out;
}

std::vector<Case> heads(const Case& c) {
  std::vector<Case> out;
  for (const int kv : ladder(c.heads_kv)) {
    out.push_back(c);
    out.back().heads_kv = kv;
    out.back().heads_q = kv * c.group();
  }
  return out;
}

std::vector<Case> head_ratio(const Case& c) {
  std::vector<Case> out;
  for (const int group : ladder(c.group())) {
    out.push_back(c);
    out.back().heads_q = c.heads_kv * group;
  }
  return out;
}

std::vector<Case> dims(const Case& c) {
  std::vector<Case> out;
  for (int dim = 8; dim < std::max(c.dim, c.value_dim()); dim *= 2) {
    out.push_back(c);
    out.back().dim = std::min(dim, c.dim);
    if (c.dim_v) out.back().dim_v = std::min(dim, *c.dim_v);
    out.back().rot = std::min(c.rot, out.back().dim);
  }
  return out;
}

std::vector<Case> windows(const Case& c) {
  std::vector<Case> out;
  const auto shrink = [&](int Mask::*member) {
    for (const int value : ladder(c.mask.*member)) {
      out.push_back(c);
      out.back().mask.*member = value;
    }
  };
  shrink(&Mask::left);
  shrink(&Mask::right);
  shrink(&Mask::chunk);
  return out;
}

// All options at once, then each alone, back to what a case has unless it says otherwise.
std::vector<Case> options(const Case& c) {
  static const Case defaults;
  std::vector<Case> out{c};
  const auto reset = [](Case& of, std::string_view key) {
    const CaseKey* known = find_case_key(key);
    return known && known->print(of) != known->print(defaults) && !known->parse(of, known->print(defaults));
  };
  for (const auto key : kOptions) reset(out.front(), key);
  for (const auto key : kOptions) {
    Case simpler = c;
    if (reset(simpler, key)) out.push_back(simpler);
  }
  if (c.scales > Scales::Odd) {
    out.push_back(c);
    out.back().scales = Scales::Odd;
  }
  return out;
}

// Smaller pages, because two of them are fewer keys then.
std::vector<Case> pages(const Case& c) {
  std::vector<Case> out;
  for (int page = 8; page < c.page; page *= 2) {
    out.push_back(c);
    out.back().page = page;
  }
  return out;
}

// V zero but at a few positions a sequence, where cases have that key.
std::vector<Case> nonzero_keys(const Case& c) {
  std::vector<Case> out;
  const CaseKey* key = find_case_key("keys");
  if (!key) return out;
  const int now = parse_number<int>(key->print(c)).value_or(0);
  for (const int count : ladder(now > 0 ? now : longest(c))) {
    Case fewer = c;
    if (!key->parse(fewer, std::to_string(count))) out.push_back(fewer);
  }
  return out;
}

constexpr std::array<ShrinkMove, 11> kMoves{{{"lengths", all_lengths},
                                             {"sequences", sequences},
                                             {"rows", rows},
                                             {"heads", heads},
                                             {"query heads a KV head", head_ratio},
                                             {"dims", dims},
                                             {"options", options},
                                             {"page", pages},
                                             {"window", windows},
                                             {"one sequence's length", one_length},
                                             {"non-zero keys", nonzero_keys}}};

}  // namespace

std::span<const ShrinkMove> shrink_moves() { return kMoves; }

std::vector<int> ladder(int value) {
  std::vector<int> out;
  for (int step = 1; step < value; step *= 2) {
    out.push_back(step);
    if (step > 1 && step + step / 2 < value) out.push_back(step + step / 2);
  }
  return out;
}

}  // namespace attest
