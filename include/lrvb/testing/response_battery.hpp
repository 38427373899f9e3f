#pragma once

#include <lrvb/fit/fit.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/model/row_model.hpp>
#include <lrvb/response/linear_response.hpp>
#include <lrvb/testing/report.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// The battery for responses: that a response equals a refit under a small perturbation.
///
///   covariance    Σ̂ e_s against the derivative of refitted means in t, for the log joint plus t T_s
///   sensitivity   dm/dα against the derivative of refitted means in the hyperparameter α, the model built anew
///   case weights  dm/dw_n against the derivative of refitted means in the weight of row n
///   leverage      dm/dx_np against the derivative of refitted means in number p of row n, the model built anew
///
/// Refits start at the optimum and are converged far beyond the default, and derivatives are fourth-order central
/// differences, so that the comparison can be tight. Every mean is compared in its own LRVB sds, relative to the
/// largest movement.
///
///     testing::Report report = testing::check_covariance(model, {0, 1, 2});
///     testing::Report report = testing::check_sensitivity([](const Vector& alpha) { … return builder.build(); },
///     alpha);
///     testing::Report report = testing::check_case_weights(model, {0, 5, 7});
namespace lrvb::testing {

struct ResponseCheckOptions {
    /// Perturbation: posterior sds for a covariance, relative for a hyperparameter and a weight, sds of its column for
    /// a number in the data.
    double step = 2e-3;
    double tolerance = 1e-6;
    /// How the first fit is made; the refits start at its optimum. For `check_sensitivity`, which builds its own
    /// models, a start is given as `initial`, since the handles of one builder are no use with another's model.
    FitOptions fit;
};

namespace detail {

/// The sensitivity of refitted means to `t` at 0, by fourth-order central differences of step h.
inline Vector refit_derivative(const std::function<Vector(double)>& refitted_means, double h) {
    const Vector near = (refitted_means(h) - refitted_means(-h)) / (2.0 * h);
    const Vector far = (refitted_means(2.0 * h) - refitted_means(-2.0 * h)) / (4.0 * h);
    return (4.0 * near - far) / 3.0;
}

inline Vector refitted(const Model& model, const Optimum& optimum, FitOptions options) {
    // As far as rounding lets it go: what a tilt moves may be less than any tolerance.
    options.tolerance = std::numeric_limits<double>::min();
    options.restarts = 1;
    options.initial = optimum.state;  // with its clamps
    options.starts.clear();
    options.clamped.clear();
    return lrvb::fit(model, options).state.mean;
}

/// `mean` and `h` bound what rounding of the refitted means does to their difference.
inline void compare(const Model& model, const std::string& what, const Vector& response, const Vector& refit,
                    const Vector& sds, const Vector& mean, double h, double tolerance, Report& report) {
    const Vector in_sds = (sds.array() > 0.0).select(refit.cwiseAbs().cwiseQuotient(sds), 0.0);
    const double largest = in_sds.maxCoeff();
    for (Index i = 0; i < response.size(); ++i) {
        if (!(sds[i] > 0.0)) continue;
        // Relative to the mean's own movement, with a floor at a thousandth of the largest one.
        const double rounding = 1e-13 * std::abs(mean[i]) / h;
        const double allowed = tolerance * std::max(in_sds[i], 1e-3 * largest) * sds[i] + rounding;
        report.expect_near(what, "response of " + model.layout().statistic_name(i), response[i], refit[i], allowed);
    }
}

/// A tilt that moves the mean by about `step` sds; but no more than `step` in the log odds of a label, whose curvature
/// does not shrink with its sd.
inline double tilt_step(const Layout& layout, Index statistic, double sd, double step) {
    const AnyFamily& family = layout[layout.variable_of(statistic)].family;
    const bool is_label =
        std::holds_alternative<family::Bernoulli>(family) || std::holds_alternative<family::Categorical>(family);
    return is_label ? step : step / sd;
}

}  // namespace detail

/// Checks the columns of Σ̂ for the given statistics. `tilted(t)` gives the model with tᵀT(θ) added to its log joint.
template <class Tilted>
Report check_covariance(const Model& model, const std::vector<Index>& statistics, const Tilted& tilted,
                        const ResponseCheckOptions& options = {}) {
    Report report("covariance");
    const Optimum optimum = fit(model, options.fit);
    const LinearResponse response(model, optimum);
    const Vector sds = response.marginal_sds();
    for (const Index s : statistics) {
        const Vector unit = Vector::Unit(model.layout().size(), s);
        const double h = detail::tilt_step(model.layout(), s, sds[s], options.step);
        const Vector refit = detail::refit_derivative(
            [&](double t) { return detail::refitted(tilted(t * unit), optimum, options.fit); }, h);
        detail::compare(model, "perturbing " + model.layout().statistic_name(s), response.respond(unit), refit, sds,
                        optimum.state.mean, h, options.tolerance, report);
    }
    return report;
}

inline Report check_covariance(const MultilinearModel& model, const std::vector<Index>& statistics,
                               const ResponseCheckOptions& options = {}) {
    return check_covariance(
        model, statistics, [&](const Vector& tilt) { return model.tilted(tilt); }, options);
}

/// Checks the response to every hyperparameter of the model that `build` makes of their values.
template <class Build>
Report check_sensitivity(const Build& build, const Vector& hyperparameters, const ResponseCheckOptions& options = {}) {
    Report report("sensitivity");
    const auto model = build(hyperparameters);
    if (static_cast<Index>(model.hyperparameters().size()) != hyperparameters.size()) {
        report.fail("arguments", "the model has " + std::to_string(model.hyperparameters().size()) +
                                     " hyperparameters, but " + std::to_string(hyperparameters.size()) +
                                     " values are given");
        return report;
    }
    const Optimum optimum = fit(model, options.fit);
    const LinearResponse response(model, optimum);
    const Vector sds = response.marginal_sds();
    for (Index a = 0; a < hyperparameters.size(); ++a) {
        const double h = options.step * (hyperparameters[a] == 0.0 ? 1.0 : std::abs(hyperparameters[a]));
        const Vector refit = detail::refit_derivative(
            [&](double t) {
                Vector moved = hyperparameters;
                moved[a] += t;
                return detail::refitted(build(moved), optimum, options.fit);
            },
            h);
        const Vector gradient = model.hyperparameter_gradient(optimum.state.mean, a);
        detail::compare(model, "moving " + model.hyperparameters()[static_cast<std::size_t>(a)],
                        response.respond(gradient), refit, sds, optimum.state.mean, h, options.tolerance, report);
    }
    return report;
}

namespace detail {

/// ∂²L/∂m∂w_n, or a column ∂²L/∂m∂x_np for each input, of some rows of a model.
struct RowGradients {
    std::map<Index, Matrix> gradients;
    std::map<Index, double> weights;
    std::map<Index, Vector> inputs;
    Vector input_sds;  // over all rows that have the input
};

inline RowGradients row_gradients(const RowModel& model, const State& state, RowChange change,
                                  const std::vector<Index>& rows) {
    const Index size = model.layout().size();
    const Index input_count = static_cast<Index>(model.inputs().size());
    const Index width = change == RowChange::value ? input_count : 1;
    RowGradients result;
    Vector count = Vector::Zero(input_count);
    Vector sum = Vector::Zero(input_count);
    Vector squares = Vector::Zero(input_count);
    model.ask_rows(state, Matrix::Identity(size, size), change, [&](const RowAnswers& answers) {
        for (Index n = 0; n < answers.inputs.rows(); ++n) {
            for (Index p = 0; p < input_count; ++p) {
                const double x = answers.inputs(n, p);
                if (std::isnan(x)) continue;
                count[p] += 1.0;
                sum[p] += x;
                squares[p] += x * x;
            }
        }
        for (const Index row : rows) {
            const Index at = row - answers.first;
            if (at < 0 || at >= answers.answers.rows()) continue;
            // Directions are the statistics; the inputs of each run fastest.
            const Vector flat = answers.answers.row(at);
            result.gradients[row] = Eigen::Map<const Matrix>(flat.data(), width, size).transpose();
            result.weights[row] = answers.weights[at];
            result.inputs[row] = answers.inputs.row(at);
        }
    });
    const Vector mean = sum.cwiseQuotient(count);
    result.input_sds = (squares.cwiseQuotient(count) - mean.cwiseAbs2()).cwiseMax(0.0).cwiseSqrt();
    return result;
}

}  // namespace detail

/// Checks the response to the weights of some rows. `reweighted(row, weight)` gives the model with that weight.
template <class Reweighted>
Report check_case_weights(const RowModel& model, const std::vector<Index>& rows, const Reweighted& reweighted,
                          const ResponseCheckOptions& options = {}) {
    Report report("case weights");
    const Optimum optimum = fit(model, options.fit);
    const LinearResponse response(model, optimum);
    const Vector sds = response.marginal_sds();
    const detail::RowGradients asked = detail::row_gradients(model, optimum.state, RowChange::weight, rows);
    for (const Index row : rows) {
        const std::string what = "weighing row " + std::to_string(row);
        if (!asked.gradients.contains(row)) {
            report.fail(what, "the model has no such row");
            continue;
        }
        const double weight = asked.weights.at(row);
        const double h = options.step * (weight == 0.0 ? 1.0 : weight);
        const Vector refit = detail::refit_derivative(
            [&](double t) { return detail::refitted(reweighted(row, weight + t), optimum, options.fit); }, h);
        detail::compare(model, what, response.respond(asked.gradients.at(row).col(0)), refit, sds, optimum.state.mean,
                        h, options.tolerance, report);
    }
    return report;
}

inline Report check_case_weights(const MultilinearModel& model, const std::vector<Index>& rows,
                                 const ResponseCheckOptions& options = {}) {
    return check_case_weights(
        model, rows, [&](Index row, double weight) { return model.reweighted(row, weight); }, options);
}

/// Checks the response to every input of some rows. `moved(row, input, by)` gives the model with that number moved.
/// Where a row does not have an input, its answer must be zero.
template <class Moved>
Report check_leverage(const RowModel& model, const std::vector<Index>& rows, const Moved& moved,
                      const ResponseCheckOptions& options = {}) {
    Report report("leverage");
    const Optimum optimum = fit(model, options.fit);
    const LinearResponse response(model, optimum);
    const Vector sds = response.marginal_sds();
    const detail::RowGradients asked = detail::row_gradients(model, optimum.state, RowChange::value, rows);
    const std::vector<std::string> names = model.inputs();
    for (const Index row : rows) {
        for (std::size_t p = 0; p < names.size(); ++p) {
            const std::string what = "moving " + names[p] + " of row " + std::to_string(row);
            const Index input = static_cast<Index>(p);
            if (!asked.gradients.contains(row)) {
                report.fail(what, "the model has no such row");
                continue;
            }
            const Vector gradient = asked.gradients.at(row).col(input);
            const double value = asked.inputs.at(row)[input];
            if (std::isnan(value)) {
                report.expect_near(what, "largest entry of the gradient", gradient.cwiseAbs().maxCoeff(), 0.0, 0.0);
                continue;
            }
            const double sd = asked.input_sds[input];
            const double h = options.step * (sd > 0.0 ? sd : std::max(std::abs(value), 1.0));
            const Vector refit = detail::refit_derivative(
                [&](double t) { return detail::refitted(moved(row, input, t), optimum, options.fit); }, h);
            detail::compare(model, what, response.respond(gradient), refit, sds, optimum.state.mean, h,
                            options.tolerance, report);
        }
    }
    return report;
}

}  // namespace lrvb::testing
