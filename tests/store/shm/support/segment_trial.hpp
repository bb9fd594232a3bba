#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "airlock/store.hpp"
#include "airlock/testing.hpp"
#include "store/support/temp_dir.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock {

// A segment in use that somebody writes to who should not.
class SegmentTrial {
 public:
  SegmentTrial();
  SegmentTrial(const SegmentTrial&) = delete;
  SegmentTrial& operator=(const SegmentTrial&) = delete;
  ~SegmentTrial();

  void attach();
  void detach();

  // The bytes that have memory, one after the other; as they were in the beginning, and changed.
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] char byte(std::uint64_t at) const;
  void write(std::uint64_t at, std::string_view bytes);

  // All kinds of steps; how many said that something is wrong.
  std::uint64_t use();

  // As it was, also the time and what is this process's own.
  void restore();

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::vector<char> bytes = {};
  };
  struct Place {
    const Part* part = nullptr;
    std::uint64_t at = 0;
  };

  void fill();
  void save();
  [[nodiscard]] Place find(std::uint64_t at) const;

  TempDir dir_;
  std::optional<internal::SteppedClock> clock_{std::in_place};
  Store store_;
  Token token_{.gate = "-"};
  int fd_ = -1;
  std::vector<Part> parts_;
};

}  // namespace airlock
