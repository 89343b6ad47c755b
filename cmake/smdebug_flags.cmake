# smdebug_flags: what every module compiles with. Interface only.
add_library(smdebug_flags INTERFACE)
target_include_directories(smdebug_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_compile_options(smdebug_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(SMDEBUG_WERROR)
  target_compile_options(smdebug_flags INTERFACE -Werror)
endif()
if(SMDEBUG_SANITIZE)
  target_compile_options(smdebug_flags INTERFACE
    -fsanitize=${SMDEBUG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(smdebug_flags INTERFACE -fsanitize=${SMDEBUG_SANITIZE})
endif()
