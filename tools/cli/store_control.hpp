#pragma once

#include <memory>
#include <string>

#include "control.hpp"

namespace airlock::cli {

// Control of the store that a URI names. InvalidArgument for what is no URI of a store.
[[nodiscard]] std::unique_ptr<Control> store_control(const std::string& uri);

// The URI without user, password and options.
[[nodiscard]] std::string shown_uri(const std::string& uri);

}  // namespace airlock::cli
