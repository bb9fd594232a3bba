#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "airlock/pass.hpp"
#include "base/hmac.hpp"
#include "pass/pass_text.hpp"

namespace airlock {

// The keys of one secret, one per purpose: what signs passes cannot sign capabilities.
struct PurposeKeys {
  explicit PurposeKeys(std::string_view secret);

  [[nodiscard]] const base::HmacKey& of(passes::Kind kind) const noexcept;

  base::HmacKey pass;
  base::HmacKey capability;
};

struct Keyring::Keys {
  // InvalidArgument for a key that breaks a rule; `where` and `file` begin its text.
  void add(const PassKey& key, const std::string& where);
  void add_lines(std::string_view lines, const std::string& file);

  std::string signing;  // The kid of the key that signs.
  std::map<std::string, PurposeKeys, std::less<>> by_kid;
};

}  // namespace airlock
