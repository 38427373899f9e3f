#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/expression.hpp>
#include <lrvb/model/layout.hpp>
#include <lrvb/types.hpp>

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace lrvb {

/// What a response is asked about: linear combinations of statistics. Written as expressions in the model's variables
/// ({mu[0] - mu[1], log(tau)}), by the names of statistics ({"mu[1]", "log_tau"}), by their positions, or as the
/// columns of a matrix of weights. Handles and positions count from 0, names from 1.
class LRVB_EXPORT Functionals {
  public:
    /// weightsᵀ T + constants: one column of weights over the stacked statistics for each functional.
    struct Resolved {
        SparseMatrix weights;
        Vector constants;
    };

    Functionals(std::initializer_list<Expression> expressions);
    Functionals(std::initializer_list<const char*> names);
    Functionals(std::vector<Expression> expressions) : content_(std::move(expressions)) {}
    Functionals(std::vector<std::string> names) : content_(std::move(names)) {}
    Functionals(std::vector<Index> statistics) : content_(std::move(statistics)) {}
    Functionals(const SparseMatrix& weights) : Functionals(weights, Vector::Zero(weights.cols())) {}
    Functionals(const SparseMatrix& weights, const Vector& constants) : content_(Resolved{weights, constants}) {}

    /// Throws std::invalid_argument for a name that the layout does not have, and for an expression that is not linear
    /// in its statistics.
    Resolved resolve(const Layout& layout) const;

  private:
    std::variant<std::vector<Expression>, std::vector<std::string>, std::vector<Index>, Resolved> content_;
};

}  // namespace lrvb
