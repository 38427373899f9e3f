# Debian packages (make deb): the program with its manual page and documents, and the library for those who compile.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lrvb)
set(CPACK_PACKAGE_VENDOR "The lrvb developers")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The lrvb developers")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lrvb)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program: it fits normal mixtures and linear regressions,
compares them with their exact posteriors, and reports them.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblrvb-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What lrvb-config.cmake looks for, and what the archives are linked with.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libeigen3-dev, libfmt-dev, libhwy-dev, libopenblas-serial-dev, libtbb-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The library and its headers: declare a conditionally conjugate
model in C++20, get its posterior with true covariances.")
include(CPack)
