#include "base/validate.hpp"

#include <lrvb/kind/regression/model.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb {

RegressionPrediction predict(const RegressionPosterior& posterior, const Matrix& columns) {
    const Index first = posterior.intercept ? 1 : 0;
    const Index count = posterior.centre.size();
    detail::require_size("predict", "a row", columns.cols(), count);
    detail::require_size("predict", "mean", posterior.mean.size(), first + count);
    detail::require_size("predict", "covariance", posterior.covariance.rows(), first + count);
    detail::require_size("predict", "covariance", posterior.covariance.cols(), first + count);
    if (!columns.allFinite()) throw std::invalid_argument("predict: a row has a value that is not finite");

    RegressionPrediction prediction;
    prediction.mean.resize(columns.rows());
    prediction.mean_sd.resize(columns.rows());
    Vector weights = Vector::Ones(first + count);
    for (Index n = 0; n < columns.rows(); ++n) {
        weights.tail(count) = columns.row(n).transpose() - posterior.centre;
        prediction.mean[n] = weights.dot(posterior.mean);
        // A row whose square is no double is looked at in its direction: the sd grows as the row does.
        constexpr double kFarthest = 1e100;
        const double beyond = std::max(1.0, weights.cwiseAbs().maxCoeff() / kFarthest);
        weights /= beyond;
        // Rounding may leave a variance just below zero where there is none.
        prediction.mean_sd[n] = beyond * std::sqrt(std::max(0.0, weights.dot(posterior.covariance * weights)));
        if (first == 1) weights[0] = 1.0;
    }
    const double noise = std::sqrt(posterior.noise_variance);
    prediction.sd = prediction.mean_sd.unaryExpr([noise](double sd) { return std::hypot(sd, noise); });
    return prediction;
}

}  // namespace lrvb
