#include <lrvb/base/communicator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb {

// Rank r has the ranks r … r + width − 1 below it, where width is the lowest bit of r: for rank 0, all.
std::string broadcast(Communicator& communicator, std::string message) {
    const int rank = communicator.rank();
    const int size = communicator.size();
    int width = 1;
    while (width < size && (rank & width) == 0) width *= 2;
    if (rank != 0) message = communicator.receive(rank - width);
    for (width /= 2; width > 0; width /= 2) {
        if (rank + width < size) communicator.send(rank + width, message);
    }
    return message;
}

std::string reduce(Communicator& communicator, std::string own, const Merge& merge) {
    const int rank = communicator.rank();
    const int size = communicator.size();
    for (int width = 1; width < size; width *= 2) {
        if ((rank & width) != 0) {
            communicator.send(rank - width, own);
            return {};
        }
        if (rank + width < size) own = merge(std::move(own), communicator.receive(rank + width));
    }
    return own;
}

class SimulatedRanks::Rank final : public Communicator {
  public:
    Rank(SimulatedRanks& all, int rank) : all_(all), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }

    void send(int to, const std::string& message) override {
        ++all_.messages_;
        all_.bytes_ += static_cast<long>(message.size());
        ++all_.own_messages_[rank_];
        all_.waiting_[{rank_, to}].push_back(message);
    }

    std::string receive(int from) override {
        std::deque<std::string>& waiting = all_.waiting_[{from, rank_}];
        if (waiting.empty()) {
            throw std::logic_error(
                fmt::format("rank {} waits for a message of rank {} that was never sent", rank_, from));
        }
        std::string message = std::move(waiting.front());
        waiting.pop_front();
        ++all_.own_messages_[rank_];
        return message;
    }

  private:
    SimulatedRanks& all_;
    int rank_;
};

SimulatedRanks::SimulatedRanks(int size) : size_(size) {
    if (size < 1) throw std::invalid_argument(fmt::format("SimulatedRanks: size is {}, but must be positive", size));
    for (int rank = 0; rank < size; ++rank) ranks_.emplace(rank, std::make_unique<Rank>(*this, rank));
}

SimulatedRanks::~SimulatedRanks() = default;

Communicator& SimulatedRanks::operator[](int rank) {
    return *ranks_.at(rank);
}

long SimulatedRanks::most_of_a_rank() const {
    long most = 0;
    for (const auto& [rank, count] : own_messages_) most = std::max(most, count);
    return most;
}

void SimulatedRanks::forget_counts() {
    own_messages_.clear();
    messages_ = 0;
    bytes_ = 0;
}

}  // namespace lrvb
