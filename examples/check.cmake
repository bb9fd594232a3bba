# Runs `program` and holds its output against the `// expect: REGEX` lines of `source`.

execute_process(COMMAND ${program} RESULT_VARIABLE exit OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT exit STREQUAL 0)
  message(FATAL_ERROR "exit: ${exit}")
endif()

file(STRINGS ${source} expectations REGEX "^// expect: ")
if(NOT expectations)
  message(FATAL_ERROR "${source} has no line `// expect: REGEX`")
endif()
list(TRANSFORM expectations REPLACE "^// expect: " "")
list(JOIN expectations ".*" pattern)
if(NOT output MATCHES "${pattern}")
  message(FATAL_ERROR "the output does not match: ${pattern}")
endif()
