#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/regression/design.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/model/row_model.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Linear regression with an unknown precision.
///
///     y_n ~ Normal(α + Σ_j β_j (x_nj − x̄_j), 1/τ),   α ~ Normal,   β_j ~ Normal,   τ ~ Gamma
///
/// With weights a row counts w_n times, Σ_n w_n log p(y_n | …): weights that are whole numbers are rows that occur as
/// often, and a row of weight zero is not there. Sums over rows below are then weighted ones, and N is Σ_n w_n.
///
/// Every coefficient has a Normal factor of its own: mean field without correlations, which the linear response gives
/// back. α is the intercept at the mean of the columns; the one at zero is α − Σ_j β_j x̄_j. The prior speaks of α (as
/// that of brms does): a prior on the intercept at zero would tie all coefficients together, and would say something
/// else whenever a column's origin moves. Without an intercept there is no α, and x̄ is taken as 0.
///
/// Inside, response and columns are centred and scaled to mean 0 and (population) sd 1, without an intercept scaled
/// only, to root mean square 1; and coefficients are counted from a least-squares estimate (shrunk as the prior asks),
/// so that neither an offset, nor a unit, nor a small residual costs digits. The model is the same, its prior carried
/// over, and its bound is that of the data in their own units. The rows are folded by blocks into the triangle R of a
/// QR decomposition of [1 X y]: nothing but the design is ever in memory, and no iteration of a fit looks at the rows
/// again. All statistics of the layout are in the inner units; `in_data_units` is the door.
namespace lrvb {

/// Priors of a regression, in the data's units.
struct LRVB_EXPORT RegressionPrior {
    double intercept_mean = 0.0;  // of α, the intercept at the mean of the columns
    double intercept_variance = 0.0;
    Vector mean;  // of each β_j, in the design's order, factors' columns included
    Vector variance;
    double shape = 0.0;  // of τ
    double rate = 0.0;
    /// Where α is the intercept; absent: at the means of the columns. So that a prior stays where it is when rows
    /// change.
    std::optional<Vector> centre;

    /// Normal(0, variance 100) for every coefficient and Gamma(2.0001, rate) for the precision, of the standardised
    /// response on the standardised columns: no change of units changes it. The rate is 0.1, or, where least squares
    /// leaves less than a 25th of the variance, 2.5 RSS/(N − p): a prior of the whole response's width would decide how
    /// large the noise of precise data is. Throws as RegressionModel does, but for
    /// collinear columns.
    static RegressionPrior automatic(const RegressionDesign& design);
    /// The numbers of the paper's mixtures, in the data's units: Normal(0, 100) for every coefficient, Gamma(2.0001,
    /// 0.1) for the precision.
    static RegressionPrior paper(Index columns);
};

class LRVB_EXPORT RegressionModel final : public RowModel {
  public:
    /// An absent prior is the automatic one. Keeps no reference to the design.
    ///
    /// Throws std::runtime_error, with the columns and the remedy, for data that cannot be fitted: fewer than two rows
    /// (that have weight, or weights that add up to less), a weight that is negative or not finite,
    /// a number that is not finite, a constant response, a constant column beside an intercept, a column of zeros, or a
    /// column that is a linear combination of others (with the intercept, up to a constant). That is when less than
    /// 1e-10 of its sd is left of it, or less than its numbers were rounded by; more columns than rows can bear are a
    /// case of it. Throws std::invalid_argument for a prior or a design that makes no sense.
    explicit RegressionModel(const RegressionDesign& design, const std::optional<RegressionPrior>& prior = {});
    /// The same, but keeps the design, so that its rows can be asked.
    explicit RegressionModel(std::shared_ptr<const RegressionDesign> design,
                             const std::optional<RegressionPrior>& prior = {});

    const Layout& layout() const override { return inner_.layout(); }
    std::uint64_t identity() const override { return inner_.identity(); }
    State start(Random& random) const override { return inner_.start(random); }
    Expansion sweep(State& state) const override { return inner_.sweep(state); }
    Expansion expand(const Vector& mean, Order order) const override { return inner_.expand(mean, order); }
    /// "intercept_mean" and "intercept_variance" (of α), "mean[wt]" and "variance[wt]" of every slope, "shape" and
    /// "rate": the numbers of the prior, in the data's units.
    const std::vector<std::string>& hyperparameters() const override { return inner_.hyperparameters(); }
    Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const override {
        return inner_.hyperparameter_gradient(mean, hyperparameter);
    }

    /// The response: what a regression takes as given does not move.
    std::vector<std::string> inputs() const override;
    /// Throws std::invalid_argument where the design was not kept.
    void ask_rows(const State& state, const Matrix& directions, RowChange change,
                  const RowVisitor& visit) const override;
    /// Throws std::invalid_argument where the design was not kept.
    void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const override;
    /// Throws std::invalid_argument where the design was not kept.
    void replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                        const ReplicateVisitor& visit) const override;

    /// Those without weight too.
    Index rows() const { return rows_; }
    bool has_intercept() const { return intercept_; }
    /// Of the slopes: "wt", "species=setosa".
    const std::vector<std::string>& names() const { return names_; }
    /// Its centre included.
    const RegressionPrior& prior() const { return prior_; }
    /// Where α is the intercept, the means x̄ of the columns unless the prior says otherwise; zeros without an
    /// intercept.
    const Vector& centre() const { return centre_; }

    /// By name, in the units of the data: "intercept" (at zero), "beta[wt]", "tau", "log_tau".
    Functionals in_data_units(const std::vector<std::string>& names) const;
    /// All coefficients, in the units of the data: α, the intercept at the centre, if there is one, then every slope.
    Functionals coefficients() const;
    /// E_q[1/τ], in the units of the data.
    double noise_variance(const State& state) const;

  private:
    struct Folded;
    class Door;
    RegressionModel(const RegressionDesign& design, const Folded& folded);

    void require_rows() const;
    Vector weights_of(Index first, Index count) const;
    /// The rows, each as often as it counts.
    std::vector<Index> repeated_rows() const;
    /// Row n of the inner design, intercept first.
    Vector inner_row(Index n) const;
    /// Its residual at the origin.
    double inner_residual(Index n, const Vector& x) const;

    /// The variable of a slope.
    Index slope(Index j) const { return j + (intercept_ ? 1 : 0); }

    bool intercept_;
    Index rows_;
    std::shared_ptr<const RegressionDesign> design_;
    std::vector<std::string> names_;
    Vector centre_;
    Vector scale_;
    double response_centre_;
    double response_scale_;
    RegressionPrior prior_;
    Vector origin_;  // the standardised coefficients from which the inner ones are counted, intercept first
    MultilinearModel inner_;
};

/// All that predictions need of a fit, and so all that a file must keep of it besides the terms:
///
///     RegressionPosterior posterior{model.has_intercept(), model.centre(), response.mean(model.coefficients()),
///                                   response.covariance(model.coefficients()), model.noise_variance(optimum.state)};
struct RegressionPosterior {
    bool intercept = true;
    Vector centre;
    Vector mean;        // of the coefficients, as RegressionModel::coefficients has them
    Matrix covariance;  // their linear response covariance
    double noise_variance = 0.0;
};

struct RegressionPrediction {
    Vector mean;
    /// Of the mean of the response at these columns: what more data would reduce.
    Vector mean_sd;
    /// Of a new response: √(mean_sd² + E[1/τ]).
    Vector sd;
};

/// For new rows of the design's columns, in the units of the data.
LRVB_EXPORT RegressionPrediction predict(const RegressionPosterior& posterior, const Matrix& columns);

}  // namespace lrvb
