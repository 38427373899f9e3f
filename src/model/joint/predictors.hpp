#pragma once

#include "likelihood/row_likelihood.hpp"

#include <lrvb/model/joint_model.hpp>
#include <lrvb/types.hpp>

#include <functional>
#include <utility>
#include <vector>

/// Rows under a link, with predictors η = A x + o that are linear in coefficients x ~ N(m, S). Rows with the same a_u
/// share μ_u = a_uᵀm and v_u = a_uᵀSa_u, so that all matrices are over the distinct a_u, and sums over their rows stand
/// in for those of one: with f3 = Σ E ℓ''', f4 = Σ E ℓ'''' and so on, weights included,
///
///     S⁻¹ = P + Aᵀ diag(ω) A,   ω = −Σ E ℓ''(μ, v)                          the best S, for given P and m
///     dω = −(f3 dμ + ½ f4 dv),   dv = N (g + C f3 dμ)                        how it follows m and P
///     C = (A S Aᵀ)∘(A S Aᵀ),   N = (I − ½ C f4)⁻¹,   g = −diag(A S dP S Aᵀ)
///
/// With C = RRᵀ and D = ½ f4, N = I + R (I − RᵀDR)⁻¹ RᵀD, and I − RᵀDR is positive definite where S is at a strict
/// maximum.
namespace lrvb::detail {

/// So many distinct a_u: a few tenths of a second a step.
constexpr Index kMostPredictors = 2000;

/// Rows at some means and variances of predictors, and the sums over those that share a design.
struct PredictorTerms {
    std::vector<LikelihoodTerms> sets;
    Vector first, second, third, fourth;  // of each distinct design
    double value = 0.0;
    double magnitude = 0.0;
};

/// How S follows, at its best.
class PredictorResponse {
  public:
    /// `crossed` is A S Aᵀ. Not `fine` where S is not at a strict maximum.
    PredictorResponse(const Matrix& crossed, const PredictorTerms& terms);

    bool fine() const { return fine_; }
    /// (I − DC)⁻¹ values: a Newton step of ω. Where S is not near a maximum, as if no f4 were positive.
    Vector step(const Vector& values) const;
    /// N C times a matrix is YᵀY times it; this is Y times it.
    Matrix root_times(const Matrix& values) const;
    /// YᵀY times it.
    Matrix respond(const Matrix& values) const;
    const Vector& bend() const { return bend_; }  // D

  private:
    bool fine_ = false;
    Vector bend_;    // D = ½ f4
    Vector scales_;  // v
    Matrix root_;    // R, of C scaled to ones on its diagonal
    Matrix factor_;  // of I − RᵀDR
    Vector used_;    // the D in it, scaled
};

class JointPredictors {
  public:
    /// The coefficient that an atom is, −1 where it is none.
    using CoefficientOf = std::function<Index(const Atom&)>;

    /// `weights` of the model's rows; empty: all are one. Throws std::invalid_argument.
    JointPredictors(const std::vector<PredictorRows>& sets, Index coefficients, const CoefficientOf& coefficient_of,
                    Index model_rows, const Vector& weights);
    JointPredictors reweighted(const Vector& weights) const;

    Index designs() const { return static_cast<Index>(starts_.size()) - 1; }

    Vector times(const Vector& x) const;                                // A x
    Vector transposed(const Vector& values) const;                      // Aᵀ values
    Matrix transposed_rows(const Matrix& values) const;                 // Aᵀ values, of a matrix
    Matrix times_matrix(const Matrix& x) const;                         // A X
    double row_times(Index design, const Eigen::RowVectorXd& x) const;  // a_uᵀ x
    /// A S Aᵀ.
    Matrix crossed(const Matrix& covariance) const;
    /// L⁻¹Aᵀ, with L the lower factor of S⁻¹: A S Aᵀ is the products of its columns. Where covariates are far from
    /// zero, S nearly cancels in A S Aᵀ, but not here.
    Matrix whitened(const Matrix& factor) const;
    /// ½ Aᵀ f3 N C f3 A.
    Matrix bent(const PredictorResponse& response, const Vector& third) const;
    /// lower += Aᵀ diag(weights) A, its lower triangle.
    void fold(const Vector& weights, Matrix& lower) const;

    PredictorTerms terms(const Vector& means, const Vector& variances) const;
    /// Σ w ℓ at a value of x.
    double log_likelihood(const Vector& x, Vector* gradient) const;
    /// Coefficients that normal rows about a guess for each row would have, with the precision P and force h.
    Vector guess(const Matrix& precision, const Vector& force) const;

    /// What named rows add to the bound as their weights grow, E ℓ' and ½ E ℓ'' of each as if it weighed one, set by
    /// set.
    std::vector<RowLikelihood::RowSlopes> slopes(const Vector& means, const Vector& variances) const;
    /// answers += E ℓ' dμ + ½ E ℓ'' dv, for the model's rows from `first` on, a row each: `moved` and `spread` have dμ
    /// and dv of the designs, a direction a column.
    void add_slopes(const std::vector<RowLikelihood::RowSlopes>& slopes, const Matrix& moved, const Matrix& spread,
                    Index first, Matrix& answers) const;
    /// answers += ℓ as if each row weighed one, likewise; `predictors` of the designs, a value of x a column.
    void add_likelihoods(const Matrix& predictors, Index first, Matrix& answers) const;

  private:
    struct Set {
        std::shared_ptr<const RowLikelihood> likelihood;
        std::vector<Index> design;  // of each row
        Index first_row = -1;       // of the model; −1: not named
    };
    struct Entry {
        Index coefficient;
        double value;
    };

    Vector spread(const Set& set, const Vector& by_design) const;
    /// The set's rows among those of the model from `first` on, so many: the first, and how many.
    static std::pair<Index, Index> rows_within(const Set& set, Index first, Index count);

    Index coefficients_ = 0;
    std::vector<std::size_t> starts_ = {0};
    std::vector<Entry> entries_;
    std::vector<Set> sets_;
};

}  // namespace lrvb::detail
