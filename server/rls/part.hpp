#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "airlock/name.hpp"
#include "airlock/outcome.hpp"
#include "airlock/request.hpp"
#include "rls/descriptors.hpp"
#include "rls/messages.hpp"

namespace airlock::server::rls {

// The entry that names who holds a place of a concurrency limit, such as an x-request-id. It is not matched.
inline constexpr std::string_view kVisitorKey = "airlock_visitor";

// What one descriptor of a request asks for, and what has become of it.
struct Part {
  enum class Kind : std::uint8_t {
    unmatched,    // No limit counts, or another descriptor replaces this one.
    unlimited,    //
    blocked,      // 0 requests per unit.
    rate,         //
    concurrency,  //
  };

  Kind kind = Kind::unmatched;
  std::string path = {};      // Of its counters.
  bool has_own_path = false;  // It has values or keys of the request.
  std::string name = {};
  RateRule rate = {};
  ConcurrencyRule concurrency = {};
  std::optional<GateName> gate = {};  // Of rate and concurrency.
  VisitorId visitor = {};             // concurrency
  std::uint32_t hits = 1;
  bool gives_back = false;
  bool is_shadow = false;

  // Decided:
  bool is_asked = false;  // The store has answered.
  bool is_over = false;
  std::uint32_t remaining = 0;
  Duration until_reset = kForever;  // kForever: not known.
  std::optional<Token> token = {};  // Of a place that this request has taken.
  bool is_charged = false;          // The rate was.

  [[nodiscard]] std::uint32_t limit() const noexcept;
  [[nodiscard]] bool asks_store() const noexcept {
    return kind == Kind::rate || kind == Kind::concurrency;
  }
  [[nodiscard]] std::span<const Rate> rates() const noexcept { return {&rate.rate, 1}; }
  [[nodiscard]] DescriptorStatus status() const;
};

// One for each descriptor of the request. InvalidRequest: a concurrency limit without visitor.
[[nodiscard]] std::vector<Part> make_parts(const Domain& domain, const RateLimitRequest& request);

// The gate where hits under these entries are counted: rls:edge:remote_address:10.0.0.1, or a digest where the bytes do not
// fit into a name; rls:edge/remote_address:10.0.0.1 where all gates of the domain are decided together. Different domains
// and entries have different gates.
[[nodiscard]] GateName gate_of(std::string_view domain, bool is_atomic,
                               std::span<const Entry> entries);

}  // namespace airlock::server::rls
