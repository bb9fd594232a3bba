# Installs what package.json and package-lock.json of a folder name, with the hashes of the lock file, elsewhere:
#
#   cmake -D NPM=npm -D FOLDER=tests/browser -D OUTPUT=build/npm/browser [-D WITHOUT="-D AIRLOCK_DASHBOARD=OFF"] -P AirlockNpm.cmake
#
# Nothing happens where it was installed from the same lock file before. WITHOUT says how to build without it.

cmake_path(ABSOLUTE_PATH OUTPUT)
file(MAKE_DIRECTORY ${OUTPUT})
file(LOCK ${OUTPUT}/lock TIMEOUT 600)  # Tests of several builds may begin at once.
set(installed ${OUTPUT}/node_modules/.installed)
file(SHA256 ${FOLDER}/package-lock.json wanted)
if(EXISTS ${installed})
  file(READ ${installed} found)
  if(found STREQUAL wanted)
    return()
  endif()
endif()

if(WITHOUT)
  set(way_out ", or build without it: ${WITHOUT}")
endif()
if(NOT NPM)
  message(FATAL_ERROR "${FOLDER} needs npm. Install it (Debian: apt-get install nodejs npm), remove CMakeCache.txt${way_out}")
endif()
file(COPY ${FOLDER}/package.json ${FOLDER}/package-lock.json DESTINATION ${OUTPUT})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund --no-update-notifier --loglevel=error
  WORKING_DIRECTORY ${OUTPUT} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${output}\nnpm could not install what ${FOLDER}/package-lock.json names. "
    "Let npm reach a registry (npm config set registry URL), or run `npm ci` in a copy of that folder elsewhere and copy "
    "its node_modules to ${OUTPUT}, with a file .installed in it that has the text ${wanted}${way_out}")
endif()
file(WRITE ${installed} ${wanted})
