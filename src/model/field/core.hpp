#pragma once

#include "base/block_sums.hpp"
#include "model/field/precision.hpp"
#include "model/field/structure.hpp"
#include "model/field/variance_parameters.hpp"

#include <lrvb/model/model.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace lrvb::detail {

class RowField;
struct FieldInner;

/// ψ as the field sees it: prior precisions and their derivatives, and log p(ψ).
struct PsiPoint {
    std::vector<EffectCovariance> parts;  // of each factor, of each term, then of σ (1 × 1) where there is one
    std::vector<Matrix> precisions;       // of each factor
    Vector fixed_precision;               // of the fixed effects and the terms' coefficients
    double log_prior = 0.0;
    Vector prior_gradient;

    /// Whether all sds are such that there are precisions.
    bool has_precisions() const;
};

/// The last expansion to second order: a fit, its response and its file ask for the same one in turn.
class LastExpansion {
  public:
    /// Null where that was at another mean.
    std::shared_ptr<const Expansion> at(const Vector& mean) const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return expansion_ && mean_.size() == mean.size() && mean_ == mean ? expansion_ : nullptr;
    }
    void keep(const Vector& mean, const Expansion& expansion) const {
        auto kept = std::make_shared<const Expansion>(expansion);
        const std::lock_guard<std::mutex> lock(mutex_);
        mean_ = mean;
        expansion_ = std::move(kept);
    }

  private:
    mutable std::mutex mutex_;
    mutable Vector mean_;
    mutable std::shared_ptr<const Expansion> expansion_;
};

/// All that is in a field's model and does not change: rows folded, prior in inner units, layout. With d = x − origin
/// and C = AᵀWA, normal rows are
///
///     log p(y | x, ψ) = −½ N log 2πσ² − ½ τ (e − 2 dᵀg + dᵀC d),      e = rᵀWr, g = AᵀWr, r = y − A origin.
class FieldCore {
  public:
    FieldCore(std::shared_ptr<const FieldRows> rows, const std::optional<FieldPrior>& prior);

    /// F and its derivatives at (ψ, m): `spread` is what of S enters the gradient in ψ.
    struct Spread {
        std::vector<Matrix> sums;  // Σ_g S_gg of each factor and term
        double trace = 0.0;        // tr CS
    };
    struct Squares {
        std::vector<Matrix> sums;  // Σ_g u_g u_gᵀ
        double residual = 0.0;     // rᵀWr
    };

    PsiPoint psi_point(const VectorView& psi) const;
    /// Null where a pivot fails.
    std::unique_ptr<PrecisionFactor> factor(const PsiPoint& point) const;
    Spread spread(const PsiPoint& point, const PrecisionInverse& inverse) const;
    /// Residual forces g − C d too.
    Squares squares(const VectorView& x, Vector& force) const;
    Vector solve_mean(const PsiPoint& point, const PrecisionFactor& factor) const;
    /// log p(y, x, ψ).
    double log_joint(const PsiPoint& point, const VectorView& x, const Squares& squares,
                     double* magnitude = nullptr) const;
    /// In x, of that.
    Vector coefficient_gradient(const PsiPoint& point, const VectorView& x, const Vector& force) const;
    /// In ψ, of F; of log p(y, x, ψ), without spread.
    Vector psi_gradient(const PsiPoint& point, const Squares& squares, const Spread* spread) const;
    double bound(const PsiPoint& point, const PrecisionFactor& factor, double log_joint) const;

    /// e(ψ) = log p(y | ψ) + log p(ψ).
    struct Evidence {
        double value = 0.0;
        Vector gradient;
        Vector mean;
        Spread spread;
        Squares squares;
        std::shared_ptr<const FieldInner> inner;  // of rows that are not normal
    };
    /// Without a value that is finite where it cannot be had. `near` is that of a ψ near by, which saves steps where
    /// rows are not normal.
    Evidence evidence(const VectorView& psi, bool gradient, const Evidence* near = nullptr) const;
    /// Where to look for tops, the guess first.
    std::vector<Vector> starts() const;
    /// The tops that hold at least a ten-thousandth of what the best one holds, which is the first: found once. Throws
    /// as top does.
    const std::vector<FieldMode>& modes(int threads) const;
    /// Whether they are found in the time of a fit.
    bool has_cheap_modes() const;
    /// What was found at the top too, where asked for.
    Vector top(const std::optional<Vector>& from, Evidence* found = nullptr) const;
    /// ∂²F/∂ψ∂ψ with m held, or, with `held`, with S too, by central differences of the gradient.
    Matrix psi_curvature(const VectorView& psi, const Squares& squares, const Spread* held) const;
    /// Ascends `value` along steps of −curvature⁻¹ gradient, halved as needed.
    static Vector bounded_step(const Matrix& curvature, const Vector& gradient, double longest);

    /// The design with its rows, which are brought here, once, where others have them.
    const FieldDesign& row_design() const;

    Index variance_count() const { return variance_count_; }
    Index size() const { return shape().size; }
    const FieldShape& shape() const { return design->shape(); }
    /// Where the ψ of a factor, a term, or of σ (the last part), begin.
    Index part_offset(std::size_t part) const { return part_offset_[part]; }
    const Likelihood& likelihood() const { return *design->data().likelihood; }
    /// Where the ψ of a parameter of the likelihood is: these come last.
    Index parameter_offset(std::size_t parameter) const {
        return variance_count_ - static_cast<Index>(likelihood().parameters().size() - parameter);
    }
    /// Beyond the parts where there is no σ.
    std::size_t sigma_part() const { return shape().parts(); }
    /// An inner sd of a part times it is the data's.
    double part_unit(std::size_t part, Index effect) const;
    /// Σ_g u_g u_gᵀ of a part's coefficients.
    Matrix part_squares(std::size_t part, const VectorView& x) const;
    /// Σ_g S_gg of a part.
    Matrix part_spread(std::size_t part, const PrecisionInverse& inverse, const Matrix& fixed) const;

    struct Hyperparameter {
        enum class Kind { fixed_mean, fixed_sd, scale, parameter };
        Kind kind;
        Index place;       // fixed effect, part, or parameter of the likelihood
        Index effect = 0;  // of a part
        bool second = false;
    };

    std::shared_ptr<const FieldRows> source;
    bool has_rows = true;  // in the design: it is not others who have them
    RowBlocks row_blocks;  // of these
    std::shared_ptr<const FieldDesign> design;
    std::shared_ptr<const FieldStructure> structure;
    std::shared_ptr<const PrecisionPlan> plan;
    FieldPrior prior;
    Vector fixed_mean;       // inner
    Vector fixed_precision;  // inner; of terms ψ has it (PsiPoint)
    Vector fixed_unit;       // inner times it is the data's
    std::vector<EffectParameters> parts;
    FieldBlocks blocks;
    Vector origin;
    Vector forces;                // g
    double squared = 0.0;         // e
    double rows = 0.0;            // N
    double log_precisions = 0.0;  // Σ log of precision weights
    double precision_unit = 1.0;  // their geometric mean
    Layout layout;
    SparseMatrix hessian_pattern;  // of the coefficients, lower
    LastExpansion last_expansion;
    std::vector<FieldVariance> variances;
    std::vector<std::string> hyperparameter_names;
    std::vector<Hyperparameter> hyperparameters;
    std::uint64_t identity = 0;
    bool has_sigma = true;
    std::shared_ptr<const RowField> row_field;  // null where rows are normal

  private:
    void set_prior(const std::optional<FieldPrior>& given);
    void make_layout();
    void fold_residuals();
    void keep_rounding();
    Vector guess() const;
    FieldMode mode_at(const Vector& psi, double value, int threads) const;

    Vector guess_;
    mutable std::once_flag modes_found_;
    mutable std::vector<FieldMode> modes_;
    mutable std::once_flag brought_;
    mutable std::unique_ptr<const FieldDesign> brought_design_;

    Index variance_count_ = 0;
    std::vector<Index> part_offset_;
};

/// The (weighted) mean of a response, over exp(offset) where the link is log; where all are zero, as if they came to a
/// half. Of rows that are here.
double mean_response(const FieldData& data);

/// Refuses data that make no field, in words for whoever gave them.
void require_field(const FieldData& data);
/// The same of rows that are here or with others, of which their sizes tell enough; and these.
FieldScales sound_scales(const FieldRows& rows);

/// Step of differences in ψ: rounding and truncation both leave about 1e-8.
inline constexpr double kPsiStep = 1e-4;

}  // namespace lrvb::detail
