# smdebug_flags: what every module compiles with. Interface only.
add_library(smdebug_flags INTERFACE)
target_include_directories(smdebug_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_compile_options(smdebug_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  target_compile_options(smdebug_flags INTERFACE -Wno-psabi)  # What GCC 10 changed there.
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A tenth less time for a third more memory: garbage is collected less often.
  target_compile_options(smdebug_flags INTERFACE
    --param=ggc-min-expand=300 --param=ggc-min-heapsize=524288)
  # Without it, ccache does not know what was precompiled.
  target_compile_options(smdebug_flags INTERFACE -fpch-preprocess)
endif()
if(SMDEBUG_WERROR)
  target_compile_options(smdebug_flags INTERFACE -Werror)
endif()
if(SMDEBUG_SANITIZE)
  target_compile_options(smdebug_flags INTERFACE
    -fsanitize=${SMDEBUG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(smdebug_flags INTERFACE -fsanitize=${SMDEBUG_SANITIZE})
endif()
if(SMDEBUG_FUZZ)
  target_compile_options(smdebug_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# smdebug_test_flags: the same for tests, which take half the time to compile when
# they are not optimised. What they test is.
add_library(smdebug_test_flags INTERFACE)
target_link_libraries(smdebug_test_flags INTERFACE smdebug_flags)
target_compile_options(smdebug_test_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-O0>)

# smdebug_precompile(<target> FLAGS <target> KIND <library or program> HEADERS <header>...):
# has these headers compiled once, for targets of that kind that compile with the same
# flags. Where files are compiled one by one nothing is precompiled, so that an include
# that is missing is seen.
function(smdebug_precompile target)
  cmake_parse_arguments(ARG "" "FLAGS;KIND" "LIBS;HEADERS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${target}.cc CONTENT "int main() {}\n")
  if(ARG_KIND STREQUAL program)  # Whose position-independent code is of another kind.
    add_executable(${target} ${CMAKE_BINARY_DIR}/${target}.cc)
  else()
    add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/${target}.cc)
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_FLAGS} fmt::fmt ${ARG_LIBS})
  target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
endfunction()
set(smdebug_common_headers
  <algorithm> <array> <atomic> <chrono> <cmath> <complex> <cstdint> <filesystem> <functional>
  <limits> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <thread>
  <utility> <vector> <fmt/format.h>)

# smdebug_compile(<target>): compiles a library of ours quickly.
if(SMDEBUG_UNITY)
  smdebug_precompile(smdebug_headers FLAGS smdebug_flags KIND library
    HEADERS ${smdebug_common_headers})
endif()
function(smdebug_compile target)
  smdebug_unity(${target} 24)
  if(SMDEBUG_UNITY)
    target_link_libraries(${target} PRIVATE fmt::fmt)
    target_precompile_headers(${target} REUSE_FROM smdebug_headers)
  endif()
endfunction()

# smdebug_compile_test(<target>): the same for a test program.
if(SMDEBUG_BUILD_TESTS)
  smdebug_precompile(smdebug_test_headers FLAGS smdebug_test_flags KIND program LIBS GTest::gmock
    HEADERS ${smdebug_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
endif()
function(smdebug_compile_test target)
  smdebug_unity(${target} 8)
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM smdebug_test_headers)
endfunction()

# Compiles up to `batch` files of a target together, where SMDEBUG_UNITY asks for it.
function(smdebug_unity target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SMDEBUG_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()
