#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "airlock/bulkhead.hpp"
#include "airlock/shm.hpp"
#include "base/futex.hpp"
#include "rows.hpp"
#include "store/backend.hpp"
#include "subjects.hpp"

namespace airlock::bench {
namespace {

// A T that forked processes see.
template <typename T>
class Shared {
 public:
  Shared()
      : value_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0)) T()) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(value_, sizeof(T)); }
  T* operator->() const noexcept { return value_; }
  T& operator*() const noexcept { return *value_; }

 private:
  T* value_;
};

// A segment of its own, gone in the end.
class Segment {
 public:
  Segment() : uri_("shm:bench-" + std::to_string(getpid()) + "-" + std::to_string(++g_segments)) {}
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { remove_shm_store(uri_); }
  [[nodiscard]] Store open() const { return open_store(uri_); }

 private:
  static inline int g_segments = 0;
  std::string uri_;
};

Request ask_for(std::uint32_t limit) {
  return {.gate = "erp", .visitor = VisitorId::named("bench"), .permits = permits(limit)};
}

class AskShm : private Segment, public AskOneGate {
 public:
  explicit AskShm(const Request& request) : AskOneGate(Segment::open(), request) {}
};

class FreshVisitorShm final : public AskShm {
 public:
  FreshVisitorShm() : AskShm(ask_for(10)) {}
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      request().visitor = VisitorId::random();
      AskOneGate::ask();
    }
  }
};

// The floor of a store between processes: a mutex that survives its owner, and a clock read.
class RobustMutexAndClock final : public Subject {
 public:
  explicit RobustMutexAndClock(std::uint32_t times) : times_(times) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&*mutex_, &attributes);
  }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations * times_; ++i) {
      pthread_mutex_lock(&*mutex_);
      last_ = std::chrono::steady_clock::now();
      ++reads_;
      pthread_mutex_unlock(&*mutex_);
    }
  }
  void check(std::uint64_t operations) override {
    require(reads_ == operations * times_, "as many clock reads as were asked for");
  }

 private:
  Shared<pthread_mutex_t> mutex_;
  std::uint32_t times_;
  std::uint64_t reads_ = 0;
  std::chrono::steady_clock::time_point last_;
};

// So many processes that share the operations of a batch. They are started once and sleep in between.
class Processes final : public Subject {
 public:
  explicit Processes(std::uint32_t count) : count_(count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      pids_[i] = fork();
      if (pids_[i] == 0) work(i);
    }
  }
  ~Processes() override {
    for (std::uint32_t i = 0; i < count_; ++i) {
      kill(pids_[i], SIGKILL);
      waitpid(pids_[i], nullptr, 0);
    }
  }
  void run(std::uint64_t operations) override {
    board_->each = operations / count_ + 1;
    board_->done = 0;
    board_->round.fetch_add(1);
    base::futex_wake(board_->round, 1000);
    for (std::uint32_t done = board_->done; done < count_; done = board_->done) {
      base::futex_wait(board_->done, done, std::chrono::seconds(1));
    }
    asked_ += operations;
  }
  void check(std::uint64_t operations) override {
    require(board_->operations >= operations && asked_ == operations, "all operations were done");
    const auto gate = segment_.open().look("erp");
    require(gate && gate->counts.in_use == 0, "all was given back");
  }

 private:
  struct Board {
    std::atomic<std::uint32_t> round, done;
    std::atomic<std::uint64_t> each, operations;
  };

  [[noreturn]] void work(std::uint32_t number) {
    const auto store = segment_.open();
    Request request = ask_for(8);
    request.visitor = VisitorId::named(std::to_string(number));
    for (std::uint32_t round = 0;;) {
      while (board_->round == round)
        base::futex_wait(board_->round, round, std::chrono::seconds(1));
      round = board_->round;
      for (std::uint64_t i = board_->each; i > 0; --i) {
        const Answer answer = store.admit(request);
        if (!store.release(std::get<Granted>(answer).token)) std::abort();
      }
      board_->operations += board_->each;
      if (board_->done.fetch_add(1) + 1 == count_) base::futex_wake(board_->done, 1);
    }
  }

  Segment segment_;
  std::uint32_t count_;
  Shared<Board> board_;
  std::array<pid_t, 64> pids_{};
  std::uint64_t asked_ = 0;
};

// Two processes that have the turn one after the other; one operation is one hand-over. Turn::Player is made in each.
template <typename Turn>
class TwoProcesses final : public Subject {
 public:
  TwoProcesses() : other_(fork()) {
    if (other_ == 0) serve();
    player_.emplace(turn_);
  }
  ~TwoProcesses() override {
    kill(other_, SIGKILL);
    waitpid(other_, nullptr, 0);
  }
  void run(std::uint64_t asked) override {
    const std::uint64_t operations = (asked + 1) / 2 * 2;
    extra_ += operations - asked;
    turn_.begin();
    board_->turns = operations / 2;
    board_->done = 0;
    board_->round.fetch_add(1);
    base::futex_wake(board_->round, 1);
    player_->play(0, operations / 2);
    while (board_->done == 0) base::futex_wait(board_->done, 0, std::chrono::seconds(1));
  }
  void check(std::uint64_t operations) override {
    require(turn_.turns() == operations + extra_, "as many turns as operations");
  }

 private:
  struct Board {
    std::atomic<std::uint32_t> round, done;
    std::atomic<std::uint64_t> turns;
  };

  [[noreturn]] void serve() {
    typename Turn::Player player(turn_);
    for (std::uint32_t round = 0;;) {
      while (board_->round == round)
        base::futex_wait(board_->round, round, std::chrono::seconds(1));
      round = board_->round;
      player.play(1, board_->turns);
      board_->done = 1;
      base::futex_wake(board_->done, 1);
    }
  }

  Turn turn_;
  Shared<Board> board_;
  std::uint64_t extra_ = 0;  // Both have the same number of turns.
  pid_t other_;
  std::optional<typename Turn::Player> player_;
};

// Through the line of a gate with one slot: who is inside stands in line again before it goes, so that the other one
// always waits.
class GateTurn {
 public:
  class Player {
   public:
    explicit Player(GateTurn& turn) : turn_(turn), store_(turn.segment_.open()) {}
    void play(int /*who*/, std::uint64_t turns) {
      std::optional<Token> inside;
      for (std::uint64_t i = 0; i < turns; ++i) {
        request_.visitor = VisitorId::random();
        Answer answer = store_.admit(request_);
        if (i == 0) await_the_other();
        if (inside) require(store_.release(*inside), "who is inside goes");
        while (!std::holds_alternative<Granted>(answer)) answer = wait();
        inside = std::get<Granted>(answer).token;
        ++turn_.board_->turns;
      }
      if (inside) (void)store_.release(*inside);
    }

   private:
    // Else one of the two could have all its turns before the other comes.
    void await_the_other() {
      ++turn_.board_->arrived;
      base::futex_wake(turn_.board_->arrived, 1);
      while (turn_.board_->arrived == 1) {
        base::futex_wait(turn_.board_->arrived, 1, std::chrono::seconds(1));
      }
    }

    Answer wait() {
      const Instant recheck = internal::backend_of(store_)->clock().now() +
                              internal::backend_of(store_)->recheck_intervals().head;
      (void)internal::backend_of(store_)->await(request_.gate, request_.visitor, sleeper_, recheck);
      return store_.admit(request_);
    }

    GateTurn& turn_;
    Store store_;
    std::shared_ptr<Sleeper> sleeper_ = std::make_shared<Sleeper>();
    Request request_{.gate = "erp",
                     .visitor = {},
                     .permits = permits(1),
                     .line = {.join = true, .patience = kLong, .claim_window = kLong}};
  };

  void begin() { board_->arrived = 0; }
  [[nodiscard]] std::uint64_t turns() const { return board_->turns; }

 private:
  struct Board {
    std::atomic<std::uint64_t> turns;
    std::atomic<std::uint32_t> arrived;
  };
  Segment segment_;
  Shared<Board> board_;
};

class FutexTurn {
  struct Board {
    std::atomic<std::uint32_t> next;
    std::atomic<std::uint64_t> turns;
    std::atomic<bool> alone;  // One of the two is done.
  };

 public:
  class Player {
   public:
    explicit Player(FutexTurn& turn) : board_(*turn.board_) {}
    void play(int who, std::uint64_t turns) {
      const auto self = static_cast<std::uint32_t>(who);
      for (std::uint64_t i = 0; i < turns; ++i) {
        while (!board_.alone && board_.next != self) {
          base::futex_wait(board_.next, 1 - self, std::chrono::seconds(1));
        }
        ++board_.turns;
        board_.next = 1 - self;
        base::futex_wake(board_.next, 1);
      }
      board_.alone = true;
      base::futex_wake(board_.next, 1);
    }

   private:
    Board& board_;
  };

  void begin() {
    board_->alone = false;
    board_->next = 0;
  }
  [[nodiscard]] std::uint64_t turns() const { return board_->turns; }

 private:
  Shared<Board> board_;
};

// What else there is for one slot that comes back when its holder dies, or does not.
class Flock final : public Subject {
 public:
  Flock() : fd_(memfd_create("bench", MFD_CLOEXEC)) {}
  ~Flock() override { close(fd_); }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      flock(fd_, LOCK_EX);
      flock(fd_, LOCK_UN);
    }
  }
  void check(std::uint64_t /*operations*/) override { require(fd_ >= 0, "there is a file"); }

 private:
  int fd_;
};

class NamedSemaphore final : public Subject {
 public:
  NamedSemaphore() : name_("/airlock-bench-" + std::to_string(getpid())) {
    semaphore_ = sem_open(name_.c_str(), O_CREAT, 0600, 10);
    sem_unlink(name_.c_str());
  }
  ~NamedSemaphore() override { sem_close(semaphore_); }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      sem_wait(semaphore_);
      sem_post(semaphore_);
    }
  }
  void check(std::uint64_t /*operations*/) override {
    int value = 0;
    sem_getvalue(semaphore_, &value);
    require(value == 10, "all was given back");
  }

 private:
  std::string name_;
  sem_t* semaphore_;
};

class SysvSemaphore final : public Subject {
 public:
  SysvSemaphore() : id_(semget(IPC_PRIVATE, 1, 0600)) { semctl(id_, 0, SETVAL, 10); }
  ~SysvSemaphore() override { semctl(id_, 0, IPC_RMID); }
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      sembuf take{0, -1, SEM_UNDO};
      semop(id_, &take, 1);
      sembuf give{0, 1, SEM_UNDO};
      semop(id_, &give, 1);
    }
  }
  void check(std::uint64_t /*operations*/) override {
    require(semctl(id_, 0, GETVAL) == 10, "all was given back");
  }

 private:
  int id_;
};

constexpr std::array kTier = {Rate{.count = 900'000'000, .period = std::chrono::seconds(1)}};

template <typename T>
std::unique_ptr<Subject> make() {
  return std::make_unique<T>();
}

// What a script or a request does that keeps nothing: a store is opened and a bulkhead made, used once and destroyed.
class UsedOnce final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const Store store = segment_.open();
      const Bulkhead erp(store, "erp", {.limit = 10, .max_hold = std::chrono::seconds(30)});
      ran_ += erp.call([] { return 1U; });
    }
  }
  void check(std::uint64_t operations) override { require(ran_ == operations, "every call ran"); }

 private:
  Segment segment_;
  std::uint64_t ran_ = 0;
};

class FiveMicroseconds final : public Subject {
 public:
  void run(std::uint64_t operations) override {
    const auto end = std::chrono::steady_clock::now() + operations * std::chrono::microseconds(5);
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  void check(std::uint64_t /*operations*/) override {}
};

std::unique_ptr<Subject> acquire_release() { return std::make_unique<AskShm>(ask_for(10)); }

}  // namespace

void add_shm_rows(std::vector<Row>& rows) {
  const auto floor = [] { return std::make_unique<RobustMutexAndClock>(2); };
  const char* const against = "two (robust shared mutex pair + steady_clock read)";
  rows.push_back({.name = "shm: acquire + release, visitor given",
                  .against = against,
                  .aim = 2.0,
                  .subject = acquire_release,
                  .reference = floor});
  rows.push_back({.name = "shm: acquire + release, fresh random visitor",
                  .against = against,
                  .aim = 3.0,
                  .subject = make<FreshVisitorShm>,
                  .reference = floor});
  rows.push_back({.name = "shm: rate decision, one GCRA tier, take",
                  .against = "one (robust shared mutex pair + steady_clock read)",
                  .aim = 2.0,
                  .subject =
                      [] {
                        return std::make_unique<AskShm>(Request{
                            .gate = "erp", .visitor = VisitorId::named("bench"), .rates = kTier});
                      },
                  .reference = [] { return std::make_unique<RobustMutexAndClock>(1); }});
  rows.push_back({.name = "shm: acquire + release, 8 processes at one gate",
                  .against = "one process",
                  .aim = 1 / 0.7,
                  .subject = [] { return std::make_unique<Processes>(8); },
                  .reference = [] { return std::make_unique<Processes>(1); },
                  .time = Time::wall});
  rows.push_back({.name = "shm: hand-over to a waiter in another process",
                  .against = "a bare futex hand-over",
                  .aim = 2.0,
                  .subject = make<TwoProcesses<GateTurn>>,
                  .reference = make<TwoProcesses<FutexTurn>>,
                  .time = Time::wall,
                  .cores = Cores::one});
  rows.push_back({.name = "shm: a store opened, a bulkhead made, used once, both destroyed",
                  .against = "5 us of work",
                  .aim = 1.0,
                  .subject = make<UsedOnce>,
                  .reference = make<FiveMicroseconds>});
  rows.push_back({.name = "flock pair",
                  .against = "shm: acquire + release",
                  .aim = {},
                  .subject = make<Flock>,
                  .reference = acquire_release});
  rows.push_back({.name = "POSIX named semaphore pair",
                  .against = "shm: acquire + release",
                  .aim = {},
                  .subject = make<NamedSemaphore>,
                  .reference = acquire_release});
  rows.push_back({.name = "SysV semop pair with SEM_UNDO",
                  .against = "shm: acquire + release",
                  .aim = {},
                  .subject = make<SysvSemaphore>,
                  .reference = acquire_release});
}

}  // namespace airlock::bench
