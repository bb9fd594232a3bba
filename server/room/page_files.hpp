#pragma once

#include <string_view>

// The files of server/room/page, embedded by CMake.

namespace airlock::server {

extern const std::string_view kRoomHtml;
extern const std::string_view kRoomCss;
extern const std::string_view kRoomScript;

}  // namespace airlock::server
