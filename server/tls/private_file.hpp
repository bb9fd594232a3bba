#pragma once

#include <string>

#include "config/table_reader.hpp"

namespace airlock::server {

// The contents of a file that only its owner, and a group that may read it, can use: a private key. Fails at the key of the
// table where others may read or write it, and where it cannot be read.
[[nodiscard]] std::string read_private_file(const TableReader& table, const char* key,
                                            const std::string& file);

}  // namespace airlock::server
