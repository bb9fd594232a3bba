#include "import/ratelimit_yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "import/toml_text.hpp"

namespace airlock::server::import {
namespace {

constexpr int kMaxDepth = 16;  // As in airlock.toml.

constexpr std::array<std::string_view, 7> kUnits = {"second", "minute", "hour", "day",
                                                    "week",   "month",  "year"};

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

class Importer {
 public:
  Importer(std::string file, std::ostream& out, std::ostream& warnings)
      : file_(std::move(file)), out_(out), warnings_(warnings) {}

  void run() {
    const YAML::Node root = load();
    require_keys(root, {"domain", "descriptors"});
    const std::string domain = text(root, "domain").value_or("");
    if (domain.empty()) fail(root, "domain", "is needed");
    out_ << "# From " << toml_text(file_) << ", of envoyproxy/ratelimit.\n";
    for_each(root, "descriptors",
             [&](const YAML::Node& node) { write_descriptor(node, domain, 1); });
  }

 private:
  YAML::Node load() const {
    try {
      return YAML::LoadFile(file_);
    } catch (const YAML::BadFile&) {
      throw ImportError(file_ + ": cannot be read");
    } catch (const YAML::ParserException& error) {
      throw ImportError(at(error.mark) + "is not YAML: " + error.msg);
    }
  }

  [[nodiscard]] std::string at(const YAML::Mark& mark) const {
    return mark.is_null() ? file_ + ": " : file_ + ":" + std::to_string(mark.line + 1) + ": ";
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& key,
                         const std::string& rule) const {
    throw ImportError(at(node.Mark()) + key + ": " + rule);
  }
  void warn(const YAML::Node& node, const std::string& key, const std::string& what) const {
    warnings_ << at(node.Mark()) << key << ": " << what << "\n";
  }

  void require_keys(const YAML::Node& node, std::initializer_list<std::string_view> known) const {
    if (!node.IsMap()) fail(node, "this", "has to be a mapping");
    for (const auto& each : node) {
      const YAML::Node& key = each.first;
      const auto name = key.IsScalar() ? key.Scalar() : std::string("this");
      if (std::find(known.begin(), known.end(), name) == known.end())
        fail(key, name, "is not a key of envoyproxy/ratelimit at this place");
    }
  }

  [[nodiscard]] std::optional<std::string> text(const YAML::Node& node, const char* key) const {
    const YAML::Node found = node[key];
    if (!found || found.IsNull()) return std::nullopt;
    if (!found.IsScalar()) fail(found, key, "has to be a text");
    return found.Scalar();
  }

  [[nodiscard]] bool flag(const YAML::Node& node, const char* key) const {
    const YAML::Node found = node[key];
    bool value = false;
    if (found && !found.IsNull() && !YAML::convert<bool>::decode(found, value))
      fail(found, key, "has to be true or false");
    return value;
  }

  template <typename Visit>
  void for_each(const YAML::Node& node, const char* key, Visit visit) const {
    const YAML::Node found = node[key];
    if (!found || found.IsNull()) return;
    if (!found.IsSequence()) fail(found, key, "has to be a list");
    for (const YAML::Node& each : found) visit(each);
  }

  [[nodiscard]] std::string unit(const YAML::Node& node) const {
    std::string unit = lower_case(text(node, "unit").value_or(""));
    if (std::find(kUnits.begin(), kUnits.end(), unit) == kUnits.end())
      fail(node, "unit", "has to be one of second, minute, hour, day, week, month, year");
    return unit;
  }

  [[nodiscard]] std::uint32_t requests(const YAML::Node& node) const {
    const YAML::Node found = node["requests_per_unit"];
    std::uint32_t value = 0;
    if (found && !found.IsNull() && !YAML::convert<std::uint32_t>::decode(found, value))
      fail(found, "requests_per_unit", "has to be a whole number");
    constexpr std::uint32_t kMax = 1U << 31;
    if (value > kMax) warn(found, "requests_per_unit", "is lowered to " + std::to_string(kMax));
    return std::min(value, kMax);
  }

  [[nodiscard]] std::vector<std::string> replaces(const YAML::Node& node) const {
    std::vector<std::string> names;
    for_each(node, "replaces", [&](const YAML::Node& each) {
      require_keys(each, {"name"});
      names.push_back(text(each, "name").value_or(""));
      if (names.back().empty()) fail(each, "replaces", "needs a name");
    });
    return names;
  }

  void write_rate_limit(const YAML::Node& node) {
    require_keys(node, {"unit", "requests_per_unit", "unlimited", "name", "replaces"});
    out_ << "rate_limit = {";
    if (flag(node, "unlimited")) {
      out_ << "unlimited = true";
    } else {
      out_ << "unit = " << toml_text(unit(node)) << ", requests_per_unit = " << requests(node);
    }
    const std::string name = text(node, "name").value_or("");
    if (!name.empty()) out_ << ", name = " << toml_text(name);
    const std::vector<std::string> names = replaces(node);
    for (std::size_t i = 0; i < names.size(); ++i)
      out_ << (i == 0 ? ", replaces = [" : ", ") << toml_text(names[i]);
    out_ << (names.empty() ? "}\n" : "]}\n");
  }

  void warn_of_unknown(const YAML::Node& node) const {
    if (flag(node, "quota_mode")) warn(node["quota_mode"], "quota_mode", "is left out");
    if (node["metadata"]) warn(node["metadata"], "metadata", "is left out");
    if (flag(node, "value_to_metric"))
      warn(node["value_to_metric"], "value_to_metric", "becomes detailed_metric");
  }

  void write_descriptor(const YAML::Node& node, const std::string& domain, int depth) {
    if (depth > kMaxDepth)
      fail(node, "descriptors", "are nested deeper than " + std::to_string(kMaxDepth));
    require_keys(node, {"key", "value", "rate_limit", "descriptors", "shadow_mode", "quota_mode",
                        "detailed_metric", "value_to_metric", "share_threshold", "metadata"});
    out_ << "\n[[descriptors";
    for (int i = 1; i < depth; ++i) out_ << ".descriptors";
    out_ << "]]\n";
    if (depth == 1) out_ << "domain = " << toml_text(domain) << "\n";
    const std::string key = text(node, "key").value_or("");
    if (key.empty()) fail(node, "key", "is needed");
    out_ << "key = " << toml_text(key) << "\n";
    const std::string value = text(node, "value").value_or("");
    if (!value.empty()) out_ << "value = " << toml_text(value) << "\n";
    if (flag(node, "share_threshold")) out_ << "share_threshold = true\n";
    const YAML::Node limit = node["rate_limit"];
    if (limit && !limit.IsNull()) {
      if (flag(node, "shadow_mode")) out_ << "shadow_mode = true\n";
      if (flag(node, "detailed_metric") || flag(node, "value_to_metric"))
        out_ << "detailed_metric = true\n";
      write_rate_limit(limit);
    }
    warn_of_unknown(node);
    for_each(node, "descriptors",
             [&](const YAML::Node& each) { write_descriptor(each, domain, depth + 1); });
  }

  const std::string file_;
  std::ostream& out_;
  std::ostream& warnings_;
};

}  // namespace

void import_yaml(const std::string& file, std::ostream& out, std::ostream& warnings) {
  try {
    Importer(file, out, warnings).run();
  } catch (const YAML::Exception& error) {
    throw ImportError(file + ": " + error.what());
  }
}

}  // namespace airlock::server::import
