#pragma once

#include <lrvb/export.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

/// Processes that work together, and how they talk: messages from one to another, and what is made of these,
///
///     broadcast   rank 0's message to all            along a binomial tree: size − 1 messages, in log₂ size rounds
///     reduce      the values of all to rank 0        the same backwards; neighbours are merged, in the order of ranks
///
/// so that no rank sends or receives more than ⌈log₂ size⌉ messages. Nothing here knows MPI: the program lrvb-mpi
/// brings a communicator of it, tests bring one that simulates thousands of ranks in one process.
namespace lrvb {

class LRVB_EXPORT Communicator {
  public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Messages between two ranks arrive in the order in which they were sent.
    virtual void send(int to, const std::string& message) = 0;
    virtual std::string receive(int from) = 0;
};

/// Rank 0's message, at all ranks. All of them must call it.
LRVB_EXPORT std::string broadcast(Communicator& communicator, std::string message);

/// merge(left, right) of the values of some ranks and of those that follow them.
using Merge = std::function<std::string(std::string left, std::string right)>;

/// The values of all ranks, merged, at rank 0; elsewhere nothing. `merge` must be associative. All ranks must call it.
LRVB_EXPORT std::string reduce(Communicator& communicator, std::string own, const Merge& merge);

/// Ranks in one process, one after the other: each has its communicator, and messages wait until they are received.
/// Since `broadcast` sends to higher ranks and `reduce` to lower ones, ranks run from the first to the last for the one
/// and from the last to the first for the other. Receiving what was not sent is std::logic_error.
class LRVB_EXPORT SimulatedRanks {
  public:
    explicit SimulatedRanks(int size);
    ~SimulatedRanks();
    SimulatedRanks(const SimulatedRanks&) = delete;
    SimulatedRanks& operator=(const SimulatedRanks&) = delete;

    Communicator& operator[](int rank);
    int size() const { return size_; }

    /// Messages and bytes so far, and the most messages that one rank sent and received.
    long messages() const { return messages_; }
    long bytes() const { return bytes_; }
    long most_of_a_rank() const;
    void forget_counts();

  private:
    class Rank;

    int size_;
    std::map<int, std::unique_ptr<Rank>> ranks_;
    std::map<std::pair<int, int>, std::deque<std::string>> waiting_;
    std::map<int, long> own_messages_;
    long messages_ = 0;
    long bytes_ = 0;
};

}  // namespace lrvb
