#include "airlock/token.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "airlock/error.hpp"
#include "base/crc32c.hpp"
#include "base/hex.hpp"

// airlock1~<store: 16 hex>~<visitor: 32 hex>~<fence: decimal>~<gate>~<CRC-32C of what is before the
// last ~: 8 hex>

namespace airlock {
namespace {

constexpr std::string_view kVersion = "airlock1";
constexpr char kSeparator = '~';
constexpr std::size_t kMaxSize = 8 + 16 + 32 + 20 + GateName::kMaxSize + 8 + 5;

using Fields = std::array<std::string_view, 6>;

std::optional<Fields> split(std::string_view text) {
  if (text.size() > kMaxSize) return std::nullopt;
  if (std::count(text.begin(), text.end(), kSeparator) != 5) return std::nullopt;
  Fields fields;
  for (std::string_view& field : fields) {
    field = text.substr(0, text.find(kSeparator));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
  }
  return fields;
}

Fence parse_fence(std::string_view text) {
  Fence fence = 0;
  std::from_chars(text.data(), text.data() + text.size(), fence);
  return fence;
}

Token build(const Fields& fields) {
  const auto& [version, store, visitor, fence, gate, check] = fields;
  return {.store = base::parse_hex(store).value_or(0),
          .gate = gate,
          .visitor = VisitorId::parse(visitor),
          .fence = parse_fence(fence)};
}

[[noreturn]] void fail(const char* rule) { throw InvalidArgument(std::string("token: ") + rule); }

}  // namespace

std::string Token::text() const {
  std::string out;
  out.reserve(kMaxSize);
  out.append(kVersion).append(1, kSeparator);
  base::append_hex(out, store, 16);
  out.append(1, kSeparator).append(visitor.text());
  out.append(1, kSeparator).append(std::to_string(fence));
  out.append(1, kSeparator).append(gate.view());
  const std::uint32_t check = base::crc32c(out);
  out.append(1, kSeparator);
  base::append_hex(out, check, 8);
  return out;
}

Token Token::parse(std::string_view text) {
  constexpr const char* kAltered = "truncated or altered; use the text exactly as airlock wrote it";
  const auto fields = split(text);
  if (!fields) fail(kAltered);
  if (fields->front() != kVersion) fail("not an airlock1 token: another version, or not a token");
  try {
    // What would be written differently was not written by text(): one comparison checks every
    // digit and the sum.
    Token token = build(*fields);
    if (token.text() == text) return token;
  } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch): its text would show a part of
                                      // the token
  }
  fail(kAltered);
}

}  // namespace airlock
