#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "airlock/look.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"

// The little-endian packing of lua/gate.lua and lua/asks.lua.

namespace airlock::redis {

class Packer {
 public:
  template <typename Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) Packer& add(Number number) {
    static_assert(std::endian::native == std::endian::little);
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &number, sizeof(Number));
    bytes_.append(bytes, sizeof(Number));
    return *this;
  }
  Packer& add(Duration duration) {  // Forever is infinite.
    return add(duration == kForever ? std::numeric_limits<double>::infinity()
                                    : static_cast<double>(duration.count()));
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what scripts return. StoreError where there is less than is needed, or what cannot be.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) noexcept : bytes_(bytes) {}

  template <typename Number>
  [[nodiscard]] Number read() {
    Number number;
    std::memcpy(&number, take(sizeof(Number)).data(), sizeof(Number));
    return number;
  }
  [[nodiscard]] double number() { return read<double>(); }
  template <typename Whole = std::uint64_t>
  [[nodiscard]] Whole whole() {
    constexpr double kEnd = 18446744073709551616.0;
    const double value = number();
    if (!(value >= 0 && value < kEnd)) throw_senseless();
    return static_cast<Whole>(static_cast<std::uint64_t>(value));
  }
  [[nodiscard]] std::optional<std::uint32_t> whole_or_none() {  // Below 0: none.
    constexpr double kEnd = 4294967296.0;
    const double value = number();
    if (!(value < kEnd)) throw_senseless();
    return value < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
  }
  [[nodiscard]] bool flag() { return number() != 0; }
  [[nodiscard]] Duration duration() {
    constexpr double kLongest = 9.2e18;
    const double microseconds = number();
    if (!(microseconds > -1)) throw_senseless();
    return microseconds >= kLongest ? kForever : Duration(static_cast<std::int64_t>(microseconds));
  }
  [[nodiscard]] std::string_view take(std::size_t size);
  // The same, so many bytes further on.
  [[nodiscard]] Unpacker from(std::size_t offset) const {
    Unpacker rest(*this);
    (void)rest.take(offset);
    return rest;
  }
  [[nodiscard]] bool is_empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return bytes_; }

 private:
  [[noreturn]] static void throw_senseless();

  std::string_view bytes_;
};

enum class AnswerKind : std::uint8_t {
  granted = 1,
  queued,
  refused,
  other_order,
  other_kind,
  again,
  done,
};

// What every reply begins with.
struct ReplyHead {
  AnswerKind kind{};
  Duration server_time{0};
  bool more = false;  // There is more to do at the gate,
  bool soon = false;  // and others wait for it.
};

[[nodiscard]] ReplyHead read_head(Unpacker& from);
[[nodiscard]] Granted read_granted(Unpacker& from, const Token& token);
[[nodiscard]] Queued read_queued(Unpacker& from);
[[nodiscard]] Refused read_refused(Unpacker& from);

[[nodiscard]] std::string pack_request(const Request& request, bool confirmed);
[[nodiscard]] std::string pack_rates(std::span<const Rate> rates);
[[nodiscard]] std::string pack_visitor(const VisitorId& visitor);  // 16 bytes, high end first.

// The field c of a gate; empty: none were counted. `quick`: granted without waiting, which is not among them.
[[nodiscard]] Counters read_counters(std::uint64_t quick, std::string_view counted);

// What lua/shown.lua makes of the tiers of a gate.
void read_rates(const std::vector<std::string_view>& tiers, GateView& view);
// The field p of a gate. Pauses that are over are left out.
void read_pauses(std::string_view packed, Duration now, GateView& view);

// The parts of lua/look.lua's reply but for the visits.
struct LookParts {
  std::string_view head;
  std::vector<std::string_view> rates;
  std::string_view pauses;
  std::string_view now;
};
[[nodiscard]] GateView read_view(const GateName& gate, const LookParts& parts);

// The visits of a gate, as portions of its hash bring them. A visit that comes twice is taken as it came last.
class Visits {
 public:
  void add(std::string_view field, std::string_view value);  // What is no visit is passed over.
  void show_in(GateView& view, Duration now) const;          // Holders and line.
  void count_in(GateView& view, Duration now) const;         // Those whose time has not come.

 private:
  template <typename Use>
  void for_each(const Use& use) const;

  std::map<std::string, std::string, std::less<>> records_;
};

// A gate of lua/survey.lua; each reply is a portion of it.
class Summary {
 public:
  struct Parts {
    LookParts look;
    std::string_view rest;
    std::string_view ended;
    std::vector<std::string_view> holder;
  };
  // The first portion.
  Summary(const GateName& gate, const Parts& parts);
  // A gate without anything that has run out.
  Summary(GateView of_gate, std::uint64_t visits, bool is_quiet)
      : view(std::move(of_gate)), visits_(visits), is_quiet_(is_quiet) {}
  // What has run out, of a later one.
  void leave_out(std::string_view rest, std::string_view ended);
  // False: the parts of the gate do not agree, and its visits say who is there.
  [[nodiscard]] bool is_sound() const noexcept { return is_sound_; }
  void count(const Visits& visits);

  [[nodiscard]] bool is_idle() const noexcept { return is_quiet_ && visits_ == 0; }
  GateView view;

 private:
  Duration now_{0};
  std::uint64_t visits_ = 0;
  bool is_quiet_ = false;
  bool is_sound_ = true;
};

}  // namespace airlock::redis
