#include "store/redis/support/redis_process.hpp"

#include <arpa/inet.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "airlock/error.hpp"
#include "store/redis/connection.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

std::string program() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* const named = std::getenv("AIRLOCK_REDIS_SERVER");
  return named != nullptr ? named : "redis-server";
}

std::string text_of(const redis::Reply& reply) {
  if (!reply.is_array()) {
    return reply.text().empty() ? std::to_string(reply.integer()) : std::string(reply.text());
  }
  std::string text;
  for (std::size_t i = 0; i < reply.size(); ++i) text += text_of(reply.at(i)) + "\n";
  return text;
}

// A name that one process can have; -1 if another has it.
int reserve(std::uint16_t port) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string text = "airlock-test-port-" + std::to_string(port);
  text.copy(name.sun_path + 1, sizeof(name.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (bind(fd, reinterpret_cast<const sockaddr*>(&name), size) == 0) return fd;
  close(fd);
  return -1;
}

bool is_free(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
  close(fd);
  return free;
}

}  // namespace

FreePort::FreePort() {
  static std::mt19937 dice{std::random_device()()};
  std::uniform_int_distribution<int> any(10'000, 32'000);
  while (reservation_ < 0) {
    number_ = static_cast<std::uint16_t>(any(dice));
    if (is_free(number_)) reservation_ = reserve(number_);
  }
}

FreePort::FreePort(FreePort&& other) noexcept
    : reservation_(std::exchange(other.reservation_, -1)), number_(other.number_) {}

FreePort::~FreePort() {
  if (reservation_ >= 0) close(reservation_);
}

RedisProcess::RedisProcess(redis::Address address, std::vector<std::string> launcher)
    : address_(std::move(address)), launcher_(std::move(launcher)) {}

void RedisProcess::start(const std::vector<std::string>& options) {
  std::vector<std::string> words = launcher_;
  words.push_back(program());
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  state_ = State::running;
  const auto end = Steady::now() + 20s;
  for (;;) {
    try {
      if (command({"PING"}) == "PONG") return;
    } catch (const Error&) {
      if (Steady::now() > end) throw;
    }
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      state_ = State::dead;
      throw std::runtime_error(program() + " does not start; is it installed?");
    }
    std::this_thread::sleep_for(2ms);
  }
}

void RedisProcess::kill() noexcept {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  state_ = State::dead;
}

void RedisProcess::stop() noexcept {
  if (!is_running()) return;
  ::kill(pid_, SIGSTOP);
  waitpid(pid_, nullptr, WUNTRACED);
  state_ = State::stopped;
}

void RedisProcess::go_on() noexcept {
  if (state_ != State::stopped) return;
  ::kill(pid_, SIGCONT);
  state_ = State::running;
}

std::string RedisProcess::command(const std::vector<std::string>& words,
                                  std::chrono::milliseconds timeout) const {
  const redis::Deadline deadline(timeout);
  redis::Address own = address_;
  own.allow_eviction = true;
  redis::Connection connection(own, nullptr, "test", deadline);
  redis::Commands commands;
  commands.begin(words.size());
  for (const std::string& word : words) commands.add(word);
  return text_of(connection.ask(commands, deadline));
}

std::string RedisProcess::try_command(const std::vector<std::string>& words) const try {
  return is_running() ? command(words, 500ms) : "";
} catch (const StoreError&) {
  return "";
}

std::vector<std::string> forgetful_in(const std::string& folder) {
  std::filesystem::create_directories(folder);
  return {"--dir", folder, "--logfile", folder + "/log", "--save", "", "--appendonly", "no"};
}

void wait_until(std::string_view what, const std::function<bool()>& condition) {
  const auto end = Steady::now() + 20s;
  while (!condition()) {
    if (Steady::now() > end) throw std::runtime_error("not within 20 s: " + std::string(what));
    std::this_thread::sleep_for(5ms);
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::string value_of(std::string_view name, const std::string& info) {
  for (const std::string& line : lines_of(info)) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
  }
  return "";
}

}  // namespace airlock::testing
