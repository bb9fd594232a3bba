#include "airlock/event_isolation.hpp"

#include <string_view>
#include <utility>

#include "airlock/entrance.hpp"
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

[[noreturn]] void throw_timeout(const std::string& key, Duration timeout) {
  throw EventIsolationTimeout("key " + base::quoted(key) + " was not free within " +
                              to_text(timeout));
}

}  // namespace

EventIsolationTimeout::~EventIsolationTimeout() = default;

std::string KeyBuilder::build(const StorageKey& key) const {
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

EventIsolation::EventIsolation(std::shared_ptr<Store> store, EventIsolationOptions options)
    : options_(std::move(options)) {
  if (options_.keys.separator.empty()) throw InvalidArgument("separator: at least one byte");
  const Duration timeout =
      options_.acquire_timeout.value_or(saturating_add(options_.ttl, options_.ttl));
  if (timeout < Duration(0)) {
    throw InvalidArgument("acquire_timeout " + to_text(timeout) + ": 0 or more is needed");
  }
  options_.acquire_timeout = timeout;
  entrance_ = std::make_shared<keeping::Entrance>(std::move(store),
                                                  AirlockOptions{.limit = 1,
                                                                 .ttl = options_.ttl,
                                                                 .max_wait = timeout,
                                                                 .max_hold = options_.max_hold,
                                                                 .exclusive = true,
                                                                 .outage = options_.outage,
                                                                 .observer = options_.observer});
}

EventIsolation::EventIsolation(const EventIsolation&) = default;
EventIsolation& EventIsolation::operator=(const EventIsolation&) = default;
EventIsolation::~EventIsolation() = default;

Lease EventIsolation::lock(const StorageKey& key) const {
  if (!entrance_) return {};
  const std::string text = options_.keys.build(key);
  Outcome<Lease> lease = entrance_->enter(gate_name(kGatePrefix, text), {.label = shown(text)});
  if (!lease) throw_timeout(text, *options_.acquire_timeout);
  return std::move(*lease);
}

EventIsolation::Turn EventIsolation::join(const StorageKey& key) const {
  Turn turn;
  if (!entrance_) return turn;
  turn.key_ = options_.keys.build(key);
  turn.timeout_ = *options_.acquire_timeout;
  turn.place_ = Place(entrance_, gate_name(kGatePrefix, turn.key_), {.label = shown(turn.key_)});
  return turn;
}

Lease EventIsolation::Turn::wait() {
  if (!place_) return {};
  Outcome<Lease> lease = place_->wait();
  if (!lease) throw_timeout(key_, timeout_);
  return std::move(*lease);
}

}  // namespace airlock
