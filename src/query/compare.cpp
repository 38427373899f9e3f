#include "query/weighted_sum.hpp"

#include <lrvb/query/compare.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr double kSameLogarithm = 1e-12;  // of a logarithm
constexpr double kToldErrors = 2.0;
constexpr double kToldDifference = 4.0;

// What was observed, by name: columns of a mixture may stand in any order.
std::vector<std::size_t> by_name(const std::vector<std::string>& inputs) {
    std::vector<std::size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return inputs[a] < inputs[b]; });
    return order;
}

std::string observed_names(const FittedModel& fitted) {
    const std::vector<std::string> inputs = fitted.inputs();
    return inputs.empty() ? std::string("what was counted") : fmt::format("{}", fmt::join(inputs, ", "));
}

[[noreturn]] void refuse_other_data(const std::string& one, const std::string& other, const std::string& reason) {
    throw std::runtime_error(
        fmt::format("{} and {} are fits of other data ({}), so that their densities cannot be compared: give fits of "
                    "the same rows and of the same observed columns",
                    one, other, reason));
}

void require_same_names(const FittedModel& a, const FittedModel& b, const std::string& one, const std::string& other) {
    std::vector<std::string> left = a.inputs();
    std::vector<std::string> right = b.inputs();
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    if (left != right) {
        refuse_other_data(one, other, fmt::format("{} and {}", observed_names(a), observed_names(b)));
    }
    const Index rows = a.file().data.rows;
    if (rows != b.file().data.rows) {
        refuse_other_data(one, other, fmt::format("{} and {} rows", rows, b.file().data.rows));
    }
    for (Index n = 0; n < rows; ++n) {
        if (a.file_row(n) != b.file_row(n)) {
            refuse_other_data(one, other, fmt::format("one without row {}", std::min(a.file_row(n), b.file_row(n))));
        }
    }
    if (left.empty() && a.file().data.checksum != b.file().data.checksum) {
        refuse_other_data(one, other, "other numbers");
    }
}

bool same_number(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

void require_same_numbers(const FittedModel& a, const FittedModel& b, const Loo& left, const Loo& right,
                          const std::string& one, const std::string& other) {
    const std::vector<std::size_t> left_order = by_name(a.inputs());
    const std::vector<std::size_t> right_order = by_name(b.inputs());
    for (Index n = 0; n < left.weights.size(); ++n) {
        bool same = left.weights[n] == right.weights[n];
        for (std::size_t p = 0; p < left_order.size() && left.weights[n] > 0.0; ++p) {
            same = same && same_number(left.inputs(n, static_cast<Index>(left_order[p])),
                                       right.inputs(n, static_cast<Index>(right_order[p])));
        }
        if (!same) refuse_other_data(one, other, fmt::format("row {} differs", a.file_row(n)));
    }
}

double difference_error(const Loo& left, const Loo& right) {
    const double error = detail::WeightedSum(left.elpd - right.elpd, left.weights).error;
    return std::isnan(error) ? 0.0 : error;
}

}  // namespace

double log_labellings(const FittedModel& fitted) {
    const Exchangeable exchangeable = fitted.model().exchangeable();
    const State& state = fitted.optimum().state;
    const auto is_held = [&](Index variable) { return state.clamped[static_cast<std::size_t>(variable)]; };
    for (const std::vector<Index>& block : exchangeable.blocks) {
        if (std::any_of(block.begin(), block.end(), is_held)) return 0.0;
    }
    if (std::any_of(exchangeable.further.begin(), exchangeable.further.end(), is_held)) return 0.0;
    const std::size_t count = exchangeable.blocks.size();
    if (!exchangeable.weights || !is_held(*exchangeable.weights)) return std::lgamma(static_cast<double>(count) + 1.0);
    // Weights that are held: only those that are the same can be exchanged.
    const Vector weights = fitted.model().layout().segment(state.mean, *exchangeable.weights);
    std::vector<double> sorted(weights.begin(), weights.end());
    std::sort(sorted.begin(), sorted.end());
    double result = 0.0;
    for (auto begin = sorted.begin(); begin != sorted.end();) {
        const auto end = std::upper_bound(begin, sorted.end(), *begin + kSameLogarithm);
        result += std::lgamma(static_cast<double>(end - begin) + 1.0);
        begin = end;
    }
    return result;
}

std::vector<ComparedFit> compare_fits(const std::vector<const FittedModel*>& fits,
                                      const std::vector<std::string>& names, const LooOptions& options) {
    if (fits.size() < 2) throw std::invalid_argument("compare_fits: give two fits or more");
    if (names.size() != fits.size()) {
        throw std::invalid_argument(
            fmt::format("compare_fits: {} fits have {} names; give one each", fits.size(), names.size()));
    }
    for (const FittedModel* fitted : fits) static_cast<void>(fitted->row_model());
    for (std::size_t i = 1; i < fits.size(); ++i) require_same_names(*fits[0], *fits[i], names[0], names[i]);

    LooOptions same = options;
    const auto all_by = [&](LooMethod method) {
        same.method = method;
        std::vector<ComparedFit> result;
        for (std::size_t i = 0; i < fits.size(); ++i) {
            ComparedFit one;
            one.fit = i;
            one.loo = leave_one_out(*fits[i], same);
            one.log_labellings = log_labellings(*fits[i]);
            one.bound = fits[i]->optimum().bound + one.log_labellings;
            result.push_back(std::move(one));
        }
        return result;
    };
    std::vector<ComparedFit> result;
    if (options.method) {
        result = all_by(*options.method);
    } else if (std::all_of(fits.begin(), fits.end(),
                           [&](const FittedModel* fitted) { return is_quick_by_draws(*fitted, options.draws); })) {
        try {
            result = all_by(LooMethod::draws);
        } catch (const std::invalid_argument&) {  // draws of no use for one of them
            result = all_by(LooMethod::response);
        }
    } else {
        result = all_by(LooMethod::response);
    }
    for (std::size_t i = 1; i < fits.size(); ++i) {
        require_same_numbers(*fits[0], *fits[i], result[0].loo, result[i].loo, names[0], names[i]);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const ComparedFit& a, const ComparedFit& b) { return a.loo.elpd_loo > b.loo.elpd_loo; });
    for (ComparedFit& one : result) {
        one.elpd_difference = one.loo.elpd_loo - result.front().loo.elpd_loo;
        one.se_difference = difference_error(one.loo, result.front().loo);
    }
    return result;
}

std::string comparison_message(const std::vector<ComparedFit>& compared, const std::vector<std::string>& names) {
    std::vector<std::string> alike;
    for (std::size_t i = 1; i < compared.size(); ++i) {
        const ComparedFit& one = compared[i];
        const bool is_told =
            -one.elpd_difference > kToldDifference && -one.elpd_difference > kToldErrors * one.se_difference;
        if (!is_told) alike.push_back(names[one.fit]);
    }
    const std::string& best = names[compared.front().fit];
    if (alike.empty()) return fmt::format("{} predicts best, by more than two standard errors", best);
    return fmt::format(
        "{} predicts best, but not clearly better than {} (a difference below 4, or below two standard errors): "
        "take the simplest of them",
        best, fmt::join(alike, ", "));
}

}  // namespace lrvb
