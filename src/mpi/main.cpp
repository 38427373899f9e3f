#include "mpi/program.hpp"

int main(int argc, char** argv) {
    return lrvb::mpi::run_program(argc, argv, LRVB_VERSION);
}
