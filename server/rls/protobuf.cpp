#include "rls/protobuf.hpp"

#include <limits>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace airlock::server::rls {
namespace {

using Reader = protozero::pbf_reader;
using Writer = protozero::pbf_writer;

using Field = protozero::pbf_tag_type;

// RateLimitRequest
constexpr Field kDomain = 1;
constexpr Field kDescriptors = 2;
constexpr Field kRequestHits = 3;
// RateLimitDescriptor
constexpr Field kEntries = 1;
constexpr Field kOverride = 2;
constexpr Field kHitsAddend = 3;
constexpr Field kIsNegativeHits = 4;
// Entry, HeaderValue
constexpr Field kKey = 1;
constexpr Field kValue = 2;
// RateLimitOverride, RateLimit
constexpr Field kRequestsPerUnit = 1;
constexpr Field kUnit = 2;
constexpr Field kName = 3;
// RateLimitResponse
constexpr Field kOverallCode = 1;
constexpr Field kStatuses = 2;
constexpr Field kHeadersToAdd = 3;
// DescriptorStatus
constexpr Field kCode = 1;
constexpr Field kCurrentLimit = 2;
constexpr Field kLimitRemaining = 3;
constexpr Field kUntilReset = 4;
// Others
constexpr Field kSeconds = 1;        // Duration
constexpr Field kWrapped = 1;        // UInt64Value
constexpr Field kService = 1;        // HealthCheckRequest
constexpr Field kServingStatus = 1;  // HealthCheckResponse

constexpr auto kVarint = protozero::pbf_wire_type::varint;
constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;

// What protozero asserts: that a field is read as what it is.
bool is(const Reader& reader, Field field, protozero::pbf_wire_type type) {
  return reader.tag() == field && reader.wire_type() == type;
}

Entry read_entry(Reader reader) {
  Entry entry;
  while (reader.next()) {
    if (is(reader, kKey, kBytes)) {
      entry.key = reader.get_string();
    } else if (is(reader, kValue, kBytes)) {
      entry.value = reader.get_string();
    } else {
      reader.skip();
    }
  }
  return entry;
}

Unit to_unit(std::int32_t number) {
  return number >= 0 && number <= static_cast<int>(Unit::week) ? static_cast<Unit>(number)
                                                               : Unit::unknown;
}

LimitOverride read_limit(Reader reader) {
  LimitOverride limit;
  while (reader.next()) {
    if (is(reader, kRequestsPerUnit, kVarint)) {
      limit.requests_per_unit = reader.get_uint32();
    } else if (is(reader, kUnit, kVarint)) {
      limit.unit = to_unit(reader.get_enum());
    } else {
      reader.skip();
    }
  }
  return limit;
}

std::uint64_t read_wrapped(Reader reader) {
  std::uint64_t value = 0;
  while (reader.next()) {
    if (is(reader, kWrapped, kVarint)) {
      value = reader.get_uint64();
    } else {
      reader.skip();
    }
  }
  return value;
}

void check_room(std::size_t size, std::size_t max, const char* field) {
  if (size >= max) throw InvalidRequest{field, "has to be a list of 1 to " + std::to_string(max)};
}

Descriptor read_descriptor(Reader reader) {
  Descriptor descriptor;
  while (reader.next()) {
    if (is(reader, kEntries, kBytes)) {
      check_room(descriptor.entries.size(), kMaxEntries, "descriptors.entries");
      descriptor.entries.push_back(read_entry(reader.get_message()));
    } else if (is(reader, kOverride, kBytes)) {
      descriptor.limit = read_limit(reader.get_message());
    } else if (is(reader, kHitsAddend, kBytes)) {
      descriptor.hits_addend = read_wrapped(reader.get_message());
    } else if (is(reader, kIsNegativeHits, kVarint)) {
      descriptor.is_negative_hits = reader.get_bool();
    } else {
      reader.skip();
    }
  }
  return descriptor;
}

RateLimitRequest read_request(Reader reader) {
  RateLimitRequest request;
  while (reader.next()) {
    if (is(reader, kDomain, kBytes)) {
      request.domain = reader.get_string();
    } else if (is(reader, kDescriptors, kBytes)) {
      check_room(request.descriptors.size(), kMaxDescriptors, "descriptors");
      request.descriptors.push_back(read_descriptor(reader.get_message()));
    } else if (is(reader, kRequestHits, kVarint)) {
      request.hits_addend = reader.get_uint32();
    } else {
      reader.skip();
    }
  }
  return request;
}

void write_status(Writer& parent, const DescriptorStatus& status) {
  Writer writer(parent, kStatuses);
  writer.add_enum(kCode, static_cast<std::int32_t>(status.code));
  if (status.current_limit) {
    Writer limit(writer, kCurrentLimit);
    limit.add_uint32(kRequestsPerUnit, status.current_limit->requests_per_unit);
    limit.add_enum(kUnit, static_cast<std::int32_t>(status.current_limit->unit));
    if (!status.current_limit->name.empty()) limit.add_string(kName, status.current_limit->name);
  }
  writer.add_uint32(kLimitRemaining, status.limit_remaining);
  if (status.until_reset) {
    Writer duration(writer, kUntilReset);
    duration.add_int64(kSeconds, status.until_reset->count());
  }
}

[[noreturn]] void fail_malformed() {
  throw InvalidRequest{"message", "is not what this method takes"};
}

}  // namespace

RateLimitRequest parse_protobuf(std::string_view bytes) {
  RateLimitRequest request;
  try {
    request = read_request(Reader(bytes.data(), bytes.size()));
  } catch (const protozero::exception&) {
    fail_malformed();
  }
  check(request);
  return request;
}

std::string to_protobuf(const RateLimitResponse& response) {
  std::string bytes;
  Writer writer(bytes);
  writer.add_enum(kOverallCode, static_cast<std::int32_t>(response.overall_code));
  for (const DescriptorStatus& status : response.statuses) write_status(writer, status);
  for (const auto& [key, value] : response.headers) {
    Writer header(writer, kHeadersToAdd);
    header.add_string(kKey, key);
    header.add_string(kValue, value);
  }
  return bytes;
}

std::string parse_health_request(std::string_view bytes) {
  std::string service;
  try {
    Reader reader(bytes.data(), bytes.size());
    while (reader.next()) {
      if (is(reader, kService, kBytes)) {
        service = reader.get_string();
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    fail_malformed();
  }
  return service;
}

std::string to_protobuf(Serving serving) {
  std::string bytes;
  Writer(bytes).add_enum(kServingStatus, static_cast<std::int32_t>(serving));
  return bytes;
}

}  // namespace airlock::server::rls
