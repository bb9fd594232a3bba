#include "airlock/shutdown.hpp"

#include "airlock/keeper.hpp"

namespace airlock {

using keeping::Keeper;

void close(const std::shared_ptr<Store>& store) { Keeper::close(store); }

bool drain(const std::shared_ptr<Store>& store, Duration at_most) {
  return Keeper::of(store)->drain(at_most);
}

bool flush(const std::shared_ptr<Store>& store, Duration at_most) {
  return Keeper::of(store)->flush(at_most);
}

}  // namespace airlock
