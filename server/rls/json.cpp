#include "rls/json.hpp"

#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <string_view>

namespace airlock::server::rls {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Unit>, 8> kUnitNames = {
    {{"UNKNOWN", Unit::unknown},
     {"SECOND", Unit::second},
     {"MINUTE", Unit::minute},
     {"HOUR", Unit::hour},
     {"DAY", Unit::day},
     {"WEEK", Unit::week},
     {"MONTH", Unit::month},
     {"YEAR", Unit::year}}};

[[noreturn]] void fail(const std::string& field, const std::string& rule) {
  throw InvalidRequest{field.empty() ? "body" : field, rule};
}

std::string inside(const std::string& field, std::string_view name) {
  return (field.empty() ? "" : field + ".") + std::string(name);
}

// Calls `read` for each field of an object. `read` says whether it knows the name, given in lower_snake_case.
using ReadField = std::function<bool(std::string_view name, const Json& value)>;

std::string snake_case(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper) out += '_';
    out += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

void read_object(const std::string& field, const Json& json, const ReadField& read) {
  if (!json.is_object()) fail(field, "has to be an object");
  for (const auto& [name, value] : json.items()) {
    if (!value.is_null() && !read(snake_case(name), value))
      fail(inside(field, name.substr(0, 64)), "is not a field of this message");
  }
}

void read_list(const std::string& field, const Json& json, std::size_t max,
               const std::function<void(const std::string& field, const Json& value)>& read) {
  if (!json.is_array() || json.size() > max)
    fail(field, "has to be a list of at most " + std::to_string(max));
  for (std::size_t i = 0; i < json.size(); ++i)
    read(field + "[" + std::to_string(i) + "]", json[i]);
}

std::string read_text(const std::string& field, const Json& json) {
  if (!json.is_string()) fail(field, "has to be a text");
  return json.get<std::string>();
}

// Also as a text, which is how proto3 writes 64 bits.
std::uint64_t read_number(const std::string& field, const Json& json, std::uint64_t max) {
  std::uint64_t value = 0;
  bool is_number = json.is_number_unsigned();
  if (is_number) {
    value = json.get<std::uint64_t>();
  } else if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    is_number = error == std::errc() && end == text.data() + text.size();
  }
  if (!is_number || value > max)
    fail(field, "has to be a whole number from 0 to " + std::to_string(max));
  return value;
}

std::uint32_t read_number32(const std::string& field, const Json& json) {
  return static_cast<std::uint32_t>(
      read_number(field, json, std::numeric_limits<std::uint32_t>::max()));
}

Unit read_unit(const std::string& field, const Json& json) {
  for (const auto& [name, unit] : kUnitNames) {
    if (json == name || json == static_cast<int>(unit)) return unit;
  }
  fail(field, "has to be one of SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, YEAR");
}

Entry read_entry(const std::string& field, const Json& json) {
  Entry entry;
  read_object(field, json, [&](std::string_view name, const Json& value) {
    if (name != "key" && name != "value") return false;
    (name == "key" ? entry.key : entry.value) = read_text(inside(field, name), value);
    return true;
  });
  return entry;
}

LimitOverride read_override(const std::string& field, const Json& json) {
  LimitOverride limit;
  read_object(field, json, [&](std::string_view name, const Json& value) {
    if (name == "requests_per_unit") {
      limit.requests_per_unit = read_number32(field + ".requestsPerUnit", value);
    } else if (name == "unit") {
      limit.unit = read_unit(field + ".unit", value);
    } else {
      return false;
    }
    return true;
  });
  return limit;
}

Descriptor read_descriptor(const std::string& field, const Json& json) {
  Descriptor descriptor;
  read_object(field, json, [&](std::string_view name, const Json& value) {
    if (name == "entries") {
      read_list(field + ".entries", value, kMaxEntries,
                [&](const std::string& at, const Json& each) {
                  descriptor.entries.push_back(read_entry(at, each));
                });
    } else if (name == "limit") {
      descriptor.limit = read_override(field + ".limit", value);
    } else if (name == "hits_addend") {
      descriptor.hits_addend =
          read_number(field + ".hitsAddend", value, std::numeric_limits<std::uint64_t>::max());
    } else if (name == "is_negative_hits") {
      if (!value.is_boolean()) fail(field + ".isNegativeHits", "has to be true or false");
      descriptor.is_negative_hits = value.get<bool>();
    } else {
      return false;
    }
    return true;
  });
  return descriptor;
}

nlohmann::ordered_json status_json(const DescriptorStatus& status) {
  nlohmann::ordered_json json = {{"code", status.code == Code::ok ? "OK" : "OVER_LIMIT"}};
  if (status.current_limit) {
    nlohmann::ordered_json limit = nlohmann::ordered_json::object();
    if (!status.current_limit->name.empty()) limit["name"] = status.current_limit->name;
    if (status.current_limit->requests_per_unit != 0)
      limit["requestsPerUnit"] = status.current_limit->requests_per_unit;
    for (const auto& [name, unit] : kUnitNames) {
      if (unit != Unit::unknown && unit == status.current_limit->unit) limit["unit"] = name;
    }
    json["currentLimit"] = std::move(limit);
  }
  if (status.limit_remaining != 0) json["limitRemaining"] = status.limit_remaining;
  if (status.until_reset)
    json["durationUntilReset"] = std::to_string(status.until_reset->count()) + "s";
  return json;
}

}  // namespace

RateLimitRequest parse_json(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail("", "is not a JSON object");
  RateLimitRequest request;
  read_object("", json, [&](std::string_view name, const Json& value) {
    if (name == "domain") {
      request.domain = read_text("domain", value);
    } else if (name == "hits_addend") {
      request.hits_addend = read_number32("hitsAddend", value);
    } else if (name == "descriptors") {
      read_list("descriptors", value, kMaxDescriptors,
                [&](const std::string& at, const Json& each) {
                  request.descriptors.push_back(read_descriptor(at, each));
                });
    } else {
      return false;
    }
    return true;
  });
  check(request);
  return request;
}

nlohmann::ordered_json to_json(const RateLimitResponse& response) {
  nlohmann::ordered_json json = {
      {"overallCode", response.overall_code == Code::ok ? "OK" : "OVER_LIMIT"},
      {"statuses", nlohmann::ordered_json::array()}};
  for (const DescriptorStatus& status : response.statuses)
    json["statuses"].push_back(status_json(status));
  for (const auto& [key, value] : response.headers)
    json["responseHeadersToAdd"].push_back({{"key", key}, {"value", value}});
  return json;
}

}  // namespace airlock::server::rls
