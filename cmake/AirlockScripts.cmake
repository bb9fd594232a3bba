# Embeds the Redis scripts: every step is its prelude and itself, one text without comments, with its SHA-1.
#
#   airlock_embed_scripts(TIME FILE... OUTPUT FILE NAMESPACE NAME)

set(AIRLOCK_LUA_DIR ${CMAKE_CURRENT_LIST_DIR}/../src/store/redis/lua)

set(AIRLOCK_FORMATS formats)
set(AIRLOCK_RULES gate rates line replies repair)
set(AIRLOCK_FAST_admit admit_fast)
set(AIRLOCK_FAST_release release_fast)
set(AIRLOCK_FAST_renew renew_fast)
set(AIRLOCK_SCRIPT_STEPS admit admit_all leave refund release renew hold watch settle look visits survey holds
  set_limit pause resume revoke purge rights identity)
# Steps that only read do without the rules: to define them takes longer than to read a gate.
set(AIRLOCK_WITHOUT_RULES visits survey holds identity)
set(AIRLOCK_START_survey survey_start)
set(AIRLOCK_PRELUDE_survey rates shown)
set(AIRLOCK_PRELUDE_look shown)
set(AIRLOCK_PRELUDE_admit asks)
set(AIRLOCK_PRELUDE_admit_all asks)
set(AIRLOCK_PRELUDE_release leases)
set(AIRLOCK_PRELUDE_renew leases)
set(AIRLOCK_PRELUDE_hold leases)

function(airlock_embed_scripts)
  cmake_parse_arguments(EMBED "" "OUTPUT;NAMESPACE" "TIME" ${ARGN})
  set(entries)
  foreach(step IN LISTS AIRLOCK_SCRIPT_STEPS)
    set(files ${EMBED_TIME})
    set(rules ${AIRLOCK_RULES})
    if(step IN_LIST AIRLOCK_WITHOUT_RULES)
      set(rules)
    endif()
    foreach(part IN LISTS AIRLOCK_FORMATS AIRLOCK_FAST_${step} AIRLOCK_START_${step} rules AIRLOCK_PRELUDE_${step} ITEMS ${step})
      list(APPEND files ${AIRLOCK_LUA_DIR}/${part}.lua)
    endforeach()
    set(text)
    foreach(file IN LISTS files)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
      file(READ ${file} part)
      string(REGEX REPLACE "\n *--[^\n]*" "" part "\n${part}")
      string(APPEND text "${part}")
    endforeach()
    string(SHA1 sha "${text}")
    string(APPEND entries "    {\"${step}\", \"${sha}\", R\"lua(${text})lua\"sv},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${EMBED_OUTPUT} @ONLY CONTENT
"// Made by cmake/AirlockScripts.cmake.
#include \"store/redis/scripts.hpp\"

namespace airlock::@EMBED_NAMESPACE@ {

const redis::Scripts& scripts() noexcept {
  using namespace std::string_view_literals;  // Counted by the compiler: too long to be counted by a constant expression.
  static constexpr redis::Scripts kScripts = {{
@entries@  }};
  return kScripts;
}

}  // namespace airlock::@EMBED_NAMESPACE@
")
endfunction()
