# Writes files into a C++ source as airlock::server::assets():
#
#   cmake -D OUTPUT=assets.cpp -D "FILES=NAME=FILE|NAME=FILE..." -P AirlockAssets.cmake

string(REPLACE "|" ";" files "${FILES}")
set(arrays)
set(table)
set(at 0)
foreach(file IN LISTS files)
  string(REGEX MATCH "^([^=]+)=(.*)$" file "${file}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${at}[] = {${bytes}};\n")
  string(APPEND table "    {\"${name}\", {reinterpret_cast<const char*>(kFile${at}), sizeof kFile${at}}},\n")
  math(EXPR at "${at} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/AirlockAssets.cmake.
#include \"dashboard/assets.hpp\"

namespace airlock::server {
namespace {

${arrays}
}  // namespace

std::span<const Asset> assets() noexcept {
  static const Asset kAssets[] = {
${table}  };
  return kAssets;
}

}  // namespace airlock::server
")
