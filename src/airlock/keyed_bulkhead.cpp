#include "airlock/keyed_bulkhead.hpp"

namespace airlock {

KeyedBulkhead::KeyedBulkhead(std::shared_ptr<Store> store, std::string_view prefix,
                             const BulkheadOptions& options)
    : BulkheadBase(std::move(store), options), prefix_(prefix) {
  (void)gate("");
}

std::uint32_t KeyedBulkhead::available_slots(std::string_view key) const {
  const GateName name = gate(key);
  return available_at(std::span(&name, 1)).front();
}

std::vector<std::uint32_t> KeyedBulkhead::available_slots(
    std::span<const std::string_view> keys) const {
  std::vector<GateName> gates;
  gates.reserve(keys.size());
  for (const std::string_view key : keys) gates.push_back(gate(key));
  return available_at(gates);
}

}  // namespace airlock
