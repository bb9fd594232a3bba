#include "operations/access_log.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "operations/escape.hpp"

namespace airlock::server {
namespace {

using SystemTime = std::chrono::system_clock::time_point;

constexpr std::size_t kMaxPart = 200;  // Longer than the name of any gate.
constexpr std::size_t kMaxPath = 1'024;
constexpr std::size_t kShownOfLong = 16;
constexpr std::string_view kCut = "...";

// 2026-11-19T03:35:33.123456Z
std::string time_text(SystemTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const std::time_t unix_time = std::chrono::system_clock::to_time_t(seconds);
  std::tm parts{};
  gmtime_r(&unix_time, &parts);
  std::array<char, 40> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now - seconds).count();
  std::snprintf(text.data() + size, text.size() - size, ".%06dZ", static_cast<int>(micros));
  return text.data();
}

std::string seconds_text(std::chrono::nanoseconds duration) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6f", std::chrono::duration<double>(duration).count());
  return text.data();
}

// Somebody has taken a token for the name of something.
bool is_token(std::string_view part) {
  return part.starts_with("/airlock1~") || part.starts_with("/airlock1%7");
}

std::string_view or_dash(std::string_view text) { return text.empty() ? "-" : text; }

}  // namespace

std::string shown_path(std::string_view path) {
  std::string shown;
  bool is_visitor = false;
  while (!path.empty() && shown.size() < kMaxPath) {
    const std::size_t end = path.find('/', 1);
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(part.size());
    if (std::exchange(is_visitor, part == "/visitors") && part.size() > 1) {
      shown += "/{visitor}";
    } else if (part.size() > kMaxPart || is_token(part)) {
      shown.append(part.substr(0, kShownOfLong)).append(kCut);
    } else {
      shown += part;
    }
  }
  return shown;
}

std::string text_line(const AccessRecord& record, SystemTime now) {
  std::string line = time_text(now);
  line.append(" ").append(in_quotes(or_dash(record.principal)));
  line.append(" ").append(or_dash(record.client));
  line.append(" ").append(in_quotes(std::string(or_dash(record.method)) + " " +
                                    std::string(or_dash(shown_path(record.path)))));
  line.append(" ").append(std::to_string(record.status));
  line.append(" ").append(std::to_string(record.bytes));
  line.append(" ").append(seconds_text(record.duration));
  line.append(" ").append(in_quotes(record.peer));
  return line;
}

std::string json_line(const AccessRecord& record, SystemTime now) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](std::string_view text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  const Json json = {{"time", time_text(now)},
                     {"principal", or_null(record.principal)},
                     {"client", or_null(record.client)},
                     {"method", or_null(record.method)},
                     {"path", or_null(shown_path(record.path))},
                     {"status", record.status},
                     {"bytes", record.bytes},
                     {"seconds", std::chrono::duration<double>(record.duration).count()},
                     {"peer", record.peer}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

AccessLog::Target AccessLog::open(const LogSettings& settings) {
  if (settings.access == LogSettings::Access::off) return {settings, nullptr};
  if (settings.file.empty()) return {settings, std::make_shared<LogFile>(STDOUT_FILENO)};
  return {settings, std::make_shared<LogFile>(settings.file)};
}

void AccessLog::use(Target target) {
  const std::lock_guard lock(mutex_);
  settings_ = target.settings;
  if (target.file != nullptr && owned_ != nullptr) owned_->redirect(std::move(target.file));
  if (target.file != nullptr && owned_ == nullptr) {
    owned_ = std::make_unique<LineWriter>(std::move(target.file));
    writer_ = owned_.get();
  }
  access_ = settings_.access;
}

void AccessLog::write(const AccessRecord& record) {
  LineWriter* const writer = writer_;
  if (writer == nullptr) return;
  const auto now = std::chrono::system_clock::now();
  writer->write(access_ == LogSettings::Access::json ? json_line(record, now)
                                                     : text_line(record, now));
}

std::uint64_t AccessLog::dropped() const {
  const LineWriter* const writer = writer_;
  return writer != nullptr ? writer->dropped() : 0;
}

LogSettings AccessLog::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

}  // namespace airlock::server
