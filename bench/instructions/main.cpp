// Runs one hot path many times while callgrind counts its instructions (bench/instructions.py).

#include <sys/syscall.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "airlock/airlock_gate.hpp"
#include "airlock/bulkhead.hpp"
#include "airlock/lock_seal.hpp"
#include "airlock/mutex.hpp"
#include "airlock/rate_limiter_seal.hpp"
#include "airlock/semaphore_seal.hpp"
#include "airlock/shm.hpp"
#include "airlock/store.hpp"

// Time stands still. What the library does once in a while would be counted more often on a slow
// machine.
extern "C" int clock_gettime(clockid_t id, timespec* tp) noexcept {
  const auto read = [](clockid_t clock) {
    timespec start{};
    syscall(SYS_clock_gettime, clock, &start);
    return start;
  };
  static const timespec kWall = read(CLOCK_REALTIME);
  static const timespec kMonotonic = read(CLOCK_MONOTONIC);
  *tp = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE ? kWall : kMonotonic;
  return 0;
}

// Callgrind counts while this runs, and nothing else: --toggle-collect=airlock_counted.
extern "C" [[gnu::noinline]] void airlock_counted(const std::function<void()>& operation,
                                                  std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) operation();
}

namespace airlock::bench {
namespace {

using StorePtr = Store;
using Operation = std::function<void()>;

// Nothing ends by time, however slow the machine is.
constexpr Duration kLong = std::chrono::hours(24);

Operation admit_release(const StorePtr& store) {
  const Request request{.gate = "erp",
                        .visitor = VisitorId::named("bench"),
                        .permits = Permits{.limit = 10, .ttl = kLong}};
  return [=] {
    if (!store.release(std::get<Granted>(store.admit(request)).token)) std::abort();
  };
}

Operation lock_seal(const StorePtr& store) {
  const LockSeal seal(store, "erp", {.ttl = kLong});
  return [=] { seal.release(seal.try_acquire().value().token); };
}

Operation semaphore_seal(const StorePtr& store) {
  const SemaphoreSeal seal(store, "erp", {.limit = 10, .ttl = kLong});
  return [=] { seal.release(seal.try_acquire().value().token); };
}

Operation rate_limiter_seal(const StorePtr& store) {
  const RateLimiterSeal seal(store, "erp",
                             {Rate{.count = 900'000'000, .period = std::chrono::seconds(1)}});
  return [=] { (void)seal.try_acquire().value(); };
}

Operation airlock_enter(const StorePtr& store) {
  const Airlock airlock(store, "erp", {.limit = 10, .ttl = kLong});
  return [=] { (void)airlock.try_enter().value(); };
}

Operation mutex_lock(const StorePtr& store) {
  const auto mutex = std::make_shared<Mutex>(store, "erp", MutexOptions{.ttl = kLong});
  return [=] { const std::lock_guard lock(*mutex); };
}

Operation bulkhead_call(const StorePtr& store) {
  const Bulkhead bulkhead(store, "erp", {.limit = 10, .ttl = kLong});
  return [=] { bulkhead.call([] {}); };
}

struct Path {
  const char* name;
  Operation (*make)(const StorePtr&);
};

constexpr Path kPaths[] = {
    {"Store::admit + release", admit_release},
    {"LockSeal::try_acquire + release", lock_seal},
    {"SemaphoreSeal::try_acquire + release", semaphore_seal},
    {"RateLimiterSeal::try_acquire", rate_limiter_seal},
    {"Airlock::try_enter + ~Lease", airlock_enter},
    {"Mutex::lock + unlock", mutex_lock},
    {"Bulkhead::call", bulkhead_call},
};

// Whether a thread is in the system call by which it sleeps; under valgrind it awaits its turn in
// another one.
bool sleeps(const std::filesystem::path& thread) {
  long call = -1;
  return (std::ifstream(thread / "syscall") >> call) && call == SYS_futex;
}

void await_that_others_sleep() {
  const std::string self = std::to_string(gettid());
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == self) continue;
    while (!sleeps(thread.path())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The first operations make what later ones find. They also wake the thread that renews leases,
// until it sleeps and knows of one.
void warm_up(const Operation& operation) {
  for (int i = 0; i < 1'000; ++i) {
    operation();
    if (i % 100 == 99) await_that_others_sleep();
  }
}

void run(const Operation& operation, std::uint64_t times) {
  warm_up(operation);
  airlock_counted(operation, times);
}

void run(std::string_view store, const Path& path, std::uint64_t times) {
  if (store == "memory") return run(path.make(open_store("memory:")), times);
  const std::string uri = "shm:instructions-" + std::to_string(getpid());
  run(path.make(open_store(uri)), times);
  remove_shm_store(uri);
}

}  // namespace
}  // namespace airlock::bench

int main(int argc, char** argv) {
  using namespace airlock::bench;  // NOLINT(google-build-using-namespace): main
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  try {
    for (const std::string store : {"memory", "shm"}) {
      for (const Path& path : kPaths) {
        const std::string name = store + ": " + path.name;
        if (argc == 1) std::cout << name << '\n';
        if (argc == 3 && name == arguments[1]) {
          run(store, path, std::stoull(arguments[2]));
          return 0;
        }
      }
    }
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
  if (argc == 1) return 0;
  std::cerr << "usage: airlock_instructions              lists the paths\n"
               "       airlock_instructions PATH TIMES   runs one\n";
  return 2;
}
