// in=file:DIR reads back what was written, and says what is wrong with what was not.
#include "harness/core/error.h"
#include "harness/core/npy.h"
#include "tests/core/temp_folder.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <cstring>

#include <algorithm>

namespace attest {
namespace {

using test::TempFolder;

constexpr const char* kToken =
    "decode/test/q=bf16/kv=fp8_e4m3/h=4:2/d=8/page=16/seq=1x20,1x33/scales=seq_head/sink=f32/strides=padded_out#1";

Call read_from(const TempFolder& folder) {
  Case c = parse_token(kToken);
  c.seed = 2;  // of everything that has no file
  c.probe = Probe::File;
  c.directory = folder.path(".");
  return make_inputs(c, make_problem(c, test::open_contract()));
}

std::string error_of(const TempFolder& folder) {
  try {
    read_from(folder);
  } catch (const UsageError& error) { return error.what(); }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(FileInputs, EverySlotComesBackAsItWasWritten) {
  const TempFolder folder;
  const auto made = test::make(kToken);
  int written = 0;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (!made.call.has(slot) || is_output(slot)) continue;
    write_npy(folder.path(std::string(name(slot)) + ".npy"), made.call.view(slot));
    ++written;
  }
  EXPECT_EQ(written, 9);  // q, caches, lengths, page table, k and v scale, sinks
  const Call read = read_from(folder);
  ASSERT_EQ(read.storages.size(), made.call.storages.size());
  for (std::size_t i = 0; i < kSlots; ++i)
    if (const auto slot = static_cast<Slot>(i); read.has(slot)) {
      const auto one = made.call.storages[made.call.ref(slot).storage].bytes(),
                 two = read.storages[read.ref(slot).storage].bytes();
      EXPECT_TRUE(std::equal(one.begin(), one.end(), two.begin(), two.end())) << name(slot);
    }
  EXPECT_FALSE(read.one_hot);
}

TEST(FileInputs, SlotsWithoutAFileAreGenerated) {
  const TempFolder folder;
  const auto made = test::make(kToken);
  write_npy(folder.path("q.npy"), made.call.view(Slot::Q));
  const Call read = read_from(folder);
  EXPECT_EQ(read.view(Slot::Q).value({1, 2, 3}), made.call.view(Slot::Q).value({1, 2, 3}));
  EXPECT_NE(read.view(Slot::KScale).value({1, 1}), made.call.view(Slot::KScale).value({1, 1}));
}

TEST(FileInputs, SaysWhatIsWrong) {
  Case c = parse_token(kToken);
  c.probe = Probe::File;
  c.directory = "/no/such/folder";
  EXPECT_THROW(make_inputs(c, make_problem(c, test::open_contract())), UsageError);
  {
    const TempFolder empty;
    EXPECT_TRUE(holds(error_of(empty), "no <slot>.npy in it")) << error_of(empty);
  }
  {
    const TempFolder folder;  // outputs are not read
    write_npy(folder.path("out.npy"), Tensor(DType::BF16, {2, 4, 8}).view());
    EXPECT_TRUE(holds(error_of(folder), "no <slot>.npy in it")) << error_of(folder);
  }
  {
    const TempFolder folder;
    write_npy(folder.path("k_new.npy"), Tensor(DType::BF16, {2, 2, 8}).view());
    EXPECT_TRUE(holds(error_of(folder), "this case has no tensor k_new")) << error_of(folder);
  }
  {
    const TempFolder folder;
    write_npy(folder.path("q.npy"), Tensor(DType::BF16, {2, 4, 9}).view());
    EXPECT_TRUE(holds(error_of(folder), "its shape is (2, 4, 9), the case's is (2, 4, 8)")) << error_of(folder);
  }
  {
    const TempFolder folder;
    write_npy(folder.path("q.npy"), Tensor(DType::F32, {2, 4, 8}).view());
    EXPECT_TRUE(holds(error_of(folder), "its elements are f4, the case's are bf16")) << error_of(folder);
  }
  for (const auto& [slot, name] :
       {std::pair{Slot::PageTable, "page_table.npy"}, {Slot::LenKv, "len_kv.npy"}, {Slot::CuLenQ, "cu_len_q.npy"}}) {
    const TempFolder folder;  // what decides which memory is read must fit the token
    auto made = test::make(kToken);
    const TensorView view = made.call.view(slot);
    const std::int32_t wrong = 1'000'000;
    std::memcpy(view.data, &wrong, sizeof wrong);
    write_npy(folder.path(name), view);
    EXPECT_TRUE(holds(error_of(folder), slot == Slot::PageTable ? "the pool has" : "the token says"))
        << error_of(folder);
  }
  {
    const TempFolder folder;
    folder.write("q.npy", "text");
    EXPECT_TRUE(holds(error_of(folder), "no .npy file")) << error_of(folder);
  }
}

}  // namespace
}  // namespace attest
