//===- NpyTest.cpp - what is read, written and refused --------------------===//
#include "lib/Support/Npy.h"
#include "lib/Support/File.h"
#include "lib/Support/Random.h"
#include "test/Support/TemporaryFolder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using testing::HasSubstr;

/// A version 1 file with this dictionary and `bytes` zero bytes of elements.
static std::string file(const std::string &dictionary, size_t bytes) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 0xFF);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary + std::string(bytes, '\0');
}

static std::string refusal(const std::string &bytes) {
  Result<OwnedTensor> result = parseNpy(bytes, "x.npy");
  return result ? "accepted" : result.status().message();
}

TEST(Npy, everyTypeSurvivesARoundTrip) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64,
                           ElementType::I8, ElementType::I32, ElementType::I64}) {
    OwnedTensor tensor(type, {2, 3});
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t column = 0; column < 3; ++column)
        tensor.view().set({row, column}, static_cast<double>(10 * row - column));
    Result<OwnedTensor> read = parseNpy(formatNpy(tensor.view()), "x.npy");
    ASSERT_TRUE(read) << read.status().message();
    EXPECT_EQ(read->view().type, type);
    EXPECT_EQ(read->view().shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(read->view().at({1, 2}), 8);
    EXPECT_EQ(read->view().at({0, 1}), -1);
  }
}

TEST(Npy, elementsBeginAtAMultipleOf64) {
  OwnedTensor tensor(ElementType::F32, {1, 8, 4096, 64});
  std::string bytes = formatNpy(tensor.view());
  EXPECT_EQ((bytes.size() - size_t{1} * 8 * 4096 * 64 * 4) % 64, 0u);
}

TEST(Npy, fortranOrderBecomesStrides) {
  std::string bytes = file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", 0);
  bytes += std::string("\x00\x01\x02\x03\x04\x05", 6);
  Result<OwnedTensor> read = parseNpy(bytes, "x.npy");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read->view().at({1, 0}), 1);
  EXPECT_EQ(read->view().at({0, 1}), 2);
  EXPECT_EQ(OwnedTensor::clone(read->view()).view().at({1, 2}), 5);
}

TEST(Npy, scalarsAndEmptyTensorsAreRead) {
  EXPECT_TRUE(parseNpy(file("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4), "x"));
  EXPECT_TRUE(parseNpy(file("{'shape': (0, 7), 'descr': '<f4', 'fortran_order': False}", 0), "x"));
}

TEST(Npy, rawBytesAndUnsignedWordsAreBF16) {
  for (const char *type : {"|V2", "<u2"}) {
    std::string bytes =
        file(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (1,)}}", type), 0);
    bytes += std::string("\x20\x40", 2);
    Result<OwnedTensor> read = parseNpy(bytes, "x.npy");
    ASSERT_TRUE(read) << read.status().message();
    EXPECT_EQ(read->view().type, ElementType::BF16);
    EXPECT_EQ(read->view().at({0}), 2.5);
  }
}

TEST(Npy, refusalsSayWhy) {
  std::string good = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_THAT(refusal("PK\x03\x04"), HasSubstr("magic of a .npy file"));
  EXPECT_THAT(refusal(""), HasSubstr("magic"));
  EXPECT_THAT(refusal(good.substr(0, good.size() - 1)), HasSubstr("expected 8 bytes of elements"));
  EXPECT_THAT(refusal(good + " "), HasSubstr("got 9"));
  EXPECT_THAT(refusal(file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8)),
              HasSubstr("little-endian"));
  EXPECT_THAT(refusal(file("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 16)),
              HasSubstr("'<c8'"));
  EXPECT_THAT(refusal(file("{'descr': '<f4', 'shape': (2,)}", 8)), HasSubstr("fortran_order"));
  EXPECT_THAT(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8)),
              HasSubstr("a shape"));
  EXPECT_THAT(
      refusal(
          file("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8)),
      HasSubstr("more than 2^63"));
  EXPECT_THAT(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                           "(99999999999999999999,)}",
                           8)),
              HasSubstr("below 2^63"));
}

TEST(Npy, everyPrefixOfAFileIsRefused) {
  std::string good = formatNpy(OwnedTensor(ElementType::F32, {3}).view());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parseNpy(good.substr(0, size), "x.npy")) << size;
}

TEST(Npy, anyByteMayBeDamagedWithoutACrash) {
  std::string good = formatNpy(OwnedTensor(ElementType::F32, {3}).view());
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (int change = 0; change < 3; ++change)
      bytes[static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size())))] =
          static_cast<char>(random.next());
    Result<OwnedTensor> read = parseNpy(bytes, "x.npy");
    if (read) {
      EXPECT_LE(read->view().elements(), 24);
    }
  }
}

TEST(Npy, filesThatAreNotThereAreNotFound) {
  test::TemporaryFolder folder;
  EXPECT_EQ(readNpy(folder / "q.npy").status().code(), StatusCode::NotFound);
  EXPECT_EQ(readNpy(folder / "").status().code(), StatusCode::InvalidArgument);
  OwnedTensor tensor(ElementType::F32, {2});
  EXPECT_TRUE(writeNpy(folder / "q.npy", tensor.view()));
  EXPECT_TRUE(readNpy(folder / "q.npy"));
  EXPECT_EQ(writeNpy(folder / "none/q.npy", tensor.view()).code(), StatusCode::Io);
}
