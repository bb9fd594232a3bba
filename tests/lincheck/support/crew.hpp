#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "lincheck/support/client.hpp"
#include "lincheck/support/plan.hpp"
#include "lincheck/support/ring.hpp"
#include "store/support/child.hpp"

namespace airlock::lincheck {

// The clients of a trial: threads or processes that carry out one plan after the other, together.
class Crew {
 public:
  using Open = std::function<Access(std::uint8_t number)>;

  Crew(bool processes, Open open);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  // Returns when all clients are done or dead.
  void carry_out(const Plan& plan);

  // Of the last plan.
  [[nodiscard]] History history(std::uint8_t client) const {
    return board_->rings[client].history();
  }
  [[nodiscard]] bool was_killed(std::uint8_t client) const { return killed_[client]; }
  [[nodiscard]] const std::string& wrong() const noexcept { return wrong_; }

 private:
  static constexpr std::uint32_t kEnd = UINT32_MAX;

  struct Board {
    std::atomic<std::uint32_t> round = 0;  // Which plan it is; the clients sleep on it.
    std::atomic<std::uint32_t> arrived = 0;
    std::array<std::atomic<std::uint32_t>, kMaxClients> done = {};  // Rounds.
    std::array<Ring, kMaxClients> rings = {};
    Plan plan = {};
  };

  void start(std::uint8_t client);
  void work(std::uint8_t client, std::uint32_t round);
  void take_part(const Access& access, std::uint8_t client);
  void await_end(std::uint8_t client);
  bool is_dead(std::uint8_t client);

  const bool processes_;
  const Open open_;
  SharedValue<Board> board_;
  std::array<std::thread, kMaxClients> threads_;
  std::array<Child, kMaxClients> children_;
  std::array<bool, kMaxClients> killed_ = {};
  std::string wrong_;
};

}  // namespace airlock::lincheck
