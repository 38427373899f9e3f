#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/model.hpp>

#include <memory>
#include <string>
#include <vector>

namespace lrvb {

namespace detail {
class MultilinearForm;
class Polynomials;
}  // namespace detail

/// A conditionally conjugate model: its expected log joint is multilinear in the means of its variables (paper,
/// Appendix A.1),
///
///     L(m) = Σ_R G_R Π_{r∈R} m_r,     each monomial touching a variable at most once,
///
/// with data and constants folded into the coefficients G_R. Made by ModelBuilder::build, and immutable: copies share
/// their terms.
class LRVB_EXPORT MultilinearModel final : public Model {
  public:
    MultilinearModel(std::shared_ptr<const Layout> layout, std::shared_ptr<const detail::MultilinearForm> form,
                     Vector start_natural, std::vector<std::string> hyperparameters,
                     std::shared_ptr<const detail::Polynomials> hyperparameter_derivatives);

    const Layout& layout() const override { return *layout_; }
    std::uint64_t identity() const override { return identity_; }
    State start(Random& random) const override;
    Expansion sweep(State& state) const override;
    Expansion expand(const Vector& mean, Order order) const override;
    const std::vector<std::string>& hyperparameters() const override { return hyperparameters_; }
    Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const override;

    /// The model with tᵀT(θ) added to its log joint: the perturbation whose response is the covariance.
    MultilinearModel tilted(const Vector& tilt) const;

    /// Number of monomials of degree two and more: what an iteration costs.
    std::size_t term_count() const;

  private:
    std::string cancellation(Index variable, const Vector& natural, const Vector& mean) const;

    std::uint64_t identity_ = next_model_identity();
    std::shared_ptr<const Layout> layout_;
    std::shared_ptr<const detail::MultilinearForm> form_;  // L
    Vector start_natural_;
    std::vector<std::string> hyperparameters_;
    std::shared_ptr<const detail::Polynomials> hyperparameter_derivatives_;  // ∂L/∂α, one each
};

}  // namespace lrvb
