#pragma once

#include <lrvb/base/communicator.hpp>

#include <atomic>
#include <mpi.h>

namespace lrvb::mpi {

/// The ranks of MPI_COMM_WORLD, between MPI_Init and MPI_Finalize. Messages may have any length. Who waits for one
/// leaves its core to others after a moment.
class MpiCommunicator final : public Communicator {
  public:
    MpiCommunicator();
    ~MpiCommunicator() override;
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(int to, const std::string& message) override;
    std::string receive(int from) override;

    /// Ranks on this machine.
    int ranks_here() const { return ranks_here_; }

    /// Set by whoever says that the ranks are ending, of those on the machine of rank 0; null on other machines.
    std::atomic<bool>* said() const { return said_; }

    /// Waits for the ranks of this machine.
    void wait_here() const { MPI_Barrier(here_); }

  private:
    int rank_ = 0;
    int size_ = 1;
    int ranks_here_ = 1;
    MPI_Comm here_ = MPI_COMM_NULL;
    MPI_Win shared_ = MPI_WIN_NULL;
    std::atomic<bool>* said_ = nullptr;
};

}  // namespace lrvb::mpi
