# smdebug_flags: what every module compiles with. Interface only.
add_library(smdebug_flags INTERFACE)
target_include_directories(smdebug_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_compile_options(smdebug_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  target_compile_options(smdebug_flags INTERFACE -Wno-psabi)  # What GCC 10 changed there.
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
target_compile_options(smdebug_test_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-O0>
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# smdebug_test_headers: what nearly every test includes, compiled once. A test
# program takes it by smdebug_compile_test().
if(SMDEBUG_BUILD_TESTS)
  # A program, since flags of programs and libraries differ.
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cc CONTENT "int main() {}\n")
  add_executable(smdebug_test_headers ${CMAKE_BINARY_DIR}/test_headers.cc)
  target_link_libraries(smdebug_test_headers PRIVATE smdebug_test_flags fmt::fmt GTest::gmock)
  target_precompile_headers(smdebug_test_headers PRIVATE
    <functional> <map> <memory> <optional> <span> <string> <thread> <vector>
    <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h>)
endif()
function(smdebug_compile_test target)
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM smdebug_test_headers)
  smdebug_unity(${target} 8)
endfunction()

# Compiles up to `batch` files of a target together, where SMDEBUG_UNITY asks for it.
function(smdebug_unity target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SMDEBUG_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()
