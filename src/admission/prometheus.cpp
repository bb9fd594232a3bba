#include "admission/prometheus.hpp"

#include <algorithm>
#include <ostream>

namespace airlock::prometheus {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char byte : value) {
    if (byte == '\\' || byte == '"') out += '\\';
    out += byte == '\n' ? "\\n" : std::string_view(&byte, 1);
  }
  return out;
}

std::string seconds(Duration duration) {
  constexpr std::int64_t kSecond = 1'000'000;
  const std::int64_t us = duration.count();
  const std::string fraction = std::to_string(kSecond + us % kSecond).substr(1);
  std::string out = std::to_string(us / kSecond) + '.' + fraction;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

void Text::family(std::string_view name, std::string_view type, std::string_view help) {
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void Text::sample(std::string_view name, std::initializer_list<Label> labels,
                  std::string_view value) {
  text_.append(name);
  char separator = '{';
  for (const Label& label : labels) {
    text_.append(1, separator)
        .append(label.name)
        .append("=\"")
        .append(escaped(label.value))
        .append("\"");
    separator = ',';
  }
  text_.append(labels.size() == 0 ? " " : "} ").append(value).append("\n");
  constexpr std::size_t kBlock = 65'536;
  if (out_ != nullptr && text_.size() >= kBlock) flush();
}

void Text::flush() {
  out_->write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

}  // namespace airlock::prometheus
