#include "demo_world.hpp"

#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "airlock/bulkhead.hpp"
#include "airlock/error.hpp"
#include "output.hpp"

namespace airlock::cli::demo {
namespace {

using Time = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRestart{500};
constexpr std::chrono::milliseconds kPause{20};  // Of a worker between its calls.
constexpr std::chrono::seconds kMaxWait{5};

[[noreturn]] void fail(const char* what) {
  throw StoreError(StoreError::Kind::unavailable, StoreError::Outcome::nothing_happened,
                   std::string("demo: ") + what + ": " + error_text(errno));
}

sockaddr_un socket_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 2);  // Abstract: no file is left.
  return address;
}

int listen_at(const std::string& name) {
  const sockaddr_un address = socket_address(name);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (fd < 0 || bind(fd, generic, sizeof(address)) != 0 || listen(fd, 128) != 0) fail("socket");
  return fd;
}

// A child does not outlive the demo.
pid_t fork_child() {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }
  return pid;
}

struct Call {
  int fd;
  Time::time_point due;
};

// The caller is gone: killed, perhaps.
bool is_hung_up(const Call& call) {
  pollfd peer{.fd = call.fd, .events = POLLRDHUP, .revents = 0};
  return poll(&peer, 1, 0) == 1;
}

// The fragile thing. Does not return: it falls over, or is ended.
[[noreturn]] void serve(int listener, Board& board) {
  std::vector<Call> calls;
  while (true) {
    pollfd incoming{.fd = listener, .events = POLLIN, .revents = 0};
    poll(&incoming, 1, 2);
    if (incoming.revents != 0) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) calls.push_back({fd, Time::now() + kCallTime});
    }
    std::erase_if(calls, [](const Call& call) { return is_hung_up(call) && close(call.fd) == 0; });
    if (calls.size() > kLimit) {
      ++board.falls;
      _exit(1);
    }
    std::erase_if(calls, [now = Time::now()](const Call& call) {
      if (call.due > now) return false;
      [[maybe_unused]] const auto sent = send(call.fd, "ok", 2, MSG_NOSIGNAL);
      close(call.fd);
      return true;
    });
  }
}

// True: it answered.
bool call(const std::string& name) {
  const sockaddr_un address = socket_address(name);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  char answer[2];
  const bool answered = connect(fd, generic, sizeof(address)) == 0 &&
                        recv(fd, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer);
  close(fd);
  return answered;
}

void call_and_count(const std::string& name, std::atomic<bool>& calling, Board& board) {
  calling = true;
  const bool answered = call(name);
  calling = false;
  ++(answered ? board.succeeded : board.failed);
}

void work(const std::string& name, std::uint32_t number, const std::string& store_uri,
          Board& board) {
  const Bulkhead bulkhead(open_store(store_uri), kGate,
                          {.limit = kLimit, .ttl = std::chrono::seconds(5), .max_wait = kMaxWait});
  std::minstd_rand random(number + 1);
  while (!board.over) {
    if (!board.guarded) {
      call_and_count(name, board.calling[number], board);
    } else if (!bulkhead.try_call_for(
                   kMaxWait, [&] { call_and_count(name, board.calling[number], board); })) {
      ++board.turned_away;
    }
    std::this_thread::sleep_for(kPause * (random() % 1000) / 500);
  }
}

void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace

std::uint32_t Board::in_flight() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(calling, [](const auto& one) { return one.load(); }));
}

void Unmap::operator()(Board* board) const noexcept { munmap(board, sizeof(Board)); }

std::unique_ptr<Board, Unmap> make_board() {
  void* const memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return std::unique_ptr<Board, Unmap>(new (memory) Board);
}

Dependency::Dependency(Board& board)
    : board_(board), address_("airlock-demo-" + std::to_string(getpid())) {
  start();
}

Dependency::~Dependency() {
  if (pid_ != 0) end(pid_);
}

// It has the only listening socket, so that nobody can be called while it is down.
void Dependency::start() {
  const int listener = listen_at(address_);
  pid_ = fork_child();
  if (pid_ == 0) serve(listener, board_);
  close(listener);
}

void Dependency::look_after() {
  if (pid_ != 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) {
    pid_ = 0;
    restart_at_ = Time::now() + kRestart;
  }
  if (pid_ == 0 && Time::now() >= restart_at_) start();
}

Workers::Workers(Board& board, const Dependency& dependency, const std::string& store_uri)
    : board_(board) {
  for (std::uint32_t i = 0; i < kWorkers; ++i) {
    pids_[i] = fork_child();
    if (pids_[i] != 0) continue;
    try {
      work(dependency.address(), i, store_uri, board_);
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
}

Workers::~Workers() {
  board_.over = true;
  for (const pid_t pid : pids_) end(pid);
}

pid_t Workers::kill_one() {
  for (std::uint32_t i = 0;; i = (i + 1) % kWorkers) {
    if (!board_.calling[i]) continue;
    kill(pids_[i], SIGKILL);
    board_.calling[i] = false;
    return pids_[i];
  }
}

}  // namespace airlock::cli::demo
