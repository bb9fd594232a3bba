#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/rate.hpp"

namespace airlock::server {

// Reads one table of airlock.toml. What is wrong is an InvalidArgument that names file, line, key and rule:
// "airlock.toml:12: gate[2].limit: has to be a whole number from 1 to 2147483648".
//
//   read_toml("airlock.toml", [&](TableReader& file) {
//     file.for_each("gate", [&](TableReader& gate) { limits.push_back(gate.number("limit", 1, kMaxLimit)); });
//   });
//
// A key that nothing has asked for is refused when the reading function of its table returns, with the nearest known one.
class TableReader {
 public:
  using Read = std::function<void(TableReader& table)>;

  [[nodiscard]] bool has(const char* key) const;

  // Nothing where the key is not there.
  [[nodiscard]] std::optional<std::uint64_t> number(const char* key, std::uint64_t min,
                                                    std::uint64_t max);
  [[nodiscard]] std::optional<bool> flag(const char* key);
  [[nodiscard]] std::optional<std::string> text(const char* key, std::size_t max_size = 4'096);
  [[nodiscard]] std::optional<Duration> duration(const char* key, Duration min,
                                                 Duration max);   // "5s", or seconds.
  [[nodiscard]] std::vector<std::string> texts(const char* key);  // A list, or one text.
  [[nodiscard]] std::vector<Rate> rates(const char* key);         // A list, or one text.
  template <typename Value>
  [[nodiscard]] std::optional<Value> choice(
      const char* key, const std::vector<std::pair<std::string_view, Value>>& choices);

  // What the key cannot be without.
  template <typename Value>
  [[nodiscard]] Value needed(const char* key, std::optional<Value> value) const {
    if (!value) fail(key, "is needed");
    return *std::move(value);
  }

  // Calls `read` for the table [key], if there is one; for each table of [[key]], in order.
  void with(const char* key, const Read& read);
  void for_each(const char* key, const Read& read);

  [[noreturn]] void fail(const char* key, const std::string& rule) const;
  // "airlock.toml:12: gate[2].limit", for what turns out to be wrong later.
  [[nodiscard]] std::string where(const char* key) const;

  struct Node;  // Of the parser.
  TableReader(const Node& node, std::string path);

 private:
  friend void read_toml(const std::string& file, const Read& read);

  void finish() const;
  [[nodiscard]] std::vector<std::string> list(const char* key, const char* rule);

  std::shared_ptr<const Node> node_;
  std::string path_;  // Of this table, with a dot at its end; empty: the whole file.
  std::vector<std::string> known_;
};

// Reads the file. InvalidArgument if it cannot be read or is not TOML.
void read_toml(const std::string& file, const TableReader::Read& read);

template <typename Value>
std::optional<Value> TableReader::choice(
    const char* key, const std::vector<std::pair<std::string_view, Value>>& choices) {
  const auto found = text(key);
  if (!found) return std::nullopt;
  std::string words;
  for (const auto& [word, value] : choices) {
    if (*found == word) return value;
    words.append(words.empty() ? "" : ", ").append(word);
  }
  fail(key, "has to be one of " + words);
}

}  // namespace airlock::server
