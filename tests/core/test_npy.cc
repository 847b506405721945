// .npy files: what NumPy and ml_dtypes wrote (tests/data/npy, by numpy 2 and ml_dtypes) reads as its values, what is
// written follows the format byte by byte, and a file that is not the tensor asked for is refused.
#include "harness/core/error.h"
#include "harness/core/npy.h"
#include "tests/core/temp_folder.h"

#include <gtest/gtest.h>

#include <cstring>

namespace attest {
namespace {

using test::message_of;
using test::TempFolder;

std::string fixture(const std::string& name) { return ATTEST_SOURCE_DIR "/tests/data/npy/" + name + ".npy"; }

TEST(Npy, ReadsWhatNumpyWrote) {
  const double values[2][3]{{1, -2, 0.5}, {0.25, 0, 3}};
  const std::vector<std::pair<std::string, DType>> files{{"f64", DType::F64},
                                                         {"f32", DType::F32},
                                                         {"f16", DType::F16},
                                                         {"bf16", DType::BF16},
                                                         {"fp8_e4m3", DType::E4M3FN},
                                                         {"fp8_e5m2", DType::E5M2},
                                                         {"fp8_e4m3fnuz", DType::E4M3FNUZ},
                                                         {"fp8_e5m2fnuz", DType::E5M2FNUZ},
                                                         {"u16", DType::BF16}};
  for (const auto& [file, dtype] : files) {
    const Tensor tensor(dtype, {2, 3});
    read_npy(fixture(file), tensor.view());
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) EXPECT_EQ(tensor.view().value({i, j}), values[i][j]) << file;
  }
  for (const auto& [file, dtype] : {std::pair{"i32", DType::I32}, {"i64", DType::I64}}) {
    const Tensor tensor(dtype, {2, 3});
    read_npy(fixture(file), tensor.view());
    EXPECT_EQ(tensor.view().integer({0, 1}), -2);
    EXPECT_EQ(tensor.view().integer({1, 2}), 6);
  }
  const Tensor bytes(DType::U8, {2, 3}), one(DType::I32, {2}), scalar(DType::F32, {}), empty(DType::F32, {2, 0, 4});
  read_npy(fixture("u8"), bytes.view());
  EXPECT_EQ(bytes.bytes()[5], std::byte{255});
  read_npy(fixture("one_axis"), one.view());
  EXPECT_EQ(one.view().integer({1}), 8);
  read_npy(fixture("scalar"), scalar.view());
  EXPECT_EQ(scalar.view().value({}), 2.5);
  read_npy(fixture("empty"), empty.view());
}

constexpr DType kAll[]{DType::F64,      DType::F32,      DType::F16, DType::BF16, DType::E4M3FN, DType::E5M2,
                       DType::E4M3FNUZ, DType::E5M2FNUZ, DType::I32, DType::I64,  DType::U8};

void count_up(const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.bytes().size(); ++i) tensor.bytes()[i] = static_cast<std::byte>(i * 37 + 1);
}

TEST(Npy, EveryDtypeComesBackBitForBit) {
  const TempFolder folder;
  for (const DType dtype : kAll)
    for (const Dims& shape : {Dims{}, Dims{5}, Dims{2, 3, 4}, Dims{3, 0}}) {
      const Tensor out(dtype, shape), in(dtype, shape);
      count_up(out);
      write_npy(folder.path("t.npy"), out.view());
      read_npy(folder.path("t.npy"), in.view());
      EXPECT_TRUE(std::equal(out.bytes().begin(), out.bytes().end(), in.bytes().begin())) << name(dtype);
      EXPECT_FALSE(in.guard_damage());
    }
}

TEST(Npy, StridedViewsArePackedAndSpreadAgain) {
  const TempFolder folder;
  const Tensor from(DType::I32, {60}), to(DType::I32, {60});
  for (int i = 0; i < 60; ++i) std::memcpy(from.bytes().data() + 4 * i, &i, 4);
  const TensorView strided{from.view().data + 4 * 2, DType::I32, {3, 4}, {1, 13}};  // transposed, from element 2 on
  write_npy(folder.path("t.npy"), strided);
  const Tensor packed(DType::I32, {3, 4});
  read_npy(folder.path("t.npy"), packed.view());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(packed.view().integer({i, j}), 2 + i + 13 * j);
  read_npy(folder.path("t.npy"), {to.view().data + 4 * 2, DType::I32, {3, 4}, {1, 13}});
  for (int i = 0; i < 60; ++i) {
    const bool shown = i >= 2 && (i - 2) % 13 < 3 && (i - 2) / 13 < 4;
    EXPECT_EQ(to.view().integer({i}), shown ? i : 0) << "gaps are left alone";
  }
}

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.0
TEST(Npy, WritesTheFormatByteByByte) {
  const TempFolder folder;
  struct Row {
    DType dtype;
    Dims shape;
    std::string descriptor, shape_text;
  };
  const Row rows[]{{DType::F64, {2, 3}, "<f8", "(2, 3)"}, {DType::F32, {7}, "<f4", "(7,)"},
                   {DType::F16, {}, "<f2", "()"},         {DType::BF16, {1, 2, 3}, "<V2", "(1, 2, 3)"},
                   {DType::E4M3FN, {4}, "|V1", "(4,)"},   {DType::E5M2, {4}, "|V1", "(4,)"},
                   {DType::I32, {1, 1}, "<i4", "(1, 1)"}, {DType::I64, {0, 9}, "<i8", "(0, 9)"},
                   {DType::U8, {3}, "|u1", "(3,)"}};
  for (const Row& row : rows) {
    const Tensor tensor(row.dtype, row.shape);
    count_up(tensor);
    write_npy(folder.path("t.npy"), tensor.view());
    const std::string file = test::read_file(folder.path("t.npy"));
    ASSERT_GE(file.size(), 64U);
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t header = static_cast<unsigned char>(file[8]) + 256U * static_cast<unsigned char>(file[9]);
    EXPECT_EQ((10 + header) % 64, 0U) << "the data is aligned to 64 bytes";
    const std::string text = file.substr(10, header), said = "{'descr': '" + row.descriptor +
                                                             "', 'fortran_order': False, 'shape': " + row.shape_text +
                                                             ", }";
    EXPECT_EQ(text, said + std::string(header - said.size() - 1, ' ') + "\n");
    ASSERT_EQ(file.size(), 10 + header + tensor.bytes().size());
    EXPECT_EQ(std::memcmp(file.data() + 10 + header, tensor.bytes().data(), tensor.bytes().size()), 0);
  }
}

TEST(Npy, RefusesAnotherTensor) {
  struct Row {
    std::string file;
    DType dtype;
    Dims shape;
    std::string message;
  };
  const Row rows[]{
      {"f32", DType::F32, {3, 2}, "its shape is (2, 3), the case's is (3, 2)"},
      {"f32", DType::F32, {6}, "its shape is (2, 3), the case's is (6)"},
      {"f32", DType::F32, {2, 3, 1}, "its shape is (2, 3), the case's is (2, 3, 1)"},
      {"one_axis", DType::I32, {3}, "its shape is (2), the case's is (3)"},
      {"scalar", DType::F32, {1}, "its shape is (), the case's is (1)"},
      {"f64", DType::F32, {2, 3}, "its elements are f8, the case's are f32 (<f4)"},
      {"f16", DType::BF16, {2, 3}, "its elements are f2, the case's are bf16 (<V2)"},
      {"bf16", DType::F16, {2, 3}, "its elements are V2, the case's are f16 (<f2)"},
      {"u16", DType::F16, {2, 3}, "its elements are u2, the case's are f16 (<f2)"},
      {"fp8_e5m2", DType::E4M3FN, {2, 3}, "its elements are f1, the case's are fp8_e4m3 (|V1)"},
      {"i32", DType::F32, {2, 3}, "its elements are i4, the case's are f32 (<f4)"},
      {"f32", DType::I32, {2, 3}, "its elements are f4, the case's are i32 (<i4)"},
      {"i64", DType::I32, {2, 3}, "its elements are i8, the case's are i32 (<i4)"},
  };
  for (const Row& row : rows) {
    const Tensor tensor(row.dtype, row.shape);
    EXPECT_EQ(message_of<UsageError>([&] { read_npy(fixture(row.file), tensor.view()); }),
              fixture(row.file) + ": " + row.message);
    for (const std::byte byte : tensor.bytes()) ASSERT_EQ(byte, std::byte{0}) << "nothing of it is read";
  }
}

TEST(Npy, RefusesOtherOrdersAndFormats) {
  const Tensor f64(DType::F64, {2, 3}), f32(DType::F32, {2, 3});
  const auto said = [](const std::string& path, const Tensor& tensor) {
    return message_of<UsageError>([&] { read_npy(path, tensor.view()); });
  };
  EXPECT_EQ(said(fixture("fortran"), f64)
                .find(fixture("fortran") +
                      ": needs C order, little-endian numbers; its header is {'descr': '<f8', 'fortran_order': True"),
            0U);
  EXPECT_EQ(said(fixture("big_endian"), f32)
                .find(fixture("big_endian") + ": needs C order, little-endian numbers; its header is {'descr': '>f4'"),
            0U);
  EXPECT_EQ(said(fixture("version2"), f32), fixture("version2") + ": no .npy file of format 1.0");
  EXPECT_EQ(said(fixture("none"), f32), fixture("none") + ": no .npy file of format 1.0");

  const TempFolder folder;
  const std::string whole = test::read_file(fixture("f32"));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    ASSERT_NE(said(folder.write("cut.npy", whole.substr(0, bytes)), f32), "") << "cut to " << bytes << " bytes";
  const auto cut = folder.write("cut.npy", whole.substr(0, whole.size() - 1));
  EXPECT_EQ(said(cut, f32), cut + ": shorter than its header says");
  EXPECT_EQ(said(folder.write("whole.npy", whole), f32), "");
}

TEST(Npy, SaysWhatCantBeWritten) {
  const TempFolder folder;
  const Tensor tensor(DType::F32, {2});
  EXPECT_EQ(message_of<UsageError>([&] { write_npy(folder.path("no/t.npy"), tensor.view()); }),
            folder.path("no/t.npy") + ": can't be written");
  EXPECT_EQ(message_of<UsageError>([&] { write_npy("/dev/full", tensor.view()); }), "/dev/full: can't be written");
}

}  // namespace
}  // namespace attest
