#pragma once

#include "model/joint/form.hpp"
#include "model/joint/predictors.hpp"

#include <lrvb/model/joint_model.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What a JointModel keeps: the base's terms over the statistics (t, x, pairs of x), in which they are linear in second
/// moments, and the same sorted by products of t.
namespace lrvb::detail {

/// F at some means, and what a derivative of it needs.
struct JointAt {
    Vector t;
    Vector x;
    Vector phi;
    bool fine = false;  // whether P could be factored
    bool has_covariance = false;
    Matrix factor;       // of S⁻¹, lower
    Matrix covariance;   // S
    double bound = 0.0;  // of what is left of F without φ_k u_k: ½ log|S|, rows under a link, and constants
    double magnitude = 0.0;
    // Of rows under a link, by distinct design.
    Vector predictors;
    Vector variances;
    Matrix whitened;  // L⁻¹Aᵀ, S⁻¹ = LLᵀ; empty where there are many coefficients
    Vector weights;   // ω
    PredictorTerms terms;
};

/// How S follows (t, m) where there are rows under a link: W = A S, Y of PredictorResponse, and g_k of every product.
struct JointFollow {
    Matrix crossed;  // Sᵀ Aᵀ, a column for each design
    PredictorResponse response;
    Matrix products;  // g_k, a column for each product that is quadratic
};

class JointCore {
  public:
    JointCore(const MultilinearModel& base, const std::vector<Index>& joined_variables,
              const std::vector<PredictorRows>& rows);
    /// The same with other terms: rows weighed otherwise, a step of a hyperparameter, a tilt.
    JointCore(const JointCore& other, MultilinearModel changed);

    [[noreturn]] static void refuse_precision(const Layout& layout);
    static std::vector<Index> joinable(const MultilinearModel& base, const std::vector<PredictorRows>& rows);

    Index others() const { return shape.others; }
    Index coefficients() const { return shape.coefficients; }
    const MultilinearForm& inner_form() const { return *inner.form_; }
    bool has_rows() const { return inner.rows_ != nullptr; }

    /// At some means; the last ones are kept. S itself only where it is asked for.
    std::shared_ptr<const JointAt> at(const Vector& mean, bool covariance = true) const;
    /// (t, m, mmᵀ + S on the pairs): what the terms of the base are linear in.
    Vector extended(const Vector& t, const Vector& x, const Matrix* covariance) const;
    /// How that moves, a column for each direction over (t, m), with S at its best everywhere.
    Matrix extended_directions(const JointAt& at, const Matrix& directions) const;
    /// Its transpose: from a gradient over the extended statistics to one over (t, m).
    Vector folded(const JointAt& at, const Vector& extended_gradient) const;
    /// tr(S A_k S A_l)/2 over the products that are quadratic.
    Matrix between(const JointAt& at) const;
    /// Only where there are rows under a link. Throws std::domain_error, if it is to be `strict`, where S is not at a
    /// strict maximum.
    JointFollow follow(const JointAt& at, bool strict = true) const;
    /// How v moves along directions of (t, m): dv, of which dω = −(f3 dμ + D dv).
    Matrix variance_directions(const JointAt& at, const JointFollow& follow, const Matrix& directions) const;
    /// F's second derivatives at a point where all is fine.
    SparseMatrix hessian(const JointAt& at, const Vector& u) const;
    /// ∂F/∂m.
    Vector coefficient_slope(const JointAt& at) const;
    /// The coefficients after a step that maximises the quadratic about these means, with those that are clamped where
    /// they are; F does not fall.
    std::shared_ptr<const JointAt> improved(std::shared_ptr<const JointAt> at, const std::vector<bool>& clamped) const;
    /// A state to begin at.
    State start(Random& random) const;
    /// Without trying labels.
    State plain_start(Random& random) const;
    /// Coordinate ascent, (m, S) first.
    Expansion sweep(State& state) const;
    /// F without the entropies of the others.
    Expansion value_at(const JointAt& at) const;
    /// Σ_k φ_k u_k and the bound, with Σ|terms|.
    std::pair<double, double> value(const JointAt& at) const;
    /// The state that the base's terms are asked at.
    State inner_state(const JointAt& at, const State& state) const;

    std::shared_ptr<const Layout> base_layout;
    std::vector<Index> joined;          // variables of the base
    std::vector<Index> positions;       // of the base's statistics, −1 for those that are pairs
    std::vector<Index> base_variables;  // of the others, in the base's layout
    JointShape shape;
    Vector units;  // of the coefficients' Points
    MultilinearModel inner;
    JointForm form;
    std::shared_ptr<const JointPredictors> predictors;  // none where no row has a link
    Layout layout;
    std::uint64_t identity = next_model_identity();

  private:
    void set_layout();
    void find_units();
    void factorise(JointAt& at, bool covariance) const;
    bool climb(JointAt& at) const;
    /// −∂²F/∂m∂m, or what comes near it and is positive definite; its lower triangle.
    Matrix own_curvature(const JointAt& at) const;
    bool evaluate(const Matrix& precision, JointAt& at) const;
    /// A S Aᵀ.
    Matrix crossed(const JointAt& at) const;

    struct Remap;
    static MultilinearModel remapped(const MultilinearModel& base, Remap& remap);
    JointCore(const MultilinearModel& base, const std::vector<Index>& joined_variables,
              const std::vector<PredictorRows>& rows, const std::shared_ptr<Remap>& remap);
    static std::shared_ptr<Remap> remap_of(const MultilinearModel& base, const std::vector<Index>& joined);

    mutable std::mutex mutex_;
    mutable std::shared_ptr<const JointAt> last_;
};

}  // namespace lrvb::detail
