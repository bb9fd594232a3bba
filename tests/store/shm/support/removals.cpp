#include "store/shm/support/removals.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "airlock/shm.hpp"
#include "airlock/testing.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/temp_dir.hpp"
#include "testing/stepped_clock.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;

class Removals {
 public:
  explicit Removals(const RemovalPlan& plan) : plan_(plan) {}

  RemovalResult run() {
    remove_and_notice();
    const std::int64_t descriptors = open_descriptors();
    const std::int64_t mappings = own_mappings();
    std::vector<std::thread> threads;
    for (int i = 0; i < plan_.threads; ++i) {
      threads.emplace_back([this, i] { use(i); });
    }
    for (int i = 0; i < plan_.removals; ++i) remove_and_notice();
    stopping_ = true;
    for (std::thread& thread : threads) thread.join();
    RemovalResult result{.admissions = admissions_, .unexpected_errors = unexpected_};
    // What was in use until now is freed with the next one that is lost, when its thread has ended.
    for (int i = 0; i < 100; ++i) {
      remove_and_notice();
      result.leaked_descriptors = open_descriptors() - descriptors;
      result.leaked_mappings = own_mappings() - mappings;
      if (result.leaked_descriptors <= 0 && result.leaked_mappings <= 0) break;
    }
    return result;
  }

 private:
  [[nodiscard]] static std::int64_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  }
  [[nodiscard]] std::int64_t own_mappings() const {
    std::int64_t count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(dir_.path()) != std::string::npos) ++count;
    }
    return count;
  }

  // Returns when the store has another segment.
  void remove_and_notice() {
    (void)remove_shm_store("shm:?dir=" + dir_.path());
    const StoreId before = last_id_;
    while (last_id_ == before) {
      clock_.advance(1s);
      attempt([this] {
        (void)store_.admit(ask("remover", 1000));
        last_id_ = store_.id();
      });
    }
  }

  template <typename Work>
  void attempt(Work work) {
    try {
      work();
    } catch (const StoreError& error) {
      if (error.kind() == StoreError::Kind::unavailable) return;
      if (unexpected_++ == 0) std::fprintf(stderr, "unexpected: %s\n", error.what());
    }
  }

  [[nodiscard]] static Request ask(const std::string& name, std::uint32_t limit) {
    return {.gate = "gate",
            .visitor = VisitorId::named(name),
            .permits = Permits{.limit = limit, .ttl = 1h}};
  }

  void use(int number) {
    const std::string name = "visitor " + std::to_string(number);
    while (!stopping_) {
      attempt([&] {
        const Answer answer = store_.admit(ask(name, 1000));
        const auto* granted = std::get_if<Granted>(&answer);
        if (granted == nullptr) return;
        ++admissions_;
        (void)store_.release(granted->token);
      });
      if (number % 4 == 0) attempt([&] { wait_in_line(name); });
    }
  }

  // Joins a line behind a heavy request, so that somebody's release calls back.
  void wait_in_line(const std::string& name) {
    Request request = ask(name + " waits", 1000);
    request.permits->weight = 1000;
    request.line.join = true;
    (void)store_.admit(request);
    (void)store_.watch(request.gate, request.visitor,
                       [this] { attempt([this] { (void)store_.look("gate"); }); });
    (void)store_.leave(request.gate, request.visitor);
    store_.unwatch(request.gate, request.visitor);
  }

  const RemovalPlan plan_;
  const TempDir dir_;
  internal::SteppedClock clock_;
  Store store_ = shm::make_store({.dir = dir_.path(), .size = 16U << 20, .timeout = 60s}, clock_);
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> admissions_ = 0;
  std::atomic<std::uint64_t> unexpected_ = 0;
  StoreId last_id_{};
};

}  // namespace

RemovalResult run_removals(const RemovalPlan& plan) { return Removals(plan).run(); }

}  // namespace airlock
