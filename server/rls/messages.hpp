#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "airlock/duration.hpp"

// What the rate limit service is asked and what it answers: envoy.service.ratelimit.v3, whether it comes as protobuf or as
// JSON.

namespace airlock::server::rls {

// The numbers are those of the protocol.
enum class Unit : std::uint8_t {
  unknown = 0,
  second = 1,
  minute = 2,
  hour = 3,
  day = 4,
  month = 5,  // 30 days.
  year = 6,   // 365 days.
  week = 7
};

enum class Code : std::uint8_t { unknown = 0, ok = 1, over_limit = 2 };

struct Entry {
  std::string key;
  std::string value = {};
};

// A limit that the caller brings along; it counts instead of the configured one.
struct LimitOverride {
  std::uint32_t requests_per_unit = 0;
  Unit unit = Unit::unknown;
};

struct Descriptor {
  std::vector<Entry> entries = {};
  std::optional<LimitOverride> limit = {};
  std::optional<std::uint64_t> hits_addend = {};  // Else that of the request. 0 takes nothing.
  bool is_negative_hits = false;                  // Gives back instead of taking.
};

struct RateLimitRequest {
  std::string domain = {};
  std::vector<Descriptor> descriptors = {};
  std::uint32_t hits_addend = 0;  // 0 stands for 1.
};

struct CurrentLimit {
  std::string name = {};
  std::uint32_t requests_per_unit = 0;
  Unit unit = Unit::unknown;  // unknown: another period, which the name says.
};

struct DescriptorStatus {
  Code code = Code::ok;
  std::optional<CurrentLimit> current_limit = {};  // None: no limit counts for this descriptor.
  std::uint32_t limit_remaining = 0;
  std::optional<std::chrono::seconds> until_reset = {};
};

struct RateLimitResponse {
  Code overall_code = Code::ok;
  std::vector<DescriptorStatus> statuses = {};  // One for each descriptor of the request.
  std::vector<std::pair<std::string, std::string>> headers = {};  // For the client of the proxy.
};

// A request that breaks a rule of the protocol or of this server. `field` is as in JSON: "descriptors[1].entries".
struct InvalidRequest {
  std::string field;
  std::string rule;
};

// A caller that may not do what the request asks for.
struct Forbidden {
  std::string field;
  std::string rule;
};

// What a request may bring along.
inline constexpr std::size_t kMaxDescriptors = 64;
inline constexpr std::size_t kMaxEntries = 16;
inline constexpr std::size_t kMaxText = 4'096;  // Bytes of a domain, a key or a value.

// Throws InvalidRequest. Both readers of requests end with it.
void check(const RateLimitRequest& request);

}  // namespace airlock::server::rls
