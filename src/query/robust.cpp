#include <lrvb/query/robust.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

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

// Calls visit(first, changes, weights): of some of the variables, from the first-th on, w_n dm/dw_n of some rows, one
// row each.
// All rows are visited for some variables, then for the next ones.
template <class Visit>
void visit_changes(const FittedModel& fitted, const std::vector<Index>& variables, Visit visit) {
    static_cast<void>(fitted.row_model());
    const LinearResponse& response = fitted.response();
    const double fit_in = kDirectionNumbers / static_cast<double>(std::max<Index>(1, fitted.model().layout().size()));
    const auto batch = static_cast<std::size_t>(std::clamp(fit_in, 1.0, 1000.0));
    for (std::size_t first = 0; first < variables.size(); first += batch) {
        const std::size_t end = std::min(variables.size(), first + batch);
        const std::vector<Index> some(variables.begin() + static_cast<std::ptrdiff_t>(first),
                                      variables.begin() + static_cast<std::ptrdiff_t>(end));
        response.case_weights(fitted.functionals(some), [&](const RowAnswers& rows) {
            visit(static_cast<Index>(first), weighted_changes(rows), rows.weights);
        });
    }
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
    Vector squares = Vector::Zero(count);
    Vector fourths = Vector::Zero(count);
    Vector sizes = Vector::Zero(count);
    double rows = 0.0;
    bool weighted = false;
    visit_changes(fitted, variables, [&](Index first, const Matrix& changes, const Vector& weights) {
        weighted = weighted || !((weights.array() == 0.0) || (weights.array() == 1.0)).all();
        const Eigen::ArrayXXd square = changes.array().square();
        squares.segment(first, changes.cols()) += square.colwise().sum().matrix().transpose();
        fourths.segment(first, changes.cols()) += square.square().colwise().sum().matrix().transpose();
        sizes.segment(first, changes.cols()) += changes.cwiseAbs().colwise().sum().transpose();
        if (first == 0) rows += static_cast<double>(changes.rows());
    });
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
