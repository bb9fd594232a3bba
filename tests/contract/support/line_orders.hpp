#pragma once

#include <string>

#include "contract/support/store_contract.hpp"

namespace airlock::contract {

// Who is next in a line.
class LineOrders : public StoreContract {
 protected:
  // Releases `holder` and says who was handed its place.
  std::string next_after(const Token& holder) {
    EXPECT_TRUE(releases(holder));
    const auto names = handed();
    EXPECT_THAT(names, ::testing::SizeIs(1));
    return names.empty() ? "nobody" : names[0];
  }
};

}  // namespace airlock::contract
