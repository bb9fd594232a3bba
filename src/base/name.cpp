#include "airlock/name.hpp"

#include <algorithm>
#include <cstring>

#include "airlock/error.hpp"
#include "base/digest.hpp"
#include "base/hex.hpp"
#include "base/quote.hpp"

namespace airlock {
namespace {

// What a byte adds to the cost of a name: a legal one nothing, a slash 1, any other more than a
// name full of slashes.
using Costs = std::array<std::uint16_t, 256>;
constexpr std::uint16_t kIllegal = 256;

constexpr std::string_view kLegal =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";

constexpr Costs make_costs() {
  Costs costs{};
  costs.fill(kIllegal);
  for (const char byte : kLegal) costs[static_cast<unsigned char>(byte)] = 0;
  costs['/'] = 1;
  return costs;
}

constexpr Costs kCosts = make_costs();

unsigned cost_of(std::string_view text) {
  unsigned cost = 0;
  for (const char byte : text) cost += kCosts[static_cast<unsigned char>(byte)];
  return cost;
}

bool is_legal(std::string_view text) {
  if (text.empty() || text.size() > GateName::kMaxSize) return false;
  const unsigned cost = cost_of(text);
  return cost == 0 || (cost == 1 && text.front() != '/' && text.back() != '/');
}

std::string broken_rule(std::string_view text) {
  if (text.empty() || text.size() > GateName::kMaxSize) {
    return "1 to 200 bytes are needed, it has " + std::to_string(text.size());
  }
  const auto illegal = std::find_if(text.begin(), text.end(), [](char byte) {
    return kCosts[static_cast<unsigned char>(byte)] == kIllegal;
  });
  if (illegal == text.end()) return "at most one '/', with a group before and a name after it";
  return "only A-Z a-z 0-9 _ . : - are legal, byte " + std::to_string(illegal - text.begin()) +
         " is " + base::quoted(std::string_view(&*illegal, 1));
}

void require_legal(const char* what, std::string_view text) {
  if (is_legal(text)) return;
  throw InvalidArgument(what + (' ' + base::quoted(text)) + ": " + broken_rule(text));
}

constexpr std::size_t kDigestDigits = 2 * std::tuple_size_v<base::Digest>;
constexpr std::size_t kMaxReadableKey = 64;
constexpr std::size_t kMaxPrefix = GateName::kMaxSize - kDigestDigits - 2;
static_assert(kMaxPrefix + 1 + kMaxReadableKey <= GateName::kMaxSize);

// The last ':' of a name ends the prefix and a '-' after it marks a digest, so a readable key has
// neither there.
bool is_readable(std::string_view key) {
  return !key.empty() && key.size() <= kMaxReadableKey && cost_of(key) == 0 && key.front() != '-' &&
         key.find(':') == std::string_view::npos;
}

// Whether a prefix fits must not depend on the key, else a rare long key fails in production.
void require_prefix(std::string_view prefix) {
  require_legal("gate prefix", prefix);
  if (prefix.size() <= kMaxPrefix) return;
  throw InvalidArgument("gate prefix " + base::quoted(prefix) + ": at most " +
                        std::to_string(kMaxPrefix) + " bytes leave room for a key, it has " +
                        std::to_string(prefix.size()));
}

}  // namespace

void GateName::assign(std::string_view text) {
  require_legal("gate name", text);
  std::memcpy(text_.data(), text.data(), text.size());
  size_ = static_cast<std::uint8_t>(text.size());
  group_size_ = static_cast<std::uint8_t>(std::min(text.find('/'), text.size()));
}

GateName gate_name(std::string_view prefix, std::string_view key) {
  require_prefix(prefix);
  std::string name;
  name.reserve(GateName::kMaxSize);
  name.append(prefix).append(1, ':');
  if (is_readable(key)) return GateName(name.append(key));
  return GateName(name.append(1, '-').append(base::hex(base::sha256(key))));
}

}  // namespace airlock
