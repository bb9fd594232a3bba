#pragma once

#include <memory>
#include <string>
#include <vector>

struct redisContext;

namespace airlock::bench {

// A redis-server for as long as the program runs, on a Unix socket and a free TCP port.
class RedisServer {
 public:
  [[nodiscard]] static const RedisServer& shared();
  [[nodiscard]] static const RedisServer& of_cluster();  // Which has no other server.
  [[nodiscard]] static const RedisServer& sentinel();    // Of the shared one.
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }
  [[nodiscard]] int port() const noexcept { return port_; }

 private:
  explicit RedisServer(std::vector<std::string> options = {}, const std::string& config = "");

  std::string folder_;
  std::string socket_;
  int port_ = 0;
  int pid_ = -1;
};

enum class Way { tcp, unix_socket, sentinel, tcp_to_cluster, cluster };

[[nodiscard]] std::string redis_uri(Way way);

// Plain hiredis, as anybody would use it.
class PlainRedis {
 public:
  explicit PlainRedis(Way way);
  explicit PlainRedis(const RedisServer& server);

  [[nodiscard]] std::string load(std::string_view script) const;
  // Of a string its bytes, of a number its digits.
  std::string call(const std::vector<std::string>& words) const;
  void subscribe(const std::string& channel) const;
  void await_message() const;

 private:
  explicit PlainRedis(redisContext* context);

  struct Free {
    void operator()(redisContext* context) const noexcept;
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace airlock::bench
