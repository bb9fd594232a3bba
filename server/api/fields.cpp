#include "fields.hpp"

#include <algorithm>
#include <cmath>

#include "airlock/error.hpp"

namespace airlock::server {
namespace {

using Json = nlohmann::json;

bool is_json(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return type == "application/json";
}

constexpr int kMaxDepth = 4;

// Of a value that is not deep.
std::size_t count_names(const Json& value) {
  std::size_t names = value.is_object() ? value.size() : 0;
  for (const Json& each : value) {
    if (each.is_structured()) names += count_names(each);
  }
  return names;
}

// An object in which no name stands twice: programs differ in which of the two they take.
Json parse(const std::string& body) {
  std::size_t names = 0;
  int deepest = 0;
  const auto count = [&](int depth, Json::parse_event_t event, const Json& /*value*/) {
    if (event == Json::parse_event_t::key) ++names;
    deepest = std::max(deepest, depth);
    return true;
  };
  Json object = Json::parse(body, count, false);
  if (object.is_discarded() || !object.is_object())
    throw Rejection{400, "the body is not a JSON object"};
  if (deepest > kMaxDepth) throw Rejection{400, "the body is nested too deeply"};
  if (count_names(object) != names) throw Rejection{400, "a name stands twice in the body"};
  return object;
}

// What the library says of a text, without the text, which may be a token.
template <typename Parse>
auto parsed(const char* name, Parse parse) {
  try {
    return parse();
  } catch (const InvalidArgument& error) {
    throw Rejection{400, error.what(), name};
  }
}

}  // namespace

void check_is_json(const Request& request) {
  if (!is_json(request.content_type))
    throw Rejection{415, "the body has to be application/json", "Content-Type"};
}

Fields::Fields(const Request& request) {
  check_is_json(request);
  object_ = parse(request.body);
}

const Json* Fields::find(const char* name) {
  read_.emplace_back(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

void Fields::fail_choice(const char* name, const std::vector<std::string_view>& words) {
  std::string all;
  for (const std::string_view word : words) all.append(all.empty() ? "" : ", ").append(word);
  throw Rejection{400, "has to be one of " + all, name};
}

std::optional<std::uint64_t> Fields::number(const char* name, std::uint64_t min,
                                            std::uint64_t max) {
  const Json* const found = find(name);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() < min ||
      found->get<std::uint64_t>() > max) {
    throw Rejection{
        400, "has to be a whole number from " + std::to_string(min) + " to " + std::to_string(max),
        name};
  }
  return found->get<std::uint64_t>();
}

std::optional<bool> Fields::flag(const char* name) {
  const Json* const found = find(name);
  if (found == nullptr) return std::nullopt;
  if (!found->is_boolean()) throw Rejection{400, "has to be true or false", name};
  return found->get<bool>();
}

std::optional<std::string> Fields::text(const char* name, std::size_t max_size) {
  const Json* const found = find(name);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string() || found->get_ref<const std::string&>().empty() ||
      found->get_ref<const std::string&>().size() > max_size) {
    throw Rejection{400, "has to be a text of 1 to " + std::to_string(max_size) + " bytes", name};
  }
  return found->get<std::string>();
}

std::optional<Duration> Fields::duration(const char* name, Duration min, Duration max) {
  const Json* const found = find(name);
  if (found == nullptr) return std::nullopt;
  Duration value{0};
  if (found->is_number()) {
    value = saturating_ceil(std::chrono::duration<double>(found->get<double>()));
  } else if (found->is_string()) {
    value = parsed(name, [&] { return parse_duration(found->get_ref<const std::string&>()); });
  } else {
    throw Rejection{400, "has to be a duration such as \"5s\" or a number of seconds", name};
  }
  if (value < min || value > max) {
    throw Rejection{400, "has to be from " + to_text(min) + " to " + to_text(max), name};
  }
  return value;
}

std::vector<Rate> Fields::rates(const char* name) {
  const Json* const found = find(name);
  std::vector<Rate> all;
  if (found == nullptr) return all;
  if (!found->is_array() || found->empty() || found->size() > kMaxRates) {
    throw Rejection{
        400, "has to be a list of 1 to " + std::to_string(kMaxRates) + " rates such as \"100/s\"",
        name};
  }
  for (const Json& each : *found) {
    if (!each.is_string()) throw Rejection{400, "a rate is a text such as \"100/s\"", name};
    all.push_back(parsed(name, [&] { return Rate::parse(each.get_ref<const std::string&>()); }));
  }
  return all;
}

std::vector<Fields> Fields::objects(const char* name, std::size_t max, const char* key) {
  const Json* const found = find(name);
  std::vector<Fields> all;
  if (found == nullptr) return all;
  if (!found->is_array() || found->empty() || found->size() > max)
    throw Rejection{400, "has to be a list of 1 to " + std::to_string(max), name};
  for (const Json& each : *found) {
    if (!each.is_string() && !each.is_object()) {
      throw Rejection{
          400, "has to be a list of texts and objects with \"" + std::string(key) + "\"", name};
    }
    all.push_back(Fields(each.is_string() ? Json{{key, each}} : each));
  }
  return all;
}

void Fields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(read_.begin(), read_.end(), name) == read_.end()) {
      throw Rejection{400, "is not a field of this call", name.substr(0, 64)};
    }
  }
}

}  // namespace airlock::server
