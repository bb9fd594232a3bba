#include "airlock/event_isolation.hpp"

#include <string_view>
#include <utility>

#include "admission/admission_client.hpp"
#include "base/quote.hpp"

namespace airlock {
namespace {

// A part of its own: separators and percent signs inside are escaped, so that two keys never read
// the same. Which optional parts are there is said by a mark, because parts may be left out.
void append(std::string& out, const std::string& separator, std::string_view mark,
            std::string_view part) {
  out.append(separator).append(mark);
  for (const char c : part) {
    const bool plain = c != '%' && separator.find(c) == std::string::npos;
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      out.push_back(c);
    } else {
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
}

constexpr std::string_view kGatePrefix = "events";

// What operators see of a key whose gate is named by a digest.
std::string_view shown(std::string_view key) {
  return key.size() <= kMaxLabelSize && base::is_printable(key) ? key : std::string_view();
}

[[noreturn]] void throw_timeout(std::string_view key, Duration timeout) {
  throw EventIsolationTimeout("key " + base::quoted(key) + " was not free within " +
                              to_text(timeout));
}

}  // namespace

EventIsolationTimeout::~EventIsolationTimeout() = default;

std::string KeyBuilder::operator()(const StorageKey& key) const {
  if (separator.empty()) throw InvalidArgument("separator: at least one byte");
  std::string out = prefix;
  if (with_bot) append(out, separator, "b", std::to_string(key.bot));
  if (with_business_connection && key.business_connection) {
    append(out, separator, "c", *key.business_connection);
  }
  append(out, separator, "", std::to_string(key.chat));
  if (key.thread) append(out, separator, "t", std::to_string(*key.thread));
  append(out, separator, "", std::to_string(key.user));
  if (with_destiny || key.destiny != "default") append(out, separator, "d", key.destiny);
  return out;
}

EventIsolation::EventIsolation(const Store& store, EventIsolationOptions options)
    : options_(std::move(options)) {
  if (!options_.key_builder) throw InvalidArgument("key_builder: a function is needed");
  (void)options_.key_builder({});  // What is wrong with it shows when the program starts.
  if (!options_.max_wait) options_.max_wait = saturating_add(options_.ttl, options_.ttl);
  client_ = std::make_shared<internal::AdmissionClient>(
      store, AirlockOptions{.limit = 1,
                            .ttl = options_.ttl,
                            .max_wait = *options_.max_wait,
                            .max_hold = options_.max_hold,
                            .exclusive = true,
                            .outage = options_.outage,
                            .observer = options_.observer});
}

EventIsolation::EventIsolation(const EventIsolation&) = default;
EventIsolation& EventIsolation::operator=(const EventIsolation&) = default;
EventIsolation::~EventIsolation() = default;

std::string EventIsolation::built(const StorageKey& key) const {
  return client_ ? options_.key_builder(key) : std::string();
}

Outcome<Lease> EventIsolation::try_lock_for(std::string_view key, AnyDuration max_wait) const {
  if (!client_) return Lease();
  return client_->enter(gate_name(kGatePrefix, key), {.label = shown(key)}, max_wait);
}

Outcome<Lease> EventIsolation::try_lock(std::string_view key) const {
  return try_lock_for(key, Duration(0));
}

Lease EventIsolation::lock(std::string_view key) const {
  if (!client_) return {};
  Outcome<Lease> lease = try_lock_for(key, *options_.max_wait);
  if (!lease) throw_timeout(key, *options_.max_wait);
  return std::move(*lease);
}

EventIsolation::Turn EventIsolation::join(std::string_view key) const {
  Turn turn;
  if (!client_) return turn;
  turn.key_ = key;
  turn.timeout_ = *options_.max_wait;
  turn.place_ = Place(client_, gate_name(kGatePrefix, key), {.label = shown(key)}, turn.timeout_);
  return turn;
}

EventIsolation::Turn EventIsolation::join(const StorageKey& key) const { return join(built(key)); }

Lease EventIsolation::Turn::wait() {
  if (!place_) return {};
  Outcome<Lease> lease = place_->wait();
  if (!lease) throw_timeout(key_, timeout_);
  return std::move(*lease);
}

}  // namespace airlock
