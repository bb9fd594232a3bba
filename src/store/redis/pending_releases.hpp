#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "airlock/token.hpp"
#include "base/clock.hpp"
#include "base/locks.hpp"

namespace airlock::redis {

// Releases that nobody waits for, from the moment their scope ends until a server has confirmed
// them. A step at the same gate writes them ahead of itself, in the same round trip, so that this
// process is never refused because of its own unfinished release. Safe to use from any thread.
class PendingReleases {
 public:
  // What one step carries. Goes out of scope when the step is over.
  class Load {
   public:
    Load() noexcept = default;
    Load(Load&& other) noexcept = default;
    Load& operator=(Load&&) = delete;
    ~Load() {
      if (!tokens_.empty()) from_->put_down(tokens_);
    }

    [[nodiscard]] const std::vector<Token>& tokens() const noexcept { return tokens_; }
    // False: there are more, which other steps carry at this moment.
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

   private:
    friend class PendingReleases;

    PendingReleases* from_ = nullptr;
    std::vector<Token> tokens_;
    bool is_complete_ = true;
  };

  // False: no memory.
  bool add(const Token& token, Instant until, bool by_next_step) noexcept;

  // All that there is to do in the usual case.
  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0;
  }

  // The releases of these gates; `with_others`: and those of other gates that any next step does.
  // `few`: without those of other threads that another step carries already. What this thread gave
  // back always goes ahead of what it asks for next; else it would have both for a moment, and a
  // third thread be refused for want of the room.
  enum class Which { few, all };
  [[nodiscard]] Load pick_up(std::span<const GateName> gates, Which which, bool with_others,
                             Instant now);
  [[nodiscard]] std::vector<Token> left_to_next_step();

  void confirm(const Token& token) noexcept;

  // Whether it is confirmed, waits for somebody, or is on its way with a step.
  enum class State { over, waiting, carried };
  [[nodiscard]] State state_of(const Token& token);

 private:
  struct Release {
    Token token;
    Instant until;
    bool by_next_step;
    std::thread::id thread = std::this_thread::get_id();  // Where its scope ended.
    std::uint32_t carried = 0;                            // By so many steps.
  };
  using Gates = std::map<std::string, std::vector<Release>, std::less<>>;

  void pick_up(Release& release, Which which, Load& load) AIRLOCK_REQUIRES(mutex_);
  void put_down(const std::vector<Token>& tokens) noexcept AIRLOCK_EXCLUDES(mutex_);
  void drop_expired(Instant now) AIRLOCK_REQUIRES(mutex_);
  // Returns the gate behind it.
  template <typename Over>
  Gates::iterator drop_if(Gates::iterator gate, const Over& over) AIRLOCK_REQUIRES(mutex_);
  // Null: it is confirmed.
  [[nodiscard]] Release* find(const Token& token) noexcept AIRLOCK_REQUIRES(mutex_);

  std::atomic<std::size_t> count_ = 0;
  base::StdMutex mutex_;
  Gates gates_ AIRLOCK_GUARDED_BY(mutex_);  // By their names.
  std::size_t for_next_step_ AIRLOCK_GUARDED_BY(mutex_) = 0;
  Instant first_end_ AIRLOCK_GUARDED_BY(mutex_) = kForever;  // No release ends before.
};

}  // namespace airlock::redis
