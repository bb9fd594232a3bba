#include "config/table_reader.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "airlock/error.hpp"
#include "suggest.hpp"

namespace airlock::server {

struct TableReader::Node {
  const toml::table& table;
  const std::string& file;
};

namespace {

// A file that is larger is none that somebody wrote.
constexpr std::size_t kMaxFile = 16U << 20U;

std::string located(const std::string& file, std::uint32_t line) {
  return file + (line == 0 ? "" : ":" + std::to_string(line)) + ": ";
}

std::string contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  (void)stream.peek();  // Says whether that was the end, or a fault.
  if (!stream || text.str().size() > kMaxFile)
    throw InvalidArgument(file + ": cannot be read; --config names a file of at most 16 MB");
  return std::move(text).str();
}

toml::table parsed(const std::string& file) {
  try {
    return toml::parse(contents(file));
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(located(file, error.source().begin.line) +
                          "is not TOML: " + std::string(error.description()));
  }
}

}  // namespace

TableReader::TableReader(const Node& node, std::string path)
    : node_(std::make_shared<const Node>(node)), path_(std::move(path)) {}

bool TableReader::has(const char* key) const { return node_->table.contains(key); }

std::string TableReader::where(const char* key) const {
  const toml::node* const node = node_->table.get(key);
  const auto line = (node != nullptr ? node->source() : node_->table.source()).begin.line;
  return located(node_->file, line) + path_ + key;
}

void TableReader::fail(const char* key, const std::string& rule) const {
  throw InvalidArgument(where(key) + ": " + rule);
}

std::optional<std::uint64_t> TableReader::number(const char* key, std::uint64_t min,
                                                 std::uint64_t max) {
  known_.emplace_back(key);
  if (!has(key)) return std::nullopt;
  const auto* const value = node_->table.get(key)->as_integer();
  if (value == nullptr || value->get() < 0 || static_cast<std::uint64_t>(value->get()) < min ||
      static_cast<std::uint64_t>(value->get()) > max) {
    fail(key,
         "has to be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return static_cast<std::uint64_t>(value->get());
}

std::optional<bool> TableReader::flag(const char* key) {
  known_.emplace_back(key);
  if (!has(key)) return std::nullopt;
  const auto* const value = node_->table.get(key)->as_boolean();
  if (value == nullptr) fail(key, "has to be true or false");
  return value->get();
}

std::optional<std::string> TableReader::text(const char* key, std::size_t max_size) {
  known_.emplace_back(key);
  if (!has(key)) return std::nullopt;
  const auto* const value = node_->table.get(key)->as_string();
  if (value == nullptr || value->get().empty() || value->get().size() > max_size)
    fail(key, "has to be a text of 1 to " + std::to_string(max_size) + " bytes");
  return value->get();
}

std::optional<Duration> TableReader::duration(const char* key, Duration min, Duration max) {
  known_.emplace_back(key);
  if (!has(key)) return std::nullopt;
  const toml::node& node = *node_->table.get(key);
  Duration value{0};
  if (const auto* const text = node.as_string()) {
    try {
      value = parse_duration(text->get());
    } catch (const InvalidArgument& error) {
      fail(key, error.what());
    }
  } else if (const auto seconds = node.value<double>(); seconds && std::isfinite(*seconds)) {
    value = saturating_ceil(std::chrono::duration<double>(*seconds));
  } else {
    fail(key, "has to be a duration such as \"5s\" or a number of seconds");
  }
  if (value < min || value > max)
    fail(key, "has to be from " + to_text(min) + " to " + to_text(max));
  return value;
}

std::vector<std::string> TableReader::list(const char* key, const char* rule) {
  known_.emplace_back(key);
  std::vector<std::string> all;
  if (!has(key)) return all;
  const toml::node& node = *node_->table.get(key);
  const auto add = [&](const toml::node& each) {
    if (!each.is_string() || each.as_string()->get().empty()) fail(key, rule);
    all.push_back(each.as_string()->get());
  };
  if (const auto* const array = node.as_array()) {
    for (const toml::node& each : *array) add(each);
  } else {
    add(node);
  }
  if (all.empty()) fail(key, rule);
  return all;
}

std::vector<std::string> TableReader::texts(const char* key) {
  return list(key, "has to be a text or a list of texts, none of them empty");
}

std::vector<Rate> TableReader::rates(const char* key) {
  const std::string rule =
      "has to be a list of 1 to " + std::to_string(kMaxRates) + " rates such as \"100/s\"";
  std::vector<Rate> all;
  for (const std::string& each : list(key, rule.c_str())) {
    if (all.size() == kMaxRates) fail(key, rule);
    try {
      all.push_back(Rate::parse(each));
    } catch (const InvalidArgument& error) {
      fail(key, error.what());
    }
  }
  return all;
}

void TableReader::with(const char* key, const Read& read) {
  known_.emplace_back(key);
  if (!has(key)) return;
  const auto* const table = node_->table.get(key)->as_table();
  if (table == nullptr) fail(key, "has to be a table: [" + path_ + key + "]");
  TableReader reader(Node{*table, node_->file}, path_ + key + ".");
  read(reader);
  reader.finish();
}

void TableReader::for_each(const char* key, const Read& read) {
  known_.emplace_back(key);
  if (!has(key)) return;
  const auto* const array = node_->table.get(key)->as_array();
  if (array == nullptr) fail(key, "has to be a list of tables: [[" + path_ + key + "]]");
  std::size_t number = 0;
  for (const toml::node& each : *array) {
    const auto* const table = each.as_table();
    if (table == nullptr) fail(key, "has to be a list of tables: [[" + path_ + key + "]]");
    TableReader reader(Node{*table, node_->file},
                       path_ + key + "[" + std::to_string(++number) + "].");
    read(reader);
    reader.finish();
  }
}

void TableReader::finish() const {
  for (const auto& [key, value] : node_->table) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string suggestion = cli::did_you_mean(name, known_);
    throw InvalidArgument(located(node_->file, key.source().begin.line) + path_ + name +
                          ": is not a key of this table" +
                          (suggestion.empty() ? "; it has " + cli::listed(known_) : suggestion));
  }
}

void read_toml(const std::string& file, const TableReader::Read& read) {
  const toml::table table = parsed(file);
  TableReader reader(TableReader::Node{table, file}, "");
  read(reader);
  reader.finish();
}

}  // namespace airlock::server
