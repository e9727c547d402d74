//===- DriverTest.cpp - the driver is found, or what is missing is named ---===//
#include "runtime/Driver/Driver.h"

#include "runtime/Driver/Library.h"
#include "test/Unit/runtime/FakeDriverTest.h"

#include <gmock/gmock.h>

using namespace lacuna;
using testing::HasSubstr;

TEST_F(FakeDriverTest, opensADevice) {
  auto device = openDevice();
  ASSERT_TRUE(device) << device.status().message();
  const DeviceProperties &facts = (*device)->properties();
  EXPECT_EQ(facts.name, "Fake GPU");
  EXPECT_EQ(facts.computeMajor, 9);
  EXPECT_EQ(facts.computeMinor, 0);
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(facts.sharedBytes, 232448);
  auto absent = openDevice(1);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.status().code(), StatusCode::Missing);
  EXPECT_EQ(absent.status().message(), "expected a GPU below 1, got 1");
}

TEST_F(FakeDriverTest, saysWhatIsMissing) {
  auto driver = Driver::load("libno-such-driver.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.status().code(), StatusCode::Missing);
  EXPECT_THAT(driver.status().message(), HasSubstr("no CUDA driver"));
  EXPECT_THAT(driver.status().message(), HasSubstr("libno-such-driver.so.1"));

  driver = Driver::load("libm.so.6");
  ASSERT_FALSE(driver);
  EXPECT_THAT(driver.status().message(), HasSubstr("no cuGetProcAddress_v2"));

  state->missingSymbol = "cuTensorMapEncodeTiled";
  driver = Driver::load(LACUNA_FAKE_DRIVER);
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.status().code(), StatusCode::Missing);
  EXPECT_THAT(driver.status().message(), HasSubstr("version 12.0 or newer"));
  EXPECT_THAT(driver.status().message(), HasSubstr("has no cuTensorMapEncodeTiled"));
}

TEST_F(FakeDriverTest, saysThatThereIsNoGpu) {
  state->devices = 0;
  auto driver = Driver::load(LACUNA_FAKE_DRIVER);
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.status().code(), StatusCode::Missing);
  EXPECT_THAT(driver.status().message(), HasSubstr("no GPU"));
  state->failingCall = "cuInit";
  state->failure = 100;
  driver = Driver::load(LACUNA_FAKE_DRIVER);
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.status().code(), StatusCode::Missing);
  EXPECT_EQ(driver.status().message(),
            "cuInit failed with CUDA_ERROR_FAKE (100): the fake was told to fail");
}

// The status of every failed call has the call's name and the driver's words.
TEST_F(FakeDriverTest, namesFailedCalls) {
  auto device = openDevice();
  ASSERT_TRUE(device);
  state->failure = 2;
  auto expectFailure = [&](const char *call, const Status &status) {
    EXPECT_EQ(status.code(), StatusCode::Device);
    EXPECT_THAT(status.message(),
                HasSubstr(std::string(call) + " failed with CUDA_ERROR_FAKE (2)"));
  };
  state->failingCall = "cuMemAlloc";
  expectFailure("cuMemAlloc", DeviceBuffer::allocate(*device, 64).status());
  state->failingCall = "cuStreamCreate";
  expectFailure("cuStreamCreate", Stream::create(*device).status());
  state->failingCall = "cuEventCreate";
  expectFailure("cuEventCreate", Event::create(*device).status());
  state->failingCall = "cuLibraryLoadData";
  expectFailure("cuLibraryLoadData", Library::load(*device, "code").status());
  state->failingCall = "cuDevicePrimaryCtxRetain";
  expectFailure("cuDevicePrimaryCtxRetain", openDevice().status());
}

TEST_F(FakeDriverTest, buffersCopyAndFree) {
  auto device = openDevice();
  ASSERT_TRUE(device);
  {
    auto buffer = DeviceBuffer::allocate(*device, 12);
    ASSERT_TRUE(buffer);
    int numbers[] = {1, 2, 3}, back[3] = {};
    ASSERT_TRUE(buffer->upload(numbers, sizeof(numbers)));
    ASSERT_TRUE(buffer->download(back, sizeof(back)));
    EXPECT_THAT(back, testing::ElementsAre(1, 2, 3));
    EXPECT_EQ(buffer->upload(numbers, 13).message(), "expected at most 12 bytes, got 13");
    DeviceBuffer moved = std::move(*buffer);
    EXPECT_EQ(state->liveAllocations, 1);
    auto empty = DeviceBuffer::allocate(*device, 0);
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->data(), nullptr);
  }
  EXPECT_EQ(state->liveAllocations, 0);
}

TEST_F(FakeDriverTest, eventsTellSeconds) {
  auto device = openDevice();
  ASSERT_TRUE(device);
  auto stream = Stream::create(*device);
  auto start = Event::create(*device), end = Event::create(*device);
  ASSERT_TRUE(stream && start && end);
  ASSERT_TRUE(start->record(stream->handle()));
  ASSERT_TRUE(end->record(stream->handle()));
  ASSERT_TRUE(end->synchronize());
  auto seconds = end->secondsSince(*start);
  ASSERT_TRUE(seconds);
  EXPECT_DOUBLE_EQ(*seconds, 2.5e-3);
}

TEST_F(FakeDriverTest, sharedMemoryHasTheDevicesLimit) {
  state->sharedBytes = 100000;
  auto device = openDevice();
  ASSERT_TRUE(device);
  auto code = Library::load(*device, "code");
  ASSERT_TRUE(code);
  auto kernel = code->kernel("fwd", 100001);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(kernel.status().message(), "expected fwd to need at most 100000 bytes of shared "
                                       "memory, the limit of Fake GPU, got 100001");
  ASSERT_TRUE(code->kernel("fwd", 100000));
  EXPECT_EQ(state->maximumDynamicShared, 100000);
}
