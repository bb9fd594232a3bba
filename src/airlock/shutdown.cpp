#include "airlock/shutdown.hpp"

#include <string>

#include "airlock/error.hpp"
#include "airlock/keeper.hpp"

namespace airlock {

using keeping::Keeper;

namespace {

const std::shared_ptr<Store>& checked(const char* what, const std::shared_ptr<Store>& store) {
  if (!store) throw InvalidArgument(std::string(what) + " without a store: it needs one");
  return store;
}

}  // namespace

void close(const std::shared_ptr<Store>& store) { Keeper::close(checked("close", store)); }

bool drain(const std::shared_ptr<Store>& store, Duration at_most) {
  return Keeper::of(checked("drain", store))->drain(at_most);
}

bool flush(const std::shared_ptr<Store>& store, Duration at_most) {
  return Keeper::of(checked("flush", store))->flush(at_most);
}

}  // namespace airlock
