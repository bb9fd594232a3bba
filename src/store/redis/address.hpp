#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "airlock/duration.hpp"
#include "store/redis/secret.hpp"
#include "store/uri.hpp"

namespace airlock::redis {

// Where a server is and how it is spoken to.
struct Address {
  std::string path = {};  // Of a Unix socket; empty: host and port.
  std::string host = {};
  std::uint16_t port = 6379;
  std::uint32_t db = 0;
  std::string user = {};
  std::string password = {};
  std::string password_file = {};            // Where it comes from; empty: from the URI.
  std::shared_ptr<Secret> secret = nullptr;  // What has become of that; of one process.

  bool tls = false;
  std::string ca = {};    // Empty: the system's authorities.
  std::string cert = {};  // Empty: no client certificate.
  std::string key = {};

  Duration timeout = std::chrono::seconds(1);  // A connection on which nothing arrives is dead.
  bool allow_eviction = false;                 // Of keys that hold admissions. Else this is how
  Duration eviction_check =
      std::chrono::seconds(10);  // often a connection looks, while it is used.
  bool primary_only = false;     // A replica is not spoken to.

  // For messages: never user or password.
  [[nodiscard]] std::string text() const;

  // redis://, rediss:// and redis+unix://. InvalidArgument says what is wrong, never a password.
  [[nodiscard]] static Address parse(const Uri& uri);
};

// What redis+sentinel:// and redis+cluster:// say.
struct Seeds {
  std::vector<Address> servers;  // The sentinels, or nodes of the cluster that know the others.
  std::string master;            // What the sentinels call it; empty: a cluster.
  Address server;                // How a server is spoken to once it is known where it is.

  [[nodiscard]] static Seeds parse(const Uri& uri);
};

}  // namespace airlock::redis
