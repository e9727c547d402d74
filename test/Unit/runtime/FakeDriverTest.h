//===- FakeDriverTest.h - tests on the fake driver -------------------------===//
#pragma once

#include "runtime/Driver/Device.h"
#include "test/Unit/runtime/FakeDriver.h"

#include <gtest/gtest.h>

namespace lacuna {

/// A machine with one fake GPU, fresh for each test.
class FakeDriverTest : public testing::Test {
protected:
  void SetUp() override {
    Result<DynamicLibrary> opened = DynamicLibrary::open(LACUNA_FAKE_DRIVER);
    ASSERT_TRUE(opened) << opened.status().message();
    library.emplace(std::move(*opened));
    state = reinterpret_cast<fake::State *(*)()>(library->find("fakeDriverState"))();
    state->reset();
  }

  Result<std::shared_ptr<const Device>> openDevice(int ordinal = 0) {
    Result<std::shared_ptr<const Driver>> driver = Driver::load(LACUNA_FAKE_DRIVER);
    if (!driver)
      return driver.status();
    return Device::open(*driver, ordinal);
  }

  std::optional<DynamicLibrary> library;
  fake::State *state = nullptr;
};

} // namespace lacuna
