#include "store/support/bit_flips.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <vector>

#include "airlock/error.hpp"
#include "airlock/testing.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::array kRates = {Rate{.count = 5, .period = 1s},
                               Rate{Rate::Algorithm::sliding_window, 5, 2s, 0},
                               Rate{Rate::Algorithm::fixed_window, 5, 3s, 0}};

Request request(int visitor, const char* gate, Order order) {
  Request request{.gate = gate,
                  .visitor = VisitorId::named("v" + std::to_string(visitor)),
                  .label = "label",
                  .permits = Permits{.limit = 3, .ttl = 1min}};
  request.line.join = true;
  request.line.order = order;
  request.hold = visitor % 2 == 0 ? Hold::bound : Hold::detached;
  if (visitor % 3 == 0) request.rates = kRates;
  return request;
}

struct Part {
  std::uint64_t begin = 0;
  std::vector<char> bytes = {};
};

class Trial {
 public:
  explicit Trial(std::uint64_t seed) : random_(seed) {
    fill();
    fd_ = open((dir_.path() + "/default").c_str(), O_RDWR | O_CLOEXEC);
    save();
  }
  ~Trial() { close(fd_); }

  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t size = 0;
    for (const Part& part : parts_) size += part.bytes.size();
    return size;
  }

  void flip(std::uint64_t at) {
    for (const Part& part : parts_) {
      if (at >= part.bytes.size()) {
        at -= part.bytes.size();
        continue;
      }
      const auto byte =
          static_cast<char>(part.bytes[at] ^ static_cast<char>(1U << (random_() % 8)));
      (void)!pwrite(fd_, &byte, 1, static_cast<off_t>(part.begin + at));
      return;
    }
  }

  // All steps; a failure is an answer.
  std::uint64_t use() {
    std::uint64_t errors = 0;
    const auto try_to = [&errors](auto step) {
      try {
        step();
      } catch (const Error&) {
        ++errors;
      }
    };
    for (int i = 0; i < 3; ++i) {
      for (const char* gate : {"fifo", "lottery", "aging", "large"}) {
        try_to([&] { (void)store_->look(gate); });
        try_to([&] { (void)store_->admit(request(i, gate, order_of(gate))); });
        try_to([&] { (void)store_->admit(request(100 + i, gate, order_of(gate))); });
        try_to([&] { store_->leave(gate, VisitorId::named("v5")); });
        try_to([&] { (void)store_->revoke(gate, VisitorId::named("v1"), Store::Revoke::now); });
      }
      try_to([&] { (void)store_->release(token_); });
      try_to([&] { (void)store_->renew(token_, 1min); });
      try_to([&] { (void)store_->list(); });
      try_to([&] { store_->pause("fifo", 1s); });
      try_to([&] { (void)store_->purge("lottery"); });
      clock_.advance(20s);
      try_to([&] { store_->collect(); });
    }
    return errors;
  }

  // As it was, also what is this process's own.
  void restore() {
    store_.reset();
    for (const Part& part : parts_) {
      (void)!pwrite(fd_, part.bytes.data(), part.bytes.size(), static_cast<off_t>(part.begin));
    }
    store_ = shm::make_store(options(), clock_);
  }

 private:
  [[nodiscard]] shm::Options options() const {
    return {.dir = dir_.path(), .size = 16U << 20, .timeout = 100ms};
  }
  static Order order_of(const std::string& gate) {
    if (gate == "lottery") return Order::lottery;
    return gate == "aging" ? Order::aging_lottery : Order::fifo;
  }

  void fill() {
    store_ = shm::make_store(options(), clock_);
    for (const char* gate : {"fifo", "lottery", "aging"}) {
      for (int i = 0; i < 12; ++i) {
        const Answer answer = store_->admit(request(i, gate, order_of(gate)));
        if (const auto* granted = std::get_if<Granted>(&answer)) token_ = granted->token;
      }
    }
    for (int i = 0; i < 100; ++i) {
      Request many = request(i, "large", Order::fifo);
      many.permits->limit = 1000;
      many.rates = {};
      (void)store_->admit(many);
    }
    store_->pause("fifo", 1h, "reporter");
    store_->set_limit("aging", 2);
    store_.reset();
    store_ = shm::make_store(options(), clock_);
  }

  void save() {
    const off_t size = lseek(fd_, 0, SEEK_END);
    off_t at = lseek(fd_, 0, SEEK_DATA);
    while (at >= 0 && at < size) {
      const off_t end = lseek(fd_, at, SEEK_HOLE);
      Part& part = parts_.emplace_back();
      part.begin = static_cast<std::uint64_t>(at);
      part.bytes.resize(static_cast<std::size_t>(end - at));
      (void)!pread(fd_, part.bytes.data(), part.bytes.size(), at);
      at = lseek(fd_, end, SEEK_DATA);
    }
  }

  TempDir dir_;
  testing::ManualClock clock_;
  std::mt19937_64 random_;
  std::shared_ptr<Store> store_;
  Token token_{.gate = "-"};
  int fd_ = -1;
  std::vector<Part> parts_;
};

struct Progress {
  std::atomic<std::uint64_t> at, flips, errors;
  std::atomic<std::int64_t> longest;
};

}  // namespace

BitFlips::Result BitFlips::run() const {
  SharedValue<Progress> progress;
  Child child([&] {
    alarm(0);
    Trial trial(seed);
    std::mt19937_64 random(seed);
    for (std::uint64_t at = random() % stride; at < trial.size(); at += stride) {
      progress->at = at;
      const auto began = SteadyClock::now();
      trial.flip(at);
      progress->errors += trial.use();
      trial.restore();
      ++progress->flips;
      const auto took =
          std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began);
      if (took.count() > progress->longest) progress->longest = took.count();
    }
  });
  Result result;
  const bool well = child.wait();
  result.flips = progress->flips;
  result.errors = progress->errors;
  if (!well) result.wrong = "it crashed with a bit flipped at byte " + std::to_string(progress->at);
  if (progress->longest > 20'000)
    result.wrong += " took " + std::to_string(progress->longest) + " ms";
  return result;
}

}  // namespace airlock
