#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "airlock/duration.hpp"
#include "airlock/name.hpp"
#include "airlock/token.hpp"
#include "airlock/version.hpp"

// Signed text that strangers may carry, for example in a cookie.
//
//   Keyring keys = Keyring::load("/etc/shop/pass.keys");  // In every process that signs or checks.
//   std::string cookie = keys.sign_pass(granted.token, granted.expires_in);
//
//   auto checked = keys.check_pass(cookie, "checkout");   // No store is asked.
//   if (const auto* pass = std::get_if<Pass>(&checked)) serve(pass->visitor());
//   else log(to_text(std::get<PassFault>(checked)));      // The visitor only learns: no valid pass.
//
// The text is signed, not encrypted: its carrier reads gate, visitor, fence and store.

namespace airlock {

// Why a text was refused, in the order of the checks. For logs; strangers get one answer for all.
enum class PassFault {
  malformed,      // Not a text of this version, byte for byte.
  other_kind,     // A pass where a capability is needed, or the other way round.
  unknown_key,    // Its key is not in the keyring.
  forged,         // Not signed with that key, or for other bound bytes.
  not_yet_valid,  // Signed more than a second from now: the clocks of two hosts differ.
  expired,
  other_gate,
};

[[nodiscard]] constexpr const char* to_text(PassFault fault) noexcept {
  constexpr const char* kTexts[] = {"malformed",     "other_kind", "unknown_key", "forged",
                                    "not_yet_valid", "expired",    "other_gate"};
  return kTexts[static_cast<std::size_t>(fault)];
}

// A checked pass: its visitor was admitted to the gate until expires(). It cannot show that the
// admission was released or revoked since. Only Keyring makes one.
class Pass {
 public:
  [[nodiscard]] const GateName& gate() const noexcept { return token_.gate; }
  [[nodiscard]] VisitorId visitor() const noexcept { return token_.visitor; }
  [[nodiscard]] Fence fence() const noexcept { return token_.fence; }
  [[nodiscard]] StoreId store() const noexcept { return token_.store; }
  [[nodiscard]] Instant issued() const noexcept { return issued_; }  // Since 1970, as expires().
  [[nodiscard]] Instant expires() const noexcept { return expires_; }

 private:
  friend class Keyring;
  Pass(const Token& token, Instant issued, Instant expires)
      : token_(token), issued_(issued), expires_(expires) {}

  Token token_;
  Instant issued_;
  Instant expires_;
};

// A checked capability: its carrier may claim, renew and release with this token until expires().
// What is left of the admission, only the store knows; it refuses the tokens of other stores.
class Capability {
 public:
  [[nodiscard]] const Token& token() const noexcept { return token_; }
  [[nodiscard]] Instant issued() const noexcept { return issued_; }
  [[nodiscard]] Instant expires() const noexcept { return expires_; }

 private:
  friend class Keyring;
  Capability(const Token& token, Instant issued, Instant expires)
      : token_(token), issued_(issued), expires_(expires) {}

  Token token_;
  Instant issued_;
  Instant expires_;
};

// What signer and checker know and the text does not say.
struct PassContext {
  // For example the id of a session: the text is valid only with the same bytes. None: for whoever
  // has the text. Signing with empty bytes is InvalidArgument; no text matches them.
  std::optional<std::string_view> bound = {};
  // Microseconds since 1970. None: the system's wall clock.
  std::optional<Instant> now = {};
};

// A key and its public id, which stands in every text that the key signs.
struct PassKey {
  std::string kid;     // 1 to 32 bytes of A-Z a-z 0-9 _ . -
  std::string secret;  // At least 32 random bytes.
};

// The keys: the first one signs, all of them check.
// To rotate: append the new key everywhere, then make it the first everywhere, and remove the old
// one when the last text that it signed has expired. To read the keys again, assign a new keyring.
//
// Cheap to copy; const calls are safe from any thread. No error contains a secret or a text.
class Keyring {
 public:
  Keyring(const Keyring&) = default;  // No moves: a keyring is never empty.
  Keyring& operator=(const Keyring&) = default;

  // InvalidArgument names a key that is not as PassKey says or has an earlier one's kid, or says that
  // there is none.
  [[nodiscard]] static AIRLOCK_EXPORT Keyring of(const std::vector<PassKey>& keys);

  // One line per key: the kid, a space, the secret in base64url without padding. Empty lines and
  // lines that begin with # are skipped. Every line ends with a newline, which shows that the file
  // is complete. InvalidArgument names the line.
  [[nodiscard]] static AIRLOCK_EXPORT Keyring parse(std::string_view lines);
  [[nodiscard]] static AIRLOCK_EXPORT Keyring load(const std::string& path);

  // A line for a file of keys, with a new random secret.
  [[nodiscard]] static AIRLOCK_EXPORT std::string new_line(std::string_view kid);

  // "Was admitted": for `expires_in` from now, what is left of the lease, less `clock_skew`, which
  // covers the difference between the clocks of hosts and the time since the store answered. A lease
  // that ends sooner gives a pass that has already expired. A pass never extends a lease.
  [[nodiscard]] AIRLOCK_EXPORT std::string sign_pass(
      const Token& token, AnyDuration expires_in, const PassContext& context = {},
      AnyDuration clock_skew = std::chrono::seconds(1)) const;

  // "May claim, renew and release": for `lifetime` from now. A visitor that has not been admitted
  // yet has fence 0.
  [[nodiscard]] AIRLOCK_EXPORT std::string sign_capability(const Token& token, AnyDuration lifetime,
                                                           const PassContext& context = {}) const;

  // The gate is the one that the checker guards, never one that came with the text.
  [[nodiscard]] AIRLOCK_EXPORT std::variant<Pass, PassFault> check_pass(
      std::string_view text, const GateName& gate, const PassContext& context = {}) const;
  [[nodiscard]] AIRLOCK_EXPORT std::variant<Capability, PassFault> check_capability(
      std::string_view text, const GateName& gate, const PassContext& context = {}) const;

 private:
  struct Keys;
  explicit Keyring(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {}

  std::shared_ptr<const Keys> keys_;
};

}  // namespace airlock
