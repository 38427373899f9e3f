#include "mpi/program.hpp"

int main(int argc, char** argv) {
    return lrvb::mpi::run_program(argc, argv, "0.0.0");
}
