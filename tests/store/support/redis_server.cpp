#include "store/support/redis_server.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "airlock/error.hpp"
#include "store/redis/connection.hpp"

namespace airlock::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

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

}  // namespace

RedisServer::RedisServer(std::vector<std::string> options, std::vector<std::string> launcher)
    : options_(std::move(options)), launcher_(std::move(launcher)) {
  start();
}

RedisServer::~RedisServer() { kill(); }

RedisServer& RedisServer::shared() {
  static RedisServer server;
  return server;
}

void RedisServer::start() {
  std::vector<std::string> words = launcher_;
  for (const std::string& word :
       {program(), "--port"s, "0"s, "--unixsocket"s, socket(), "--save"s, ""s, "--appendonly"s,
        "no"s, "--dir"s, folder(), "--logfile"s, folder() + "/log"}) {
    words.push_back(word);
  }
  words.insert(words.end(), options_.begin(), options_.end());
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
  const auto end = std::chrono::steady_clock::now() + 20s;
  for (;;) {
    try {
      if (command({"PING"}) == "PONG") return;
    } catch (const Error&) {
      if (std::chrono::steady_clock::now() > end) throw;
    }
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error(program() + " does not start; is it installed?");
    }
    std::this_thread::sleep_for(2ms);
  }
}

void RedisServer::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string RedisServer::command(const std::vector<std::string>& words) {
  const redis::Deadline deadline(5s);
  redis::Address own = address();
  own.allow_eviction = true;
  redis::Connection connection(own, nullptr, "test", deadline);
  redis::Commands commands;
  commands.begin(words.size());
  for (const std::string& word : words) commands.add(word);
  return text_of(connection.ask(commands, deadline));
}

redis::Address RedisServer::least_address() {
  std::vector<std::string> words = {"ACL", "SETUSER", "least",  "reset",
                                    "on",  ">least",  "~test*", "&test*"};
  std::istringstream rights{std::string(kLeastRights)};
  for (std::string right; rights >> right;) words.push_back(right);
  if (command(words) != "OK") throw std::runtime_error("ACL SETUSER");
  redis::Address address = this->address();
  address.user = address.password = "least";
  return address;
}

std::string unused_prefix() {
  static std::atomic<int> number = 0;
  return "test" + std::to_string(++number);
}

void deliver_news(Store& store) { redis::deliver_messages(store); }

std::shared_ptr<Store> redis_store(Clock& clock) {
  return redis::make_store({.address = RedisServer::shared().least_address(),
                            .prefix = unused_prefix(),
                            .timeout = 5s,
                            .scripts = &stepped::scripts(),
                            .stepped = &clock});
}

}  // namespace airlock::testing
