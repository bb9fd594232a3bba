#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"

namespace airlock::cli {

// One line on the terminal of somebody who waits; nothing where stderr is not one.
class WaitingLine {
 public:
  explicit WaitingLine(const GateName& gate);

  // How often it moves; for ever where nobody sees it.
  [[nodiscard]] std::chrono::milliseconds interval() const noexcept;
  void show(std::uint32_t position, Duration eta);  // 0: not known.
  void clear();

 private:
  std::string gate_;
  bool visible_;
  std::size_t frame_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace airlock::cli
