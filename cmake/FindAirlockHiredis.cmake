# hiredis as distributions ship it: with or without a CMake target, its headers in a folder of its name.
find_path(AIRLOCK_HIREDIS_INCLUDE hiredis/read.h)
find_library(AIRLOCK_HIREDIS_LIBRARY hiredis)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AirlockHiredis
  REQUIRED_VARS AIRLOCK_HIREDIS_LIBRARY AIRLOCK_HIREDIS_INCLUDE
  REASON_FAILURE_MESSAGE "install libhiredis-dev, or build with AIRLOCK_REDIS=OFF")
mark_as_advanced(AIRLOCK_HIREDIS_INCLUDE AIRLOCK_HIREDIS_LIBRARY)

if(AirlockHiredis_FOUND AND NOT TARGET airlock::hiredis)
  add_library(airlock::hiredis UNKNOWN IMPORTED)
  set_target_properties(airlock::hiredis PROPERTIES
    IMPORTED_LOCATION ${AIRLOCK_HIREDIS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${AIRLOCK_HIREDIS_INCLUDE})
endif()
