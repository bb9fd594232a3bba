#include "operations/error_log.hpp"

#include "operations/escape.hpp"

namespace airlock::server {

void ErrorLog::say(std::string_view text) { writer_.write("airlock-server: " + escaped(text)); }

void ErrorLog::report(std::string_view kind, std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Window& window = windows_.try_emplace(std::string(kind), Window{.begin = now}).first->second;
  if (now - window.begin >= kPeriod) {
    end_window(kind, window);
    window = {.begin = now};
  }
  if (++window.lines <= kBurst) return say(std::string(kind) + ": " + std::string(text));
  ++suppressed_;
}

void ErrorLog::tick(TimePoint now) {
  const std::lock_guard lock(mutex_);
  for (auto each = windows_.begin(); each != windows_.end();) {
    if (now - each->second.begin < kPeriod) {
      ++each;
      continue;
    }
    end_window(each->first, each->second);
    each = windows_.erase(each);
  }
}

void ErrorLog::end_window(std::string_view kind, Window& window) {
  if (window.lines <= kBurst) return;
  say(std::string(kind) + ": " + std::to_string(window.lines - kBurst) +
      " more lines were suppressed");
}

}  // namespace airlock::server
