# Embeds the Redis scripts: every step is its prelude and itself, one text without comments, with its SHA-1.
#
#   airlock_embed_scripts(TIME FILE... OUTPUT FILE NAMESPACE NAME)
#
# AIRLOCK_LUA_DIR has the scripts with what records.list says of records filled in.

# Defines what may be said of each record, as variables of those names.
macro(airlock_read_records list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  set(size_B 1)
  set(size_H 2)
  set(size_I4 4)
  set(size_d 8)
  set(size_c16 16)
  file(STRINGS ${list} lines REGEX "^[A-Za-z]")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[A-Z]+$")
      set(record ${line})
      set(at 1)
      set(format "<")
      set(separator "")
      set(AIRLOCK_RECORDS "${AIRLOCK_RECORDS}|${record}")
      continue()
    endif()
    string(REGEX MATCH "^([a-z_]+) ([A-Za-z0-9]+) ?(.*)$" line "${line}")
    set(name ${CMAKE_MATCH_1})
    set(type ${CMAKE_MATCH_2})
    if(at)
      math(EXPR before "${at} - 1")
      set(${record}_AT_${name} ${at})
      set(${record}_BEFORE_${name} ${before})
    endif()
    string(APPEND format ${type})
    set(${record}_FORMAT "'${format}'")
    set(${record}_UP_TO_${name} "'${format}'")
    if(NOT "${name}" STREQUAL "schema")
      string(APPEND ${record}_FIELDS "${separator}${name}")
      string(APPEND ${record}_NEW "${separator}${CMAKE_MATCH_3}")
      set(${record}_FIELDS_UP_TO_${name} "${${record}_FIELDS}")
      set(separator ", ")
    endif()
    if(DEFINED size_${type})
      math(EXPR at "${at} + ${size_${type}}")
    else()
      set(at) # What follows is not always in the same place.
    endif()
  endforeach()
  string(SUBSTRING "${AIRLOCK_RECORDS}" 1 -1 AIRLOCK_RECORDS)
  foreach(temporary IN ITEMS lines line record at before format separator name type)
    unset(${temporary})
  endforeach()
endmacro()

# Fills in what is said of records. A name may begin like another: the longer one comes first.
function(airlock_expand_script source target)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(REGEX MATCHALL "(${AIRLOCK_RECORDS})_[A-Z]+(_[A-Za-z]+)*" names "${text}")
  list(REMOVE_DUPLICATES names)
  list(SORT names ORDER DESCENDING)
  foreach(name IN LISTS names)
    if(name MATCHES "^([A-Z]+_FIELDS.*)_OF_([a-z]+)$")
      string(REGEX REPLACE "([a-z_]+)" "${CMAKE_MATCH_2}.\\1" ${name} "${${CMAKE_MATCH_1}}")
    elseif(NOT DEFINED ${name})
      message(FATAL_ERROR "${source}: there is no ${name} in records.list")
    endif()
    string(REPLACE ${name} "${${name}}" text "${text}")
  endforeach()
  file(CONFIGURE OUTPUT ${target} CONTENT "@text@" @ONLY)
endfunction()

set(AIRLOCK_LUA_SOURCES ${CMAKE_CURRENT_LIST_DIR}/../src/store/redis/lua)
set(AIRLOCK_LUA_DIR ${PROJECT_BINARY_DIR}/lua)
airlock_read_records(${AIRLOCK_LUA_SOURCES}/records.list)
file(GLOB scripts CONFIGURE_DEPENDS ${AIRLOCK_LUA_SOURCES}/*.lua)
foreach(script IN LISTS scripts)
  get_filename_component(name ${script} NAME)
  airlock_expand_script(${script} ${AIRLOCK_LUA_DIR}/${name})
endforeach()

set(AIRLOCK_FORMATS formats)
set(AIRLOCK_RULES gate rates line replies repair)
set(AIRLOCK_FAST_admit admit_fast)
set(AIRLOCK_FAST_release release_fast)
set(AIRLOCK_FAST_renew renew_fast)
set(AIRLOCK_SCRIPT_STEPS admit admit_all leave mark_absent refund release renew set_hold watch settle look visits read_gates survey holds
  set_limit pause resume revoke purge rights identity)
# Steps that only read do without the rules: to define them takes longer than to read a gate.
set(AIRLOCK_WITHOUT_RULES visits read_gates survey holds identity)
set(AIRLOCK_PRELUDE_read_gates rates shown)
set(AIRLOCK_PRELUDE_survey rates shown)
set(AIRLOCK_PRELUDE_look shown)
set(AIRLOCK_PRELUDE_admit asks)
set(AIRLOCK_PRELUDE_admit_all asks)
set(AIRLOCK_PRELUDE_release leases)
set(AIRLOCK_PRELUDE_renew leases)
set(AIRLOCK_PRELUDE_set_hold leases)

function(airlock_embed_scripts)
  cmake_parse_arguments(EMBED "" "OUTPUT;NAMESPACE" "TIME" ${ARGN})
  set(entries)
  foreach(step IN LISTS AIRLOCK_SCRIPT_STEPS)
    set(files ${EMBED_TIME})
    set(rules ${AIRLOCK_RULES})
    if(step IN_LIST AIRLOCK_WITHOUT_RULES)
      set(rules)
    endif()
    foreach(part IN LISTS AIRLOCK_FORMATS AIRLOCK_FAST_${step} rules AIRLOCK_PRELUDE_${step} ITEMS ${step})
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
