#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/model/field.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

/// The posterior of a Gaussian field, by adding up over its variance parameters ψ:
///
///     p(x | y) = Σ_k w_k p(x | ψ_k, y),     w_k ∝ exp e(ψ_k),     e(ψ) = log p(y | ψ) + log p(ψ).
///
/// Given ψ the field is normal, and for normal rows exactly so; what is left is an integral in a few dimensions. Up to
/// five of them, nodes are a lattice on the axes of −∇²e at the top of e, filled from there outwards until e has
/// dropped by `drop` nats: the trapezoid rule, whose error falls exponentially with the step, along long tails too
/// (towards an sd of zero, where steps are no longer than 1 in ψ). Beyond, they are importance draws from a Student
/// t about the top, with Pareto-smoothed weights.
///
/// Where e has several tops that matter (FieldModel::modes), each that no other lattice reaches has a lattice of its
/// own, and they are added up as they weigh.
///
/// Its own error is told by nodes that the rule did not use, halfway between those of the lattice: by the rule that
/// they make, and by what was interpolated there; of coefficients by every other node of the lattice against all of
/// them. Of draws it is their effective size. What it does not see: where conditionals are approximations, their error.
///
/// Quantiles of coefficients are those of the mixture of normals; those of functions of ψ are of e interpolated between
/// nodes by cubics.
namespace lrvb {

struct FieldIntegralOptions {
    /// Between nodes, in sds along each axis; 0: 0.5 in one dimension, 0.6 in two, 1 in three and four, 1.25 in five;
    /// where rows are not normal, 0.85 in two and 1.25 beyond.
    double step = 0.0;
    /// Nodes reach out until e has dropped by so many nats; 0: 13 in one and two dimensions, 11 in three, 9.5 beyond;
    /// where rows are not normal, 10 in two and 9 beyond.
    double drop = 0.0;
    /// Dimensions of ψ up to which there is a lattice.
    Index lattice_dimensions = 5;
    /// A lattice with more nodes than these is given up for draws.
    Index most_nodes = 20000;
    /// By other nodes in other coordinates, closer to each other: what another integral is checked by.
    bool other_nodes = false;
    /// Of importance sampling.
    Index draws = 2000;
    std::uint64_t seed = 1;
    /// Changes no bit of the answer.
    int threads = 1;
};

/// Some quantities, one an entry.
struct FieldMarginals {
    Vector mean;
    Vector sd;
    Matrix quantiles;  // one row a probability, one column a quantity; empty where none were asked for
    /// What nodes that were not used, or the effective size, say: of means and quantiles in sds, of sds relative to
    /// them.
    Vector mean_error;
    Vector sd_error;
    /// Of functions of ψ, the part of `mean_error` that is of quantiles.
    Vector quantile_error;
    /// Of functions of ψ: which share of the first absolute moment about the mean, and of the variance, the outermost
    /// nodes of the lattice have. Where it is not small, the moment rests on what is beyond.
    Vector outer_first;
    Vector outer_second;
};

/// Values of ψ, and coefficients given it, in the order of the layout, one draw a column. Weights differ by what the
/// interpolation between nodes missed, and add up to one. Where rows are not normal, some of the coefficients are drawn
/// with longer tails, and weigh accordingly: `log_density`, of what was integrated, is then only near that of the
/// model, and the difference of the two, FieldModel::log_joint − log_density, added to the log weights, makes them
/// draws of the model's own posterior.
struct FieldDraws {
    Matrix statistics;
    Vector log_weights;
    Vector log_density;
};

class LRVB_EXPORT FieldIntegral {
  public:
    /// The model must outlive it.
    explicit FieldIntegral(const FieldModel& model, const FieldIntegralOptions& options = {});
    FieldIntegral(const FieldModel&& model, const FieldIntegralOptions& options = {}) = delete;

    /// Multiplications of the integral with all marginals, predicted without doing any of it.
    static double work(const FieldModel& model, const FieldIntegralOptions& options = {});

    bool is_lattice() const { return lattice_; }
    Index nodes() const { return psi_.cols(); }
    /// One node a column.
    const Matrix& psi() const { return psi_; }
    /// They add up to one.
    const Vector& weights() const { return weights_; }
    /// The tops that have a lattice of their own, and what of the posterior each of these holds.
    const std::vector<Vector>& tops() const { return tops_; }
    const std::vector<double>& shares() const { return shares_; }
    /// log p(y), in the units of the data.
    double log_evidence() const { return log_evidence_; }
    /// Of importance draws; −∞ and the number of nodes for a lattice.
    double k_hat() const { return k_hat_; }
    double ess() const { return ess_; }
    /// No lattice was cut, and k̂ is below its threshold.
    bool reliable() const { return reliable_; }

    /// Of every coefficient, in the units and the order of the layout, without ψ and without quantiles.
    FieldMarginals coefficients() const;
    /// Linear combinations of the layout's statistics, ψ among them, in the units of the functionals, with quantiles at
    /// these probabilities.
    FieldMarginals marginals(const Functionals& functionals, const std::vector<double>& probabilities = {}) const;
    using Function = std::function<Vector(const Vector& psi)>;
    /// Functions of ψ.
    FieldMarginals functions(const Function& function, const std::vector<double>& probabilities = {}) const;
    /// The sds, correlations and σ, as FieldModel::variances has them.
    FieldMarginals variances(const std::vector<double>& probabilities = {}) const;
    /// Of linear combinations, and then of functions of ψ.
    Matrix covariance(const Functionals& functionals, const Function& function = {}) const;

    /// ψ from the interpolated e, spread evenly over it, and coefficients given it: `each` draws of these for every ψ,
    /// where the field given ψ is dear.
    FieldDraws draw(Index count, std::uint64_t seed, Index each = 1) const;

  private:
    struct Lattice;
    struct Piece;  // what is made of a lattice
    struct Parts;  // of functionals, at some nodes

    /// Whether there are not too many nodes.
    bool fill_lattices();
    void refine();
    bool fill_lattice(const Vector& top, const Matrix& axes, std::vector<Piece>& pieces) const;
    void interpolate(const Lattice& lattice, const std::vector<std::vector<int>>& kept, Piece& piece) const;
    void join(std::vector<Piece>& pieces);
    void weigh_fresh(const std::vector<Piece>& pieces, double highest);
    Vector fine_place(Index cell, Random& random) const;
    void correct(Lattice& lattice, const std::vector<std::vector<int>>& kept) const;
    bool keeps_conditionals() const;
    std::shared_ptr<const FieldConditional> conditional(Index node) const;
    void sample(const Vector& top, const Matrix& axes);
    Parts parts(const Functionals::Resolved& functionals) const;
    /// `fresh`: values at the nodes that the rule did not use.
    FieldMarginals summary(const Parts& own, const Matrix* fresh = nullptr) const;
    void add_outer_shares(const Matrix& values, FieldMarginals& result) const;
    Index piece_of_node(Index node) const;
    Index node_of_cell(Index cell) const { return cell * nodes() / fine_.cols(); }

    const FieldModel* model_;
    FieldIntegralOptions options_;
    bool lattice_ = true;
    bool reliable_ = true;
    Matrix psi_;
    Vector weights_;
    std::vector<bool> coarse_;  // nodes of the coarser lattice
    // Of the nodes of a lattice whose rows are not normal, where there is room for all: each takes a search.
    std::vector<std::shared_ptr<const FieldConditional>> conditionals_;
    double log_evidence_ = 0.0;
    double k_hat_ = 0.0;
    double ess_ = 0.0;
    // Between nodes: places, their weights, and of each piece the sides of the cells about them.
    Matrix fine_;
    Vector fine_weights_;
    std::vector<Matrix> cells_;
    std::vector<Index> first_nodes_;  // of each piece
    std::vector<Vector> tops_;
    std::vector<double> shares_;
    // Nodes that the rule does not use, between those that it does: what they weigh, and would by interpolation.
    Matrix fresh_psi_;
    Vector fresh_weights_;
    Vector fresh_expected_;
};

}  // namespace lrvb
