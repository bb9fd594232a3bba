#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <variant>
#include <vector>

#include "airlock/shm.hpp"
#include "growth.hpp"
#include "rows.hpp"
#include "subjects.hpp"
#ifdef AIRLOCK_WITH_REDIS
#include "redis_subjects.hpp"
#endif

namespace airlock::bench {
namespace {

std::string unused(const char* what) {
  static int number = 0;
  return what + std::to_string(getpid()) + "-" + std::to_string(++number);
}

// A store of its own, gone in the end, and how much memory is in use for it.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;
  virtual Store open() = 0;
  virtual std::int64_t bytes() = 0;
};

class InMemory final : public Place {
 public:
  Store open() override { return open_store("memory:"); }
  std::int64_t bytes() override {
    std::int64_t all = 0;
    std::int64_t resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
  }
};

class InShm final : public Place {
 public:
  ~InShm() override {
    remove_shm_store(uri());
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Store open() override { return open_store(uri()); }
  std::int64_t bytes() override {
    struct stat file {};
    (void)stat((folder_ + "/growth").c_str(), &file);
    return file.st_blocks * 512;
  }

 private:
  [[nodiscard]] std::string uri() const { return "shm:growth?dir=" + folder_; }
  std::string folder_ = "/dev/shm/" + unused("airlock-bench-");
};

#ifdef AIRLOCK_WITH_REDIS
class InRedis final : public Place {
 public:
  ~InRedis() override { (void)redis_.call({"FLUSHALL"}); }
  Store open() override { return open_store(redis_uri(Way::unix_socket)); }
  std::int64_t bytes() override {
    const std::string info = redis_.call({"INFO", "memory"});
    return std::stoll(info.substr(info.find("used_memory:") + 12));
  }

 private:
  PlainRedis redis_{Way::unix_socket};
};
#endif

VisitorId visitor(std::uint32_t number) { return {.high = 1, .low = number}; }

// So many of something in a store; one operation leaves as many.
class Grown : public Subject {
 public:
  explicit Grown(std::unique_ptr<Place> place) : place_(std::move(place)), store_(place_->open()) {}
  [[nodiscard]] std::int64_t bytes() { return place_->bytes(); }

  // Before it is measured: makes one, by number.
  virtual void add(std::uint32_t number) = 0;

  void check(std::uint64_t operations) override {
    require(released_ == operations, "every operation let one out");
  }

 protected:
  [[nodiscard]] const Store& store() noexcept { return store_; }
  [[nodiscard]] Answer ask(const GateName& gate, std::uint32_t number, std::uint32_t limit) {
    return store_.admit({.gate = gate,
                         .visitor = visitor(number),
                         .permits = permits(limit),
                         .line = {.join = true, .patience = kLong, .claim_window = kLong}});
  }
  void release(const Token& token) { released_ += store_.release(token) ? 1 : 0; }

 private:
  std::unique_ptr<Place> place_;
  Store store_;
  std::uint64_t released_ = 0;
};

// One more comes in and goes out.
class GrownHolders final : public Grown {
 public:
  using Grown::Grown;
  void add(std::uint32_t number) override {
    require(std::holds_alternative<Granted>(ask(gate_, number, kLimit)), "there is room");
    ++count_;
  }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      release(std::get<Granted>(ask(gate_, count_, kLimit)).token);
    }
  }

 private:
  static constexpr std::uint32_t kLimit = 1'000'000;
  std::string gate_ = unused("holders");
  std::uint32_t count_ = 0;
};

// The holder goes, the first in line takes over, and the holder of before joins the end.
class GrownWaiters final : public Grown {
 public:
  explicit GrownWaiters(std::unique_ptr<Place> place) : Grown(std::move(place)) { enter(0); }
  void add(std::uint32_t number) override {
    require(std::holds_alternative<Queued>(ask(gate_, number + 1, 1)), "who comes waits");
    ++count_;
  }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const std::uint32_t left = inside_;
      release(*token_);
      enter((left + 1) % (count_ + 1));
      require(std::holds_alternative<Queued>(ask(gate_, left, 1)), "who left waits again");
    }
  }

 private:
  void enter(std::uint32_t number) {
    token_ = std::get<Granted>(ask(gate_, number, 1)).token;
    inside_ = number;
  }

  std::string gate_ = unused("waiters");
  std::uint32_t count_ = 0;
  std::uint32_t inside_ = 0;
  std::optional<Token> token_;
};

// In and out of a random one.
class GrownGates final : public Grown {
 public:
  using Grown::Grown;
  void add(std::uint32_t number) override {
    require(store().release(std::get<Granted>(ask(name_of(number), 0, 1)).token), "it was in");
    ++count_;
  }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      release(std::get<Granted>(ask(name_of(random_.below(count_)), 0, 1)).token);
    }
  }

 private:
  [[nodiscard]] std::string name_of(std::uint32_t number) const {
    constexpr std::uint32_t kSameLength = 10'000'000;
    return gate_ + std::to_string(kSameLength + number);
  }

  std::string gate_ = unused("gates");
  std::uint32_t count_ = 0;
  Random random_;
};

using MakePlace = std::unique_ptr<Place> (*)();
using MakeGrown = std::unique_ptr<Grown> (*)(std::unique_ptr<Place>);

struct StoreKind {
  const char* name;
  MakePlace make;
  std::uint32_t most;
  Time time;
  Cores cores;
};

struct Thing {
  const char* one;
  MakeGrown make;
};

template <typename T>
std::unique_ptr<Place> make_place() {
  return std::make_unique<T>();
}

template <typename T>
std::unique_ptr<Grown> make_grown(std::unique_ptr<Place> place) {
  return std::make_unique<T>(std::move(place));
}

const std::vector<StoreKind>& stores() {
  static const std::vector<StoreKind> kStores = {
      {"memory", make_place<InMemory>, 100'000, Time::cpu, Cores::any},
      {"shm", make_place<InShm>, 100'000, Time::cpu, Cores::any},
#ifdef AIRLOCK_WITH_REDIS
      {"redis", make_place<InRedis>, 10'000, Time::wall, Cores::clients},
#endif
  };
  return kStores;
}

const std::vector<Thing>& things() {
  static const std::vector<Thing> kThings = {{"holder", make_grown<GrownHolders>},
                                             {"waiter", make_grown<GrownWaiters>},
                                             {"gate", make_grown<GrownGates>}};
  return kThings;
}

std::unique_ptr<Grown> grow(const StoreKind& kind, const Thing& thing, std::uint32_t count) {
  auto grown = thing.make(kind.make());
  for (std::uint32_t number = 0; number < count; ++number) grown->add(number);
  return grown;
}

}  // namespace

void add_growth_rows(std::vector<Row>& rows) {
  for (const StoreKind& kind : stores()) {
    for (const Thing& thing : things()) {
      for (std::uint32_t count = 10; count <= kind.most; count *= 10) {
        rows.push_back({.name = std::string("growth: ") + kind.name + ": " + std::to_string(count) +
                                " " + thing.one + "s",
                        .against = std::string("one ") + thing.one,
                        .aim = {},
                        .subject = [=] { return grow(kind, thing, count); },
                        .reference = [=] { return grow(kind, thing, 1); },
                        .time = kind.time,
                        .cores = kind.cores,
                        .effort = kRough});
      }
    }
  }
}

std::vector<Size> measure_sizes() {
  // The first ones also pay for what is there from the beginning.
  constexpr std::uint32_t kFirst = 10'000;
  std::vector<Size> sizes;
  for (const StoreKind& kind : stores()) {
    for (const Thing& thing : things()) {
      const auto grown = grow(kind, thing, kFirst);
      malloc_trim(0);  // What others left behind would be used first.
      const std::int64_t before = grown->bytes();
      for (std::uint32_t i = 0; i < kind.most; ++i) grown->add(kFirst + i);
      sizes.push_back({.store = kind.name,
                       .thing = thing.one,
                       .bytes = static_cast<double>(grown->bytes() - before) / kind.most});
    }
  }
  return sizes;
}

}  // namespace airlock::bench
