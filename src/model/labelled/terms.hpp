#pragma once

#include "model/labelled/rows.hpp"
#include "model/multilinear_form.hpp"
#include "model/polynomials.hpp"

#include <lrvb/model/model.hpp>

#include <memory>
#include <vector>

/// All labelled rows of a model. Their coefficients c = φ(m) are polynomials of the means, so that with the counts G in
/// the place of more means,
///
///     B(m, G) = Σ_g G_g φ_g(m)
///
/// is one multilinear form, which has all that is needed: φ = ∂B/∂G, the gradient ∂B/∂m = Σ G ∇φ of log Z(φ(m)) (with G
/// the expected counts there), J = ∂²B/∂G∂m, and ∇² log Z(φ(m)) = ∂²B/∂m∂m + Jᵀ Cov J. With G held, B is what
/// coordinate ascent climbs.
namespace lrvb::detail {

class LabelledTerms {
  public:
    using Parts = std::vector<std::shared_ptr<const LabelledRows>>;

    /// `coupling` is B: the counts of all parts are numbered after the statistics. `derivatives`: ∂B/∂α, one each.
    /// `calls`: how many parts each call made.
    LabelledTerms(Index statistics, Parts parts, std::vector<Index> calls, const MonomialSum& coupling,
                  std::shared_ptr<const Polynomials> derivatives);

    const Parts& parts() const { return parts_; }
    const std::vector<Index>& calls() const { return calls_; }
    const MultilinearForm& coupling() const { return coupling_; }
    Index statistics() const { return statistics_; }
    std::size_t term_count() const { return coupling_.term_count(); }
    bool has_chains() const;
    double work(const Vector& weights) const;
    bool has_whole_weights(const Vector& weights) const;

    /// Some of the rows of every part, which stand for all of them: for `fill_counts` alone.
    LabelledTerms sampled(Index most, const Vector& weights, Random& random) const;
    /// How many rows stand behind one of a part.
    double scale(std::size_t part) const { return scales_[part]; }
    Index first_count(std::size_t part) const { return statistics_ + first_counts_[part]; }

    /// (m, 0).
    Vector extended(const VectorView& mean) const;
    /// φ at (m, ·).
    Vector coefficients(const Vector& extended) const;

    /// Adds log Z to value and magnitude, and sets the counts in (m, G).
    void fill_counts(Vector& extended, const Vector& weights, int threads, Expansion& into) const;
    /// The same with labels that are drawn.
    void draw_counts(Vector& extended, const Vector& weights, Random& random) const;
    /// block += ∂B/∂m over a run of statistics.
    void add_block_gradient(const Vector& extended, Index offset, Eigen::Ref<Vector> block) const;

    void add_expansion(const Vector& mean, Order order, const Vector& weights, int threads, Expansion& into) const;
    Vector values(const Matrix& statistics, const Vector& weights, int threads) const;
    /// gradient += ∂²/∂m∂α.
    void add_hyperparameter_gradient(const Vector& mean, Index hyperparameter, const Vector& weights, int threads,
                                     Vector& gradient) const;
    /// The same with φ + step ∂φ/∂α.
    LabelledTerms stepped(Index hyperparameter, double step) const;
    Matrix probabilities(const Vector& mean, Index call, const Vector& weights) const;

  private:
    Matrix jacobian(const SparseMatrix& hessian, std::size_t part) const;

    Index statistics_;
    Parts parts_;
    std::vector<Index> calls_;
    std::vector<Index> first_counts_;          // of each part, and the number of all
    std::vector<double> scales_;               // of samples: how many rows stand behind one
    std::vector<std::vector<Index>> touched_;  // the statistics that a part's coefficients depend on
    MultilinearForm coupling_;
    std::shared_ptr<const Polynomials> derivatives_;
};

}  // namespace lrvb::detail
