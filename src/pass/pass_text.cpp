#include "pass/pass_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "airlock/error.hpp"
#include "base/base64url.hpp"
#include "base/hex.hpp"

namespace airlock::passes {
namespace {

constexpr char kSeparator = '~';
constexpr std::size_t kMaxKidSize = 32;
constexpr std::size_t kMacSize = 43;
constexpr std::size_t kMaxNumberSize = 20;
constexpr std::size_t kMaxSize = kVersion.size() + 1 + kMaxKidSize + 3 * kMaxNumberSize + 16 + 32 +
                                 GateName::kMaxSize + kMacSize + 9;
constexpr std::string_view kKidBytes =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

using Fields = std::array<std::string_view, 10>;

std::optional<Fields> split(std::string_view text) {
  if (text.size() > kMaxSize) return std::nullopt;
  if (std::count(text.begin(), text.end(), kSeparator) != Fields().size() - 1) return std::nullopt;
  Fields fields;
  for (std::string_view& field : fields) {
    field = text.substr(0, text.find(kSeparator));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
  }
  return fields;
}

// 0 for what is no number: the comparison of the texts will show it.
template <typename Number>
Number parse_number(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<Statement> build(const Fields& fields) {
  const auto& [version, kind, kid, issued, expires, store, visitor, fence, gate, mac] = fields;
  if (kind.size() != 1 || !is_kid(kid)) return std::nullopt;
  Statement statement{.kind = static_cast<Kind>(kind.front()),
                      .kid = std::string(kid),
                      .token = {.store = base::parse_hex(store).value_or(0),
                                .gate = gate,
                                .visitor = VisitorId::parse(visitor),
                                .fence = parse_number<Fence>(fence)},
                      .issued = Instant(parse_number<std::int64_t>(issued)),
                      .expires = Instant(parse_number<std::int64_t>(expires))};
  const bool is_known_kind = statement.kind == Kind::pass || statement.kind == Kind::capability;
  if (!is_known_kind || statement.issued < Instant(0) || statement.expires < statement.issued) {
    return std::nullopt;
  }
  return statement;
}

std::optional<base::Digest> parse_mac(std::string_view text) {
  const auto bytes = base::parse_base64url(text);
  base::Digest mac;
  if (!bytes || bytes->size() != mac.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), mac.begin());
  return mac;
}

}  // namespace

bool is_kid(std::string_view kid) noexcept {
  return !kid.empty() && kid.size() <= kMaxKidSize &&
         kid.find_first_not_of(kKidBytes) == std::string_view::npos;
}

std::string write_body(const Statement& statement) {
  const auto number = [](auto value) { return std::to_string(value); };
  std::string out;
  out.reserve(kMaxSize);
  out.append(kVersion).append(1, kSeparator).append(1, static_cast<char>(statement.kind));
  out.append(1, kSeparator).append(statement.kid);
  out.append(1, kSeparator).append(number(statement.issued.count()));
  out.append(1, kSeparator).append(number(statement.expires.count()));
  out.append(1, kSeparator);
  base::append_hex(out, statement.token.store, 16);
  out.append(1, kSeparator).append(statement.token.visitor.text());
  out.append(1, kSeparator).append(number(statement.token.fence));
  out.append(1, kSeparator).append(statement.token.gate.view());
  return out;
}

std::string write_text(std::string body, const base::Digest& mac) {
  const std::string_view bytes(reinterpret_cast<const char*>(mac.data()), mac.size());
  return std::move(body.append(1, kSeparator).append(base::base64url(bytes)));
}

std::optional<Unverified> read_text(std::string_view text) {
  const auto fields = split(text);
  if (!fields || fields->front() != kVersion) return std::nullopt;
  const std::string_view body = text.substr(0, text.rfind(kSeparator));
  try {
    auto statement = build(*fields);
    const auto mac = parse_mac(fields->back());
    // What would be written differently was not written by write_body(): one comparison checks
    // every digit.
    if (!statement || !mac || write_body(*statement) != body) return std::nullopt;
    return Unverified{.statement = std::move(*statement), .body = body, .mac = *mac};
  } catch (const InvalidArgument&) {  // The name of a gate or the id of a visitor.
    return std::nullopt;
  }
}

}  // namespace airlock::passes
