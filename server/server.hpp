#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/api.hpp"
#include "http/loop.hpp"
#include "listener.hpp"
#include "operations/reload.hpp"
#include "operations/systemd.hpp"
#include "options.hpp"

namespace airlock::server {

// The loops, what listens on them, and the calls that they answer.
class Server {
 public:
  explicit Server(const Options& options);  // Listens; nothing is accepted before run().
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::string listens_at() const;

  // Until SIGTERM or SIGINT has come and what was begun is answered, given back or out of time. block_signals() has to be
  // called first.
  void run();

 private:
  void await_end();
  void apply(const ConfigPtr& config, const std::function<void()>& done);
  void reload();
  void reopen_log();
  void watch_loops();
  [[nodiscard]] std::string status() const;
  void drain();

  const std::vector<Endpoint> listens_;
  bool has_rights_;  // By the configuration that counts.
  ServiceManager manager_;
  Shared shared_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::unique_ptr<Api> api_;
  Handlers handlers_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Reload reload_;
};

}  // namespace airlock::server
