#pragma once

#include <lrvb/data/row_crew.hpp>
#include <lrvb/kind/kind.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace lrvb {

/// Ranks that are simulated, rank 0 in front.
class Crew {
  public:
    explicit Crew(int size) : ranks_(size) {
        for (int rank = 0; rank < size; ++rank) {
            crews_.push_back(std::make_shared<RowCrew>(ranks_[rank], row_questions(), "1"));
        }
        crews_[0]->set_others([this] {
            std::vector<bool> goes_on(crews_.size());
            for (std::size_t rank = 1; rank < crews_.size(); ++rank) goes_on[rank] = crews_[rank]->hear();
            for (std::size_t rank = crews_.size() - 1; rank > 0; --rank) {
                if (goes_on[rank]) crews_[rank]->answer();
            }
        });
    }
    ~Crew() { crews_[0]->set_others({}); }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    DataOptions options(std::size_t memory = kDataMemory) const {
        DataOptions options;
        options.memory = memory;
        options.crew = crews_[0];
        return options;
    }

  private:
    SimulatedRanks ranks_;
    std::vector<std::shared_ptr<RowCrew>> crews_;
};

}  // namespace lrvb
