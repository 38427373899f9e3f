#pragma once

#include <lrvb/base/communicator.hpp>

namespace lrvb::mpi {

/// The ranks of MPI_COMM_WORLD, between MPI_Init and MPI_Finalize. Messages may have any length. Who waits for one
/// leaves its core to others after a moment.
class MpiCommunicator final : public Communicator {
  public:
    MpiCommunicator();

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(int to, const std::string& message) override;
    std::string receive(int from) override;

    /// Ranks on this machine.
    static int ranks_here();

  private:
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace lrvb::mpi
