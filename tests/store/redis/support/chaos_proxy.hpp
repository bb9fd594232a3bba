#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "store/redis/address.hpp"

namespace airlock::testing {

// Stands between a client and a server, on a Unix socket, and spoils what passes.
class ChaosProxy {
 public:
  // `folder` is where its socket is.
  ChaosProxy(std::string upstream, const std::string& folder, std::uint64_t seed = 1);
  ChaosProxy(const ChaosProxy&) = delete;
  ChaosProxy& operator=(const ChaosProxy&) = delete;
  ~ChaosProxy();

  [[nodiscard]] redis::Address address() const { return {.path = path_}; }

  // What becomes of the next pieces of replies; requests arrive as they are, unless said otherwise.
  enum class Fault {
    none,
    lose_reply,     // The connection ends instead.
    lose_one,       // The same, once.
    hold_reply,     // Nothing comes any more, the connection stays.
    hold_request,   // Nothing arrives any more, the connection stays.
    single_bytes,   // Byte by byte.
    garbage,        // Something else comes instead.
    endless_array,  // An array that announces two billion elements.
    slow,           // It comes up to half a second later, and so does what follows it.
    any,            // One of lose_reply, hold_reply, single_bytes and slow.
  };
  void set(Fault fault) noexcept { fault_ = fault; }
  // Chance in percent that `fault` meets a reply; the rest passes.
  void set(Fault fault, unsigned percent) noexcept {
    percent_ = percent;
    fault_ = fault;
  }
  void cut_all() noexcept { ++cuts_; }
  // So many bytes still pass on their way to the client, or to the server; then the connection ends, once.
  void cut_reply_after(std::int64_t bytes) noexcept { reply_bytes_left_ = bytes; }
  void cut_request_after(std::int64_t bytes) noexcept { request_bytes_left_ = bytes; }

  // A partition: for so long nothing passes that a process sends, nothing that it is sent, or neither.
  // Its connections stay, and what was held back goes on afterwards, as with TCP.
  enum class Way { to_server, to_client, both };
  void isolate(pid_t client, Way way, std::chrono::microseconds time);
  void end_isolation();

  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Pair {
    int client;
    int server;
    pid_t process;  // Of the client.
    bool open = true;
    bool holds_requests = false;
    bool holds_replies = false;
    TimePoint sleeps_until = {};
  };
  struct Isolation {
    Way way;
    TimePoint until;
  };

  void run();
  void accept_one();
  void pass_request(Pair& pair);
  void pass_reply(Pair& pair);
  void close_pair(Pair& pair);
  void pass_until_cut(Pair& pair, int to, std::string_view bytes, std::atomic<std::int64_t>& left);
  [[nodiscard]] bool passes(const Pair& pair, Way way, TimePoint now);
  [[nodiscard]] bool strikes();
  [[nodiscard]] std::uint64_t roll();
  [[nodiscard]] Fault fault_of_a_reply();

  std::string upstream_;
  std::string path_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<Fault> fault_ = Fault::none;
  std::atomic<unsigned> percent_ = 100;
  std::atomic<std::uint64_t> cuts_ = 0;
  std::atomic<std::int64_t> reply_bytes_left_ = -1;  // -1: no end.
  std::atomic<std::int64_t> request_bytes_left_ = -1;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> connections_ = 0;
  std::uint64_t cuts_seen_ = 0;
  std::atomic<std::uint64_t> faults_ = 0;
  std::uint64_t dice_;
  std::vector<Pair> pairs_;
  std::mutex mutex_;
  std::map<pid_t, Isolation> isolated_;
  std::thread thread_;
};

}  // namespace airlock::testing
