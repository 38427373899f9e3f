#include "cli/program.hpp"

int main(int argc, char** argv) {
    return lrvb::cli::run_program(argc, argv);
}
