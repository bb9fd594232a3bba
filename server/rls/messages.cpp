#include "rls/messages.hpp"

#include <string_view>

#include "airlock/request.hpp"

namespace airlock::server::rls {
namespace {

void check_text(const std::string& field, const std::string& text) {
  if (text.empty() || text.size() > kMaxText)
    throw InvalidRequest{field, "has to have 1 to " + std::to_string(kMaxText) + " bytes"};
}

void check_count(const std::string& field, std::size_t count, std::size_t max) {
  if (count == 0 || count > max)
    throw InvalidRequest{field, "has to be a list of 1 to " + std::to_string(max)};
}

void check_hits(const std::string& field, std::uint64_t hits) {
  if (hits > kMaxLimit)
    throw InvalidRequest{field, "has to be at most " + std::to_string(kMaxLimit)};
}

void check_descriptor(const std::string& field, const Descriptor& descriptor) {
  check_count(field + ".entries", descriptor.entries.size(), kMaxEntries);
  for (std::size_t i = 0; i < descriptor.entries.size(); ++i) {
    const std::string entry = field + ".entries[" + std::to_string(i) + "]";
    check_text(entry + ".key", descriptor.entries[i].key);
    check_text(entry + ".value", descriptor.entries[i].value);
  }
  check_hits(field + ".hitsAddend", descriptor.hits_addend.value_or(0));
  if (descriptor.limit && descriptor.limit->unit == Unit::unknown)
    throw InvalidRequest{field + ".limit.unit", "is needed: SECOND, MINUTE, HOUR, DAY, ..."};
}

}  // namespace

void check(const RateLimitRequest& request) {
  check_text("domain", request.domain);
  check_count("descriptors", request.descriptors.size(), kMaxDescriptors);
  for (std::size_t i = 0; i < request.descriptors.size(); ++i)
    check_descriptor("descriptors[" + std::to_string(i) + "]", request.descriptors[i]);
  check_hits("hitsAddend", request.hits_addend);
}

}  // namespace airlock::server::rls
