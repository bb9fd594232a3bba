#include "internal.hpp"

using airlock::c::flag_of;
using airlock::c::needed;
using airlock::c::options_of;
using airlock::c::run;
using airlock::c::text_of;
using airlock::c::write_text;

std::int32_t airlock_duration_parse(airlock_text text, std::int64_t* duration,
                                    airlock_error* error) {
  return run(error, [&] {
    auto& result = needed(duration, "duration");
    result = airlock::parse_duration(text_of(text, "text")).count();
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_rate_parse(airlock_text text, airlock_rate* rate, airlock_error* error) {
  return run(error, [&] {
    auto& result = needed(rate, "rate");
    result = airlock::c::rate_of(airlock::Rate::parse(text_of(text, "text")));
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_visitor_random(airlock_visitor* visitor, airlock_error* error) {
  return run(error, [&] {
    auto& result = needed(visitor, "visitor");
    const airlock::VisitorId id = airlock::VisitorId::random();
    result = {id.high, id.low};
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_visitor_named(airlock_text bytes, airlock_visitor* visitor,
                                   airlock_error* error) {
  return run(error, [&] {
    auto& result = needed(visitor, "visitor");
    const airlock::VisitorId id = airlock::VisitorId::named(text_of(bytes, "bytes"));
    result = {id.high, id.low};
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_gate_name(airlock_text prefix, airlock_text key, char name[AIRLOCK_NAME_SIZE],
                               airlock_error* error) {
  static_assert(AIRLOCK_NAME_SIZE == airlock::GateName::kMaxSize + 1);
  return run(error, [&] {
    (void)needed(name, "name");
    const auto made = airlock::gate_name(text_of(prefix, "prefix"), text_of(key, "key"));
    write_text(name, AIRLOCK_NAME_SIZE, made.view());
    return AIRLOCK_DONE;
  });
}

namespace {

std::string key_text(const airlock_storage_key& key) {
  const auto text_or = [](airlock_text text, const char* name, const char* otherwise) {
    const auto given = text_of(text, name);
    return given.data() == nullptr ? std::string(otherwise) : std::string(given);
  };
  airlock::StorageKey made{.bot = key.bot, .chat = key.chat, .user = key.user};
  if (flag_of(key.has_thread, "key.has_thread")) made.thread = key.thread;
  const auto connection = text_of(key.business_connection, "key.business_connection");
  if (connection.data() != nullptr) made.business_connection.emplace(connection);
  made.destiny = text_or(key.destiny, "key.destiny", "default");

  airlock::KeyBuilder builder;
  builder.prefix = text_or(key.prefix, "key.prefix", "fsm");
  builder.separator = text_or(key.separator, "key.separator", ":");
  builder.with_bot = flag_of(key.with_bot, "key.with_bot");
  builder.with_business_connection =
      flag_of(key.with_business_connection, "key.with_business_connection");
  builder.with_destiny = flag_of(key.with_destiny, "key.with_destiny");
  return builder(made);
}

}  // namespace

std::int32_t airlock_storage_key_text(const airlock_storage_key* key, char* text,
                                      std::size_t capacity, std::size_t* needed_size,
                                      airlock_error* error) {
  return run(error, [&] {
    auto& size = needed(needed_size, "needed");
    size = 0;
    if (capacity != 0) (void)needed(text, "text");
    const std::string made = key_text(options_of(&needed(key, "key"), "key"));
    size = made.size();
    std::copy_n(made.data(), std::min(capacity, made.size()), text);
    return AIRLOCK_DONE;
  });
}

const char* airlock_reason_text(std::int32_t reason) {
  static_assert(static_cast<int>(airlock::Reason::never) == AIRLOCK_REASON_NEVER);
  static_assert(airlock::kReasons == AIRLOCK_REASON_NEVER + 1);
  if (reason < 0 || reason > AIRLOCK_REASON_NEVER) return "unknown";
  return airlock::to_text(static_cast<airlock::Reason>(reason));
}

std::int32_t airlock_token_parse(airlock_text token, airlock_token_parts* parts,
                                 airlock_error* error) {
  return run(error, [&] {
    airlock::c::clear(&needed(parts, "parts"), "parts");
    const airlock::Token parsed = airlock::c::token_of(token);
    airlock_token_parts result{};
    result.store = parsed.store;
    result.fence = parsed.fence;
    result.visitor = {parsed.visitor.high, parsed.visitor.low};
    write_text(result.gate, sizeof result.gate, parsed.gate.view());
    airlock::c::give(parts, result);
    return AIRLOCK_DONE;
  });
}
