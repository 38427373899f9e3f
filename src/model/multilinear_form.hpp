#pragma once

#include "model/monomial_sum.hpp"

#include <lrvb/model/model.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace lrvb::detail {

/// L(m) = Σ_R G_R Π_{r∈R} m_r, with its gradient and Hessian. Each monomial touches a variable at most once, so L is
/// linear in the means of any one variable, and the diagonal blocks of ∇²L vanish.
class MultilinearForm {
  public:
    MultilinearForm(const MonomialSum& sum, Index statistics);

    /// A copy with tᵀm added.
    MultilinearForm tilted(const Vector& tilt) const;
    /// A copy with a sum of monomials added. What cancels to rounding becomes zero.
    MultilinearForm changed(const MonomialSum& change) const;

    Expansion expand(const Vector& mean, Order order) const;
    double value(const VectorView& mean) const;
    Vector gradient(const Vector& mean) const;
    /// Σ|terms| of each entry of the gradient.
    Vector gradient_magnitude(const Vector& mean) const;
    /// ∂L/∂m_r over the given run of statistics: the update of one variable.
    void block_gradient(const Vector& mean, Index offset, Eigen::Ref<Vector> block) const;

    /// Whether L stays what it is (to rounding) where every statistic s stands in the place of moved[s].
    bool is_invariant(const std::vector<std::uint32_t>& moved) const;

    std::size_t term_count() const { return coefficients_.size(); }

    /// visit(coefficient, statistics in ascending order) for every monomial, the constant included.
    template <class Visit>
    void visit_terms(const Visit& visit) const {
        visit(constant_, std::span<const std::uint32_t>());
        for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(statistics_); ++s) {
            if (linear_[s] != 0.0) visit(linear_[s], std::span<const std::uint32_t>(&s, 1));
        }
        for (std::size_t term = 0; term < term_count(); ++term) {
            visit(coefficients_[term], std::span(pool_.data() + starts_[term], pool_.data() + starts_[term + 1]));
        }
    }

  private:
    struct PairSlot {
        std::uint32_t term;
        std::uint32_t first;  // positions in the term
        std::uint32_t second;
        std::uint32_t entry;  // position in the Hessian's values
    };

    void index_by_statistic();
    /// The term with these statistics, two or more; term_count() where there is none.
    std::size_t find(std::span<const std::uint32_t> statistics) const;
    void build_hessian_pattern();
    double product_without(std::size_t term, std::size_t skip_a, std::size_t skip_b, const Vector& mean) const;
    SparseMatrix hessian(const Vector& mean) const;

    Index statistics_;
    double constant_ = 0.0;
    Vector linear_;  // coefficients of the monomials of degree one, dense

    // Monomials of degree two and more: term i holds the statistics pool_[starts_[i], starts_[i + 1]).
    std::vector<double> coefficients_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> pool_;

    // Statistic s is in the terms terms_of_[term_starts_[s], term_starts_[s + 1]).
    std::vector<std::uint32_t> term_starts_;
    std::vector<std::uint32_t> terms_of_;

    SparseMatrix hessian_pattern_;
    std::vector<PairSlot> pairs_;
};

}  // namespace lrvb::detail
