#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "config/config.hpp"
#include "operations/error_log.hpp"

namespace airlock::server {

// Which configuration the requests that begin now are answered by.
struct ConfigStatus {
  std::atomic<std::uint64_t> generation = 1;
  std::atomic<std::uint64_t> failed_reloads = 0;
  std::atomic<std::int64_t> loaded_at;      // Seconds of Unix time.
  std::atomic<std::int64_t> failed_at = 0;  // 0: no reload has failed.

  ConfigStatus();
  void failed();
  void loaded(std::uint64_t as_generation);
};

// Reads the configuration again. What is wrong with the file, or cannot be opened, changes nothing and is said on stderr;
// so is what takes effect only when the server starts the next time.
class Reload {
 public:
  // Hands the configuration to all loops, and calls `done` when the last of them has it. Throws InvalidArgument, before it
  // has changed anything, for what only trying shows to be wrong.
  using Apply = std::function<void(const ConfigPtr& config, std::function<void()> done)>;

  Reload(std::string file, ConfigPtr started_with, ConfigStatus& status, ErrorLog& log,
         Apply apply);

  void run();

  // A few words about the last one.
  [[nodiscard]] std::string status() const;

 private:
  void say_what_needs_a_restart(const Config& config);

  const std::string file_;  // Empty: there is none.
  const ConfigPtr started_with_;
  std::uint64_t generation_ = 1;
  bool has_failed_ = false;
  ConfigStatus& status_;
  ErrorLog& log_;
  const Apply apply_;
};

}  // namespace airlock::server
