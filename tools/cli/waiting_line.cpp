#include "waiting_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace airlock::cli {
namespace {

constexpr std::array kFrames = {"|", "/", "-", "\\"};
constexpr const char* kRestartLine = "\r\x1b[K";

int columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

WaitingLine::WaitingLine(const GateName& gate)
    : gate_(gate.text()), visible_(isatty(STDERR_FILENO) != 0) {}

std::chrono::milliseconds WaitingLine::interval() const noexcept {
  return std::chrono::milliseconds(visible_ ? 120 : -1);
}

void WaitingLine::show(std::uint32_t position, Duration eta) {
  if (!visible_) return;
  const auto waited = std::chrono::steady_clock::now() - began_;
  std::string text = std::string(kFrames[frame_++ % kFrames.size()]) + " waiting at " + gate_ +
                     " for " + to_text(std::chrono::floor<std::chrono::seconds>(waited));
  if (position != 0) text += ", position " + std::to_string(position);
  if (eta != Duration(0))
    text += ", about " + to_text(std::chrono::ceil<std::chrono::seconds>(eta));
  std::fprintf(stderr, "%s%.*s", kRestartLine, columns() - 1, text.c_str());
}

void WaitingLine::clear() {
  if (visible_ && frame_ > 0) std::fputs(kRestartLine, stderr);
}

}  // namespace airlock::cli
