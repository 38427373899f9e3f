#include "query/column_check.hpp"
#include "query/replication.hpp"
#include "query/response_check.hpp"
#include "sample/resampling.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/query/loo.hpp>
#include <lrvb/query/model_check.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/pareto.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb {

namespace {

using detail::kOwnStreams;

constexpr Index kFewestReplicates = 200;
constexpr Index kMostReplicates = 1000;
constexpr double kReplicatedNumbers = 4e7;  // some seconds
constexpr double kDrawnProducts = 5e9;      // of drawing so many parameters from their normal, about a second

Index replicates_of(const FittedModel& fitted, const ModelCheckOptions& options) {
    if (options.replicates) {
        if (*options.replicates >= 20) return *options.replicates;
        throw std::invalid_argument(
            fmt::format("check_model_fit: replicates is {}, but must be at least 20", *options.replicates));
    }
    const double rows = std::max(fitted.file().data.total_weight, static_cast<double>(fitted.file().data.rows));
    const double numbers = rows * static_cast<double>(fitted.inputs().size());
    const double parameters = std::max(1.0, static_cast<double>(fitted.model().layout().size()));
    return static_cast<Index>(
        std::clamp(std::min(kReplicatedNumbers / std::max(1.0, numbers), kDrawnProducts / (parameters * parameters)),
                   static_cast<double>(kFewestReplicates), static_cast<double>(kMostReplicates)));
}

// Stacked statistics of the normal posterior, one draw a column.
Matrix drawn_by_response(const FittedModel& fitted, Index count, std::uint64_t seed, int threads) {
    const State& state = fitted.optimum().state;
    if (std::all_of(state.clamped.begin(), state.clamped.end(), [](bool clamped) { return clamped; })) {
        return state.mean.replicate(1, count);
    }
    const ModelDensity density(fitted.model(), state, JointNormals::coordinates);
    const Index size = density.dimension();
    if (size > kModelCheckParameters) {
        throw std::runtime_error(
            fmt::format("the model has {} free parameters, and data are drawn from models of {} at most", size,
                        kModelCheckParameters));
    }
    const NormalApproximation normal = density.chart().approximation(fitted.response());
    const Eigen::LLT<Matrix> root(normal.covariance);
    Matrix normals(size, count);
    for (Index s = 0; s < count; ++s) {
        Random random(seed ^ kOwnStreams, ~static_cast<std::uint64_t>(s));
        normals.col(s) = standard_normals(size, random);
    }
    Matrix points = root.matrixL() * normals;
    points.colwise() += normal.mean;
    return density.statistics(points, threads);
}

// As many of the draws, each as often as its weight says (systematic resampling).
Matrix resampled(const FittedModel& fitted, const Check& check, Index count, std::uint64_t seed, int threads) {
    const ModelDensity density(fitted.model(), fitted.optimum().state);
    Random random(seed ^ kOwnStreams, ~std::uint64_t{0});
    const std::vector<Index> chosen = detail::resampled(weights_of(check.log_weights), count, random.uniform());
    Matrix points(check.points.rows(), count);
    for (Index s = 0; s < count; ++s) points.col(s) = check.points.col(chosen[static_cast<std::size_t>(s)]);
    return density.statistics(points, threads, check.seed);
}

// Before anything is drawn: a pass that draws nothing.
void require_drawn_rows(const FittedModel& fitted) {
    static_cast<void>(fitted.response());
    const auto refuse = [](const std::string& reason) {
        throw std::runtime_error(
            fmt::format("no data can be drawn from this fit, to compare with its own: {}", reason));
    };
    try {
        fitted.row_model().replicate_rows(Matrix(fitted.model().layout().size(), 0), 0, 1, [](const RowReplicates&) {});
    } catch (const FractionalWeight& error) {
        refuse(error.words(fitted.file_row(error.row())));
    } catch (const std::invalid_argument& error) {
        refuse(error.what());
    }
}

ModelCheck checked(const FittedModel& fitted, const Matrix& statistics, ParameterDraws draws,
                   const ModelCheckOptions& options) {
    ModelCheck result;
    result.replicates = statistics.cols();
    result.draws = draws;
    detail::Replicated data = detail::replicated(fitted, statistics, options.exact.seed, options.exact.threads);
    result.statistics = std::move(data.statistics);
    if (const std::optional<FittedResponse> response = fitted.fitted_response()) {
        result.response = detail::response_check(*response);
        for (const Index row : response->rows) result.file_rows.push_back(fitted.file_row(row));
    }
    const std::vector<ColumnMarginal> marginals = fitted.column_marginals();
    for (std::size_t p = 0; p < marginals.size(); ++p) {
        result.columns.push_back(detail::column_check(marginals[p], data.columns[p]));
    }
    return result;
}

}  // namespace

ModelCheck check_model_fit(const FittedModel& fitted, const Check& check, const ModelCheckOptions& options) {
    require_drawn_rows(fitted);
    if (check.verdict == CheckVerdict::unchecked) {
        throw std::invalid_argument(fmt::format(
            "the draws of the exact posterior are of no use ({}): take those of linear response", check.trust));
    }
    const Index count = replicates_of(fitted, options);
    return checked(fitted, resampled(fitted, check, count, options.exact.seed, options.exact.threads),
                   ParameterDraws::exact, options);
}

ModelCheck check_model_fit(const FittedModel& fitted, const ModelCheckOptions& options) {
    require_drawn_rows(fitted);
    const Index count = replicates_of(fitted, options);
    const State& state = fitted.optimum().state;
    const bool is_held = std::all_of(state.clamped.begin(), state.clamped.end(), [](bool clamped) { return clamped; });
    const bool quick = !is_held && is_quick_by_draws(fitted, options.exact.draws);
    if (options.draws.value_or(quick ? ParameterDraws::exact : ParameterDraws::response) == ParameterDraws::exact) {
        // Where nothing was asked for, what can be had.
        try {
            const Check exact = check(fitted, options.exact);
            return check_model_fit(fitted, exact, options);
        } catch (const std::invalid_argument&) {  // draws of no use, or none
            if (options.draws) throw;
        }
    }
    return checked(fitted, drawn_by_response(fitted, count, options.exact.seed, options.exact.threads),
                   ParameterDraws::response, options);
}

bool is_quick_model_check(const FittedModel& fitted) {
    const double rows = std::max(fitted.file().data.total_weight, static_cast<double>(fitted.file().data.rows));
    const double numbers = rows * static_cast<double>(fitted.inputs().size());
    return numbers * static_cast<double>(kFewestReplicates) <= 2.0 * kReplicatedNumbers;
}

}  // namespace lrvb
