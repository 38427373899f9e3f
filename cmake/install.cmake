include(CMakePackageConfigHelpers)

# Components, each of which is a Debian package (package.cmake): who runs the program needs no headers, and no MPI.
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lrvb)

install(TARGETS lrvb EXPORT lrvb-targets
  LIBRARY COMPONENT program NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
if(TARGET lrvb_program)
  install(TARGETS lrvb_report EXPORT lrvb-targets
    LIBRARY COMPONENT program NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development)
  install(TARGETS lrvb_program lrvb_reproduce RUNTIME COMPONENT program)
endif()
if(TARGET lrvb_mpi_program)
  install(TARGETS lrvb_mpi_program RUNTIME COMPONENT mpi)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lrvb TYPE INCLUDE COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/src/include/lrvb/export.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lrvb
  COMPONENT development)
install(EXPORT lrvb-targets NAMESPACE lrvb:: DESTINATION ${config_dir} COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lrvb-config.cmake.in lrvb-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(lrvb-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lrvb-config.cmake ${PROJECT_BINARY_DIR}/lrvb-config-version.cmake
  DESTINATION ${config_dir} COMPONENT development)

if(NOT TARGET lrvb_program)
  return()
endif()

# What the program prints of itself: its manual page and the completions.
set(printed ${PROJECT_BINARY_DIR}/printed)
add_custom_command(
  OUTPUT ${printed}/lrvb.1.gz ${printed}/lrvb.bash ${printed}/lrvb.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${printed}
  COMMAND lrvb_program man > ${printed}/lrvb.1
  COMMAND gzip -9nf ${printed}/lrvb.1
  COMMAND lrvb_program completion bash > ${printed}/lrvb.bash
  COMMAND lrvb_program completion fish > ${printed}/lrvb.fish
  DEPENDS lrvb_program
  COMMENT "Printing the manual page and the completions"
  VERBATIM)
add_custom_target(lrvb_printed ALL DEPENDS ${printed}/lrvb.1.gz ${printed}/lrvb.bash ${printed}/lrvb.fish)
install(FILES ${printed}/lrvb.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${printed}/lrvb.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lrvb
  COMPONENT program)
install(FILES ${printed}/lrvb.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# As they lie in the repository, so that the links between them hold.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CITATION.cff
              ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  TYPE DOC COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC RENAME copyright COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/data ${PROJECT_SOURCE_DIR}/examples TYPE DOC
  COMPONENT program
  PATTERN reproduction/*.csv EXCLUDE
  PATTERN CMakeLists.txt EXCLUDE)

# Everything that is installed, and nothing else: what 'make install' and 'make deb' build.
add_custom_target(lrvb_installed DEPENDS lrvb lrvb_report lrvb_program lrvb_reproduce lrvb_printed)
if(TARGET lrvb_mpi_program)
  add_dependencies(lrvb_installed lrvb_mpi_program)
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
endif()
