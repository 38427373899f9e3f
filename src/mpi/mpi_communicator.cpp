#include "mpi/mpi_communicator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mpi.h>
#include <new>
#include <thread>

namespace lrvb::mpi {

namespace {

constexpr int kLengthTag = 1;
constexpr int kBytesTag = 2;
constexpr std::size_t kPiece = std::size_t{1} << 28;  // bytes: MPI counts by int
constexpr int kPolls = 2000;                          // before a core is left to others
constexpr auto kNap = std::chrono::microseconds(50);

void wait_for_message(int from) {
    for (int polls = 0;; ++polls) {
        int is_there = 0;
        MPI_Iprobe(from, kLengthTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        if (is_there != 0) return;
        if (polls < kPolls) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(kNap);
        }
    }
}

}  // namespace

MpiCommunicator::MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here_);
    MPI_Comm_size(here_, &ranks_here_);
    int rank_here = 0;
    MPI_Comm_rank(here_, &rank_here);
    // A byte of memory that they share, where the first of them, which by their order is rank 0, has it.
    void* place = nullptr;
    MPI_Win_allocate_shared(rank_here == 0 ? sizeof(*said_) : 0, 1, MPI_INFO_NULL, here_, &place, &shared_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(shared_, 0, &size, &unit, &place);
    int has_first = rank_ == 0 ? 1 : 0;
    if (has_first == 1) new (place) std::atomic<bool>(false);
    MPI_Bcast(&has_first, 1, MPI_INT, 0, here_);
    if (has_first == 1) said_ = static_cast<std::atomic<bool>*>(place);
}

MpiCommunicator::~MpiCommunicator() {
    MPI_Win_free(&shared_);
    MPI_Comm_free(&here_);
}

void MpiCommunicator::send(int to, const std::string& message) {
    const std::uint64_t length = message.size();
    MPI_Send(&length, 1, MPI_UINT64_T, to, kLengthTag, MPI_COMM_WORLD);
    for (std::size_t place = 0; place < message.size(); place += kPiece) {
        const auto count = static_cast<int>(std::min(kPiece, message.size() - place));
        MPI_Send(message.data() + place, count, MPI_BYTE, to, kBytesTag, MPI_COMM_WORLD);
    }
}

std::string MpiCommunicator::receive(int from) {
    wait_for_message(from);
    std::uint64_t length = 0;
    MPI_Recv(&length, 1, MPI_UINT64_T, from, kLengthTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string message(length, '\0');
    for (std::size_t place = 0; place < message.size(); place += kPiece) {
        const auto count = static_cast<int>(std::min(kPiece, message.size() - place));
        MPI_Recv(message.data() + place, count, MPI_BYTE, from, kBytesTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return message;
}

}  // namespace lrvb::mpi
