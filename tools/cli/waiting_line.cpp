#include "waiting_line.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace airlock::cli {
namespace {

constexpr std::array kFrames = {"|", "/", "-", "\\"};
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

WaitingLine::WaitingLine(const GateName& gate)
    : gate_(gate.text()), visible_(isatty(STDERR_FILENO) != 0) {}

std::chrono::milliseconds WaitingLine::interval() const noexcept {
  return std::chrono::milliseconds(visible_ ? 120 : -1);
}

void WaitingLine::show(std::uint32_t position) {
  if (!visible_) return;
  const auto waited = std::chrono::steady_clock::now() - began_;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  const char* const frame = kFrames[frame_++ % kFrames.size()];
  if (position == 0) {
    std::fprintf(stderr, "%s%s waiting at %s, %lds", kEraseLine, frame, gate_.c_str(), seconds);
  } else {
    std::fprintf(stderr, "%s%s waiting at %s, number %u in line, %lds", kEraseLine, frame,
                 gate_.c_str(), position, seconds);
  }
}

void WaitingLine::clear() {
  if (visible_ && frame_ > 0) std::fputs(kEraseLine, stderr);
}

}  // namespace airlock::cli
