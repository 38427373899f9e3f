#pragma once

#include <lrvb/data/row_source.hpp>
#include <lrvb/export.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/row_model.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Normal mixtures that stream their data.
///
///     π ~ Dirichlet(α, …, α),   μ_k ~ Normal(m0, v0),   Λ_k ~ Wishart(ν0, W0),   x_n ~ Σ_k π_k Normal(μ_k, Λ_k⁻¹)
///
/// or, with diagonal covariances (and so with one column), a Gamma(a0, b0) precision τ_kp for every column. The
/// indicators are maximised out: with ρ_nk = E log π_k + E log N(x_n | μ_k, Λ_k),
///
///     L(m) = E log p(π, μ, Λ) + Σ_n w_n log Σ_k exp ρ_nk,
///
/// and its Hessian is the Schur complement Σ_n w_n [Σ_k r_nk ∇²ρ_nk + Σ_{k<l} r_nk r_nl (∇ρ_nk − ∇ρ_nl)(∇ρ_nk −
/// ∇ρ_nl)ᵀ], r the responsibilities. One pass over the rows gives all of it, in memory that does not grow with them.
///
/// Inside, columns are standardised (the model is the same, its prior carried over), so that an offset or a unit cannot
/// cost digits. All statistics of the layout are in these inner units; `in_data_units` is the door.
///
/// Threads: const queries of one model may be asked from several threads at once, and say what they would say alone.
/// Rows that are resident are read by all of them together. A source that is not has one place that it is read at, so
/// queries that pass over it wait for each other; `ask_rows` does from its first row to its last, so its visitor must
/// not ask the same model for a pass (std::logic_error). The source itself belongs to its model: two models with one
/// source that is not resident, or the caller's own reading of it, are the caller's to keep apart.
namespace lrvb {

enum class MixtureCovariance { full, diagonal };

/// Priors of a mixture, in the data's units.
struct LRVB_EXPORT MixturePrior {
    double alpha = 1.0;
    Vector mean;           // m0
    Matrix variance;       // v0; diagonal where covariances are
    double shape = 0.0;    // a0, of diagonal covariances
    Vector rate;           // b0, of each column
    double dof = 0.0;      // ν0, of full covariances
    Matrix inverse_scale;  // W0⁻¹

    /// α = 1, m0 = 0, v0 = 100, Gamma(2.0001, 0.1); for P columns with full covariances ν0 = P + 3.0002, W0⁻¹ = 0.2 I,
    /// which is that Gamma at P = 1.
    static MixturePrior paper(Index columns, MixtureCovariance covariance);
    /// The same on columns standardised by this centre and scale.
    static MixturePrior standardised(const Vector& centre, const Vector& scale, MixtureCovariance covariance);
};

struct MixtureSpecification {
    Index components = 1;
    MixtureCovariance covariance = MixtureCovariance::full;
    /// Absent: the paper's prior on columns standardised to mean 0 and (population) sd 1; where rows of a column lie
    /// far closer together than its sd, with a rate (or a diagonal entry of W0⁻¹) that is as much smaller, so that it
    /// does not decide how wide narrow components are (docs/method.md).
    std::optional<MixturePrior> prior;
    /// The source's last column holds row weights: 0 is as if the row were not there, 2 as if it were there twice.
    bool weighted = false;
    int threads = 1;
    /// The inner units, x' = (x − centre)/scale; absent: the weighted mean and population sd of each column.
    std::optional<std::pair<Vector, Vector>> standardisation;
    /// Rows whose w r_k r_l is below this are left out of the curvature between components k and l (several columns
    /// only). `MixtureModel::skipped_bound` says what that may have cost.
    double skip_below = 1e-14;
};

class LRVB_EXPORT MixtureModel final : public RowModel {
  public:
    /// Reads the data once, for its size, centre and scale. Throws std::runtime_error for data that cannot be fitted
    /// (not finite, a constant column, fewer rows than components), std::invalid_argument for a specification that
    /// makes no sense.
    MixtureModel(std::shared_ptr<RowSource> source, const MixtureSpecification& specification);
    ~MixtureModel() override;

    const Layout& layout() const override;
    std::uint64_t identity() const override;
    State start(Random& random) const override;
    Expansion sweep(State& state) const override;
    Expansion expand(const Vector& mean, Order order) const override;
    Expansion expand_at(const State& state, Order order) const override;
    Vector log_joint(const Matrix& statistics, int threads) const override;
    /// A pass over the rows for each column.
    JointGradients log_joint_gradients(const Matrix& statistics, int threads) const override;
    /// The components.
    Exchangeable exchangeable() const override;
    /// Draws the indicators, then weights, locations and precisions. None where rows are not in memory, or have
    /// weights that are no whole numbers.
    std::optional<double> gibbs_work() const override;
    void gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const override;
    const std::vector<std::string>& hyperparameters() const override;
    Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const override;
    /// The columns.
    std::vector<std::string> inputs() const override;
    void ask_rows(const State& state, const Matrix& directions, RowChange change,
                  const RowVisitor& visit) const override;
    std::string tally_rows(const State& state, const Matrix& directions, RowChange change, const RowTally& tally,
                           const std::string& asked) const override;
    void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const override;
    void replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                        const ReplicateVisitor& visit) const override;

    Index components() const;
    Index columns() const;
    Index rows() const;
    /// Rows whose weight is not zero.
    Index used_rows() const;
    const MixturePrior& prior() const;
    /// The inner units.
    const Vector& centre() const;
    Vector scale() const;
    double total_weight() const;

    /// Handles, for clamping and starting: weights (two components or more), and the location and precision of a
    /// component; with full covariances those of all columns are one variable (column 0).
    AnyVariable weights() const;
    AnyVariable location(Index component, Index column) const;
    AnyVariable precision(Index component, Index column) const;
    bool has_full_covariances() const;
    /// For starts of one's own: rows that were kept at the first reading (all of them, or a sample), standardised, and
    /// their weights; the state that ascent makes of their responsibilities (rows × components); and their scores at a
    /// state, the logarithms of their responsibilities up to a constant of each row.
    const Matrix& start_rows() const;
    const Vector& start_weights() const;
    State start_from(const Matrix& responsibilities) const;
    Matrix start_scores(const State& state) const;
    /// Passes over the data since construction.
    Index passes() const;

    /// The Hessian has the data in sums Σ_n w_n r_nk r_nl φφᵀ, with φ = (1, y, products of y) of the row's distance y
    /// from where components k and l meet, in inner units. No entry of these sums is off by more than this for the rows
    /// that `skip_below` left out. Takes a pass.
    double skipped_bound(const State& state) const;

    /// Statistics by name, in the units of the data: "log_pi[1]", "mu[1]", "tau[1]", "log_tau[1]"; with P columns
    /// "mu[1,2]", "tau[1,2]", or "Lambda[1,2,2]" and "log_det_Lambda[1]".
    Functionals in_data_units(const std::vector<std::string>& names) const;
    /// The same by their positions among the stacked statistics of the layout.
    Functionals statistics_in_data_units(const std::vector<Index>& statistics) const;

    struct Prediction {
        Matrix responsibilities;  // one row a row
        Vector log_density;       // of the mixture with its parameters at their posterior means
    };
    /// For new rows, in the units of the data. A row that is further than 1e100 sds from the centre belongs to whom
    /// it does in that direction; its log density is −∞ where no double holds it.
    Prediction predict(const State& state, const Matrix& rows) const;

    /// The state with components in ascending order of their first mean, held or not; those with equal ones stay in
    /// their order. A component takes all that is its own along: its entry of the weights, and what of it is clamped.
    /// So what `location(0, 0)` held may be at `location(2, 0)` afterwards: handles name places, and `State::clamped`
    /// says which are held.
    State ordered(const State& state) const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb
