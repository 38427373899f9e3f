include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lrvb)

install(TARGETS lrvb EXPORT lrvb-targets)
if(TARGET lrvb_program)
  install(TARGETS lrvb_report EXPORT lrvb-targets)
  install(TARGETS lrvb_program lrvb_reproduce)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lrvb TYPE INCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/src/include/lrvb/export.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lrvb)
install(EXPORT lrvb-targets NAMESPACE lrvb:: DESTINATION ${config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lrvb-config.cmake.in lrvb-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(lrvb-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lrvb-config.cmake ${PROJECT_BINARY_DIR}/lrvb-config-version.cmake
  DESTINATION ${config_dir})
