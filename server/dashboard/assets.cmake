# The page of the dashboard as a source of the server, AIRLOCK_DASHBOARD_ASSETS. What is in web/ is ours; uPlot comes from npm
# with the hashes of package-lock.json.

if(NOT AIRLOCK_DASHBOARD)
  set(AIRLOCK_DASHBOARD_ASSETS ${CMAKE_CURRENT_SOURCE_DIR}/dashboard/no_assets.cpp)
  return()
endif()

find_program(AIRLOCK_NPM npm)
mark_as_advanced(AIRLOCK_NPM)
set(AIRLOCK_DASHBOARD_MODULES ${PROJECT_SOURCE_DIR}/build/npm/dashboard CACHE PATH
  "Where what server/dashboard/package-lock.json names is installed, or already is")
mark_as_advanced(AIRLOCK_DASHBOARD_MODULES)
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/dashboard)
set(uplot ${AIRLOCK_DASHBOARD_MODULES}/node_modules/uplot)
set(installed ${CMAKE_CURRENT_BINARY_DIR}/uplot.installed)  # Files of npm have times of their own.
set(AIRLOCK_DASHBOARD_ASSETS ${CMAKE_CURRENT_BINARY_DIR}/assets.cpp)

file(GLOB pages CONFIGURE_DEPENDS ${folder}/web/*.html ${folder}/web/*.css ${folder}/web/*.js ${folder}/web/*.svg)
set(files "uPlot.iife.min.js=${uplot}/dist/uPlot.iife.min.js|uPlot.min.css=${uplot}/dist/uPlot.min.css|uPlot.LICENSE.txt=${uplot}/LICENSE")
foreach(page IN LISTS pages)
  cmake_path(GET page FILENAME name)
  string(APPEND files "|${name}=${page}")
endforeach()
add_custom_command(OUTPUT ${installed}
  COMMAND ${CMAKE_COMMAND} -D NPM=${AIRLOCK_NPM} -D FOLDER=${folder} -D OUTPUT=${AIRLOCK_DASHBOARD_MODULES}
    -D "WITHOUT=cmake -D AIRLOCK_DASHBOARD=OFF" -P ${PROJECT_SOURCE_DIR}/cmake/AirlockNpm.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${installed}
  DEPENDS ${folder}/package-lock.json ${PROJECT_SOURCE_DIR}/cmake/AirlockNpm.cmake
  COMMENT "Installing uPlot with npm" VERBATIM)
add_custom_command(OUTPUT ${AIRLOCK_DASHBOARD_ASSETS}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${AIRLOCK_DASHBOARD_ASSETS} -D "FILES=${files}"
    -P ${PROJECT_SOURCE_DIR}/cmake/AirlockAssets.cmake
  DEPENDS ${installed} ${pages} ${PROJECT_SOURCE_DIR}/cmake/AirlockAssets.cmake
  COMMENT "Embedding the dashboard" VERBATIM)
# Nothing to look at, and large.
set_source_files_properties(${AIRLOCK_DASHBOARD_ASSETS} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
