#include "gate_reader.hpp"

#include "airlock/error.hpp"

namespace airlock::cli {
namespace {

constexpr std::size_t kMaxText = 2000;
// Of a lock that has readers, a writer takes it all. Any number above 1 would do.
constexpr std::uint32_t kWholeLock = 1U << 16;

template <typename Read>
auto read_checked(const Read& read) try {
  return read();
} catch (const Json::exception& error) {
  throw StoreError(
      StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
      std::string("its answer is not as this version knows it: ") + harmless(error.what()));
} catch (const InvalidArgument& error) {
  throw StoreError(
      StoreError::Kind::incompatible, StoreError::Outcome::nothing_happened,
      std::string("its answer is not as this version knows it: ") + harmless(error.what()));
}

template <typename Number = std::uint32_t>
Number number(const Json& json, const char* name) {
  return json.at(name).get<Number>();
}

std::string text(const Json& json, const char* name) {
  return harmless(json.at(name).get<std::string>());
}

bool flag(const Json& json, const char* name) { return json.at(name).get<bool>(); }

template <typename Value = std::uint32_t>
std::optional<Value> maybe(const Json& json, const char* name) {
  const Json& value = json.at(name);
  return value.is_null() ? std::nullopt : std::optional(value.get<Value>());
}

Duration duration(const Json& json, const char* name) {
  const auto seconds = maybe<double>(json, name);
  constexpr double kLongest = 1e12;
  if (!seconds || !(*seconds >= 0 && *seconds < kLongest)) return kForever;
  // Whole microseconds were written. Not llround(): every start of the command would load libm.
  return std::chrono::round<Duration>(std::chrono::duration<double>(*seconds));
}

template <typename Enum>
Enum choice(const Json& json, const char* name, const char* (*word)(Enum value), Enum last) {
  const std::string found = text(json, name);
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (found == word(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  throw InvalidArgument(std::string(name) + " is " + found);
}

Hold hold(const Json& json) {
  return text(json, "hold") == hold_text(Hold::bound) ? Hold::bound : Hold::detached;
}

HolderView holder(const Json& json) {
  return {.label = text(json, "label"),
          .fence = number<Fence>(json, "fence"),
          .weight = number(json, "weight"),
          .slot = maybe(json, "slot"),
          .age = duration(json, "age_seconds"),
          .remaining = duration(json, "remaining_seconds"),
          .claimed = flag(json, "claimed"),
          .revoked = flag(json, "revoked"),
          .hold = hold(json)};
}

WaiterView waiter(const Json& json) {
  return {.label = text(json, "label"),
          .weight = number(json, "weight"),
          .priority = number<std::uint16_t>(json, "priority"),
          .waited = duration(json, "waited_seconds"),
          .present = flag(json, "present"),
          .hold = hold(json)};
}

RateView rate(const Json& json) {
  return {.rate = Rate::parse(text(json, "rate")),
          .info = {.limit = number(json, "limit"),
                   .remaining = number(json, "remaining"),
                   .retry_after = duration(json, "retry_after_seconds"),
                   .reset_after = duration(json, "reset_after_seconds")}};
}

PauseView pause(const Json& json) {
  PauseView view{.reporter = text(json, "reporter"),
                 .remaining = duration(json, "remaining_seconds")};
  if (view.reporter == reporter_of({})) view.reporter.clear();
  return view;
}

Counters counters(const Json& json) {
  Counters made{.granted = number<std::uint64_t>(json, "granted"),
                .expired = number<std::uint64_t>(json, "expired"),
                .revoked = number<std::uint64_t>(json, "revoked"),
                .died = number<std::uint64_t>(json, "died"),
                .missed = number<std::uint64_t>(json, "missed"),
                .abandoned = number<std::uint64_t>(json, "abandoned"),
                .wait_sum = duration(json, "wait_seconds_sum")};
  for (std::size_t i = 0; i < kReasons; ++i) {
    made.refused[i] = number<std::uint64_t>(json.at("refused"), to_text(static_cast<Reason>(i)));
  }
  return made;
}

template <typename Value>
std::vector<Value> list(const Json& json, const char* name, Value (*read)(const Json& json)) {
  std::vector<Value> made;
  for (const Json& each : json.at(name).get_ref<const Json::array_t&>()) made.push_back(read(each));
  return made;
}

std::string visitor(const Json& json) { return text(json, "visitor"); }

// Locks are shown as one permit, and were counted in another way.
void count_lock(GateView& gate, const std::string& state, bool has_readers) {
  GateCounts& counts = gate.counts;
  const bool is_shared = state == "shared";
  if (counts.limit != 0) counts.limit = is_shared || has_readers ? kWholeLock : 1;
  if (counts.holders == 0) return;
  counts.in_use = is_shared || counts.limit == 1 ? counts.holders : kWholeLock;
}

bool has_reader(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return false;
  for (const Json& each : *found) {
    if (maybe<std::string>(each, "access") == "read") return true;
  }
  return false;
}

GateView view(const Json& json) {
  GateView gate{.name = text(json, "name"),
                .counts = {.in_use = number(json, "in_use"),
                           .limit = maybe(json, "limit").value_or(0),
                           .holders = number(json, "holder_count"),
                           .waiting = number(json, "waiting"),
                           .exclusive = text(json, "kind") == "lock"},
                .override_limit = maybe(json, "override_limit"),
                .limits_disagree = flag(json, "limits_disagree"),
                .rates = list(json, "rates", rate),
                .pauses = list(json, "pauses", pause),
                .counters = counters(json.at("counters"))};
  gate.counts.overridden = gate.override_limit.has_value();
  if (gate.counts.exclusive) {
    count_lock(gate, text(json, "lock_state"),
               has_reader(json, "holders") || has_reader(json, "line"));
  }
  return gate;
}

GateSummary summary(const Json& json) {
  if (text(json, "kind") == kUnreadable)
    return {.gate = {.name = text(json, "name")}, .unreadable = text(json, "error")};
  GateSummary made{.gate = view(json)};
  if (const auto label = maybe<std::string>(json, "held_by"))
    made.gate.holders.push_back({.label = harmless(*label)});
  return made;
}

Finding::Level level(const Json& json) {
  return choice<Finding::Level>(
      json, "level", [](Finding::Level value) { return to_text(value); }, Finding::Level::problem);
}

Finding finding(const Json& json) {
  return {.level = level(json), .what = text(json, "what"), .remedy = text(json, "remedy")};
}

}  // namespace

std::string harmless(std::string text) {
  if (text.size() > kMaxText) text.resize(kMaxText);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f) text[i] = '?';
    // U+0080 to U+009F are control characters, too.
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) text[i] = text[i + 1] = '?';
  }
  return text;
}

Json parse_json(const std::string& text) {
  return read_checked([&] { return Json::parse(text); });
}

std::vector<GateSummary> read_summaries(const Json& json) {
  return read_checked([&] {
    std::vector<GateSummary> made;
    for (const Json& each : json.get_ref<const Json::array_t&>()) made.push_back(summary(each));
    return made;
  });
}

GateReport read_report(const Json& json) {
  return read_checked([&] {
    GateReport report{.gate = view(json),
                      .holders = list(json, "holders", visitor),
                      .line = list(json, "line", visitor)};
    report.gate.order = choice(json, "order", order_text, Order::aging_lottery);
    report.gate.last_fence = number<Fence>(json, "last_fence");
    report.gate.holders = list(json, "holders", holder);
    report.gate.line = list(json, "line", waiter);
    return report;
  });
}

Examination read_examination(const Json& json) {
  return read_checked([&] {
    return Examination{.findings = list(json, "findings", finding),
                       .is_available = flag(json, "store_available")};
  });
}

std::size_t read_revoked(const Json& json) {
  return read_checked([&] { return number<std::size_t>(json, "revoked"); });
}

}  // namespace airlock::cli
