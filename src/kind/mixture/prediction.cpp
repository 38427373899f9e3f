#include "base/validate.hpp"
#include "kind/mixture/components.hpp"

#include <lrvb/kind/mixture/prediction.hpp>

#include <limits>

namespace lrvb {

namespace {

constexpr double kFarthest = 1e100;  // sds from the centre at which squares are still numbers

bool is_full(const MixtureShape& shape) {
    return shape.covariance == MixtureCovariance::full && shape.centre.size() > 1;
}

Vector log_sums(const Matrix& scores) {
    const Vector largest = scores.rowwise().maxCoeff();
    return largest.array() + (scores.colwise() - largest).array().exp().rowwise().sum().log();
}

// In halves: the difference of two doubles, or what a small scale makes of it, may be too large for one.
Matrix standardised_rows(const Matrix& rows, const detail::RowFormat& format) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    const Matrix halves = (0.5 * rows).rowwise() - 0.5 * format.centre.transpose();
    return (2.0 * (halves * format.inverse_scale.asDiagonal())).cwiseMax(-kLargest).cwiseMin(kLargest);
}

}  // namespace

Layout mixture_layout(const MixtureShape& shape) {
    return detail::MixtureComponents(shape.centre.size(), is_full(shape), shape.components).layout();
}

MixtureModel::Prediction predict(const MixtureShape& shape, const State& state, const Matrix& rows) {
    detail::RowFormat format;
    format.columns = shape.centre.size();
    format.full = is_full(shape);
    format.centre = shape.centre;
    format.inverse_scale = shape.scale.cwiseInverse();
    detail::require_size("predict", "columns", rows.cols(), format.columns);
    if (!rows.allFinite()) throw std::invalid_argument("predict: a row has a value that is not finite");
    const detail::MixtureComponents parts(format.columns, format.full, shape.components);
    // A row that is further away is looked at in its direction. Squares are all that matters there: the log density
    // grows with the square of the distance, until no double holds it.
    Matrix standardised = standardised_rows(rows, format);
    const Vector beyond = standardised.cwiseAbs().rowwise().maxCoeff().cwiseMax(kFarthest) / kFarthest;
    standardised = beyond.cwiseInverse().asDiagonal() * standardised;
    const Matrix scores = detail::scores_of(standardised, format, parts.scores(parts.point_at(state)));
    const Matrix densities = detail::scores_of(standardised, format, parts.scores(parts.plug_in_point(state)));
    MixtureModel::Prediction prediction;
    prediction.responsibilities = (scores.colwise() - log_sums(scores)).array().exp();
    prediction.log_density =
        log_sums(densities).array() * beyond.array().square() + format.inverse_scale.array().log().sum();
    return prediction;
}

}  // namespace lrvb
