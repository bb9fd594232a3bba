#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "operations/line_writer.hpp"
#include "operations/log_settings.hpp"

namespace airlock::server {

// What the access log has of a request.
struct AccessRecord {
  std::string_view principal;  // Empty: not known.
  std::string_view peer;
  std::string_view client = {};  // Its address; empty: not known.
  std::string_view method;       // Empty: the head could not be read.
  std::string_view path;
  int status = 0;
  std::size_t bytes = 0;
  std::chrono::nanoseconds duration{0};
};

// The path as a log may show it: without names of visitors, and cut where a part is a token or too long to be a name.
[[nodiscard]] std::string shown_path(std::string_view path);

// One line, without its end.
[[nodiscard]] std::string text_line(const AccessRecord& record,
                                    std::chrono::system_clock::time_point now);
[[nodiscard]] std::string json_line(const AccessRecord& record,
                                    std::chrono::system_clock::time_point now);

// A line for each request that was answered. Any thread may call it; write() never blocks.
class AccessLog {
 public:
  // Settings whose file is open.
  struct Target {
    LogSettings settings;
    std::shared_ptr<const LogFile> file;
  };

  // InvalidArgument if the file cannot be opened.
  [[nodiscard]] static Target open(const LogSettings& settings);
  void use(Target target);
  void reopen() { use(open(settings())); }  // InvalidArgument, and the earlier file is kept.

  [[nodiscard]] bool is_on() const noexcept { return access_ != LogSettings::Access::off; }
  void write(const AccessRecord& record);

  [[nodiscard]] std::uint64_t dropped() const;

 private:
  [[nodiscard]] LogSettings settings() const;

  std::atomic<LogSettings::Access> access_ = LogSettings::Access::off;
  mutable std::mutex mutex_;
  LogSettings settings_;
  std::atomic<LineWriter*> writer_ = nullptr;
  std::unique_ptr<LineWriter> owned_;  // Once it was on.
};

}  // namespace airlock::server
