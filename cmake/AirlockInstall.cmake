# Install, export and pkg-config. Nothing installed names its prefix, so the tree can be moved.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)  # What the package libairlock-dev has.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/airlock)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS airlock airlock_testing EXPORT airlockTargets FILE_SET HEADERS FILE_SET asio)
install(EXPORT airlockTargets NAMESPACE airlock:: DESTINATION ${package_dir})

configure_package_config_file(cmake/airlockConfig.cmake.in airlockConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(airlockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/airlockConfig.cmake
  ${PROJECT_BINARY_DIR}/airlockConfigVersion.cmake
  DESTINATION ${package_dir})
if(AIRLOCK_REDIS)
  install(FILES cmake/FindAirlockHiredis.cmake DESTINATION ${package_dir})
  if(BUILD_SHARED_LIBS)
    set(pkgconfig_private "Libs.private: -lhiredis -lssl -lcrypto")
  else()
    set(pkgconfig_libs "-lhiredis -lssl -lcrypto ")
  endif()
endif()

set(pkgconfig_to_prefix /)
cmake_path(RELATIVE_PATH pkgconfig_to_prefix BASE_DIRECTORY /${pkgconfig_dir})
configure_file(cmake/airlock.pc.in airlock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/airlock.pc DESTINATION ${pkgconfig_dir})
