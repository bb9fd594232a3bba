#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "operations/line_writer.hpp"

namespace airlock::server {

// What goes wrong in the server, on stderr. Of each kind at most kBurst lines in kPeriod; a line at the end of that says
// how many more there were. Any thread may call it; it never blocks.
class ErrorLog {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  ErrorLog() = default;
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;
  ~ErrorLog() { tick(TimePoint::max()); }

  // `kind` is a word of the server, such as "store". Control characters of `text` are escaped.
  void report(std::string_view kind, std::string_view text);

  // Says how many lines were suppressed where kPeriod is over. Called now and then.
  void tick(TimePoint now = std::chrono::steady_clock::now());

  // What happened, not limited: an operator has caused it.
  void say(std::string_view text);

  [[nodiscard]] std::uint64_t dropped() const noexcept { return writer_.dropped(); }
  [[nodiscard]] std::uint64_t suppressed() const noexcept { return suppressed_; }

  static constexpr std::uint64_t kBurst = 10;
  static constexpr std::chrono::seconds kPeriod{10};

 private:
  struct Window {
    TimePoint begin = {};
    std::uint64_t lines = 0;
  };

  void end_window(std::string_view kind, Window& window);

  std::mutex mutex_;
  std::map<std::string, Window, std::less<>> windows_;
  std::atomic<std::uint64_t> suppressed_ = 0;
  LineWriter writer_{std::make_shared<LogFile>(2)};
};

}  // namespace airlock::server
