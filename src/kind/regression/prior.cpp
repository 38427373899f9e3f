#include "kind/regression/prior.hpp"

#include "base/validate.hpp"
#include "kind/regression/triangle.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lrvb {

namespace detail {

namespace {

/// How much of the response's variance the prior's rate is taken from: all of it, unless least squares leaves less than
/// a 25th. Never less than 64 times what rounding leaves, so that the posterior sds of a perfect fit are numbers yet.
double noise_share(const RegressionDesign& design, const Standardised& units, const Matrix& triangle) {
    const Index coefficients = triangle.cols() - 1;
    const double left = design.total_weight() - static_cast<double>(coefficients);
    if (!(left > 0.0)) return 1.0;
    const double residual = triangle(coefficients, coefficients);
    double rounded_by = std::max(kRounding, units.response.rounded_by);
    for (const Standardisation& unit : units.columns) rounded_by = std::max(rounded_by, unit.rounded_by);
    const double variance = std::max(residual * residual / left, 4096.0 * rounded_by * rounded_by);
    return std::min(1.0, 25.0 * variance);
}

}  // namespace

RegressionPrior automatic_prior(const RegressionDesign& design, const Standardised& units, const Matrix& triangle) {
    const double square = units.response.scale * units.response.scale;
    const Index columns = static_cast<Index>(units.columns.size());
    RegressionPrior prior;
    prior.intercept_mean = units.response.centre;
    prior.intercept_variance = 100.0 * square;
    prior.mean = Vector::Zero(columns);
    prior.variance.resize(columns);
    for (Index j = 0; j < columns; ++j) {
        const double ratio = units.response.scale / units.columns[static_cast<std::size_t>(j)].scale;
        prior.variance[j] = 100.0 * ratio * ratio;
    }
    prior.shape = 2.0001;
    prior.rate = 0.1 * square * noise_share(design, units, triangle);
    return prior;
}

void require_prior(const RegressionPrior& prior, const RegressionDesign& design) {
    constexpr std::string_view who = "regression prior";
    require_size(who, "mean", prior.mean.size(), design.columns.cols());
    require_size(who, "variance", prior.variance.size(), design.columns.cols());
    for (Index j = 0; j < prior.mean.size(); ++j) {
        const std::string& name = design.names[static_cast<std::size_t>(j)];
        require_finite(who, fmt::format("mean[{}]", name), prior.mean[j]);
        require_positive(who, fmt::format("variance[{}]", name), prior.variance[j]);
    }
    if (design.intercept) {
        require_finite(who, "intercept_mean", prior.intercept_mean);
        require_positive(who, "intercept_variance", prior.intercept_variance);
    }
    require_positive(who, "shape", prior.shape);
    require_positive(who, "rate", prior.rate);
    if (!prior.centre) return;
    require_size(who, "centre", prior.centre->size(), design.columns.cols());
    require_finite(who, "centre", *prior.centre);
}

}  // namespace detail

RegressionPrior RegressionPrior::automatic(const RegressionDesign& design) {
    const detail::Counted counted(design);
    const RegressionDesign& rows = counted.rows();
    const detail::Standardised units = detail::standardise(rows);
    return detail::automatic_prior(rows, units, detail::triangle_of(rows, units));
}

RegressionPrior RegressionPrior::paper(Index columns) {
    RegressionPrior prior;
    prior.intercept_variance = 100.0;
    prior.mean = Vector::Zero(columns);
    prior.variance = Vector::Constant(columns, 100.0);
    prior.shape = 2.0001;
    prior.rate = 0.1;
    return prior;
}

}  // namespace lrvb
