#include <exception>
#include <new>

#include "internal.hpp"

namespace airlock::c {
namespace {

constexpr std::size_t kTextAt = offsetof(airlock_error, text);

std::int32_t describe(airlock_error* error, std::int32_t status, const char* text,
                      std::int32_t kind = AIRLOCK_KIND_NONE,
                      std::int32_t outcome = AIRLOCK_NOTHING_HAPPENED) noexcept {
  if (error == nullptr) return status;
  error->status = status;
  error->kind = kind;
  error->outcome = outcome;
  const std::size_t size = std::min<std::size_t>(error->size, sizeof *error);
  write_text(error->text, size - kTextAt, text);
  return status;
}

std::int32_t describe(airlock_error* error, const StoreError& failure, const char* text) noexcept {
  static_assert(static_cast<int>(StoreError::Kind::unavailable) + 1 == AIRLOCK_KIND_UNAVAILABLE);
  static_assert(static_cast<int>(StoreError::Kind::busy) + 1 == AIRLOCK_KIND_BUSY);
  static_assert(static_cast<int>(StoreError::Kind::no_room) + 1 == AIRLOCK_KIND_NO_ROOM);
  static_assert(static_cast<int>(StoreError::Kind::closed) + 1 == AIRLOCK_KIND_CLOSED);
  static_assert(static_cast<int>(StoreError::Kind::incompatible) + 1 == AIRLOCK_KIND_INCOMPATIBLE);
  return describe(error, AIRLOCK_FAILED, text, static_cast<std::int32_t>(failure.kind()) + 1,
                  failure.outcome() == StoreError::Outcome::unknown ? AIRLOCK_UNKNOWN
                                                                    : AIRLOCK_NOTHING_HAPPENED);
}

// Not released because the store failed, or because there was nothing to release any more.
std::int32_t status_of(airlock_error* error, const SealReleasingError& failure) noexcept {
  try {
    std::rethrow_if_nested(failure);
  } catch (const StoreError& cause) {
    return describe(error, cause, failure.what());
  } catch (...) {
    return describe(error, AIRLOCK_INTERNAL, failure.what());
  }
  return AIRLOCK_GONE;
}

}  // namespace

bool is_usable(const airlock_error* error) noexcept {
  return error == nullptr || (error->size > kTextAt && error->size <= kMostSize);
}

std::int32_t status_of_exception(airlock_error* error) noexcept {
  try {
    throw;
  } catch (const InvalidArgument& failure) {
    return describe(error, AIRLOCK_INVALID, failure.what());
  } catch (const LeaseExpiredError&) {
    return AIRLOCK_GONE;
  } catch (const SealReleasingError& failure) {
    return status_of(error, failure);
  } catch (const StoreError& failure) {
    return describe(error, failure, failure.what());
  } catch (const std::bad_alloc&) {
    return describe(error, AIRLOCK_NO_MEMORY, "out of memory");
  } catch (const std::exception& failure) {
    return describe(error, AIRLOCK_INTERNAL, failure.what());
  } catch (...) {
    return describe(error, AIRLOCK_INTERNAL, "an unknown exception");
  }
}

void give(airlock_error* to, const airlock_error& failure) noexcept {
  (void)describe(to, failure.status, failure.text, failure.kind, failure.outcome);
}

void throw_null(const char* name) { throw InvalidArgument(std::string(name) + " is NULL"); }

void throw_size(const char* name, std::uint32_t size) {
  throw InvalidArgument(std::string(name) + ": the field size is " + std::to_string(size) +
                        ": set it to sizeof");
}

void throw_not_a_value(const char* name, std::int64_t value) {
  throw InvalidArgument(std::string(name) + " cannot be " + std::to_string(value));
}

}  // namespace airlock::c
