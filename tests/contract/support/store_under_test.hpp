#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "airlock/store.hpp"
#include "base/clock.hpp"

namespace airlock::contract {

// A fresh store whose time the test steps.
class StoreUnderTest {
 public:
  StoreUnderTest() = default;
  StoreUnderTest(const StoreUnderTest&) = delete;
  StoreUnderTest& operator=(const StoreUnderTest&) = delete;
  virtual ~StoreUnderTest() = default;

  [[nodiscard]] virtual Store store() = 0;

  // The time that decides, and a step of it.
  [[nodiscard]] virtual Instant now() = 0;
  virtual void advance(Duration duration) = 0;

  // Returns when every watcher that is to be called has been; for stores that call from a thread of
  // their own.
  virtual void deliver_calls() {}

  // The wall clock of the store jumps, back if negative; its time goes on as before.
  virtual void jump_wall(Duration by) = 0;
  [[nodiscard]] virtual Instant wall() = 0;
};

struct StoreFactory {
  std::string name;  // Letters and digits: a part of the names of tests.
  std::function<std::unique_ptr<StoreUnderTest>()> make;

  friend std::ostream& operator<<(std::ostream& out, const StoreFactory& factory) {
    return out << factory.name;
  }
};

// Every store that keeps the contract. A new one is a line here.
[[nodiscard]] std::vector<StoreFactory> all_stores();

// Without those that have several servers: for thousands of steps whose outcome does not depend on
// which server does them.
[[nodiscard]] std::vector<StoreFactory> stores_on_one_server();

}  // namespace airlock::contract
