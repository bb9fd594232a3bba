#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <unordered_map>

#include "airlock/duration.hpp"
#include "store/callback_runner.hpp"

namespace airlock::redis {

// Who in this process is to be told what. A key is a visitor and the key of its gate, as messages
// carry it; each callback is called at most once, under no lock. Safe to use from any thread.
class Watchers {
 public:
  // An ask that may have to wait is about to be sent: news that comes before watch() is kept. False
  // if nobody listens for messages now.
  [[nodiscard]] bool expect(const std::string& key, Duration patience);

  // The outcome of watching for what was expected. Unknown: the store has to be asked.
  enum class Known { watching, news, unknown };
  [[nodiscard]] Known watch_expected(const std::string& key, std::function<void()>& changed);

  void add(const std::string& key, std::function<void()> changed);

  // Takes the callback back, or waits until it has run; not for itself.
  void remove(const std::string& key);

  // There is news for one: it is called, or finds out when it watches.
  void tell(const std::string& key);
  // The visitor has learnt by itself; nothing is kept for it.
  void tell_own(const std::string& key);
  // Nobody listens any more: everybody must ask.
  void tell_all();

  void listen();  // From now on messages arrive.
  [[nodiscard]] bool is_listening();
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
  // Forgets those that expected and never came; whether anybody is left.
  [[nodiscard]] bool has_any();

 private:
  using Clock = std::chrono::steady_clock;
  struct Watcher {
    std::function<void()> changed;  // Empty: expected, not watched.
    bool has_news = false;
    Clock::time_point expected_until;
  };
  using Map = std::unordered_map<std::string, Watcher>;

  void finish(const std::string& key, bool keep_news);
  void note_size() noexcept AIRLOCK_REQUIRES(mutex_) { size_ = watchers_.size(); }

  base::Mutex mutex_;
  internal::CallbackRunner<std::string> runner_ AIRLOCK_GUARDED_BY(mutex_);
  Map watchers_ AIRLOCK_GUARDED_BY(mutex_);
  std::atomic<std::size_t> size_ = 0;
  bool listening_ AIRLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace airlock::redis
