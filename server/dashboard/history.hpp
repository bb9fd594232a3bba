#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/track.hpp"

namespace airlock::server {

// What gates did: for the last hour every second, for the last day every minute (with the highest use and the longest line
// within it), in at most `budget` bytes for all gates together. Where that is too little, the gates in which least happens
// lose what is oldest to all: first their seconds, then their minutes. Not safe to use from several threads.
class History {
 public:
  static constexpr std::uint32_t kSeconds = 3'600;   // So long every second is kept,
  static constexpr std::uint32_t kMinutes = 86'400;  // and every minute.
  static constexpr std::uint32_t kMinute = 60;

  explicit History(std::size_t budget) : budget_(budget) {}

  struct Named {
    std::string_view name;
    const Sample* sample;
  };

  // What all gates were like at a tick, sorted by name. Ticks are seconds and grow; there is nothing between two that are
  // more than `longest_gap` apart.
  void add(std::uint32_t tick, const std::vector<Named>& gates, std::uint32_t longest_gap);

  static constexpr std::array<std::string_view, 6> kColumns = {"in_use",  "limit",   "waiting",
                                                               "granted", "refused", "waits"};
  struct Question {
    std::vector<std::string> gates = {};
    std::uint32_t span = kSeconds;          // Seconds until now.
    std::vector<std::string> columns = {};  // Of kColumns. Empty: all.
  };

  [[nodiscard]] static std::uint32_t resolution(std::uint32_t span) noexcept {
    return span <= kSeconds ? 1 : kMinute;
  }

  // `epoch` is when tick 0 was. docs/server.md has the fields.
  [[nodiscard]] std::string answer(const Question& question, std::uint32_t tick,
                                   std::int64_t epoch) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Memory {
    Track track;
    std::uint32_t dropped_until = 0;  // For want of memory.

    // Keeps the sample that is in effect. Returns how many bytes that gave back.
    std::size_t forget(std::uint32_t tick);
  };
  struct Gate {
    Memory seconds;
    Memory minutes;
    Sample minute;        // With the highest use and the longest line of the minute that runs.
    double activity = 0;  // Falls by half in about ten minutes.
  };
  // Both included.
  struct Span {
    std::uint32_t begin;
    std::uint32_t end;
  };
  struct Grid;

  void note_sampled(std::uint32_t tick, std::uint32_t longest_gap);
  void add_to(Gate& gate, std::uint32_t tick, const Sample& sample);
  void end_minute(std::uint32_t tick);
  void fit_budget(std::uint32_t tick);
  [[nodiscard]] static std::size_t bytes_of(const std::string& name, const Gate& gate) noexcept;
  [[nodiscard]] bool was_sampled(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Grid grid_of(const std::string& gate, std::uint32_t span, std::uint32_t tick) const;

  const std::size_t budget_;
  std::size_t bytes_ = 0;
  std::uint32_t last_tick_ = 0;
  std::map<std::string, Gate, std::less<>> gates_;
  std::vector<Span> sampled_;
};

}  // namespace airlock::server
