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
#include <stdexcept>
#include <thread>

namespace airlock::bench {
namespace {

int free_port() {
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
  return ntohs(name.sin_port);
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

}  // namespace

const RedisServer& RedisServer::shared() {
  static const RedisServer kServer;
  return kServer;
}

RedisServer::RedisServer() : port_(free_port()) {
  std::string path = (std::filesystem::temp_directory_path() / "airlock-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = path;
  socket_ = folder_ + "/redis.sock";
  const std::string port = std::to_string(port_);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("redis-server", "redis-server", "--port", port.c_str(), "--unixsocket", socket_.c_str(),
           "--save", "", "--appendonly", "no", "--dir", folder_.c_str(), "--logfile",
           (folder_ + "/log").c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; access(socket_.c_str(), F_OK) != 0; ++i) {
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
  const RedisServer& server = RedisServer::shared();
  return way == Way::tcp ? "redis://127.0.0.1:" + std::to_string(server.port())
                         : "redis+unix://" + server.socket();
}

void PlainRedis::Free::operator()(redisContext* context) const noexcept { redisFree(context); }

PlainRedis::PlainRedis(Way way)
    : context_(way == Way::tcp ? redisConnect("127.0.0.1", RedisServer::shared().port())
                               : redisConnectUnix(RedisServer::shared().socket().c_str())) {
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
