#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "airlock/observer.hpp"

namespace airlock {

// Remembers what it hears.
class Log : public Observer {
 public:
  struct Line {
    Event::Kind kind;
    std::string gate;
    Reason reason;
    Duration waited;
    std::uint32_t position;
  };

  void on(const Event& event) override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(
        {event.kind, std::string(event.gate), event.reason, event.waited, event.position});
  }

  [[nodiscard]] std::vector<Line> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  [[nodiscard]] std::vector<Event::Kind> kinds() const {
    std::vector<Event::Kind> kinds;
    for (const Line& line : lines()) kinds.push_back(line.kind);
    return kinds;
  }
  [[nodiscard]] Line last() const { return lines().back(); }

 private:
  mutable std::mutex mutex_;
  std::vector<Line> lines_;
};

}  // namespace airlock
