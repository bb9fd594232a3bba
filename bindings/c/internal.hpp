#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "airlock.h"
#include "airlock/airlock.hpp"

// What the sources of the C interface share: the handles, and how arguments are checked and results written.

// --- Handles ---

namespace airlock::c {
class Watch;
using AnySeal = std::variant<LockSeal, SemaphoreSeal, CooldownSeal, RateLimiterSeal, CompositeSeal>;
}  // namespace airlock::c

struct airlock_store {
  airlock::Store store;
};

struct airlock_gate {
  airlock::Airlock airlock;
};

struct airlock_keyed {
  airlock::KeyedBulkhead bulkhead;
};

struct airlock_isolation {
  airlock::EventIsolation isolation;
};

struct airlock_lease {
  airlock_lease() noexcept;
  explicit airlock_lease(airlock::Lease held) noexcept;
  airlock_lease(const airlock_lease&) = delete;
  airlock_lease& operator=(const airlock_lease&) = delete;
  ~airlock_lease();

  airlock::Lease lease;
  std::vector<std::unique_ptr<airlock::c::Watch>> watches;  // They end before the lease does.
};

struct airlock_seal {
  airlock::c::AnySeal seal;
  airlock::Store store;  // Of what can be released: that of the lock.
  airlock::GateName gate;
};

struct airlock_list {
  std::vector<std::string> texts;
};

struct airlock_view {
  airlock::GateView gate;
};

namespace airlock::c {

// --- Failures ---

// Whether it can be written. NULL can: nothing is.
[[nodiscard]] bool is_usable(const airlock_error* error) noexcept;

// The status for the exception that is being handled; a failure is described in *error.
std::int32_t status_of_exception(airlock_error* error) noexcept;
void give(airlock_error* to, const airlock_error& failure) noexcept;

// Runs the body of a function of the interface. No exception leaves it.
template <typename Body>
std::int32_t run(airlock_error* error, const Body& body) noexcept {
  if (!is_usable(error)) return AIRLOCK_INVALID;
  try {
    return body();
  } catch (...) {
    return status_of_exception(error);
  }
}

// --- Arguments: InvalidArgument names what is wrong ---

[[noreturn]] void throw_null(const char* name);
[[noreturn]] void throw_size(const char* name, std::uint32_t size);
[[noreturn]] void throw_not_a_value(const char* name, std::int64_t value);

template <typename T>
T& needed(T* pointer, const char* name) {
  if (pointer == nullptr) throw_null(name);
  return *pointer;
}

// For what is made; NULL until it is.
template <typename T>
T*& made(T** handle, const char* name) {
  needed(handle, name) = nullptr;
  return *handle;
}

[[nodiscard]] std::string_view text_of(airlock_text text, const char* name);
[[nodiscard]] Duration duration_of(std::int64_t microseconds, const char* name);
[[nodiscard]] bool flag_of(std::uint32_t flag, const char* name);

// 0 is the default.
[[nodiscard]] inline Duration duration_or(std::int64_t microseconds, const char* name,
                                          Duration otherwise) {
  const Duration duration = duration_of(microseconds, name);
  return duration == Duration(0) ? otherwise : duration;
}

[[nodiscard]] inline std::uint32_t one_if_0(std::uint32_t number) noexcept {
  return number == 0 ? 1 : number;
}

template <typename Enum>
[[nodiscard]] Enum enum_of(std::int32_t value, std::int32_t last, const char* name) {
  if (value < 0 || value > last) throw_not_a_value(name, value);
  return static_cast<Enum>(value);
}

// A struct has its size and at least one field more. A larger one comes from a newer header.
inline constexpr std::uint32_t kLeastSize = 2 * sizeof(std::uint32_t);
inline constexpr std::uint32_t kMostSize = 4096;  // Beyond this the size was not set.

// Of a whole number of `alignment`: others cut a field.
void check_size(const char* name, std::uint32_t size, std::size_t alignment);

// The rest of a struct from a newer header: what this library does not know must be 0.
void check_rest(const char* name, const void* given, std::size_t known, std::size_t size);

// A caller's options. What an older header did not have is 0; so is everything if there are none.
template <typename Struct>
[[nodiscard]] Struct options_of(const Struct* given, const char* name) {
  Struct options{};
  if (given == nullptr) return options;
  check_size(name, given->size, alignof(Struct));
  check_rest(name, given, sizeof options, given->size);
  std::memcpy(&options, given, std::min<std::size_t>(given->size, sizeof options));
  return options;
}

// --- Results ---

// Writes as much as the caller has room for.
template <typename Struct>
void give(Struct* to, Struct result) noexcept {
  result.size = to->size;
  std::memcpy(to, &result, std::min<std::size_t>(to->size, sizeof result));
}

// What has no token, where the caller's is cleared already: it is most of the bytes.
struct PlainAnswer {
  static constexpr std::size_t kSize = offsetof(airlock_answer, token);
  PlainAnswer() noexcept { std::memset(&fields, 0, kSize); }
  airlock_answer fields;
};
inline void give(airlock_answer* to, PlainAnswer answer) noexcept {
  answer.fields.size = to->size;
  std::memcpy(to, &answer.fields, std::min<std::size_t>(to->size, PlainAnswer::kSize));
}

// Before anything happens: it can be written, and says nothing yet.
template <typename Struct>
void clear(Struct* to, const char* name) {
  const std::uint32_t size = to->size;
  check_size(name, size, alignof(Struct));
  std::memset(static_cast<void*>(to), 0, std::min<std::size_t>(size, sizeof *to));
  to->size = size;
}
template <typename Struct>
void clear_if_any(Struct* to, const char* name) {
  if (to != nullptr) clear(to, name);
}

// With its NUL, and cut where it does not fit.
void write_text(char* to, std::size_t room, std::string_view text) noexcept;
void write_token(char (&to)[AIRLOCK_TOKEN_SIZE], const Token& token);
[[nodiscard]] inline airlock_text as_text(std::string_view text) noexcept {
  return {text.data(), text.size()};
}
[[nodiscard]] std::int64_t slot_of(const Slot& slot) noexcept;
[[nodiscard]] airlock_rate_info rate_info_of(const RateInfo& info) noexcept;

// What was answered. Tokens are written where the answer is all that the caller gets.
[[nodiscard]] PlainAnswer answer_of(const Lease& lease, Duration waited) noexcept;
[[nodiscard]] PlainAnswer answer_of(const Refused& refused) noexcept;
[[nodiscard]] PlainAnswer answer_of(const Queued& queued) noexcept;
[[nodiscard]] airlock_answer answer_of(const Granted& granted, bool with_token);

// A stopwatch that is only read where somebody wants to know.
class Stopwatch {
 public:
  explicit Stopwatch(bool runs) noexcept;
  [[nodiscard]] Duration elapsed() const noexcept;

 private:
  bool runs_;
  Duration began_{0};
};

// Hands a lease on, or says why not. `answer` may be NULL.
std::int32_t hand_over(Outcome<Lease> outcome, const Stopwatch& watch, airlock_lease*& lease,
                       airlock_answer* answer);

// --- Conversions that several sources need ---

[[nodiscard]] Ask ask_of(const airlock_ask& ask);
[[nodiscard]] std::vector<Rate> rates_of(const airlock_rate* rates, std::size_t count);
[[nodiscard]] airlock_rate rate_of(const Rate& rate) noexcept;
[[nodiscard]] inline VisitorId visitor_of(airlock_visitor visitor) noexcept {
  return {.high = visitor.high, .low = visitor.low};
}
[[nodiscard]] Token token_of(airlock_text text);

// A number of events in a descriptor: readable while it is not 0.
class EventFd {
 public:
  EventFd();  // StoreError (no_room)
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;
  ~EventFd();

  [[nodiscard]] int get() const noexcept { return fd_; }
  void add_one() const noexcept;
  void take_one() const noexcept;

 private:
  int fd_;
};

// Another number in every forked child.
[[nodiscard]] std::uint64_t process_generation() noexcept;

// What belongs to the parent is neither used nor destroyed: its locks may be held for ever.
void leave_to_parent(std::shared_ptr<void> inherited) noexcept;

// Waits in poll(2); nullopt when a signal came first.
[[nodiscard]] std::optional<Outcome<Lease>> enter_interruptibly(const Airlock& airlock,
                                                                const Ask& ask, Duration max_wait);

}  // namespace airlock::c
