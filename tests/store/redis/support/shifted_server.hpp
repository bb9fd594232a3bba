#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "airlock/duration.hpp"
#include "store/redis/support/server.hpp"
#include "store/support/temp_dir.hpp"
#include "support/paths.hpp"

namespace airlock::testing {

// A redis-server whose wall clock can be set while it runs (preload/shifted_clock.cpp).
class ShiftedServer {
 public:
  ShiftedServer() = default;
  ShiftedServer(const ShiftedServer&) = delete;
  ShiftedServer& operator=(const ShiftedServer&) = delete;
  ~ShiftedServer() { close(file_); }

  [[nodiscard]] RedisServer& server() noexcept { return server_; }

  void step(Duration by) {
    shift_ += by;
    const std::int64_t microseconds = shift_.count();
    if (pwrite(file_, &microseconds, sizeof(microseconds), 0) != sizeof(microseconds)) {
      throw std::runtime_error("the clock is not set");
    }
  }

 private:
  const TempDir dir_;
  const std::string shift_file_ = dir_.path() + "/shift";
  const int file_ = open(shift_file_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const bool started_at_zero_ = ftruncate(file_, sizeof(std::int64_t)) == 0;
  RedisServer server_{
      {}, {"env", "LD_PRELOAD=" + shifted_clock(), "AIRLOCK_CLOCK_SHIFT=" + shift_file_}};
  Duration shift_{0};
};

}  // namespace airlock::testing
