#pragma once

#include <string_view>

namespace airlock::base {

// This process as people know it: `host:pid comm`, at most kMaxLabelSize printable bytes; a long
// host name is cut. Made once per process and again in a forked child; the text stays valid for the
// life of the process.
[[nodiscard]] std::string_view default_label();

}  // namespace airlock::base
