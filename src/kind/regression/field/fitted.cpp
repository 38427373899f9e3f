#include "kind/regression/field/fitted.hpp"

#include "base/messages.hpp"
#include "kind/regression/binned_rows.hpp"
#include "kind/regression/columns.hpp"
#include "kind/regression/field/groups.hpp"
#include "kind/regression/field/plain.hpp"
#include "kind/regression/field/table.hpp"

#include <lrvb/family/random.hpp>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr Index kNodes = 64;
constexpr std::uint64_t kNodeStream = std::uint64_t{1} << 61;

std::shared_ptr<const FieldRecord> record_of(const FitFile& file) {
    return std::static_pointer_cast<const FieldRecord>(file.model);
}

// ψ as some draws of the normal that the response makes of it, moved so that they have its mean and covariance.
FieldNodes response_nodes(const Posterior& posterior, const FieldVariables& variables) {
    const Index count = variables.psi_count();
    const Vector mean = posterior.mean.segment(variables.first_psi(), count);
    if (!posterior.has_response() || count == 0) return {mean, Vector::Ones(1)};
    std::vector<Index> places(static_cast<std::size_t>(count));
    std::iota(places.begin(), places.end(), variables.first_psi());
    const Matrix covariance = covariance_of_statistics(posterior, places);
    const Eigen::SelfAdjointEigenSolver<Matrix> own(0.5 * (covariance + covariance.transpose()));
    const Matrix root = own.eigenvectors() * own.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
    Matrix z(count, kNodes);
    Random random(1, kNodeStream);
    for (Index k = 0; k < kNodes / 2; ++k) {
        z.col(2 * k) = standard_normals(count, random);
        z.col(2 * k + 1) = -z.col(2 * k);
    }
    const Matrix moments = z * z.transpose() / static_cast<double>(kNodes);
    const Eigen::SelfAdjointEigenSolver<Matrix> spread(moments);
    z = spread.operatorInverseSqrt() * z;
    FieldNodes nodes;
    nodes.psi = (root * z).colwise() + mean;
    nodes.weights = Vector::Constant(kNodes, 1.0 / static_cast<double>(kNodes));
    return nodes;
}

// The data without some rows; groups that lose all of theirs stay, with what the prior says of them.
FieldData without_rows(const FieldData& data, const std::vector<Index>& rows) {
    std::vector<Index> kept;
    for (Index n = 0; n < data.y.size(); ++n) {
        if (!std::binary_search(rows.begin(), rows.end(), n)) kept.push_back(n);
    }
    const auto chosen = [&](const Vector& numbers) { return numbers.size() > 0 ? Vector(numbers(kept)) : Vector(); };
    FieldData result = data;
    result.y = chosen(data.y);
    result.trials = chosen(data.trials);
    result.offset = chosen(data.offset);
    result.weights = chosen(data.weights);
    result.columns = data.columns(kept, Eigen::all);
    for (FieldFactor& factor : result.factors) {
        factor.values = Matrix(factor.values(kept, Eigen::all));
        std::vector<int> levels;
        levels.reserve(kept.size());
        for (const Index n : kept) levels.push_back(factor.level[static_cast<std::size_t>(n)]);
        factor.level = std::move(levels);
    }
    return result;
}

}  // namespace

FittedField::FittedField(FitFile fit_file, std::shared_ptr<const FieldModel> model, Optimum optimum, double response_sd,
                         std::vector<Index> file_rows, int threads)
    : FittedModel(std::move(fit_file), std::move(file_rows), threads),
      model_(std::move(model)),
      response_sd_(response_sd) {
    set_optimum(std::move(optimum));
    auto record = std::make_shared<FieldRecord>(*record_of(file()));
    const FieldVariables variables = record->variables();
    const SparseMatrix statistics = variables.functionals(*model_).resolve(model_->layout()).weights;
    const Index psi = variables.psi_count();
    const Index fixed = static_cast<Index>(record->shape.slopes.size()) + (record->shape.intercept ? 1 : 0);
    record->fixed_units = Matrix(statistics.leftCols(variables.first_psi())).middleRows(psi, fixed);
    Index at = 0;
    for (const FormulaShape::Factor& factor : record->shape.factors) {
        Vector units(static_cast<Index>(factor.effects.size()));
        for (Index e = 0; e < units.size(); ++e) {
            units[e] = statistics.coeff(psi + fixed + at + e, variables.first_effect() + at + e);
        }
        record->effect_units.push_back(units);
        at += units.size() * static_cast<Index>(factor.levels.size());
    }
    record_ = record;
    file().model = record_;
    set_posterior(variables.posterior(*model_, this->optimum()));
    record->nodes = response_nodes(posterior(), variables);
}

FittedField::FittedField(FitFile fit_file, std::shared_ptr<const FieldModel> model, double response_sd,
                         std::vector<Index> file_rows, int threads)
    : FittedModel(std::move(fit_file), std::move(file_rows), threads),
      record_(record_of(file())),
      model_(std::move(model)),
      response_sd_(response_sd) {
    restore_optimum();
    if (!file().correction) return;
    if (file().correction->method == to_string(CheckMethod::integration)) integrated_with_ = file().correction->seed;
    // As it was before its correction, predictions included.
    const FieldVariables variables = record_->variables();
    set_uncorrected(variables.posterior(*model_, optimum()));
    auto uncorrected = std::make_shared<FieldRecord>(*record_);
    uncorrected->nodes = response_nodes(posterior(), variables);
    record_ = uncorrected;
    file().model = record_;
}

std::unique_ptr<FittedField> FittedField::restored(FitFile file, const Dataset& data, int threads) {
    const std::shared_ptr<const FieldRecord> record = record_of(file);
    FrameOptions options = record->coding->reading(true, file.data.dropped > 0 ? Missing::drop : Missing::refuse);
    if (file.data.weights) {
        const auto there = std::find(options.columns.begin(), options.columns.end(), *file.data.weights);
        if (there == options.columns.end()) options.columns.push_back(*file.data.weights);
        options.numbers.push_back(*file.data.weights);
    }
    const Likelihood& likelihood = *record->shape.likelihood;
    FieldTable table(data, options, likelihood);
    const DataFrame& frame = table.frame();
    if (file.data.weights) {
        const WeightMeaning meaning = !file.data.precision_weights ? WeightMeaning::count
                                      : likelihood.has_trials()    ? WeightMeaning::trials
                                                                   : WeightMeaning::precision;
        table.take_weights(frame.find(*file.data.weights), meaning);
        table.leave_out_weightless();
    }
    if (record->response_levels) {
        code_response(table.here().frame(), frame.find(record->coding->response()), *record->response_levels);
    }
    table.make_design(*record->coding);
    table.make_data(*record->coding, record->kept, record->shape.likelihood);
    std::string checksum = table.checksum();
    // Former programs took that of many rows otherwise.
    if (checksum != file.data.checksum && table.is_here()) checksum = checksum_of(*table.data());
    require_fitted_data(file, frame.name, checksum, frame.rows);
    auto model = std::make_shared<FieldModel>(table.rows(), record->numbers);
    return std::unique_ptr<FittedField>(
        new FittedField(std::move(file), std::move(model), table.sd(), table.file_rows(), threads));
}

FieldPrior FittedField::prior_after(const RefitChange& change) const {
    FieldPrior prior = record_->numbers;
    if (change.prior) set_prior_number(prior, record_->shape, change.prior->first, change.prior->second);
    return prior;
}

FieldModel FittedField::model_after(const RefitChange& change) const {
    return FieldModel(change.without_rows.empty() ? rows() : without_rows(rows(), change.without_rows),
                      prior_after(change));
}

Posterior FittedField::refit(const RefitChange& change) const {
    const FieldModel changed = model_after(change);
    // Its inner units are its own, so that the old optimum is no start; but it finds its own in a few steps.
    return FieldVariables(record_->shape, prior_after(change), record_->moments)
        .posterior(changed, refitted(changed, false));
}

// Groups that lose their rows stay, so that the variables are the same.
std::optional<Moments> FittedField::refitted_moments(const RefitChange& change) const {
    if (!integrated_with_) return std::nullopt;
    const auto changed = std::make_shared<const FieldModel>(model_after(change));
    auto record = std::make_shared<FieldRecord>(*record_);
    record->numbers = prior_after(change);
    record->effect_units.clear();
    FitFile own = file();
    own.model = record;
    own.data.rows -= static_cast<Index>(change.without_rows.size());
    const FittedField after(std::move(own), changed, refitted(*changed, false), response_sd_, {}, threads());
    IntegrationOptions options;
    options.seed = *integrated_with_;
    options.threads = threads();
    const IntegratedPosterior exact = after.integrate(options);
    if (!exact.reliable) {
        throw std::runtime_error(fmt::format("the posterior of a refit cannot be integrated: {}", exact.trust));
    }
    return Moments{exact.mean, exact.sd};
}

double FittedField::work_of_a_draw() const {
    constexpr double of_call = 8000.0;  // as measured, in the numbers that a mixture looks at
    constexpr double of_coefficient = 100.0;
    constexpr double of_row = 30.0;
    const double rows = record_->shape.likelihood->is_normal() ? 0.0 : static_cast<double>(file().data.rows);
    return of_call + of_row * rows + of_coefficient * static_cast<double>(model_->coefficient_count());
}

namespace {

// How many groups have more than one outcome: with an infinite sd of theirs these, and no others, would be impossible.
Index mixed_groups(const FieldData& data, const FieldFactor& factor) {
    std::vector<bool> has_none(factor.levels.size());  // no success, no count
    std::vector<bool> has_all(factor.levels.size());   // no failure
    std::vector<bool> is_mixed(factor.levels.size());
    for (Index n = 0; n < data.y.size(); ++n) {
        const auto group = static_cast<std::size_t>(factor.level[static_cast<std::size_t>(n)]);
        const double trials = data.trials.size() > 0 ? data.trials[n] : 1.0;
        if (data.weight(n) == 0.0 || trials == 0.0) continue;
        const OpenEnds ends = data.likelihood->open_ends(data.y[n], trials);
        if (ends.low) has_none[group] = true;
        if (ends.high) has_all[group] = true;
        is_mixed[group] = is_mixed[group] || (!ends.low && !ends.high) || (has_none[group] && has_all[group]);
    }
    return std::count(is_mixed.begin(), is_mixed.end(), true);
}

// Towards infinity the posterior of an sd falls as its prior does, and by one more power for each group that says where
// its effect is: of binary or counted rows one with more than one outcome, of others every one, but for the one that an
// intercept which may be anything takes. It may have no sd, and no mean.
std::vector<std::string> endless_sds(const FieldData& data, const FieldPrior& prior, double response_sd) {
    constexpr double kAnything = 30.0;  // sds of the response
    const std::string_view outcome = data.likelihood->telling_response();
    const bool has_outcomes = !outcome.empty();
    const bool is_free = data.intercept && prior.intercept_sd > kAnything * response_sd;
    std::vector<std::string> result;
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const FieldFactor& factor = data.factors[f];
        if (factor.effects != std::vector<std::string>{"intercept"}) continue;
        const ScalePrior& own = prior.factors[f].sd.front();
        const bool is_student = own.kind == ScalePrior::Kind::half_t;
        if (!is_student && own.kind != ScalePrior::Kind::gamma_precision) continue;
        const auto groups = static_cast<Index>(factor.levels.size());
        const Index telling = has_outcomes ? mixed_groups(data, factor) : groups - (is_free ? 1 : 0);
        const double power = (is_student ? own.first : 2.0 * own.first) + static_cast<double>(telling);
        if (power > 2.0) continue;
        const std::string name = printable(factor.name);
        const std::string who = !has_outcomes  ? fmt::format("{} has {} group{}", name, groups, groups == 1 ? "" : "s")
                                : telling == 0 ? fmt::format("no group of {} has {}", name, outcome)
                                               : fmt::format("only {} of {} has {}", telling, name, outcome);
        result.push_back(fmt::format(
            "sd[{},intercept] has no finite {}: {}, so that nothing but its prior keeps it, and the coefficients with "
            "it, from being very large, and sds and upper quantiles may be a fifth too small; give it a prior with a "
            "shorter tail (--prior 'sd[{},intercept] ~ half_normal(1)')",
            name, power > 1.0 ? "sd" : "mean", who, name));
    }
    return result;
}

}  // namespace

// By the coefficient that differs most, in sds.
std::string FittedField::rival_text(const FieldRival& rival) const {
    const FieldVariables variables = record_->variables();
    const Functionals::Resolved functionals = variables.functionals(*model_).resolve(model_->layout());
    Vector there = optimum().state.mean;
    there.tail(rival.coefficients.size()) = rival.coefficients;
    const Vector values = functionals.weights.transpose() * there + functionals.constants;
    const std::vector<Index> chosen = posterior().select({});
    const std::vector<Posterior::Row> rows = posterior().summary(chosen, 0.9);
    std::size_t most = rows.size();
    double farthest = 0.0;
    Index place = 0;
    for (std::size_t v = 0; v < rows.size(); ++v) {
        const VariableMeaning& meaning = posterior().variables[static_cast<std::size_t>(chosen[v])].meaning;
        if (meaning.role != Role::coefficient || !(rows[v].sd > 0.0)) continue;
        const Index statistic = meaning.from_draw.combination.front().first;
        const double away = std::abs(values[statistic] - rows[v].mean) / rows[v].sd;
        if (away <= farthest) continue;
        farthest = away;
        most = v;
        place = statistic;
    }
    const std::string where = most == rows.size()
                                  ? std::string()
                                  : fmt::format(", with {} {:.4g} instead of {:.4g}", printable(rows[most].name),
                                                values[place], rows[most].mean);
    return fmt::format(
        "another fit of these rows, with other outliers, holds about {:.2g}% of the posterior{}: means and sds are "
        "those "
        "of one fit alone; 'lrvb check FIT DATA --method nuts' may tell",
        100.0 * rival.share, where);
}

std::vector<std::string> FittedField::warnings() const {
    constexpr double rounding = 1.5e-7;  // of the response's sd
    const FieldData& data = model_->data();
    std::vector<std::string> result = endless_sds(data, record_->numbers, response_sd_);
    for (const FieldRival& rival : model_->rivals()) result.push_back(rival_text(rival));
    if (!data.likelihood->is_normal()) return result;
    const FieldVariables variables = record_->variables();
    const double sigma = variables.sigma(posterior().mean.segment(variables.first_psi(), variables.psi_count()));
    if (sigma > rounding * std::sqrt(model_->precision_unit()) * response_sd_) return result;
    result.push_back(
        fmt::format("the formula explains {} but for rounding, so that sigma and the sds are those of rounding",
                    printable(data.response)));
    return result;
}

Centring FittedField::centring(const std::vector<Index>& chosen) const {
    Centring result = FittedModel::centring(chosen);
    const FormulaShape& shape = record_->shape;
    if (!shape.intercept) return result;
    const auto place = [&](Index position) -> Index {  // in the posterior, where coefficients stand first
        for (std::size_t v = 0; v < chosen.size(); ++v) {
            if (chosen[v] == position) return static_cast<Index>(v);
        }
        return -1;
    };
    const Index intercept = place(0);
    for (Index j = 0; j < shape.plain() && intercept >= 0; ++j) {
        const Index slope = place(1 + j);
        if (slope < 0) return FittedModel::centring(chosen);  // not all of them: no change that keeps distances
        result.change.coeffRef(intercept, slope) = (*record_->numbers.centre)[j];
    }
    if (intercept >= 0) result.variables[static_cast<std::size_t>(intercept)] = posterior().select({"alpha"}).front();
    return result;
}

// Of a normal response: what its predictor is, how far a new response is from it, and how much of it is its own.
std::optional<FittedResponse> FittedField::fitted_response() const {
    if (!record_->shape.likelihood->is_normal() || posterior().covariance->matrix() == nullptr) return std::nullopt;
    const FieldData& data = rows();
    const FieldVariables variables = record_->variables();
    const Index count = data.y.size();
    FittedResponse result;
    result.name = data.response;
    result.observed = data.y;
    result.fitted = data.offset.size() > 0 ? data.offset : Vector::Zero(count);
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](Index statistic, Index n, double value) {
        if (value == 0.0) return;
        entries.emplace_back(static_cast<int>(statistic), static_cast<int>(n), value);
        result.fitted[n] += value * posterior().mean[statistic];
    };
    const Vector& centre = *record_->numbers.centre;
    for (Index n = 0; n < count; ++n) {
        if (data.intercept) add(0, n, 1.0);
        for (Index j = 0; j < data.columns.cols(); ++j) {
            add(variables.first_slope() + j, n, data.columns(n, j) - (data.intercept ? centre[j] : 0.0));
        }
        Index first = variables.first_effect();
        for (std::size_t f = 0; f < data.factors.size(); ++f) {
            const FieldFactor& factor = data.factors[f];
            const Vector& zero = variables.effect_centre(f);
            const Index effects = factor.values.cols();
            for (Index e = 0; e < effects; ++e) {
                add(first + factor.level[static_cast<std::size_t>(n)] * effects + e, n, factor.values(n, e) - zero[e]);
            }
            first += effects * static_cast<Index>(factor.levels.size());
        }
    }
    SparseMatrix combinations(posterior().mean.size(), count);
    combinations.setFromTriplets(entries.begin(), entries.end());
    const Vector variance = posterior().covariance->variances(combinations).cwiseMax(0.0);
    const double sigma = variables.sigma(posterior().mean.segment(variables.first_psi(), variables.psi_count()));
    Vector precision(count);
    result.weights.resize(count);
    for (Index n = 0; n < count; ++n) {
        precision[n] = data.precision(n);
        result.weights[n] = data.count(n);
    }
    result.predictive_sd = (variance.array() + sigma * sigma / precision.array()).sqrt();
    result.hat = result.weights.cwiseProduct(precision).cwiseProduct(variance) / (sigma * sigma);
    if (data.precision_weights) result.precision = std::move(precision);
    result.rows.resize(static_cast<std::size_t>(count));
    std::iota(result.rows.begin(), result.rows.end(), Index{0});
    return result;
}

std::vector<std::pair<std::string, Vector>> FittedField::row_columns() const {
    const std::optional<FittedResponse> response = fitted_response();
    if (!response) return {};
    return {{"hat", response->hat}};
}

Document FittedField::picture() const {
    if (std::optional<std::vector<RegressionTerm>> terms = plain_terms(*record_)) {
        return binned_rows(plain_design(std::move(*terms), rows()),
                           plain_coefficients(*record_, posterior(), shown().mean));
    }
    const FieldVariables variables = record_->variables();
    const FieldRowFit fit = row_fit(rows(), variables, *record_->numbers.centre, shown().mean);
    return field_picture(record_->shape, variables, rows(), fit, shown().mean);
}

Matrix FittedField::beside(const std::vector<Index>& chosen) const {
    const FieldData& data = rows();
    if (plain_terms(*record_)) return data.columns(chosen, Eigen::all);
    const FieldRowFit fit = row_fit(data, record_->variables(), *record_->numbers.centre, shown().mean);
    Matrix result(static_cast<Index>(chosen.size()), beside_count());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto at = static_cast<Index>(i);
        const Index n = chosen[i];
        Index next = 0;
        result(at, next++) = fit.observed[n];
        result(at, next++) = fit.fitted[n];
        for (const FieldFactor& factor : data.factors) {
            result(at, next++) = static_cast<double>(factor.level[static_cast<std::size_t>(n)]);
        }
        for (Index j = 0; next < result.cols(); ++j) result(at, next++) = data.columns(n, j);
    }
    return result;
}

Index FittedField::beside_count() const {
    const FieldData& data = model_->data();
    if (plain_terms(*record_)) return data.columns.cols();
    return 2 + static_cast<Index>(data.factors.size()) + std::min(data.slopes(), kMostShownColumns);
}

}  // namespace lrvb::detail
