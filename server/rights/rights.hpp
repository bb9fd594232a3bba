#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/table_reader.hpp"
#include "http/exchange.hpp"
#include "rights/bearer.hpp"
#include "rights/role.hpp"

namespace airlock::server {

// [[principal]]: somebody who calls, how the server knows them, and what they may do.
struct Principal {
  std::string name;
  std::vector<TokenHash> tokens = {};
  std::vector<std::string> certificates = {};  // "DNS:shop.example" or "CN=shop": peer names.
  std::vector<unsigned> users = {};            // Of Unix sockets.
  std::vector<unsigned> groups = {};
  bool is_any_user = false;
  bool is_loopback = false;  // Callers over TCP from this machine that bring nothing else.
  Grants grants = {};
};

// Who a request comes from.
struct Caller {
  std::string principal;
  GrantsPtr grants;
};

// Who may do what. Without any [[principal]] everybody may do everything.
class Rights {
 public:
  // Reads all [[principal]] of the file.
  void read(TableReader& file);

  [[nodiscard]] bool is_open() const noexcept { return principals_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return principals_.size(); }
  [[nodiscard]] bool knows_tokens() const noexcept;
  [[nodiscard]] bool knows_certificates() const noexcept;

  // The token of `authorization` counts if there is one, then the certificate, then the user of the Unix socket, then that
  // the peer is of this machine; of several principals the first. Rejection 401 for a wrong token and for a stranger.
  [[nodiscard]] Caller identify(const Peer& peer, std::string_view authorization) const;

 private:
  using PrincipalPtr = std::shared_ptr<const Principal>;

  [[nodiscard]] PrincipalPtr find_token(std::string_view authorization) const;
  [[nodiscard]] PrincipalPtr find_peer(const Peer& peer) const;
  template <typename Matches>
  [[nodiscard]] PrincipalPtr find(Matches matches) const;

  std::vector<PrincipalPtr> principals_;
};

}  // namespace airlock::server
