#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/redis/connection.hpp"

namespace airlock::redis {

// Those who know which server is the primary of `master`.
class Sentinels {
 public:
  // `server`: how the primary is spoken to, wherever it is.
  Sentinels(std::vector<Address> sentinels, std::string master, Address server);

  // Asks all of them at once, and believes who has heard of the latest failover. Whether it is the
  // primary is for that server to say. StoreError: nobody knows.
  [[nodiscard]] Address locate(const Deadline& deadline) const;

  // A connection to one of them, which says when the primary changes.
  [[nodiscard]] std::unique_ptr<Connection> listen(const Deadline& deadline) const;
  [[nodiscard]] bool is_change(const Reply& message) const;

 private:
  const std::vector<Address> sentinels_;
  const std::string master_;
  const Address server_;
};

}  // namespace airlock::redis
