// Poison lies everywhere it must: in all that no sequence holds, in gaps, in outputs; and nowhere else.
#include "tests/inputs/elements.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

namespace attest {
namespace {

using test::Made;

constexpr std::pair<Poison, const char*> kKinds[]{{Poison::Nan, "nan"}, {Poison::Huge, "huge"}, {Poison::Zero, "zero"}};

// Elements of a cache storage that hold a position before the call.
std::vector<bool> held(const Made& made, Slot slot) {
  const Problem& p = made.problem;
  const std::size_t storage = made.call.ref(slot).storage;
  const auto elements = made.call.storages[storage].bytes().size() / byte_size(p.cache);
  std::vector<bool> all(elements);
  for (const Slot each : {Slot::KCache, Slot::VCache}) {
    if (made.call.ref(each).storage != storage) continue;
    const CachePlace& place = each == Slot::KCache ? made.call.layout.k : made.call.layout.v;
    for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
      const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
      const bool writes = p.op == Op::Write || p.op == Op::WriteAttend;
      for (int position = 0; position < s.len_kv - (writes ? s.len_q : 0); ++position) {
        const auto [page, in_page] = page_and_slot(made, seq, position);
        for (int head = 0; head < p.heads_kv; ++head)
          for (int dim = 0; dim < place.width; ++dim)
            all[static_cast<std::size_t>(place.index(page, in_page, head, dim))] = true;
      }
    }
  }
  return all;
}

TEST(Poison, IsWhatItsKindSays) {
  for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::E4M3FN, DType::E5M2,
                            DType::E4M3FNUZ, DType::E5M2FNUZ}) {
    const Tensor tensor(dtype, {64});
    int nans = 0, positive = 0, negative = 0;
    poison(tensor, Poison::Nan);
    for (int i = 0; i < 64; ++i) {
      const double value = tensor.view().value({i});
      ASSERT_FALSE(std::isfinite(value)) << name(dtype);
      nans += std::isnan(value);
      negative += std::signbit(value);
    }
    EXPECT_GE(nans, 48);
    EXPECT_EQ(nans < 64, format(dtype).infinity != 0);
    if (!format(dtype).negative_zero_is_nan) { EXPECT_GT(negative, 0); }
    negative = 0;
    poison(tensor, Poison::Huge);
    for (int i = 0; i < 64; ++i) {
      const double value = tensor.view().value({i});
      ASSERT_EQ(std::abs(value), format(dtype).max_value());
      (value > 0 ? positive : negative) += 1;
    }
    EXPECT_EQ(positive, 32);
    EXPECT_EQ(negative, 32);
    poison(tensor, Poison::Zero);
    for (const std::byte byte : tensor.bytes()) ASSERT_EQ(byte, std::byte{0});
  }
  const Tensor numbers(DType::I32, {8});
  poison(numbers, Poison::Nan);
  EXPECT_EQ(numbers.view().integer({3}), std::numeric_limits<std::int32_t>::min());
  const Tensor wide(DType::I64, {8});
  poison(wide, Poison::Huge);
  EXPECT_EQ(wide.view().integer({3}), std::numeric_limits<std::int64_t>::min());
}

TEST(Poison, FillsWhatNoSequenceHoldsOfACache) {
  auto contract = test::open_contract();
  contract.ops = {{Phase::Decode, Op::Attend}, {Phase::Prefill, Op::Attend}, {Phase::Mixed, Op::WriteAttend}};
  for (const auto& [kind, word] : kKinds)
    for (const char* phase : {"decode", "mixed", "write"})
      for (const char* table : {"shuffled", "aliased"}) {
        const auto made = test::make(
            fmt::format("{}/test/q=bf16/kv=fp8_e4m3/h=4:2/d=8/dv=12/page=16/seq=1x40,2x64,1x33/table={}/poison={}#1",
                        phase, table, word),
            contract);
        for (const Slot slot : {Slot::KCache, Slot::VCache}) {
          const Tensor& storage = made.call.storages[made.call.ref(slot).storage];
          const auto poisoned = test::poisoned(storage, kind), owned = held(made, slot);
          std::size_t inside = 0, filled = 0;
          for (std::size_t at = 0; at < owned.size(); ++at) {
            if (!owned[at]) {
              ASSERT_TRUE(poisoned[at]) << phase << ' ' << table << ' ' << word << ' ' << name(slot) << " element "
                                        << at;
            }
            inside += owned[at];
            filled += owned[at] && !poisoned[at];
          }
          EXPECT_GT(filled, inside * 9 / 10);  // a few elements hold by chance what poison would
          EXPECT_LT(inside, owned.size());
        }
      }
}

TEST(Poison, FillsTheGapsOfStridedTensors) {
  for (const auto& [kind, word] : kKinds)
    for (const char* strides : {"padded", "padded_out"}) {
      const auto made = test::make(fmt::format(
          "write/test/q=bf16/k=f32/kv=fp8_e4m3/h=4:2/d=8/page=16/seq=3x40,2x64/strides={}/poison={}#1", strides, word));
      for (const Slot slot : {Slot::KNew, Slot::VNew}) {
        const std::size_t storage = made.call.ref(slot).storage;
        const auto reached = test::reach(made.call, storage);
        const auto poisoned = test::poisoned(made.call.storages[storage], kind);
        int gaps = 0;
        for (std::size_t at = 0; at < reached.size(); ++at) {
          gaps += reached[at] == 0;
          if (reached[at] == 0) {
            ASSERT_TRUE(poisoned[at]) << strides << ' ' << word << ' ' << name(slot) << " element " << at;
          }
        }
        EXPECT_GT(gaps, 0);
      }
    }
}

TEST(Poison, OutputsHoldNanWhateverTheKind) {
  for (const auto& [kind, word] : kKinds) {
    const auto attend = test::make(
        fmt::format("prefill/test/q=bf16/kv=auto/h=4:2/d=8/page=16/seq=3x40/strides=padded_out/poison={}#1", word));
    const auto rope = test::make(fmt::format("rope/test/q=bf16/k=f32/h=4:2/d=8/seq=3x40/poison={}#1", word));
    for (const auto& [made, slot] :
         {std::pair{&attend, Slot::Out}, {&attend, Slot::Lse}, {&rope, Slot::QOut}, {&rope, Slot::KOut}})
      for (const bool is : test::poisoned(made->call.storages[made->call.ref(slot).storage], Poison::Nan))
        ASSERT_TRUE(is) << name(slot);
  }
}

TEST(Poison, InputsAreOtherwiseFiniteAndUntouchedByIt) {
  // What the kernel may read does not depend on the poison.
  const auto with = [](const char* word) {
    return test::make(
        fmt::format("prefill/test/q=bf16/kv=fp8_e5m2/h=4:2/d=8/page=16/seq=3x40,1x17/strides=padded/scales=head/"
                    "sink=f32/poison={}#1",
                    word));
  };
  const auto nan = with("nan"), huge = with("huge"), zero = with("zero");
  for (std::size_t i = 0; i < kSlots; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (!nan.call.has(slot) || is_output(slot) || is_cache(slot)) continue;
    const TensorView view = nan.call.view(slot);
    test::for_each_element(nan.call.ref(slot), [&](std::int64_t at) {
      const auto code = [&](const Made& made) {
        return load_code(view.dtype, &made.call.storages[made.call.ref(slot).storage]
                                          .bytes()[static_cast<std::size_t>(at) * byte_size(view.dtype)]);
      };
      if (is_float(view.dtype)) { ASSERT_TRUE(std::isfinite(decode(view.dtype, code(nan)))); }
      ASSERT_EQ(code(nan), code(huge)) << name(slot);
      ASSERT_EQ(code(nan), code(zero)) << name(slot);
    });
  }
}

}  // namespace
}  // namespace attest
