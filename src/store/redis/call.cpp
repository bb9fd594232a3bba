#include "store/redis/call.hpp"

#include <array>
#include <charconv>

namespace airlock::redis {

std::string Naming::key(const GateName& gate, std::string_view part) const {
  std::string key;
  key.reserve(start_.size() + gate.view().size() + part.size() + 1);
  key.append(start_).append(gate.group()).append("}");
  key.append(gate.view().substr(gate.group().size())).append(part);
  return key;
}

std::string Naming::gate_of(std::string_view key) const {
  constexpr std::string_view kPart = kParts[0];
  if (!key.starts_with(start_) || !key.ends_with(kPart)) return {};
  key.remove_prefix(start_.size());
  key.remove_suffix(kPart.size());
  const std::size_t brace = key.find('}');
  if (brace == std::string_view::npos) return {};
  return std::string(key.substr(0, brace)).append(key.substr(brace + 1));
}

Call::Call(const Script& script, const Naming& naming, const GateName& gate)
    : Call(script, naming, std::span(&gate, 1)) {}

Call::Call(const Script& script, const Naming& naming, std::span<const GateName> gates,
           std::span<const std::string_view> parts)
    : script_(script), slot_(slot_of(gates.front().group())) {
  add_number(static_cast<std::int64_t>(gates.size() * parts.size()));
  for (const GateName& gate : gates) {
    for (const std::string_view part : parts) add(naming.key(gate, part));
  }
}

Call::Call(const Script& script, std::string_view key, HashSlot slot)
    : script_(script), slot_(slot) {
  add_number(1).add(key);
}

Call& Call::add(std::string_view argument) {
  ++arguments_;
  body_.add(argument);
  return *this;
}

Call& Call::add_number(std::int64_t number) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return add({text.data(), static_cast<std::size_t>(end - text.data())});
}

// A script takes what is no run id for none.
Call& Call::add_with_run_id(std::string_view start) {
  add(std::string(start).append(kRunIdSize, '-'));
  run_id_at_ = body_.bytes().size() - std::string_view("\r\n").size() - kRunIdSize;
  return *this;
}

void Call::append_to(std::string& bytes, By by, std::string_view run_id) const {
  Commands head;
  head.begin(2 + arguments_);
  head.add(by == By::sha1 ? "EVALSHA" : "EVAL");
  head.add(by == By::sha1 ? script_.sha1 : script_.text);
  bytes.append(head.bytes());
  const std::size_t at = bytes.size() + run_id_at_;
  bytes.append(body_.bytes());
  if (has_run_id() && run_id.size() == kRunIdSize) bytes.replace(at, kRunIdSize, run_id);
}

}  // namespace airlock::redis
