#pragma once

#include <memory>

#include "contract/support/store_under_test.hpp"

namespace airlock::contract {

// A store of shared memory whose visitors live in processes of their own: what a visitor does is done
// by the process that its id falls to, what operators do by this one.
[[nodiscard]] std::unique_ptr<StoreUnderTest> make_shm_remote_clients();

}  // namespace airlock::contract
