#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "airlock/store.hpp"
#include "store/support/redis_sentinels.hpp"
#include "store/support/redis_server.hpp"

namespace airlock::testing {

// Tests that share a primary, two replicas and three sentinels; all are back after each test.
class WithSentinels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { sentinels_ = std::make_unique<RedisSentinels>(); }
  static void TearDownTestSuite() { sentinels_.reset(); }
  void TearDown() override { sentinels_->bring_back(); }

  [[nodiscard]] static RedisSentinels& sentinels() { return *sentinels_; }

  // Stores of one test have the same gates. `options`: &timeout=5s
  [[nodiscard]] std::shared_ptr<Store> opened(const std::string& options = "") const {
    return open_store(sentinels().uri("prefix=" + prefix_ + options));
  }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 private:
  static inline std::unique_ptr<RedisSentinels> sentinels_;
  const std::string prefix_ = unused_prefix();
};

}  // namespace airlock::testing
