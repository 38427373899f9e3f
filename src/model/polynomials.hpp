#pragma once

#include "model/monomial_sum.hpp"

#include <lrvb/model/expression.hpp>
#include <lrvb/model/layout.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace lrvb::detail {

/// Many small polynomials φ_i(m) = Σ coefficient × Π m of the stacked means, end to end, with their gradients. They
/// cost what their terms cost: no Hessian pattern and no index by statistic, which are for the one form that a fit
/// walks through again and again. The derivatives ∂L/∂α of a model are kept so, and what its rows are made of.
class Polynomials {
  public:
    /// Appends one; its number.
    std::uint32_t add(const MonomialSum& sum);
    /// Appends a lowered expression, whose coefficients remember how they move with hyperparameters.
    std::uint32_t add(const Expression& lowered, const Layout& layout);

    std::size_t size() const { return first_terms_.size() - 1; }

    /// gradient += ∇φ_i.
    void add_gradient(std::size_t i, const Vector& mean, Vector& gradient) const;

    /// Dᵀ∇φ_i, for directions D, one a column.
    void along(std::size_t i, const Vector& mean, const Matrix& directions,
               Eigen::Ref<Eigen::RowVectorXd> result) const;

    /// φ_i at these means, one a column.
    Eigen::RowVectorXd values(std::size_t i, const Matrix& means) const;

    /// sum += factor × φ_i, and the same for ∂φ_i/∂α of every hyperparameter α.
    void add_to(MonomialSum& sum, std::vector<MonomialSum>& derivatives, std::size_t i, double factor) const;
    /// The same of φ_i times one more statistic, whose number is above all of its own.
    void add_times(std::uint32_t statistic, MonomialSum& sum, std::vector<MonomialSum>& derivatives,
                   std::size_t i) const;

    /// The same with other statistics: map(statistics) gives those of each term, in ascending order.
    template <class Map>
    Polynomials remapped(const Map& map) const {
        Polynomials result = *this;
        result.starts_.assign(1, 0);
        result.pool_.clear();
        for (std::size_t term = 0; term < coefficients_.size(); ++term) {
            const std::vector<std::uint32_t> mapped = map(statistics(term));
            result.pool_.insert(result.pool_.end(), mapped.begin(), mapped.end());
            result.starts_.push_back(static_cast<std::uint32_t>(result.pool_.size()));
        }
        return result;
    }

  private:
    struct Derivative {
        std::uint32_t term;
        std::uint32_t hyperparameter;
        double value;
    };

    void add_term(double coefficient, std::span<const std::uint32_t> statistics);
    std::span<const std::uint32_t> statistics(std::size_t term) const {
        return {pool_.data() + starts_[term], pool_.data() + starts_[term + 1]};
    }
    /// Calls visit(term, hyperparameter derivatives of its coefficient) for every term.
    template <class Visit>
    void visit_terms(std::size_t i, Visit visit) const;
    /// Calls visit(statistic, derivative in it) for every factor of every term.
    template <class Visit>
    void visit_gradient(std::size_t i, const Vector& mean, Visit visit) const;

    std::vector<std::uint32_t> first_terms_ = {0};  // polynomial i has the terms first_terms_[i] to first_terms_[i + 1]
    std::vector<double> coefficients_;
    std::vector<std::uint32_t> starts_ = {0};  // term t holds the statistics pool_[starts_[t], starts_[t + 1])
    std::vector<std::uint32_t> pool_;
    std::vector<Derivative> derivatives_;  // of the few coefficients that move, in the order of their terms
};

}  // namespace lrvb::detail
