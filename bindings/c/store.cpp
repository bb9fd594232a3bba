#include "internal.hpp"

using airlock::Duration;
using airlock::c::duration_of;
using airlock::c::made;
using airlock::c::needed;
using airlock::c::run;
using airlock::c::text_of;

std::uint32_t airlock_abi() { return AIRLOCK_ABI; }

const char* airlock_version() { return airlock::version(); }

std::int32_t airlock_store_open(airlock_text uri, airlock_store** store, airlock_error* error) {
  return run(error, [&] {
    auto& handle = made(store, "store");
    handle = new airlock_store{airlock::open_store(text_of(uri, "uri"))};
    return AIRLOCK_DONE;
  });
}

void airlock_store_free(airlock_store* store) { delete store; }

std::int32_t airlock_store_close(airlock_store* store, airlock_error* error) {
  return run(error, [&] {
    needed(store, "store").store.close();
    return AIRLOCK_DONE;
  });
}

std::int32_t airlock_store_drain(airlock_store* store, std::int64_t at_most, airlock_error* error) {
  return run(error, [&] {
    const bool done = needed(store, "store").store.drain(duration_of(at_most, "at_most"));
    return done ? AIRLOCK_DONE : AIRLOCK_NOTHING;
  });
}

std::int32_t airlock_store_flush(airlock_store* store, std::int64_t at_most, airlock_error* error) {
  return run(error, [&] {
    const bool done = needed(store, "store").store.flush(duration_of(at_most, "at_most"));
    return done ? AIRLOCK_DONE : AIRLOCK_NOTHING;
  });
}
