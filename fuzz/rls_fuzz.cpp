#include <string>

#include "fuzz.hpp"
#include "rls/json.hpp"
#include "rls/protobuf.hpp"

namespace {

using airlock::fuzz::require;
namespace rls = airlock::server::rls;

void require_text(const std::string& text) {
  require(!text.empty() && text.size() <= rls::kMaxText);
}

// What holds of every request that is taken.
void require_sound(const rls::RateLimitRequest& request) {
  require_text(request.domain);
  require(!request.descriptors.empty() && request.descriptors.size() <= rls::kMaxDescriptors);
  for (const rls::Descriptor& descriptor : request.descriptors) {
    require(!descriptor.entries.empty() && descriptor.entries.size() <= rls::kMaxEntries);
    for (const rls::Entry& entry : descriptor.entries) {
      require_text(entry.key);
      require_text(entry.value);
    }
    require(!descriptor.limit || descriptor.limit->unit != rls::Unit::unknown);
    require(!descriptor.limit || descriptor.limit->unit <= rls::Unit::week);
  }
}

template <typename Parse>
void parse_with(Parse parse) {
  try {
    require_sound(parse());
  } catch (const rls::InvalidRequest& invalid) {
    require(!invalid.field.empty() && !invalid.rule.empty());
  }
}

}  // namespace

// Any bytes are a request or refused with the name of a field, as protobuf and as JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = airlock::fuzz::text_of(data, size);
  parse_with([&] { return rls::parse_protobuf(bytes); });
  parse_with([&] { return rls::parse_json(std::string(bytes)); });
  try {
    require(rls::parse_health_request(bytes).size() <= bytes.size());
  } catch (const rls::InvalidRequest& invalid) {
    require(invalid.field == "message");
  }
  return 0;
}
