# The scripts that complete `smdebug` in shells, and its man page: the program
# prints them, as soon as it is linked, into ${CMAKE_BINARY_DIR}/share. A program
# for another machine cannot; then they are left out.

# smdebug_make_share(<program>)
function(smdebug_make_share program)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(share ${CMAKE_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${share})
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${program} completion bash > ${share}/smdebug.bash
    COMMAND ${program} completion zsh > ${share}/_smdebug
    COMMAND ${program} completion fish > ${share}/smdebug.fish
    COMMAND ${program} help --man > ${share}/smdebug.1
    VERBATIM)
endfunction()

# smdebug_install_share(<folder> <component>): where shells and man look, below <folder>.
function(smdebug_install_share folder component)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(share ${CMAKE_BINARY_DIR}/share)
  install(FILES ${share}/smdebug.bash RENAME smdebug
    DESTINATION ${folder}/bash-completion/completions COMPONENT ${component})
  install(FILES ${share}/_smdebug DESTINATION ${folder}/zsh/site-functions COMPONENT ${component})
  install(FILES ${share}/smdebug.fish
    DESTINATION ${folder}/fish/vendor_completions.d COMPONENT ${component})
  install(FILES ${share}/smdebug.1 DESTINATION ${folder}/man/man1 COMPONENT ${component})
endfunction()
