#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "airlock/store.hpp"
#include "lincheck/support/plan.hpp"
#include "lincheck/support/ring.hpp"

namespace airlock::lincheck {

// How a client reaches the store.
struct Access {
  Store store;
  // How many connections were made so far. One that is new after a call may have sent it twice.
  std::function<std::uint64_t()> connections = {};
};

// Does what comes to its mind at one gate, and writes it down.
class Client {
 public:
  Client(const Access& access, const Plan& plan, std::uint8_t number, Ring& ring);

  void run();

  // Asks for everything, as whoever looks at the gate in the end. True: got it.
  bool ask_for_all();

 private:
  void act();
  void act_at_gate();
  void take();
  void give_back();
  void pause();

  void ask(Kind kind, std::uint8_t visitor, std::uint32_t weight);
  void use_token(Kind kind, const Token& token, std::uint8_t visitor);
  void leave();
  void look();
  Token other_token();

  template <typename Call>
  void record(const Operation& operation, const Call& call);

  [[nodiscard]] std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }
  [[nodiscard]] VisitorId id_of(std::uint8_t visitor) const {
    return {.high = plan_.seed, .low = visitor + 1U};
  }

  const Access& access_;
  const Plan& plan_;
  const GateName gate_;
  const std::uint8_t number_;
  const std::uint8_t neighbour_;
  Ring& ring_;
  std::mt19937_64 random_;
  std::optional<Token> held_;   // As far as it knows.
  std::optional<Token> stale_;  // What it held before.
  bool waits_ = false;
};

}  // namespace airlock::lincheck
