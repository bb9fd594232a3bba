#include "store/redis/support/server.hpp"

#include <atomic>
#include <sstream>
#include <stdexcept>

namespace airlock::testing {

using namespace std::chrono_literals;

RedisServer::RedisServer(std::vector<std::string> options, std::vector<std::string> launcher)
    : options_(std::move(options)), process_(address(), std::move(launcher)) {
  start();
}

RedisServer& RedisServer::shared() {
  static RedisServer server;
  return server;
}

void RedisServer::start() {
  std::vector<std::string> words = forgetful_in(folder());
  words.insert(words.end(), {"--port", "0", "--unixsocket", socket()});
  words.insert(words.end(), options_.begin(), options_.end());
  process_.start(words);
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

void deliver_news(const Store& store) { redis::deliver_messages(store); }

Store redis_store(Clock& clock) {
  return redis::make_store({.address = RedisServer::shared().least_address(),
                            .prefix = unused_prefix(),
                            .timeout = 5s,
                            .scripts = &stepped::scripts(),
                            .stepped = &clock});
}

}  // namespace airlock::testing

namespace airlock::stepped {

namespace plain {
[[nodiscard]] const redis::Scripts& scripts() noexcept;
}
namespace counted {
[[nodiscard]] const redis::Scripts& scripts() noexcept;
}
namespace failing {
[[nodiscard]] const redis::Scripts& scripts() noexcept;
}
namespace slow {
[[nodiscard]] const redis::Scripts& scripts() noexcept;
}

const redis::Scripts& scripts() noexcept {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  return std::getenv("AIRLOCK_COUNT_BRANCHES") != nullptr ? counted::scripts() : plain::scripts();
}

const redis::Scripts& failing_scripts() noexcept { return failing::scripts(); }
const redis::Scripts& slow_scripts() noexcept { return slow::scripts(); }

}  // namespace airlock::stepped
