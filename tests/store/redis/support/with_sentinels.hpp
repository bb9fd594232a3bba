#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "airlock/store.hpp"
#include "store/redis/support/sentinels.hpp"
#include "store/redis/support/server.hpp"

namespace airlock::testing {

// Tests that share a primary, two replicas and three sentinels; all are back after each test.
class WithSentinels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { own_sentinels = std::make_unique<RedisSentinels>(); }
  static void TearDownTestSuite() { own_sentinels.reset(); }
  void TearDown() override { own_sentinels->bring_back(); }

  [[nodiscard]] static RedisSentinels& sentinels() { return *own_sentinels; }

  // Stores of one test have the same gates. `options`: &timeout=5s
  [[nodiscard]] Store opened(const std::string& options = "") const {
    return open_store(sentinels().uri("prefix=" + prefix_ + options));
  }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 private:
  static inline std::unique_ptr<RedisSentinels> own_sentinels;
  const std::string prefix_ = unused_prefix();
};

}  // namespace airlock::testing
