# smdebug_module(<name> [COLD] DEPS <module>... LIBS <target>...): one library
# per folder of src/, with the folders in it. DEPS are other modules, LIBS
# third-party targets. Every *_test.cc beside the sources joins the module's
# test program. COLD: nothing in it is worth the time to optimise it further.
function(smdebug_module name)
  cmake_parse_arguments(ARG "COLD" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(smdebug_${name} STATIC ${sources})
  smdebug_compile(smdebug_${name})
  if(ARG_COLD)
    # What may be uninitialised is only guessed at this level.
    target_compile_options(smdebug_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  list(TRANSFORM ARG_DEPS PREPEND smdebug_)
  target_link_libraries(smdebug_${name} PUBLIC smdebug_flags ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  if(tests AND SMDEBUG_BUILD_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE smdebug_test_flags smdebug_${name} ${ARG_LIBS}
      GTest::gmock GTest::gtest_main)
    if(smdebug_storage IN_LIST ARG_DEPS)
      target_link_libraries(${name}_test PRIVATE test_stores)  # tests/testing
    endif()
    if(smdebug_steps IN_LIST ARG_DEPS)
      target_link_libraries(${name}_test PRIVATE ten_step_objects)  # tests/testing
    endif()
    smdebug_compile_test(${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()
