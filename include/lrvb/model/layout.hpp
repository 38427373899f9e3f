#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/any_family.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace lrvb {

/// One variable of a model: its name, its family, and where its statistics stand in the stacked vectors.
struct VariableInfo {
    std::string name;
    AnyFamily family;
    Index offset = 0;
    Index size = 0;
};

/// How a model's variables are laid out: statistics of all variables are stacked in order of declaration, and every
/// natural parameter, mean, gradient and Hessian of the library uses that order.
class LRVB_EXPORT Layout {
  public:
    /// `model` is the tag of the builder whose variables these are; 0 where no builder made them.
    explicit Layout(std::uint32_t model = 0) : model_(model) {}

    std::uint32_t model() const { return model_; }

    /// Appends a variable; its index. Refuses an empty name and one that is taken.
    Index add(const std::string& name, const AnyFamily& family);

    Index variable_count() const { return static_cast<Index>(variables_.size()); }
    /// Number of statistics of all variables together.
    Index size() const { return size_; }

    const VariableInfo& operator[](Index variable) const { return variables_[static_cast<std::size_t>(variable)]; }
    auto begin() const { return variables_.begin(); }
    auto end() const { return variables_.end(); }

    /// The variable of that name; throws std::invalid_argument where there is none.
    Index variable(const std::string& name) const;
    bool has_variable(const std::string& name) const { return by_name_.contains(name); }
    /// The position of the statistic of that name ("mu[1]", "log_tau"); throws std::invalid_argument where there is
    /// none.
    Index statistic(const std::string& name) const;
    /// The same for many, in one look over the layout.
    std::vector<Index> statistics(const std::vector<std::string>& names) const;

    /// The variable that a statistic belongs to.
    Index variable_of(Index statistic) const;
    std::string statistic_name(Index statistic) const;
    /// Of all of them, stacked.
    std::vector<std::string> statistic_names() const;

    /// The slice of a stacked vector that belongs to a variable.
    auto segment(const Vector& stacked, Index variable) const {
        const VariableInfo& info = (*this)[variable];
        return stacked.segment(info.offset, info.size);
    }
    auto segment(Vector& stacked, Index variable) const {
        const VariableInfo& info = (*this)[variable];
        return stacked.segment(info.offset, info.size);
    }

  private:
    std::vector<VariableInfo> variables_;
    std::unordered_map<std::string, Index> by_name_;
    Index size_ = 0;
    std::uint32_t model_;
};

}  // namespace lrvb
