#include "entry.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <thread>

#include "airlock/error.hpp"
#include "waiting_line.hpp"

namespace airlock::cli {
namespace {

// What Mutex and LockSeal take, so that they and the command exclude each other.
constexpr std::uint32_t kReaders = 1 << 16;

constexpr std::chrono::milliseconds kBusyPause{100};

const std::map<std::string, Order> kOrders = {{"fifo", Order::fifo},
                                              {"priority", Order::priority},
                                              {"lottery", Order::lottery},
                                              {"aging", Order::aging_lottery}};

bool is_lock(const Entry& entry) { return entry.slots == 0 && (entry.lock || entry.rates.empty()); }

Ask ask_of(const Entry& entry, std::stop_token stop) {
  const std::uint32_t weight = is_lock(entry) && !entry.shared ? kReaders : entry.weight;
  return {.max_wait = entry.nonblock ? Duration(0) : entry.wait,
          .stop = std::move(stop),
          .priority = entry.priority,
          .weight = weight,
          .cost = entry.cost};
}

// Waits in a thread of its own, so that this one can look after signals and the screen.
Outcome<Lease> wait_in_line(const Airlock& airlock, const Entry& entry, Signals& signals) {
  std::stop_source stop;
  Place place = airlock.join(ask_of(entry, stop.get_token()));
  std::optional<Outcome<Lease>> outcome;
  std::exception_ptr failure;
  const Descriptor decided(eventfd(0, EFD_CLOEXEC));
  std::jthread waiter([&] {
    try {
      outcome.emplace(place.wait());
    } catch (...) {
      failure = std::current_exception();
    }
    eventfd_write(decided.get(), 1);
  });
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

// The gate as these options see it.
Airlock airlock_of(const Command& command, const Entry& entry) {
  if (entry.slots != 0 && entry.weight > entry.slots) {
    throw InvalidArgument("weight " + std::to_string(entry.weight) + ": 1 to the slots, " +
                          std::to_string(entry.slots));
  }
  AirlockOptions options{.limit = is_lock(entry) ? kReaders : entry.slots,
                         .ttl = entry.ttl,
                         .rates = entry.rates,
                         .max_wait = entry.wait,
                         .max_hold = entry.max_hold,
                         .order = entry.order,
                         .exclusive = is_lock(entry)};
  if (entry.run_on_outage) options.outage = Outage::open;
  return {command.open(), *entry.gate, options};
}

Outcome<Lease> ask(const Airlock& airlock, const Entry& entry, Signals& signals) {
  Outcome<Lease> lease = airlock.try_enter(ask_of(entry, {}));
  const bool waits = !lease && !entry.nonblock && entry.wait > Duration(0) &&
                     lease.error().reason != Reason::never;
  return waits ? wait_in_line(airlock, entry, signals) : std::move(lease);
}

bool is_busy(const SealAcquiringError& error) {
  const std::optional<StoreError> cause = store_failure(error);
  return cause && cause->kind() == StoreError::Kind::busy &&
         cause->outcome() == StoreError::Outcome::nothing_happened;
}

// A store opened anew remembers no failure, and so is really asked.
Outcome<Lease> ask_while_busy(const Command& command, const Entry& entry, Signals& signals) {
  const Instant deadline =
      entry.nonblock ? Instant{0} : saturating_add(Clock::system().now(), entry.wait);
  Entry rest = entry;
  while (true) {
    try {
      return ask(airlock_of(command, rest), rest, signals);
    } catch (const SealAcquiringError& error) {
      if (!is_busy(error) || Clock::system().now() >= deadline) throw;
    }
    (void)poll_readable(-1, signals, kBusyPause);
    if (const int fatal = signals.next_fatal()) throw Exit{128 + fatal};
    if (entry.wait != kForever) rest.wait = std::max(deadline - Clock::system().now(), Duration(0));
  }
}

}  // namespace

void add_permit_options(CLI::App& app, Entry& entry) {
  auto* const lock = app.add_flag("-x,--lock,--exclusive", entry.lock,
                                  "One at a time: the default, unless there are slots or rates");
  auto* const shared = app.add_flag("-s,--shared", entry.shared,
                                    "With others that share, without those that do not");
  auto* const slots = app.add_option("--slots", entry.slots, "So many at once")
                          ->check(CLI::Range(1U, 1U << 31))
                          ->type_name("N");
  app.add_option("--weight", entry.weight, "How many of the slots this one takes")
      ->needs(slots)
      ->type_name("W");
  slots->excludes(lock)->excludes(shared);
  add_duration(app, "--ttl", entry.ttl, "Out after this if it vanishes [30s]; renewed till then");
}

void add_rate_options(CLI::App& app, Entry& entry) {
  const auto read = [&entry](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) entry.rates.push_back(Rate::parse(text));
    return true;
  };
  app.add_option("--rate", read, "Not more often than 100/s, 10/1m, 100/s,burst=20; several add up")
      ->type_name("RATE")
      ->allow_extra_args(false);
}

void add_wait_options(CLI::App& app, Entry& entry) {
  auto* const wait =
      add_duration(app, "-w,--wait,--timeout", entry.wait, "Waits so long for its turn [forever]");
  app.add_flag("-n,--nonblock,--nb", entry.nonblock, "Does not wait")->excludes(wait);
  app.add_option("--order", entry.order, "Who is next: fifo, priority, lottery, aging")
      ->transform(CLI::CheckedTransformer(kOrders))
      ->type_name("ORDER");
  app.add_option("--priority", entry.priority, "With --order priority: higher is sooner")
      ->check(CLI::Range(0U, std::uint32_t{kMaxPriority}))
      ->type_name("P");
  add_conflict_status(app, entry);
  app.add_flag("-v,--verbose", entry.verbose, "Says how long it waited");
}

void add_conflict_status(CLI::App& app, Entry& entry) {
  app.add_option("-E,--conflict-exit-code", entry.conflict_status, "Status if refused [75]")
      ->check(CLI::Range(0, 255))
      ->type_name("N");
}

std::string why(const Refused& refused, const Entry& entry) {
  std::string text = "gate \"" + entry.gate->text() + "\": ";
  if (refused.reason == Reason::late) return text + "still waiting after " + to_text(entry.wait);
  text += std::string("refused, ") + to_text(refused.reason);
  if (refused.retry_after == kForever) return text;
  return text + "; worth another try in " + to_text(refused.retry_after);
}

Lease enter(const Command& command, const Entry& entry, Signals& signals) {
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
}

}  // namespace airlock::cli
