//===- TensorTest.cpp - views, owners and conversions ---------------------===//
#include "lacuna/Tensor.h"
#include "lib/Support/Half.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace lacuna;

TEST(Half, everyPatternSurvivesARoundTrip) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    auto pattern = static_cast<uint16_t>(bits);
    double f16 = fromF16(pattern), bf16 = fromBF16(pattern);
    if (std::isnan(f16))
      EXPECT_TRUE(std::isnan(fromF16(toF16(f16))));
    else
      EXPECT_EQ(toF16(f16), pattern);
    if (std::isnan(bf16))
      EXPECT_TRUE(std::isnan(fromBF16(toBF16(bf16))));
    else
      EXPECT_EQ(toBF16(bf16), pattern);
  }
}

TEST(Half, tiesGoToEven) {
  EXPECT_EQ(toF16(1.0 + 1.0 / 2048), 0x3C00);
  EXPECT_EQ(toF16(1.0 + 3.0 / 2048), 0x3C02);
  EXPECT_EQ(toF16(1.0 + 1.0 / 2048 + 1e-12), 0x3C01);
  EXPECT_EQ(toBF16(1.0 + 1.0 / 256), 0x3F80);
  EXPECT_EQ(toBF16(1.0 + 3.0 / 256), 0x3F82);
}

TEST(Half, bordersOfTheRange) {
  EXPECT_EQ(toF16(65504), 0x7BFF);
  EXPECT_EQ(toF16(65519.9), 0x7BFF);
  EXPECT_EQ(toF16(65520), 0x7C00);
  EXPECT_EQ(toF16(-1e300), 0xFC00);
  EXPECT_EQ(toF16(std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(toF16(std::ldexp(1, -25)), 0x0000);
  EXPECT_EQ(toF16(std::ldexp(1023.75, -24)), 0x0400);
  EXPECT_EQ(toF16(-0.0), 0x8000);
}

TEST(Tensor, stridesMayBeZeroOrNegative) {
  OwnedTensor owner(ElementType::F32, {4});
  for (int64_t i = 0; i < 4; ++i)
    owner.view().set({i}, static_cast<double>(i));
  Tensor reversed = owner.view();
  reversed.data = static_cast<float *>(owner.view().data) + 3;
  reversed.strides = {-1};
  EXPECT_EQ(reversed.at({0}), 3);
  EXPECT_EQ(reversed.at({3}), 0);
  EXPECT_FALSE(reversed.isContiguous());
  EXPECT_EQ(OwnedTensor::clone(reversed).view().at({1}), 2);
}

TEST(Tensor, ownersAreAlignedZeroedAndKeepTheirMemoryWhenMoved) {
  OwnedTensor owner(ElementType::BF16, {2, 3, 5});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(owner.view().data) % 64, 0u);
  EXPECT_EQ(owner.view().at({1, 2, 4}), 0);
  owner.view().set({1, 2, 4}, 2.5);
  void *before = owner.view().data;
  OwnedTensor moved = std::move(owner);
  EXPECT_EQ(moved.view().data, before);
  EXPECT_EQ(moved.view().at({1, 2, 4}), 2.5);
}

TEST(Tensor, emptyTensorsAreContiguous) {
  OwnedTensor owner(ElementType::F32, {0, 8, 0, 64});
  EXPECT_EQ(owner.view().elements(), 0);
  EXPECT_TRUE(owner.view().isContiguous());
}
