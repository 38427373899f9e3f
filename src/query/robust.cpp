#include "base/bytes.hpp"
#include "query/tallies.hpp"

#include <lrvb/query/robust.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace lrvb {

namespace {

constexpr double kErrorOfOneRow = 2.0;     // about ½√14
constexpr double kDirectionNumbers = 8e6;  // at most so many are held for the variables of one pass

// w_n dm/dw_n, one row a row. A row that is not there changes nothing, and may have no answer.
Matrix weighted_changes(const RowAnswers& rows) {
    Matrix changes = rows.answers;
    for (Index i = 0; i < changes.rows(); ++i) {
        if (rows.weights[i] == 0.0) {
            changes.row(i).setZero();
        } else {
            changes.row(i) *= rows.weights[i];
        }
    }
    return changes;
}

// Σ of the squares, fourth powers and sizes of w_n dm/dw_n, one a variable.
struct RobustSums {
    Vector squares;
    Vector fourths;
    Vector sizes;
    double rows = 0.0;
    bool weighted = false;

    std::string bytes() const {
        return detail::ByteWriter().vector(squares).vector(fourths).vector(sizes).number(rows).number(weighted).take();
    }
    static RobustSums of(std::string_view bytes) {
        detail::ByteReader reader(bytes);
        RobustSums sums;
        sums.squares = reader.vector();
        sums.fourths = reader.vector();
        sums.sizes = reader.vector();
        sums.rows = reader.number<double>();
        sums.weighted = reader.number<bool>();
        return sums;
    }
};

std::string robust_sums(std::string_view, const RowAnswers& rows) {
    const Matrix changes = weighted_changes(rows);
    const Eigen::ArrayXXd square = changes.array().square();
    RobustSums sums;
    sums.squares = square.colwise().sum().matrix().transpose();
    sums.fourths = square.square().colwise().sum().matrix().transpose();
    sums.sizes = changes.cwiseAbs().colwise().sum().transpose();
    sums.rows = static_cast<double>(changes.rows());
    sums.weighted = !((rows.weights.array() == 0.0) || (rows.weights.array() == 1.0)).all();
    return sums.bytes();
}

std::string merge_robust_sums(const std::string& left, const std::string& right) {
    RobustSums sums = RobustSums::of(left);
    const RobustSums more = RobustSums::of(right);
    sums.squares += more.squares;
    sums.fourths += more.fourths;
    sums.sizes += more.sizes;
    sums.rows += more.rows;
    sums.weighted = sums.weighted || more.weighted;
    return sums.bytes();
}

// Of all variables, some at a time.
RobustSums all_robust_sums(const FittedModel& fitted, const std::vector<Index>& variables) {
    static_cast<void>(fitted.row_model());
    const LinearResponse& response = fitted.response();
    const double fit_in = kDirectionNumbers / static_cast<double>(std::max<Index>(1, fitted.model().layout().size()));
    const auto batch = static_cast<std::size_t>(std::clamp(fit_in, 1.0, 1000.0));
    const auto count = static_cast<Index>(variables.size());
    RobustSums all{Vector::Zero(count), Vector::Zero(count), Vector::Zero(count), 0.0, false};
    for (std::size_t first = 0; first < variables.size(); first += batch) {
        const std::size_t end = std::min(variables.size(), first + batch);
        const std::vector<Index> some(variables.begin() + static_cast<std::ptrdiff_t>(first),
                                      variables.begin() + static_cast<std::ptrdiff_t>(end));
        const std::string bytes = response.tally_case_weights(fitted.functionals(some), detail::robust_tally(), {});
        if (bytes.empty()) continue;
        const RobustSums sums = RobustSums::of(bytes);
        const auto at = static_cast<Index>(first);
        all.squares.segment(at, sums.squares.size()) = sums.squares;
        all.fourths.segment(at, sums.fourths.size()) = sums.fourths;
        all.sizes.segment(at, sums.sizes.size()) = sums.sizes;
        all.rows = sums.rows;
        all.weighted = all.weighted || sums.weighted;
    }
    return all;
}

// "a, b, c, …": the furthest first.
std::string far_ones(std::vector<RobustSd> sds) {
    constexpr std::size_t most = 6;
    std::stable_sort(sds.begin(), sds.end(), [](const RobustSd& a, const RobustSd& b) {
        return std::abs(std::log(a.ratio())) > std::abs(std::log(b.ratio()));
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(most, sds.size()); ++i) {
        text += fmt::format("{}{} ({:.2f})", i > 0 ? ", " : "", sds[i].name, sds[i].ratio());
    }
    return sds.size() > most ? text + ", …" : text;
}

}  // namespace

const RowTally& detail::robust_tally() {
    static const RowTally tally{"robust", robust_sums, merge_robust_sums};
    return tally;
}

double RobustSd::ratio() const {
    return sd > 0.0 ? sd_robust / sd : std::numeric_limits<double>::quiet_NaN();
}

bool RobustSd::is_far() const {
    if (!(sd > 0.0 && sd_robust > 0.0) || weighted) return false;
    const double off = std::abs(std::log(ratio()));
    return off > std::log(kRobustRatio) && off > kRobustErrors * kErrorOfOneRow / std::sqrt(rows);
}

std::vector<RobustSd> robust_sds(const FittedModel& fitted, const std::vector<std::string>& names) {
    const Posterior& posterior = fitted.posterior();
    const std::vector<Index> variables = posterior.select(names);
    const auto count = static_cast<Index>(variables.size());
    const auto [squares, fourths, sizes, rows, weighted] = all_robust_sums(fitted, variables);
    const Vector sds = posterior.sds(variables);
    std::vector<RobustSd> result;
    for (Index v = 0; v < count; ++v) {
        const Index at = variables[static_cast<std::size_t>(v)];
        RobustSd one{posterior.variables[static_cast<std::size_t>(at)].name, at, sds[v], 0.0, 0.0, 0.0, weighted};
        if (sds[v] > 0.0 && squares[v] > 0.0) {
            one.sd_robust = std::sqrt(squares[v]);
            const double variance = std::max(0.0, fourths[v] - squares[v] * squares[v] / rows);
            one.rows = sizes[v] * sizes[v] / squares[v];
            one.sd_robust_se = 0.5 * std::sqrt(variance) / one.sd_robust;
        }
        result.push_back(std::move(one));
    }
    return result;
}

Matrix robust_covariance(const FittedModel& fitted, const std::vector<std::string>& names) {
    const std::vector<Index> variables = fitted.posterior().select(names);
    const auto count = static_cast<Index>(variables.size());
    if (count > 2 * kDenseStatistics) {
        throw std::length_error(fmt::format("the robust covariance of {} variables would take {} numbers: name some",
                                            count, count * count));
    }
    static_cast<void>(fitted.row_model());
    Matrix result = Matrix::Zero(count, count);
    fitted.response().case_weights(fitted.functionals(variables), [&](const RowAnswers& rows) {
        result.selfadjointView<Eigen::Lower>().rankUpdate(weighted_changes(rows).transpose());
    });
    return result.selfadjointView<Eigen::Lower>();
}

std::vector<std::string> robust_warnings(const std::vector<RobustSd>& sds) {
    std::vector<RobustSd> more;
    std::vector<RobustSd> less;
    for (const RobustSd& one : sds) {
        if (one.is_far()) (one.ratio() > 1.0 ? more : less).push_back(one);
    }
    std::vector<std::string> result;
    if (!more.empty()) {
        result.push_back(fmt::format(
            "the rows vary more than the model says, so its sds are too small: sd_robust/sd of {}; use sd_robust, look "
            "for outliers and unequal spreads, or choose another model",
            far_ones(more)));
    }
    if (!less.empty()) {
        result.push_back(fmt::format(
            "the rows vary less than the model says, or the prior says more than they do: sd_robust/sd of {}; compare "
            "with another prior by 'lrvb sensitivity', or choose another model",
            far_ones(less)));
    }
    return result;
}

}  // namespace lrvb
