#pragma once

#include "bugs/evaluator.hpp"

#include <map>
#include <memory>
#include <vector>

namespace lrvb::bugs {

/// The plates of a block, each made once.
class Plates {
  public:
    Plates(const Block& block, const Table& table, std::size_t most) : block_(block), table_(table), most_(most) {}

    /// That of the loops, outermost first; everything that their bounds need must be known. Throws EvaluationProblem.
    std::shared_ptr<const Plate> of(const std::vector<std::size_t>& loops);

  private:
    Plate extended(const Plate& outer, const Loop& loop) const;

    const Block& block_;
    const Table& table_;
    std::size_t most_;
    std::map<std::vector<std::size_t>, std::shared_ptr<const Plate>> known_;
};

}  // namespace lrvb::bugs
