#include "entry.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <system_error>
#include <thread>

#include "airlock/error.hpp"
#include "nesting.hpp"
#include "waiting_line.hpp"

namespace airlock::cli {
namespace {

// What Mutex and LockSeal take, so that they and the command exclude each other.
constexpr std::uint32_t kReaders = 1 << 16;

constexpr std::chrono::milliseconds kBusyPause{100};

constexpr std::uint32_t kMostSlots = 1U << 31;

bool is_lock(const Entry& entry) { return entry.slots == 0 && (entry.lock || entry.rates.empty()); }

std::uint32_t weight_of(const Entry& entry) {
  return is_lock(entry) && !entry.shared ? kReaders : entry.weight;
}

std::uint32_t limit_of(const Entry& entry) { return is_lock(entry) ? kReaders : entry.slots; }

Ask ask_of(const Entry& entry, std::stop_token stop) {
  return {.weight = weight_of(entry),
          .priority = entry.priority,
          .label = entry.label,
          .cost = entry.cost,
          .stop = std::move(stop)};
}

// Ends a wait whatever ends its scope.
struct StopAtEnd {
  std::stop_source& stop;
  ~StopAtEnd() { stop.request_stop(); }
};

void refuse_if_outer_holds(const Command& command, const Entry& entry, Place& place) {
  const Standing standing{.gate = *entry.gate,
                          .position = std::max(place.position(), 1U),
                          .weight = weight_of(entry),
                          .limit = limit_of(entry),
                          .is_lock = is_lock(entry)};
  if (!holds(entry) || !waits_for_outer(command.open(), standing)) return;
  place.leave();
  throw Exit{entry.conflict_status,
             "gate \"" + entry.gate->text() +
                 "\": refused, this command is already inside it and would wait for itself"};
}

// The place is waited for in a thread of its own, so that this one can look after signals and the
// screen.
Outcome<Lease> wait_in_line(Place& place, std::stop_source& stop, const Entry& entry,
                            Signals& signals) {
  std::optional<Outcome<Lease>> outcome;
  std::exception_ptr failure;
  const Descriptor decided =
      Descriptor::checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "to wait with");
  std::jthread waiter([&] {
    try {
      outcome.emplace(place.wait());
    } catch (...) {
      failure = std::current_exception();
    }
    eventfd_write(decided.get(), 1);
  });
  const StopAtEnd stop_at_end{stop};
  WaitingLine line(*entry.gate);
  int signal = 0;
  while (!poll_readable(decided.get(), signals, line.interval())) {
    const int fatal = signals.next_fatal();
    if (fatal != 0 && signal == 0) stop.request_stop();
    if (fatal != 0) signal = fatal;
    line.show(place.position(), place.eta());
  }
  waiter.join();
  line.clear();
  if (signal != 0) throw Exit{128 + signal};
  if (failure) std::rethrow_exception(failure);
  return std::move(*outcome);
}

// Two or three digits, and never less than it is.
std::string rounded_up(Duration duration) {
  constexpr std::array<std::int64_t, 6> kUnits = {3'600'000'000, 600'000'000, 10'000'000,
                                                  1'000'000,     100'000,     1'000};
  for (const std::int64_t unit : kUnits) {
    if (duration.count() >= 10 * unit)
      return to_text(Duration((duration.count() + unit - 1) / unit * unit));
  }
  return to_text(duration);
}

// The gate as these options see it.
Airlock airlock_of(const Command& command, const Entry& entry) {
  if (entry.slots != 0 && entry.weight > entry.slots) {
    throw InvalidArgument("weight " + std::to_string(entry.weight) + ": 1 to the slots, " +
                          std::to_string(entry.slots));
  }
  AirlockOptions options{.limit = limit_of(entry),
                         .ttl = entry.ttl,
                         .max_wait = entry.wait,
                         .rates = entry.rates,
                         .order = entry.order,
                         .exclusive = is_lock(entry)};
  if (entry.run_on_outage) options.outage = Outage::open;
  return {command.open(), *entry.gate, options};
}

// Asks with its place in the line from the first question on: who waits is not refused.
Outcome<Lease> ask(const Command& command, const Entry& entry, Signals& signals) {
  const Airlock airlock = airlock_of(command, entry);
  if (entry.nonblock || entry.wait <= Duration(0)) return airlock.try_enter(ask_of(entry, {}));
  std::stop_source stop;
  Place place = airlock.join(ask_of(entry, stop.get_token()));
  if (place.position() == 0) return place.wait();  // It is decided.
  refuse_if_outer_holds(command, entry, place);
  return wait_in_line(place, stop, entry, signals);
}

Instant now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

bool is_busy(const SealAcquiringError& error) {
  const std::optional<StoreError> cause = store_failure(error);
  return cause && cause->kind() == StoreError::Kind::busy &&
         cause->outcome() == StoreError::Outcome::nothing_happened;
}

// A store opened anew remembers no failure, and so is really asked.
Outcome<Lease> ask_while_busy(const Command& command, const Entry& entry, Signals& signals) {
  const Instant deadline = entry.nonblock ? Instant{0} : saturating_add(now(), entry.wait);
  Entry rest = entry;
  while (true) {
    try {
      return ask(command, rest, signals);
    } catch (const SealAcquiringError& error) {
      if (!is_busy(error) || now() >= deadline) throw;
    }
    (void)poll_readable(-1, signals, kBusyPause);
    if (const int fatal = signals.next_fatal()) throw Exit{128 + fatal};
    if (entry.wait != kForever) rest.wait = std::max(deadline - now(), Duration(0));
  }
}

}  // namespace

void add_permit_options(CLI::App& app, Entry& entry, const std::string& ttl_help) {
  auto* const lock = app.add_flag("-x,--lock,--exclusive", entry.lock,
                                  "One at a time: the default, unless there are slots or rates");
  auto* const shared = app.add_flag(
      "-s,--shared", entry.shared, "Together with others that share, never with one that does not");
  auto* const slots =
      add_number(app, "--slots", entry.slots, 1, kMostSlots, "At most this many at once");
  add_number(app, "--weight", entry.weight, 1, kMostSlots, "How many of the slots this one takes")
      ->needs(slots)
      ->type_name("W");
  slots->excludes(lock)->excludes(shared);
  add_duration(app, "--ttl", entry.ttl, ttl_help);
  app.add_option("--label", entry.label, "What `show` lists it as, at most 64 bytes")
      ->type_name("TEXT");
}

void add_rate_options(CLI::App& app, Entry& entry) {
  const auto read = [&entry](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      try {
        entry.rates.push_back(Rate::parse(text));
      } catch (const InvalidArgument& error) {
        throw InvalidArgument(std::string("--rate: ") + error.what());
      }
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--rate", read, "At most 100/s or 10/1m,burst=20; with several, all must allow it")
      ->type_name("RATE")
      ->take_all()
      ->allow_extra_args(false);
}

void add_wait_options(CLI::App& app, Entry& entry) {
  auto* const wait = add_duration(app, "-w,--wait,--timeout", entry.wait,
                                  "Waits at most this long for its turn [forever]");
  app.add_flag("-n,--nonblock,--nb", entry.nonblock, "Does not wait")->excludes(wait);
  add_choice<Order>(app, "--order", entry.order,
                    {{"fifo", Order::fifo},
                     {"priority", Order::priority},
                     {"lottery", Order::lottery},
                     {"aging", Order::aging_lottery}},
                    "Who is next: fifo [default], priority, lottery, aging")
      ->type_name("ORDER");
  add_number(app, "--priority", entry.priority, 0, kMaxPriority,
             "0 to 4095, higher is sooner; needs --order priority")
      ->type_name("P");
  add_conflict_status(app, entry);
  app.add_flag("-v,--verbose", entry.verbose, "Says how long it waited");
}

void add_conflict_status(CLI::App& app, Entry& entry) {
  add_number(app, "-E,--conflict-exit-code", entry.conflict_status, 0, 255,
             "Status if refused [75]");
}

bool holds(const Entry& entry) { return is_lock(entry) || entry.slots != 0; }

void require_shared_store(const Command& command) {
  if (!command.store_uri.starts_with("memory:")) return;
  throw InvalidArgument("store \"" + command.store_uri +
                        "\": every process has its own, so it would guard nothing; use shm: for "
                        "this host or redis:// for several");
}

std::string why(const Refused& refused, const Entry& entry) {
  const std::string text = "gate \"" + entry.gate->text() + "\": ";
  const std::string again =
      refused.retry_after == kForever ? "" : "; try again in " + rounded_up(refused.retry_after);
  switch (refused.reason) {
    case Reason::full:
      return text + "refused, it is full" + again;
    case Reason::rate:
      return text + "refused, its rate is used up" + again;
    case Reason::paused:
      return text + "refused, it is paused" + again;
    case Reason::line_full:
      return text + "refused, its line is full" + again;
    case Reason::late:
      return text + "still waiting after " + rounded_up(entry.wait);
    case Reason::never:
      break;
  }
  return text + "refused for good, cost " + std::to_string(entry.cost) +
         " is more than its rate ever allows at once; lower the cost or raise the burst";
}

Lease enter(const Command& command, const Entry& entry, Signals& signals) try {
  require_shared_store(command);
  const auto began = std::chrono::steady_clock::now();
  Outcome<Lease> lease = ask_while_busy(command, entry, signals);
  if (!lease) throw Exit{entry.conflict_status, why(lease.error(), entry)};
  if (!lease->guarded()) std::cerr << "airlock: the store is unavailable, nothing is guarded\n";
  if (entry.verbose) {
    const auto waited = std::chrono::steady_clock::now() - began;
    const auto rounded = std::chrono::duration_cast<std::chrono::milliseconds>(waited);
    std::cerr << "airlock: in after " << to_text(rounded) << "\n";
  }
  return std::move(*lease);
} catch (const std::system_error& error) {
  throw Exit{kSystem, std::string("no thread for waiting: ") + error.what()};
}

}  // namespace airlock::cli
