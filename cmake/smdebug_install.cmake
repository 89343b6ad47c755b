# `cmake --install <build> --component devel`: the command line with its man page and
# completions, the shared library, the public headers, and what find_package() and pkg-config look for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS smdebug_shared smdebug_program EXPORT smdebug-targets COMPONENT devel)
smdebug_install_share(${CMAKE_INSTALL_DATADIR} devel)
install(DIRECTORY include/smdebug DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/smdebug)
install(EXPORT smdebug-targets NAMESPACE smdebug:: DESTINATION ${package_dir} COMPONENT devel)
configure_package_config_file(cmake/smdebug-config.cmake.in
  ${CMAKE_BINARY_DIR}/smdebug-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/smdebug-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/smdebug-config.cmake ${CMAKE_BINARY_DIR}/smdebug-config-version.cmake
  DESTINATION ${package_dir} COMPONENT devel)

# What is installed can be moved.
file(RELATIVE_PATH SMDEBUG_PREFIX_FROM_PKGCONFIG
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/smdebug.pc.in ${CMAKE_BINARY_DIR}/smdebug.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/smdebug.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
