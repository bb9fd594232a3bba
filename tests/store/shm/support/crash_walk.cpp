#include "store/shm/support/crash_walk.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <vector>

#include "airlock/error.hpp"
#include "store/shm/layout.hpp"
#include "store/shm/shm_store.hpp"
#include "store/support/child.hpp"
#include "store/support/temp_dir.hpp"

namespace airlock {
namespace {

constexpr std::uint64_t kSize = 16U << 20;

shm::Options options_in(const std::string& dir) {
  return {.dir = dir, .size = kSize, .timeout = std::chrono::seconds(5)};
}

class StoppingClock final : public Clock {
 public:
  Instant now() noexcept override {
    if (armed && --armed == 0) raise(SIGSTOP);
    return Clock::system().now();
  }
  Instant wall() noexcept override { return Clock::system().wall(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  Instant deadline) override {
    Clock::system().wait_until(lock, changed, deadline);
  }
  int armed = 0;
};

// Every byte that is there. The rest reads as zeroes in both.
void copy_file(const std::string& from, const std::string& to) {
  const int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int out = open(to.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  struct stat status {};
  fstat(in, &status);
  std::vector<char> bytes;
  off_t at = lseek(in, 0, SEEK_DATA);
  while (at >= 0 && at < status.st_size) {
    const off_t end = lseek(in, at, SEEK_HOLE);
    bytes.resize(static_cast<std::size_t>(end - at));
    if (pread(in, bytes.data(), bytes.size(), at) < 0 ||
        pwrite(out, bytes.data(), bytes.size(), at) < 0) {
      break;
    }
    at = lseek(in, end, SEEK_DATA);
  }
  if (ftruncate(out, status.st_size) != 0) std::abort();
  close(in);
  close(out);
}

class Walk {
 public:
  explicit Walk(const CrashWalk& plan) : plan_(plan) {
    survivor_ = shm::make_store(options_in(dir_.path()), Clock::system());
    if (!plan_.attaches) (void)survivor_.id();
    plan_.before(survivor_);
    has_survivor_ = access(file().c_str(), F_OK) == 0;
    if (plan_.after_a_death) die_in_step();
  }

  // Calls `at` with the number of each instruction before it is done; stops when that says false.
  std::uint64_t lead(const std::function<bool(std::uint64_t)>& at) {
    const Child child([this] { be_led(); });
    int status = 0;
    waitpid(child.pid(), &status, WUNTRACED);
    constexpr std::uint64_t kAfterCall = 200;
    std::uint64_t instruction = 0;
    while (is_reading_time(child.pid()) || at(instruction)) {
      const bool far = plan_.by_calls && instruction % kAfterCall == 0;
      if (ptrace(far ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, child.pid(), nullptr, nullptr) != 0) {
        break;
      }
      if (waitpid(child.pid(), &status, 0) != child.pid() || !WIFSTOPPED(status)) break;
      if (WSTOPSIG(status) == SIGSTOP) break;
      ++instruction;
    }
    return instruction;
  }

  // What is wrong with the segment as it is now, were the led process dead.
  std::string check_copy() {
    const std::string to = copies_.path() + "/default";
    unlink(to.c_str());
    if (access(file().c_str(), F_OK) == 0) copy_file(file(), to);
    const int alive = has_survivor_ ? keep_survivor_alive(to) : -1;
    std::string wrong = check_in(copies_.path());
    if (alive >= 0) close(alive);
    return wrong;
  }

  // The same with the real one; only once the led process is dead.
  std::string check_real() { return check_in(dir_.path()); }

 private:
  [[nodiscard]] std::string file() const { return dir_.path() + "/default"; }

  // The kernel's code for that begins anew whenever time has passed: at our pace, for ever.
  static bool is_reading_time(pid_t pid) {
    static const auto kBegin = getauxval(AT_SYSINFO_EHDR);
    constexpr std::uint64_t kPages = 4 * 4096;
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
    return kBegin != 0 && registers.rip - kBegin < kPages;
  }

  void be_led() {
    StoppingClock clock;
    const auto store = shm::make_store(options_in(dir_.path()), clock);
    if (!plan_.attaches) {
      (void)store.id();
      plan_.prepare(store);
    }
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    plan_.step(store);
    raise(SIGSTOP);
  }

  void die_in_step() {
    const Child child([this] {
      StoppingClock clock;
      const auto store = shm::make_store(options_in(dir_.path()), clock);
      (void)store.admit({.gate = "gate",
                         .visitor = VisitorId::random(),
                         .permits = Permits{.limit = 9, .ttl = std::chrono::hours(1)}});
      clock.armed = 1;
      (void)store.admit({.gate = "gate",
                         .visitor = VisitorId::random(),
                         .permits = Permits{.limit = 9, .ttl = std::chrono::hours(1)}});
    });
    child.wait_until_stopped();
  }

  // The survivor came first, so its record is the first.
  static int keep_survivor_alive(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(shm::kLocks);
    lock.l_len = 1;
    fcntl(fd, F_OFD_SETLK, &lock);
    return fd;
  }

  std::string check_in(const std::string& dir) const {
    try {
      const auto heir = shm::make_store(options_in(dir), Clock::system());
      return plan_.check(heir);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  const CrashWalk& plan_;
  TempDir dir_;
  TempDir copies_;
  Store survivor_;
  bool has_survivor_ = false;
};

}  // namespace

CrashWalk::Result CrashWalk::run(std::uint64_t crashes, std::uint64_t seed) const {
  Result result;
  result.instructions = Walk(*this).lead([](std::uint64_t) { return true; });
  std::mt19937_64 random(seed);
  const std::uint64_t stride = std::max<std::uint64_t>(1, result.instructions / crashes);
  const auto note = [&](std::uint64_t at, const std::string& wrong) {
    if (!wrong.empty() && result.wrong.empty()) {
      result.wrong = std::string(name) + ", instruction " + std::to_string(at) + ": " + wrong;
    }
    return result.wrong.empty();
  };

  Walk walk(*this);
  std::uint64_t next = random() % stride;
  walk.lead([&](std::uint64_t at) {
    if (at < next) return true;
    next = stride == 1 ? at + 1 : at + 1 + random() % (2 * stride - 1);
    ++result.crashes;
    return note(at, walk.check_copy());
  });

  // And killed for real at a few, which must make no difference.
  constexpr std::uint64_t kKills = 5;
  for (std::uint64_t i = 0; i < kKills && result.wrong.empty(); ++i) {
    Walk killed(*this);
    const std::uint64_t at = random() % result.instructions;
    killed.lead([at](std::uint64_t now) { return now < at; });
    ++result.kills;
    note(at, killed.check_real());
  }
  return result;
}

}  // namespace airlock
