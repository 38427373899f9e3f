#include "query/response_check.hpp"

#include "family/special.hpp"
#include "query/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr Index kMostGroups = 50;
constexpr Index kRowsOfAGroup = 20;

// Some of the rows in order of their fitted values, one after the other.
class ResidualGroup {
  public:
    void add(double fitted, double residual, double band, Index times) {
        if (rows_ == 0) group_.lowest = fitted;
        group_.highest = fitted;
        group_.fitted += static_cast<double>(times) * fitted;
        group_.band += static_cast<double>(times) * band;
        residuals_.add(residual, times);
        rows_ += times;
    }

    ResponseCheck::Group finished() {
        group_.fitted /= static_cast<double>(rows_);
        group_.band /= static_cast<double>(rows_);
        residuals_.sort();
        group_.min = residuals_[0];
        group_.q5 = quantile_of(residuals_, 0.05);
        group_.q50 = quantile_of(residuals_, 0.5);
        group_.q95 = quantile_of(residuals_, 0.95);
        group_.max = residuals_[residuals_.size() - 1];
        return group_;
    }

  private:
    ResponseCheck::Group group_;
    RepeatedNumbers residuals_;
    Index rows_ = 0;
};

// A row that counts several times may do so in two groups.
std::vector<ResponseCheck::Group> groups_of(const ResponseCheck& check, const std::vector<Index>& times,
                                            const Vector& bands) {
    std::vector<Index> order(times.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return check.fitted[a] < check.fitted[b]; });
    const Index rows = std::accumulate(times.begin(), times.end(), Index{0});
    const Index count = std::clamp<Index>(rows / kRowsOfAGroup, 1, kMostGroups);
    std::vector<ResponseCheck::Group> groups;
    ResidualGroup group;
    Index before = 0;
    for (const Index row : order) {
        for (Index left = times[static_cast<std::size_t>(row)]; left > 0;) {
            const Index end = (static_cast<Index>(groups.size()) + 1) * rows / count;
            const Index taken = std::min(left, end - before);
            group.add(check.fitted[row], check.residuals[row], bands[row], taken);
            left -= taken;
            before += taken;
            if (before < end) continue;
            groups.push_back(group.finished());
            group = {};
        }
    }
    return groups;
}

}  // namespace

ResponseCheck response_check(const FittedResponse& response) {
    const Eigen::ArrayXd weights = response.weights;
    const double rows = weights.sum();
    const double band = central_quantile(kModelCheckLevel);
    ResponseCheck result;
    result.name = response.name;
    result.fitted = response.fitted;
    result.residuals = response.observed - response.fitted;
    const Eigen::ArrayXd precision =
        response.precision.size() > 0 ? Eigen::ArrayXd(response.precision) : Eigen::ArrayXd::Ones(weights.size());
    const Eigen::ArrayXd both = weights * precision;
    const double left = (both * result.residuals.array().square()).sum();
    const double mean = (both * response.observed.array()).sum() / both.sum();
    result.r2 = 1.0 - left / (both * (response.observed.array() - mean).square()).sum();
    result.residual_sd = std::sqrt(left / (rows - response.hat.sum()));
    result.standardised = result.residuals.array() * precision.sqrt() /
                          (result.residual_sd * (1.0 - response.hat.array() / weights).sqrt());
    const Eigen::ArrayXd is_within =
        (result.residuals.array().abs() <= band * response.predictive_sd.array()).cast<double>();
    result.coverage = (weights * is_within).sum() / rows;
    std::vector<Index> times;  // rows of other weights than whole ones were not drawn
    for (const double weight : response.weights) times.push_back(static_cast<Index>(weight));
    // A row that alone decides its fitted value has no residual.
    RepeatedNumbers sorted;
    for (Index n = 0; n < result.standardised.size(); ++n) {
        if (std::isfinite(result.standardised[n])) {
            sorted.add(result.standardised[n], times[static_cast<std::size_t>(n)]);
        }
    }
    sorted.sort();
    result.quantiles = quantile_plot(sorted, normal_quantile);
    result.groups = groups_of(result, times, band * response.predictive_sd);
    return result;
}

}  // namespace lrvb::detail
