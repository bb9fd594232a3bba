#include "admission/support/failing_uses.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "airlock/airlock_gate.hpp"
#include "airlock/error.hpp"
#include "airlock/mailbox.hpp"
#include "airlock/mutex.hpp"
#include "airlock/store.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;

constexpr const char* kGate = "gate";

Airlock gate(const Store& store) { return {store, kGate, {.limit = 1, .max_wait = 10s}}; }

void require(bool said, const char* what) {
  if (!said) throw std::logic_error(what);
}

void enter(const Store& store) {
  require(gate(store).try_enter().has_value(), "somebody is inside");
}

void enter_and_be_told(const Store& store) {
  const Outcome<Lease> lease = gate(store).try_enter();
  require(lease.has_value(), "somebody is inside");
  (void)lease->lost();
}

void enter_async(const Store& store) {
  const auto decided = std::make_shared<std::atomic<bool>>(false);
  gate(store).enter_async({}, [decided](Arrival& arrival) {
    try {
      (void)arrival.take();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): decided all the same
    }
    *decided = true;
    decided->notify_all();
  });
  decided->wait(false);
}

void enter_by_mailbox(const Store& store) {
  Mailbox mailbox;
  bool decided = false;
  gate(store).enter_async(
      {}, [&](Arrival& /*arrival*/) { decided = true; }, mailbox);
  while (!decided) (void)mailbox.run();
}

void join(const Store& store) { (void)gate(store).join().wait(); }

// Behind somebody who leaves while it waits.
void wait_in_line(const Store& store) {
  const Airlock airlock = gate(store);
  Outcome<Lease> first = airlock.try_enter();
  require(first.has_value(), "somebody is inside");
  Place second = airlock.join();
  first->release();
  (void)second.wait();
}

void lock(const Store& store) {
  Mutex mutex(store, kGate, {.readers = 1});
  const std::scoped_lock held(mutex);
}

}  // namespace

std::vector<FailingUse> failing_uses() {
  return {{"enter", enter},
          {"lost", enter_and_be_told},
          {"enter_async", enter_async},
          {"mailbox", enter_by_mailbox},
          {"join", join},
          {"wait", wait_in_line},
          {"lock", lock}};
}

std::string wrongly_said_by(const FailingUse& use, const Store& store) try {
  use.use(store);
  return "";
} catch (const Error&) {
  return "";
} catch (const std::bad_alloc&) {
  return "";
} catch (const std::exception& error) {
  return use.name + " threw " + error.what();
}

namespace {

// A server that could not be reached is tried again after a while.
void await_store(const Store& store) {
  for (const auto end = std::chrono::steady_clock::now() + 10s;;) {
    try {
      (void)store.look(kGate);
      return;
    } catch (const StoreError&) {
      if (std::chrono::steady_clock::now() > end) throw;
      std::this_thread::sleep_for(1ms);
    }
  }
}

}  // namespace

std::string left_behind_by(const FailingUse& use, const Store& store) try {
  await_store(store);
  if (!store.drain(10s)) return use.name + ": drain() waits for a lease that nobody has";
  if (!store.flush(10s)) return use.name + ": something is still to be released";
  if (const auto view = store.look(kGate)) {
    if (!view->holders.empty()) return use.name + ": somebody is still inside";
    if (!view->line.empty()) return use.name + ": somebody is still in line";
  }
  use.use(store);
  return "";
} catch (const std::exception& error) {
  return use.name + " does not work afterwards: " + error.what();
}

}  // namespace airlock
