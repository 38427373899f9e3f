#pragma once

#include <string>

namespace lrvb::mpi {

/// The program `lrvb-mpi`, of this version: rank 0 is the program `lrvb`, whose rows all ranks have.
int run_program(int argc, char** argv, const std::string& version);

}  // namespace lrvb::mpi
