#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/rate.hpp"
#include "http/message.hpp"

namespace airlock::server {

// Why a request is not answered as it was meant: becomes a problem+json.
struct Rejection {
  int status = 400;
  std::string detail;
  std::string field = {};
};

// Rejection unless the body is application/json.
void check_is_json(const Request& request);

// The fields of a body, which is one JSON object. Each is read once; what is wrong is a Rejection that names it.
//
//   Fields fields(request);
//   const auto limit = fields.number("limit", 1, kMaxLimit);
//   fields.finish();  // Rejection: a field that nobody has read.
class Fields {
 public:
  explicit Fields(const Request& request);

  [[nodiscard]] std::optional<std::uint64_t> number(const char* name, std::uint64_t min,
                                                    std::uint64_t max);
  [[nodiscard]] std::optional<bool> flag(const char* name);
  [[nodiscard]] std::optional<std::string> text(const char* name, std::size_t max_size);
  [[nodiscard]] std::optional<Duration> duration(const char* name, Duration min,
                                                 Duration max);  // "5s", or seconds.
  [[nodiscard]] std::vector<Rate> rates(const char* name);
  // A list of 1 to `max` objects; a text in it stands for an object with that `key` alone. Empty: there is no list.
  [[nodiscard]] std::vector<Fields> objects(const char* name, std::size_t max, const char* key);
  template <typename Value>
  [[nodiscard]] std::optional<Value> choice(
      const char* name, const std::vector<std::pair<std::string_view, Value>>& choices);
  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }
  void finish() const;

 private:
  explicit Fields(nlohmann::json object) : object_(std::move(object)) {}

  [[nodiscard]] const nlohmann::json* find(const char* name);
  [[noreturn]] static void fail_choice(const char* name,
                                       const std::vector<std::string_view>& words);

  nlohmann::json object_;
  std::vector<std::string_view> read_;
};

template <typename Value>
std::optional<Value> Fields::choice(
    const char* name, const std::vector<std::pair<std::string_view, Value>>& choices) {
  const auto* const found = find(name);
  if (found == nullptr) return std::nullopt;
  std::vector<std::string_view> words;
  for (const auto& [word, value] : choices) {
    if (found->is_string() && found->get_ref<const std::string&>() == word) return value;
    words.push_back(word);
  }
  fail_choice(name, words);
}

}  // namespace airlock::server
