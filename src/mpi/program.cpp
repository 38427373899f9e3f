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
#include <cstdlib>
#include <exception>
#include <memory>
#include <mpi.h>
#include <string_view>
#include <thread>

namespace lrvb::mpi {

namespace {

constexpr const char* kLastWords = "lrvb: ended by a signal, as when another rank dies: nothing was written\n";

// Whether mpirun started this process as rank 0, which it says before MPI_Init does.
bool begins_as_first() {
    const char* const rank = std::getenv("PMIX_RANK");
    return rank != nullptr && std::string_view(rank) == "0";
}

int run_first(const std::shared_ptr<RowCrew>& crew, int threads, int argc, char** argv) {
    try {
        crew->require_same_version();
    } catch (const std::exception& error) {
        cli::complain(error.what());
        return cli::kBadInput;
    }
    cli::set_ranks({crew, threads});
    const int code = cli::run_program(argc, argv);
    cli::set_ranks({});
    return code;
}

}  // namespace

int run_program(int argc, char** argv, const std::string& version) {
    cli::leave_no_files_behind();
    if (begins_as_first()) cli::say_when_terminated(kLastWords);
    // Threads of a rank compute; one at a time talks to other ranks.
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    int code = cli::kSuccess;
    {
        MpiCommunicator communicator;
        const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        const int threads = std::max(1, cores / communicator.ranks_here());
        register_query_tallies();
        const auto crew = std::make_shared<RowCrew>(communicator, row_questions(), version);
        // Whoever of the machine of rank 0 is ended first says it, rank 0 alone until all have come this far.
        if (communicator.rank() == 0) cli::say_when_terminated(kLastWords, communicator.said());
        communicator.wait_here();
        if (communicator.said() != nullptr) cli::say_when_terminated(kLastWords, communicator.said());
        if (communicator.rank() == 0) {
            code = run_first(crew, threads, argc, argv);
            cli::say_when_terminated(nullptr);  // all was said; others may end before this one
            crew->end(code);
        } else {
            std::signal(SIGINT, SIG_IGN);  // rank 0 says what becomes of it
            code = crew->serve();
            cli::say_when_terminated(nullptr);
        }
    }
    MPI_Finalize();
    return code;
}

}  // namespace lrvb::mpi
