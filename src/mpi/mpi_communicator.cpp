#include "mpi/mpi_communicator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mpi.h>
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

int MpiCommunicator::ranks_here() {
    MPI_Comm here = MPI_COMM_NULL;
    int count = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &count);
    MPI_Comm_free(&here);
    return count;
}

}  // namespace lrvb::mpi
