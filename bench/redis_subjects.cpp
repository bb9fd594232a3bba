#include "redis_subjects.hpp"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "pinned.hpp"

namespace airlock::bench {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): literals

int free_port() {
  constexpr int kHighest = 55'535;  // A node of a cluster also listens 10 000 above its port.
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
  (void)bind(fd, reinterpret_cast<const sockaddr*>(&name), size);
  (void)getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  close(fd);
  const int port = ntohs(name.sin_port);
  return port <= kHighest ? port : free_port();
}

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

Reply checked(void* reply) {
  Reply own(static_cast<redisReply*>(reply));
  if (!own) throw std::runtime_error("redis: no reply");
  if (own->type == REDIS_REPLY_ERROR) throw std::runtime_error(std::string("redis: ") + own->str);
  return own;
}

// The socket is there a moment before anybody listens on it.
bool listens(const std::string& socket) {
  redisContext* const context = redisConnectUnix(socket.c_str());
  const bool connected = context != nullptr && context->err == 0;
  redisFree(context);
  return connected;
}

}  // namespace

const RedisServer& RedisServer::shared() {
  static const RedisServer kServer;
  return kServer;
}

const RedisServer& RedisServer::of_cluster() {
  static const RedisServer kServer({"--cluster-enabled", "yes"});
  static const bool kReady = [] {
    const PlainRedis redis(kServer);
    (void)redis.call({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    while (redis.call({"CLUSTER", "INFO"}).find("cluster_state:ok") == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }();
  (void)kReady;
  return kServer;
}

const RedisServer& RedisServer::sentinel() {
  static const RedisServer kSentinel({"--sentinel"}, "sentinel monitor main 127.0.0.1 " +
                                                         std::to_string(shared().port()) + " 1\n");
  return kSentinel;
}

// A sentinel wants a file that it can write to, before all options.
RedisServer::RedisServer(std::vector<std::string> options, const std::string& config)
    : port_(free_port()) {
  std::string path = (std::filesystem::temp_directory_path() / "airlock-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = path;
  socket_ = folder_ + "/redis.sock";
  std::vector<std::string> words = {"redis-server"};
  if (!config.empty()) {
    words.push_back(folder_ + "/config");
    std::ofstream(words.back()) << config;
  }
  for (const std::string& word :
       {"--port"s, std::to_string(port_), "--unixsocket"s, socket_, "--save"s, ""s, "--appendonly"s,
        "no"s, "--dir"s, folder_, "--logfile"s, folder_ + "/log"}) {
    words.push_back(word);
  }
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const Pinned pinned(Cores::servers);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  for (int i = 0; !listens(socket_); ++i) {
    if (i > 5'000) throw std::runtime_error("redis-server does not start; is it installed?");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

RedisServer::~RedisServer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string redis_uri(Way way) {
  const auto at = [](const RedisServer& server) {
    return "127.0.0.1:" + std::to_string(server.port());
  };
  switch (way) {
    case Way::tcp:
      return "redis://" + at(RedisServer::shared());
    case Way::unix_socket:
      return "redis+unix://" + RedisServer::shared().socket();
    case Way::sentinel:
      return "redis+sentinel://" + at(RedisServer::sentinel()) + "/main";
    case Way::tcp_to_cluster:
      return "redis://" + at(RedisServer::of_cluster());
    default:
      return "redis+cluster://" + at(RedisServer::of_cluster());
  }
}

void PlainRedis::Free::operator()(redisContext* context) const noexcept { redisFree(context); }

PlainRedis::PlainRedis(Way way)
    : PlainRedis(way == Way::tcp ? redisConnect("127.0.0.1", RedisServer::shared().port())
                                 : redisConnectUnix(RedisServer::shared().socket().c_str())) {}

PlainRedis::PlainRedis(const RedisServer& server)
    : PlainRedis(redisConnectUnix(server.socket().c_str())) {}

PlainRedis::PlainRedis(redisContext* context) : context_(context) {
  if (!context_ || context_->err != 0) throw std::runtime_error("hiredis does not connect");
}

std::string PlainRedis::load(std::string_view script) const {
  return call({"SCRIPT", "LOAD", std::string(script)});
}

std::string PlainRedis::call(const std::vector<std::string>& words) const {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  const Reply reply = checked(
      redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()));
  if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
  return reply->str == nullptr ? std::string()
                               : std::string(reply->str, static_cast<std::size_t>(reply->len));
}

void PlainRedis::subscribe(const std::string& channel) const {
  (void)checked(redisCommand(context_.get(), "SUBSCRIBE %s", channel.c_str()));
}

void PlainRedis::await_message() const {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK)
    throw std::runtime_error("redis: no message");
  (void)checked(reply);
}

}  // namespace airlock::bench
