#include "screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace airlock::cli {
namespace {

constexpr std::array kEighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kEraseLine = "\x1b[K";
constexpr const char* kEraseBelow = "\x1b[J";

winsize size() {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0) {
    found.ws_col = 80;
    found.ws_row = 24;
  }
  return found;
}

termios& before() {
  static termios mode{};
  return mode;
}

// How many bytes of UTF-8 text take so many columns; every character is one wide, escapes none.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  bool escape = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool starts = (byte & 0xC0) != 0x80;
    if (escape) {
      escape = byte != 'm';
    } else if (byte == 0x1b) {
      escape = true;
    } else if (starts && columns-- == 0) {
      return i;
    }
  }
  return text.size();
}

Key key_of(std::string_view bytes) {
  if (bytes.front() == '\n' || bytes.front() == '\r') return Key::enter;
  if (bytes.front() != '\x1b') return static_cast<Key>(static_cast<unsigned char>(bytes.front()));
  const std::string_view rest = bytes.substr(1);
  if (rest == "[A" || rest == "OA") return Key::up;
  if (rest == "[B" || rest == "OB") return Key::down;
  if (rest == "[C" || rest == "OC") return Key::enter;
  if (rest == "[5~") return Key::page_up;
  if (rest == "[6~") return Key::page_down;
  return rest.empty() || rest == "[D" || rest == "OD" ? Key::escape : Key::none;
}

}  // namespace

Screen::Screen()
    : is_terminal_(isatty(STDOUT_FILENO) != 0),
      // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
      has_colours_(is_terminal_ && std::getenv("NO_COLOR") == nullptr) {}

std::size_t Screen::columns() const { return size().ws_col; }
std::size_t Screen::rows() const { return size().ws_row; }

std::string Screen::coloured(Colour colour, std::string_view text) const {
  if (!has_colours_) return std::string(text);
  return "\x1b[" + std::to_string(static_cast<int>(colour)) + "m" + std::string(text) + "\x1b[0m";
}

FullScreen::FullScreen() {
  std::cout << kEnter << std::flush;
  tcgetattr(STDIN_FILENO, &before());
  termios mode = before();
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

FullScreen::~FullScreen() {
  tcsetattr(STDIN_FILENO, TCSANOW, &before());
  std::cout << kLeave << std::flush;
}

void FullScreen::draw(const std::string& text, const Screen& screen) const {
  const std::size_t columns = screen.columns();
  std::size_t rows = screen.rows();
  std::string out = kHome;
  std::istringstream lines(text);
  for (std::string line; rows > 0 && std::getline(lines, line); --rows) {
    out += line.substr(0, bytes_of(line, columns));
    out += "\x1b[0m";
    out += kEraseLine;
    if (rows > 1) out += "\r\n";
  }
  std::cout << out << kEraseBelow << std::flush;
}

Key FullScreen::key() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  std::array<char, 8> bytes{};
  if (poll(&input, 1, 0) != 1) return Key::none;
  // A terminal writes the bytes of an arrow key at once; what people type comes one by one.
  const ssize_t size = read(STDIN_FILENO, bytes.data(), bytes.size());
  return size <= 0 ? Key::none : key_of({bytes.data(), static_cast<std::size_t>(size)});
}

void Sparkline::add(double value) {
  values_.push_back(value);
  if (values_.size() > width_) values_.pop_front();
}

std::string Sparkline::text(double highest) const {
  std::string out(width_ - values_.size(), ' ');
  for (const double value : values_) {
    const double part = highest > 0 ? std::clamp(value / highest, 0.0, 1.0) : 0.0;
    const auto eighths = static_cast<std::size_t>(std::ceil(part * 8));
    out += kEighths[eighths];
  }
  return out;
}

std::string bar(double value, double whole, std::size_t columns) {
  const double part = whole > 0 ? std::clamp(value / whole, 0.0, 1.0) : 0.0;
  const auto filled =
      static_cast<std::size_t>(std::ceil(part * static_cast<double>(columns) - 0.5));
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) out += i < filled ? "█" : "░";
  return out;
}

}  // namespace airlock::cli
