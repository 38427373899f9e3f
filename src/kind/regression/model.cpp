#include "kind/regression/prior.hpp"
#include "kind/regression/triangle.hpp"

#include <lrvb/kind/regression/model.hpp>
#include <lrvb/model/builder.hpp>

#include <Eigen/QR>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace lrvb {
namespace {

using detail::Standardised;

Standardised with_centre(Standardised units, const std::optional<RegressionPrior>& prior, bool intercept) {
    if (!prior || !prior->centre || !intercept) return units;
    for (std::size_t j = 0; j < units.columns.size(); ++j) {
        units.columns[j].centre = (*prior->centre)[static_cast<Index>(j)];
    }
    return units;
}

/// A coefficient's prior in the inner units, θ' = (θ − centre)/unit.
struct InnerNormal {
    std::string mean_name;
    std::string variance_name;
    double mean = 0.0;
    double variance = 0.0;
    double unit = 0.0;
    double inner_mean = 0.0;

    double inner_precision() const { return unit * unit / variance; }
};

std::vector<InnerNormal> inner_priors(const RegressionPrior& prior, const RegressionDesign& design,
                                      const Standardised& units) {
    std::vector<InnerNormal> priors;
    if (design.intercept) {
        priors.push_back({"intercept_mean", "intercept_variance", prior.intercept_mean, prior.intercept_variance,
                          units.response.scale, (prior.intercept_mean - units.response.centre) / units.response.scale});
    }
    for (Index j = 0; j < prior.mean.size(); ++j) {
        const std::string& name = design.names[static_cast<std::size_t>(j)];
        const double unit = units.response.scale / units.columns[static_cast<std::size_t>(j)].scale;
        priors.push_back({fmt::format("mean[{}]", name), fmt::format("variance[{}]", name), prior.mean[j],
                          prior.variance[j], unit, prior.mean[j] / unit});
    }
    return priors;
}

/// The mean of the coefficients for a plausible precision τ: minimises τ‖q − R b‖² + Σ_j p_j (b_j − m_j)². It only has
/// to be near the optimum.
Vector shrunk_estimate(const Matrix& triangle, const std::vector<InnerNormal>& priors, double rows, double shape,
                       double inner_rate) {
    const Index count = triangle.cols() - 1;
    const double residual = triangle(count, count) * triangle(count, count);
    const double precision = (shape + 0.5 * rows) / (inner_rate + 0.5 * residual);
    Matrix stacked = Matrix::Zero(2 * count, count);
    Vector right(2 * count);
    stacked.topRows(count) = std::sqrt(precision) * triangle.topLeftCorner(count, count);
    right.head(count) = std::sqrt(precision) * triangle.col(count).head(count);
    for (Index j = 0; j < count; ++j) {
        const InnerNormal& prior = priors[static_cast<std::size_t>(j)];
        stacked(count + j, j) = std::sqrt(prior.inner_precision());
        right[count + j] = stacked(count + j, j) * prior.inner_mean;
    }
    return stacked.householderQr().solve(right);
}

/// A number that moves with a hyperparameter, as an expression.
Expression moving(const Hyperparameter& hyperparameter, double value, double derivative) {
    return {{{Constant(value, {{hyperparameter.index(), derivative}}), {}}}, hyperparameter.model()};
}

MultilinearModel build(const RegressionDesign& design, const RegressionPrior& prior, const Standardised& units,
                       const std::vector<InnerNormal>& priors, const Matrix& triangle, const Vector& origin) {
    ModelBuilder builder;
    std::vector<Variable<family::Normal>> coefficients;
    for (std::size_t i = 0; i < priors.size(); ++i) {
        const InnerNormal& own = priors[i];
        const Index j = static_cast<Index>(i);
        const Hyperparameter mean = builder.hyperparameter(own.mean_name, own.mean);
        const Hyperparameter variance = builder.hyperparameter(own.variance_name, own.variance);
        const bool is_intercept = design.intercept && j == 0;
        const std::string name =
            is_intercept ? "intercept"
                         : fmt::format("beta[{}]", design.names[i - static_cast<std::size_t>(design.intercept)]);
        coefficients.push_back(
            builder.add(name, normal(moving(mean, own.inner_mean - origin[j], 1.0 / own.unit),
                                     moving(variance, own.inner_precision(), -own.inner_precision() / own.variance))));
    }
    const double square = units.response.scale * units.response.scale;
    const Hyperparameter shape = builder.hyperparameter("shape", prior.shape);
    const Hyperparameter rate = builder.hyperparameter("rate", prior.rate);
    const auto tau = builder.add("tau", gamma(shape, moving(rate, prior.rate / square, 1.0 / square)));

    // The rows of the triangle have the likelihood of all rows, but for the number of these, which the normalising
    // constants count, and for the unit of the response.
    const Index count = origin.size();
    Vector y = triangle.col(count);
    y.head(count) -= triangle.topLeftCorner(count, count).triangularView<Eigen::Upper>() * origin;
    const Matrix folded = triangle.leftCols(count);
    builder.observe_linear(y, folded, coefficients, tau);
    const double rows = design.total_weight();
    const double other_rows = rows - static_cast<double>(y.size());
    builder.add_term(0.5 * other_rows * (log(tau) - std::log(2.0 * std::numbers::pi)) -
                     rows * std::log(units.response.scale));
    return builder.build();
}

}  // namespace

struct RegressionModel::Folded {
    Standardised units;
    Matrix triangle;
    RegressionPrior prior;
    std::vector<InnerNormal> inner_priors;
    Vector origin;

    /// Of a design all of whose rows have weight.
    Folded(const RegressionDesign& design, const std::optional<RegressionPrior>& given)
        : units(checked(design, given)), triangle(detail::triangle_of(design, units)) {
        detail::require_independent(design, units, triangle);
        prior = given ? *given : detail::automatic_prior(design, units, triangle);
        inner_priors = lrvb::inner_priors(prior, design, units);
        const double square = units.response.scale * units.response.scale;
        origin = shrunk_estimate(triangle, inner_priors, design.total_weight(), prior.shape, prior.rate / square);
    }

    static Standardised checked(const RegressionDesign& design, const std::optional<RegressionPrior>& given) {
        const Standardised units = detail::standardise(design);
        if (given) detail::require_prior(*given, design);
        return with_centre(units, given, design.intercept);
    }
};

RegressionModel::RegressionModel(const RegressionDesign& design, const std::optional<RegressionPrior>& prior)
    : RegressionModel(design, Folded(detail::Counted(design).rows(), prior)) {}

RegressionModel::RegressionModel(std::shared_ptr<const RegressionDesign> design,
                                 const std::optional<RegressionPrior>& prior)
    : RegressionModel(*design, prior) {
    design_ = std::move(design);
}

RegressionModel::RegressionModel(const RegressionDesign& design, const Folded& folded)
    : intercept_(design.intercept),
      rows_(design.y.size()),
      names_(design.names),
      centre_(design.columns.cols()),
      scale_(design.columns.cols()),
      response_centre_(folded.units.response.centre),
      response_scale_(folded.units.response.scale),
      prior_(folded.prior),
      origin_(folded.origin),
      inner_(build(design, prior_, folded.units, folded.inner_priors, folded.triangle, origin_)) {
    for (Index j = 0; j < centre_.size(); ++j) {
        centre_[j] = folded.units.columns[static_cast<std::size_t>(j)].centre;
        scale_[j] = folded.units.columns[static_cast<std::size_t>(j)].scale;
    }
    prior_.centre = centre_;
}

}  // namespace lrvb
