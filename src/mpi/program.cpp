#include "mpi/program.hpp"

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/signals.hpp"
#include "mpi/mpi_communicator.hpp"

#include <lrvb/data/row_crew.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/query/row_tallies.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <mpi.h>
#include <thread>

namespace lrvb::mpi {

namespace {

int run_first(const std::shared_ptr<RowCrew>& crew, int threads, int argc, char** argv) {
    try {
        crew->require_same_version();
    } catch (const std::exception& error) {
        cli::complain(error.what());
        return cli::kBadInput;
    }
    cli::set_ranks({crew, threads});
    cli::say_when_terminated("lrvb: ended by a signal, as when another rank dies: nothing was written\n");
    const int code = cli::run_program(argc, argv);
    cli::say_when_terminated(nullptr);  // all was said; others may end before this one
    cli::set_ranks({});
    return code;
}

}  // namespace

int run_program(int argc, char** argv, const std::string& version) {
    // Threads of a rank compute; one at a time talks to other ranks.
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    int code = cli::kSuccess;
    {
        MpiCommunicator communicator;
        const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        const int threads = std::max(1, cores / MpiCommunicator::ranks_here());
        register_query_tallies();
        const auto crew = std::make_shared<RowCrew>(communicator, row_questions(), version);
        if (communicator.rank() == 0) {
            code = run_first(crew, threads, argc, argv);
            crew->end(code);
        } else {
            std::signal(SIGINT, SIG_IGN);  // rank 0 says what becomes of it
            code = crew->serve();
        }
    }
    MPI_Finalize();
    return code;
}

}  // namespace lrvb::mpi
