#include "queries.hpp"

#include <lrvb/check/draws.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/query/influence.hpp>
#include <lrvb/query/loo.hpp>
#include <lrvb/query/model_check.hpp>
#include <lrvb/query/robust.hpp>
#include <lrvb/query/sensitivity.hpp>
#include <lrvb/report/plot.hpp>
#include <lrvb/report/report.hpp>
#include <lrvb/sample/model_density.hpp>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lrvb::python {

namespace {

std::vector<std::string> names_at(const Posterior& posterior, const std::vector<Index>& chosen) {
    std::vector<std::string> names;
    for (const Index at : chosen) names.push_back(posterior.variables[static_cast<std::size_t>(at)].name);
    return names;
}

// What a row is called: by its name where it has one, otherwise by its number in the data.
void label(NumberTable& table, const FittedModel& fitted, Index row) {
    std::string name = fitted.row_name(row);
    if (name.empty()) {
        table.rows.push_back(fitted.file_row(row));
    } else {
        table.names.push_back(std::move(name));
    }
}

// Without some rows there is no model: a level that only these have. Then there is no number either.
template <class Dropped, class Predicted>
Predicted refitted_or_nothing(const RowInfluence& influence, const Dropped& dropped, const Predicted& predicted) {
    try {
        return influence.refitted(dropped);
    } catch (const std::runtime_error&) {
        Predicted nothing = predicted;
        nothing.distance = std::numeric_limits<double>::quiet_NaN();
        nothing.shifts.setConstant(nothing.distance);
        return nothing;
    }
}

// Rows that a model tells of, put together.
class TakenRows final : public TableSink {
  public:
    void header(const std::vector<std::string>& names) override { names_ = names; }
    void row(Index row, const Vector& numbers) override {
        interruption_point();
        rows_.push_back(row);
        for (std::size_t j = 0; j < names_.size(); ++j) {
            numbers_.push_back(numbers.size() == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                   : numbers[static_cast<Index>(j)]);
        }
    }

    NumberTable taken() {
        NumberTable table;
        table.columns = std::move(names_);
        table.rows = std::move(rows_);
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        table.numbers = Eigen::Map<const RowMajor>(numbers_.data(), static_cast<Index>(table.rows.size()),
                                                   static_cast<Index>(table.columns.size()));
        return table;
    }

  private:
    std::vector<std::string> names_;
    std::vector<Index> rows_;
    std::vector<double> numbers_;
};

}  // namespace

std::vector<Index> select(const Fit& fit, const std::vector<std::string>& names) {
    return fit.file().posterior.select(names);
}

NumberTable summary(const Fit& fit, const std::vector<Index>& chosen, double level) {
    if (!(level > 0.0 && level < 1.0)) {
        throw std::invalid_argument(fmt::format("level is {}, but must lie between 0 and 1", level));
    }
    NumberTable table;
    table.columns = {"mean", "sd", "sd_mfvb", "lower", "upper", "median"};
    const std::vector<Posterior::Row> rows = fit.file().posterior.summary(chosen, level);
    table.numbers.resize(static_cast<Index>(rows.size()), static_cast<Index>(table.columns.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Posterior::Row& row = rows[i];
        table.names.push_back(row.name);
        table.numbers.row(static_cast<Index>(i)) << row.mean, row.sd, row.mean_field_sd, row.lower, row.upper,
            row.median;
    }
    return table;
}

Matrix covariance(const Fit& fit, const std::vector<Index>& chosen, bool mean_field) {
    return fit.file().posterior.covariance_of(chosen, mean_field ? Method::mean_field : Method::linear_response);
}

std::vector<PriorEffect> sensitivity(const Fit& fit, const std::vector<Index>& chosen, bool with_sds) {
    return with_sds ? prior_effects(fit.with_data(), chosen) : prior_effects(fit.file(), chosen);
}

NumberTable influence(const Fit& fit, const std::vector<std::string>& names, std::optional<Index> top, bool refit) {
    if (top && *top < 1) throw std::invalid_argument(fmt::format("top is {}, but must be 1 or more", *top));
    const FittedModel& fitted = fit.with_data();
    const RowInfluence rows(fitted, names);
    std::vector<RowInfluence::Case> cases;
    if (top) {
        cases = rows.most_influential(*top);
    } else {
        rows.each([&](const RowInfluence::Case& one) { cases.push_back(one); });
    }
    for (RowInfluence::Case& one : cases) {
        interruption_point();
        if (refit) one = refitted_or_nothing(rows, one, one);
    }
    NumberTable table;
    table.columns = fitted.inputs();
    for (const std::string& column : fitted.shown_columns()) table.columns.push_back(column);
    table.columns.emplace_back("distance");
    for (const std::string& name : names_at(fitted.posterior(), rows.variables())) table.columns.push_back(name);
    table.numbers.resize(static_cast<Index>(cases.size()), static_cast<Index>(table.columns.size()));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const RowInfluence::Case& one = cases[i];
        const Vector still = fitted.shown_values({one.row}).row(0);
        table.numbers.row(static_cast<Index>(i)) << one.inputs.transpose(), still.transpose(), one.distance,
            one.shifts.transpose();
        label(table, fitted, one.row);
    }
    return table;
}

NumberTable influence_by(const Fit& fit, const std::vector<std::string>& names, const std::string& column,
                         std::optional<Index> top, bool refit) {
    const FittedModel& fitted = fit.with_data();
    const RowInfluence rows(fitted, names);
    const std::vector<RowInfluence::Group> groups = rows_by(fitted, fit.dataset(), column);
    const std::vector<RowInfluence::GroupCase> cases = rows.of_groups(groups);
    std::vector<std::size_t> order(cases.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (top) {
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return cases[a].distance > cases[b].distance; });
        order.resize(std::min(order.size(), static_cast<std::size_t>(*top)));
    }
    NumberTable table;
    table.columns = {"rows", "distance"};
    for (const std::string& name : names_at(fitted.posterior(), rows.variables())) table.columns.push_back(name);
    table.numbers.resize(static_cast<Index>(order.size()), static_cast<Index>(table.columns.size()));
    for (std::size_t i = 0; i < order.size(); ++i) {
        interruption_point();
        const RowInfluence::GroupCase& predicted = cases[order[i]];
        const RowInfluence::GroupCase one = refit ? refitted_or_nothing(rows, groups[order[i]], predicted) : predicted;
        table.numbers.row(static_cast<Index>(i)) << static_cast<double>(one.rows), one.distance, one.shifts.transpose();
        table.names.push_back(one.name);
    }
    return table;
}

NumberTable leverage(const Fit& fit, const std::vector<std::string>& names) {
    const FittedModel& fitted = fit.with_data();
    const std::vector<std::string> inputs = fitted.inputs();
    if (inputs.empty()) {
        throw std::runtime_error(
            "nothing that was observed is continuous, so there is no leverage: influence() says what dropping a row "
            "does");
    }
    const std::vector<Index> chosen = fitted.posterior().select(names);
    NumberTable table;
    table.columns = inputs;
    for (const std::string& name : names_at(fitted.posterior(), chosen)) {
        for (const std::string& input : inputs) {
            table.columns.push_back(inputs.size() == 1 ? name : fmt::format("{}/{}", name, input));
        }
    }
    const std::vector<std::pair<std::string, Vector>> more = fitted.row_columns();
    for (const auto& [name, values] : more) table.columns.push_back(name);
    std::vector<Matrix> parts;
    Index count = 0;
    fitted.response().leverage(fitted.functionals(chosen), [&](const RowAnswers& rows) {
        interruption_point();
        Matrix& part = parts.emplace_back(rows.answers.rows(), static_cast<Index>(table.columns.size()));
        part.leftCols(rows.inputs.cols()) = rows.inputs;
        part.middleCols(rows.inputs.cols(), rows.answers.cols()) = rows.answers;
        for (std::size_t j = 0; j < more.size(); ++j) {
            part.col(part.cols() - static_cast<Index>(more.size() - j)) =
                more[j].second.segment(rows.first, part.rows());
        }
        for (Index i = 0; i < part.rows(); ++i) label(table, fitted, rows.first + i);
        count += part.rows();
    });
    table.numbers.resize(count, static_cast<Index>(table.columns.size()));
    Index at = 0;
    for (const Matrix& part : parts) {
        table.numbers.middleRows(at, part.rows()) = part;
        at += part.rows();
    }
    return table;
}

NumberTable robust(const Fit& fit, const std::vector<std::string>& names) {
    NumberTable table;
    table.columns = {"sd", "sd_robust", "sd_robust_se", "ratio"};
    const std::vector<RobustSd> sds = robust_sds(fit.with_data(), names);
    table.numbers.resize(static_cast<Index>(sds.size()), 4);
    for (std::size_t i = 0; i < sds.size(); ++i) {
        table.names.push_back(sds[i].name);
        table.numbers.row(static_cast<Index>(i)) << sds[i].sd, sds[i].sd_robust, sds[i].sd_robust_se, sds[i].ratio();
    }
    return table;
}

std::shared_ptr<Check> check_of(const Fit& fit, const std::optional<std::string>& method, Index draws,
                                std::uint64_t seed, double seconds) {
    CheckOptions options;
    if (method) {
        options.method = check_method(*method);
        if (!options.method) {
            throw std::invalid_argument(
                fmt::format("method is '{}', but must be None, integration, importance, nuts or mh", *method));
        }
    }
    if (draws < 100) throw std::invalid_argument(fmt::format("draws is {}, but must be 100 or more", draws));
    if (!(seconds > 0.0)) throw std::invalid_argument(fmt::format("seconds is {}, but must be positive", seconds));
    options.draws = draws;
    options.seed = seed;
    options.seconds = seconds;
    options.threads = fit.threads();
    options.progress = [](const CheckProgress&) {
        interruption_point();
        return true;
    };
    return std::make_shared<Check>(check(fit.with_data(), fit.file().posterior, options));
}

Matrix draws_of(const Check& check, Index count, const std::vector<Index>& chosen) {
    const std::vector<Index> draws = draw_positions(check, count);
    Matrix values(count, static_cast<Index>(chosen.size()));
    for (std::size_t j = 0; j < chosen.size(); ++j) {
        for (Index i = 0; i < count; ++i) {
            values(i, static_cast<Index>(j)) = check.values(chosen[j], draws[static_cast<std::size_t>(i)]);
        }
    }
    return values;
}

std::vector<Index> draw_positions(const Check& check, Index count) {
    std::vector<Index> draws = equally_weighted(check);
    if (count < 1 || count > static_cast<Index>(draws.size())) {
        throw std::invalid_argument(
            fmt::format("{} draws were asked for, but there are {}: ask for 1 or more, and no more than these", count,
                        draws.size()));
    }
    // Every chain as often as the others, and draws of it at even distances.
    std::vector<Index> taken;
    for (Index i = 0; i < count; ++i) {
        taken.push_back(draws[static_cast<std::size_t>(i * static_cast<Index>(draws.size()) / count)]);
    }
    return taken;
}

Matrix response_draws(const Fit& fit, Index count, std::uint64_t seed, const std::vector<Index>& chosen) {
    constexpr Index kMost = 2000;
    const Posterior& posterior = fit.file().posterior;
    if (!posterior.has_response()) throw NotAnOptimum("the fit did not converge, so there is nothing to draw from");
    if (count < 1) throw std::invalid_argument(fmt::format("{} draws were asked for: ask for 1 or more", count));
    const auto size = static_cast<Index>(chosen.size());
    if (size > kMost) {
        throw std::invalid_argument(fmt::format(
            "draws of {} variables together need a matrix that is too large: choose at most {}", size, kMost));
    }
    // u ~ Normal on the scales where the variables are unbounded, by the symmetric root: variables may be functions of
    // each other.
    const SparseMatrix gradients = posterior.unbounded_gradients(chosen);
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(posterior.covariance->between(gradients, gradients));
    const Matrix root = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
    Random random(seed);
    Matrix values(count, size);
    for (Index i = 0; i < count; ++i) {
        interruption_point();
        Vector z(size);
        for (Index j = 0; j < size; ++j) z[j] = random.normal();
        const Vector u = root * z;
        for (Index j = 0; j < size; ++j) {
            const PosteriorVariable::Unbounded& scale =
                posterior.variables[static_cast<std::size_t>(chosen[static_cast<std::size_t>(j)])].unbounded;
            values(i, j) = transformed(scale.transform, scale.centre + u[j]);
        }
    }
    return values;
}

Matrix log_likelihoods(const Fit& fit, const Check& check, Index count) {
    const FittedModel& fitted = fit.with_data();
    const std::vector<Index> draws = draw_positions(check, count);
    Matrix statistics;
    if (check.integrated) {
        statistics.resize(check.integrated->draws.rows(), count);
        for (Index i = 0; i < count; ++i) {
            statistics.col(i) = check.integrated->draws.col(draws[static_cast<std::size_t>(i)]);
        }
    } else {
        const ModelDensity density(fitted.model(), fitted.optimum().state);
        // What points do not have is drawn by their places: all of them first, as the check had them.
        statistics = density.statistics(check.points, fit.threads(), check.seed)(Eigen::all, draws);
    }
    std::vector<Matrix> parts;
    fitted.row_model().row_log_likelihoods(statistics, fit.threads(), [&](const RowAnswers& rows) {
        interruption_point();
        parts.emplace_back(rows.answers);
    });
    Index rows = 0;
    for (const Matrix& part : parts) rows += part.rows();
    Matrix result(count, rows);
    Index at = 0;
    for (const Matrix& part : parts) {
        result.middleCols(at, part.rows()) = part.transpose();
        at += part.rows();
    }
    return result;
}

LooOptions loo_options(const std::optional<std::string>& method, std::uint64_t seed) {
    LooOptions options;
    if (method && *method != "response" && *method != "draws") {
        throw std::invalid_argument(fmt::format("method is '{}', but must be None, response or draws", *method));
    }
    if (method) options.method = *method == "draws" ? LooMethod::draws : LooMethod::response;
    options.seed = seed;
    return options;
}

NumberTable row_labels(const Fit& fit) {
    const FittedModel& fitted = fit.with_data();
    NumberTable table;
    for (Index row = 0; row < fit.file().data.rows; ++row) label(table, fitted, row);
    return table;
}

Loo loo(const Fit& fit, const std::optional<std::string>& method, std::uint64_t seed) {
    LooOptions options = loo_options(method, seed);
    options.threads = fit.threads();
    return leave_one_out(fit.with_data(), options);
}

NumberTable predict(const Fit& fit, const Data& rows, const PredictOptions& options) {
    const FitFile& file = fit.file();
    if (!file.converged()) throw NotAnOptimum("no prediction from a fit that did not converge: fit again");
    if (options.level && !file.model->predicts_intervals()) {
        throw UsageError(
            fmt::format("--level: predictions of a {} have no intervals: leave it out", file.model->kind()));
    }
    if (options.level && !(*options.level > 0.0 && *options.level < 1.0)) {
        throw UsageError(fmt::format("level is {}, but must lie between 0 and 1", *options.level));
    }
    if ((options.link || options.without_groups) && !file.model->predicts_by_group()) {
        throw UsageError(fmt::format("--{}: predictions of this {} have no such thing: leave it out",
                                     options.link ? "link" : "without-groups", file.model->kind()));
    }
    TakenRows sink;
    file.model->predict(file, rows.dataset(), options, sink);
    return sink.taken();
}

std::string model_check(const Fit& fit, std::uint64_t seed) {
    ModelCheckOptions options;
    options.exact.seed = seed;
    options.exact.threads = fit.threads();
    const ModelCheck found = check_model_fit(fit.with_data(), options);
    Document document = found.document();
    document["message"] = found.message();
    document["fits"] = found.fits();
    return document.json();
}

std::string report(const Fit& fit, const std::string& title) {
    ReportOptions options;
    options.title = title;
    options.fit_name = "fit";
    options.program = LRVB_VERSION;
    return report_page(fit.file(), fit.has_data() ? &fit.with_data() : nullptr, options);
}

std::string plot(const Fit& fit, const std::string& figure, const PlotOptions& options) {
    const Figure drawn = figure_named(figure);
    return plot_svg(fit.file(), needs_data(drawn) ? &fit.with_data() : nullptr, drawn, options);
}

Drawing drawing(const Fit& fit, const std::vector<std::string>& columns, double level) {
    DrawingOptions options;
    options.columns = columns;
    options.level = level;
    return fit.with_data().drawing(fit.file(), options);
}

std::pair<std::vector<std::string>, Matrix> observed(const Fit& fit) {
    const FittedModel& fitted = fit.with_data();
    std::vector<std::string> inputs = fitted.inputs();
    std::vector<Matrix> parts;
    Index rows = 0;
    const Matrix nothing = Matrix::Zero(fitted.model().layout().size(), 1);
    fitted.row_model().ask_rows(fitted.optimum().state, nothing, RowChange::weight, [&](const RowAnswers& some) {
        parts.push_back(some.inputs);
        rows += some.inputs.rows();
    });
    Matrix result(rows, static_cast<Index>(inputs.size()));
    Index at = 0;
    for (const Matrix& part : parts) {
        result.middleRows(at, part.rows()) = part;
        at += part.rows();
    }
    return {std::move(inputs), std::move(result)};
}

}  // namespace lrvb::python
