# Debian packages (make deb): the program with its manual page and documents, the library for those who compile, and,
# where it was built, the program whose rows are on many machines.
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
  "libeigen3-dev, libfmt-dev, libopenblas-serial-dev, libtbb-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The library and its headers: declare a conditionally conjugate
model in C++20, get its posterior with true covariances.")
if(TARGET lrvb_mpi_program)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME lrvb-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION math)
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
  # Documents are with the program, and so is the library where it is shared.
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "lrvb (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "The program with its rows on many machines, by MPI: it writes the fit files
of lrvb, to the last bit.")
endif()
include(CPack)
