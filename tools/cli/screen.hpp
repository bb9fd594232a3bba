#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace airlock::cli {

// What is known of the terminal behind stdout.
class Screen {
 public:
  Screen();

  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }
  [[nodiscard]] std::size_t columns() const;  // As they are now; 80 where nobody says.
  [[nodiscard]] std::size_t rows() const;

  enum class Colour { red = 31, green = 32, yellow = 33, dim = 2, bold = 1 };
  [[nodiscard]] std::string coloured(Colour colour, std::string_view text) const;

 private:
  bool is_terminal_;
  bool has_colours_;
};

// A key: a character as it is, or one of these.
enum class Key : int { none = 0, enter = 256, escape, up, down, page_up, page_down };

// A full screen that gives back what was there before, and takes keys one by one.
class FullScreen {
 public:
  FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  ~FullScreen();

  void draw(const std::string& text, const Screen& screen) const;
  [[nodiscard]] static Key key();
};

// The last values as a row of small bars, the newest right.
class Sparkline {
 public:
  explicit Sparkline(std::size_t width) : width_(width) {}
  void add(double value);
  [[nodiscard]] std::string text(double highest) const;

 private:
  std::size_t width_;
  std::deque<double> values_;
};

// `value` of `whole` as a bar of so many columns.
[[nodiscard]] std::string bar(double value, double whole, std::size_t columns);

}  // namespace airlock::cli
