#include "rights/rights.hpp"

#include <algorithm>
#include <utility>

#include "api/fields.hpp"

namespace airlock::server {
namespace {

template <typename Value>
bool contains(const std::vector<Value>& all, const Value& value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

template <typename Value>
bool have_common(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::any_of(a.begin(), a.end(), [&b](const Value& each) { return contains(b, each); });
}

// Every one is compared, so that the time says nothing about them.
bool has_token(const Principal& principal, const TokenHash& hash) {
  bool has = false;
  for (const TokenHash& each : principal.tokens) has = is_same(each, hash) || has;
  return has;
}

std::string user_text(const Peer& peer) { return "uid:" + std::to_string(*peer.user); }

std::string open_name(const Peer& peer) {
  if (peer.user) return user_text(peer);
  return peer.is_loopback ? "loopback" : "nobody";
}

// Users that share a principal do not share visitors.
std::string name_of(const Principal& principal, const Peer& peer) {
  const bool is_shared = peer.user && !contains(principal.users, *peer.user) &&
                         (principal.is_any_user || have_common(principal.groups, peer.groups));
  return is_shared ? principal.name + "/" + user_text(peer) : principal.name;
}

}  // namespace

bool Rights::knows_tokens() const noexcept {
  return std::any_of(principals_.begin(), principals_.end(),
                     [](const PrincipalPtr& each) { return !each->tokens.empty(); });
}

bool Rights::knows_certificates() const noexcept {
  return std::any_of(principals_.begin(), principals_.end(),
                     [](const PrincipalPtr& each) { return !each->certificates.empty(); });
}

template <typename Matches>
Rights::PrincipalPtr Rights::find(Matches matches) const {
  const auto found = std::find_if(principals_.begin(), principals_.end(),
                                  [&](const PrincipalPtr& each) { return matches(*each); });
  return found == principals_.end() ? nullptr : *found;
}

Rights::PrincipalPtr Rights::find_token(std::string_view authorization) const {
  const auto token = bearer_token(authorization);
  if (!token) return nullptr;
  const TokenHash hash = hash_of(*token);
  PrincipalPtr found;
  for (const PrincipalPtr& each : principals_) {
    if (has_token(*each, hash) && found == nullptr) found = each;
  }
  return found;
}

Rights::PrincipalPtr Rights::find_peer(const Peer& peer) const {
  PrincipalPtr found = find([&peer](const Principal& principal) {
    return have_common(principal.certificates, peer.certificate_names);
  });
  if (found == nullptr && peer.user) {
    found = find([&peer](const Principal& principal) {
      return principal.is_any_user || contains(principal.users, *peer.user) ||
             have_common(principal.groups, peer.groups);
    });
  }
  if (found == nullptr && peer.is_loopback)
    found = find([](const Principal& principal) { return principal.is_loopback; });
  return found;
}

Caller Rights::identify(const Peer& peer, std::string_view authorization) const {
  if (is_open()) return {open_name(peer), Grants::all()};
  const PrincipalPtr principal =
      authorization.empty() ? find_peer(peer) : find_token(authorization);
  if (principal == nullptr && !authorization.empty())
    throw Rejection{401, "is not \"Bearer TOKEN\" with a token of airlock.toml", "Authorization"};
  if (principal == nullptr)
    throw Rejection{401, "a token is needed; no [[principal]] of airlock.toml is for this peer"};
  std::string name = authorization.empty() ? name_of(*principal, peer) : principal->name;
  return {std::move(name), GrantsPtr(principal, &principal->grants)};
}

}  // namespace airlock::server
