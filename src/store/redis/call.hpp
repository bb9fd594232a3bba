#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "airlock/name.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/slot.hpp"

namespace airlock::redis {

// How gates are called in Redis: `prefix:{group}/name:part`, or `prefix:{gate}:part`. What the
// braces hold decides the slot of a cluster.
class Naming {
 public:
  explicit Naming(std::string_view prefix) : start_(std::string(prefix) + ":{") {}

  static constexpr std::string_view kParts[] = {":gate", ":in", ":out", ":line", ":free"};

  [[nodiscard]] std::string key(const GateName& gate, std::string_view part) const;
  [[nodiscard]] std::string gate_pattern() const { return start_ + "*:gate"; }
  // Empty: not the key of a gate.
  [[nodiscard]] std::string gate_of(std::string_view key) const;

 private:
  std::string start_;
};

// One run of a script, as it goes over the network.
class Call {
 public:
  Call(const Script& script, const Naming& naming, const GateName& gate);
  Call(const Script& script, const Naming& naming, std::span<const GateName> gates,
       std::span<const std::string_view> parts = Naming::kParts);
  Call(const Script& script, std::string_view key, HashSlot slot);  // At a key that is no gate's.

  Call& add(std::string_view argument);
  Call& add_number(std::int64_t number);
  // `start` and the run id of the server that the call goes to, which is filled in by append_to().
  Call& add_with_run_id(std::string_view start);
  [[nodiscard]] bool has_run_id() const noexcept { return run_id_at_ != 0; }

  // It counts only when as many replicas have it as the store's options say.
  Call& require_ack() noexcept {
    needs_ack_ = true;
    return *this;
  }
  [[nodiscard]] bool needs_ack() const noexcept { return needs_ack_; }

  [[nodiscard]] HashSlot slot() const noexcept { return slot_; }

  // EVALSHA, or EVAL with the text where the server does not know the script (any more).
  enum class By { sha1, text };
  void append_to(std::string& bytes, By by, std::string_view run_id = {}) const;

  static constexpr std::size_t kRunIdSize = 40;

 private:
  const Script& script_;
  const HashSlot slot_;
  bool needs_ack_ = false;
  std::size_t arguments_ = 0;
  std::size_t run_id_at_ = 0;  // In the body; 0: nowhere.
  Commands body_;
};

}  // namespace airlock::redis
