#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/store.hpp"

namespace airlock::testing {

// Enters gates again and again, never leaves them, and notes what it was granted.
class Grants {
 public:
  Grants(Store store, const std::string& gate, std::size_t threads)
      : store_(std::move(store)), tokens_(threads) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i, name = gate + std::to_string(i)] { run(name, tokens_[i]); });
    }
  }
  Grants(const Grants&) = delete;
  Grants& operator=(const Grants&) = delete;
  ~Grants() { stop(); }

  void stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  // After stop(). How many, and how many of them `store` does not know.
  [[nodiscard]] std::size_t count() const {
    std::size_t sum = 0;
    for (const auto& tokens : tokens_) sum += tokens.size();
    return sum;
  }
  [[nodiscard]] std::size_t lost_at(const Store& store) const {
    constexpr std::size_t kTogether = 100;
    std::vector<RenewItem> items;
    for (const auto& tokens : tokens_) {
      for (const Token& token : tokens) items.push_back({.token = token, .ttl = kTtl});
    }
    for (std::span<RenewItem> rest = items; !rest.empty();) {
      const std::size_t size = std::min(rest.size(), kTogether);
      store.renew(rest.first(size));
      rest = rest.subspan(size);
    }
    return static_cast<std::size_t>(std::ranges::count_if(
        items, [](const RenewItem& item) { return item.result != Renewal::renewed; }));
  }

 private:
  static constexpr Duration kTtl = std::chrono::minutes(10);

  void run(const std::string& gate, std::vector<Token>& tokens) {
    while (!stopping_) {
      try {
        const Answer answer = store_.admit({.gate = gate,
                                            .visitor = VisitorId::random(),
                                            .permits = Permits{.limit = 1'000'000, .ttl = kTtl},
                                            .hold = Hold::detached});
        if (const auto* const granted = std::get_if<Granted>(&answer)) {
          tokens.push_back(granted->token);
        }
      } catch (const StoreError&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }

  const Store store_;
  std::vector<std::vector<Token>> tokens_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace airlock::testing
