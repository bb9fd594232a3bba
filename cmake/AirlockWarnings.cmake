# Warnings are errors here and never in a consumer's build: PRIVATE, and only where AIRLOCK_DEVELOPER is ON.
function(airlock_warnings target)
  if(NOT AIRLOCK_DEVELOPER)
    return()
  endif()
  target_compile_options(${target} PRIVATE
    -Werror
    -Wall -Wextra -Wpedantic
    -Wconversion -Wshadow -Wold-style-cast -Wcast-align -Wextra-semi
    -Wnon-virtual-dtor -Woverloaded-virtual
    # Options structs are filled by name; what is not named has its default.
    -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wsuggest-override>
    # g++ 12 sees overlapping copies in std::string's operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
endfunction()
