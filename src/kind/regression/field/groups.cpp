#include "kind/regression/field/groups.hpp"

#include "base/encoding.hpp"
#include "kind/bins.hpp"
#include "kind/regression/field/prediction.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr double kPageLevel = 0.9;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Index kFewRows = 100;  // that every page has room for
constexpr Index kBins = 48;

Index count_of(const std::vector<std::string>& names) {
    return static_cast<Index>(names.size());
}

// Of so many ranks some, in ascending order: the ends, and what lies evenly between them.
std::vector<Index> drawn_ranks(Index count, Index most) {
    std::vector<Index> ranks;
    if (count <= most) {
        ranks.resize(static_cast<std::size_t>(count));
        std::iota(ranks.begin(), ranks.end(), Index{0});
        return ranks;
    }
    const Index end = most / 3;
    const Index between = most - 2 * end;
    for (Index i = 0; i < end; ++i) ranks.push_back(i);
    for (Index i = 0; i < between; ++i) ranks.push_back(end + (2 * i + 1) * (count - 2 * end) / (2 * between));
    for (Index i = 0; i < end; ++i) ranks.push_back(count - end + i);
    return ranks;
}

// Of each level and effect of a factor, levels by rows.
Matrix own_estimates(const FieldFactor& factor, const Vector& centre, const FieldRowFit& rows, const Matrix& means) {
    const auto levels = count_of(factor.levels);
    const auto effects = count_of(factor.effects);
    Matrix slopes = Matrix::Zero(levels, effects);
    Matrix curvatures = Matrix::Zero(levels, effects * effects);
    for (Index n = 0; n < rows.slope.size(); ++n) {
        const Index level = factor.level[static_cast<std::size_t>(n)];
        const Vector z = factor.values.row(n).transpose() - centre;
        for (Index a = 0; a < effects; ++a) {
            slopes(level, a) += rows.slope[n] * z[a];
            for (Index b = 0; b < effects; ++b) curvatures(level, a * effects + b) += rows.curvature[n] * z[a] * z[b];
        }
    }
    constexpr double kSingular = 1e-9;
    Matrix result = Matrix::Constant(levels, effects, kNan);
    for (Index level = 0; level < levels; ++level) {
        const Vector own = curvatures.row(level);
        const Matrix curvature = own.reshaped(effects, effects);
        const Vector unit = curvature.diagonal().cwiseSqrt();
        if (!(unit.minCoeff() > 0.0) || !unit.allFinite()) continue;
        const Vector inverse = unit.cwiseInverse();
        Eigen::ColPivHouseholderQR<Matrix> factored(inverse.asDiagonal() * curvature * inverse.asDiagonal());
        factored.setThreshold(kSingular);
        if (factored.rank() < effects) continue;  // rows that do not say
        const Vector slope = slopes.row(level).transpose().cwiseProduct(inverse);
        const Vector step = Vector(factored.solve(slope)).cwiseProduct(inverse);
        result.row(level) = means.row(level) + step.transpose();
    }
    return result;
}

// The numbers between which quarters of them lie.
std::array<double, 5> quartiles(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    std::array<double, 5> result{};
    for (std::size_t q = 0; q < result.size(); ++q) {
        const double at = 0.25 * static_cast<double>(q) * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::size_t>(at);
        const std::size_t above = std::min(below + 1, values.size() - 1);
        result[q] = values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
    }
    return result;
}

// Of the rows of some levels, in their order.
Document residuals_of(const FieldFactor& factor, std::size_t place, const std::vector<Index>& levels,
                      const Vector& residuals) {
    std::vector<Index> at(factor.levels.size(), -1);
    for (std::size_t i = 0; i < levels.size(); ++i) at[static_cast<std::size_t>(levels[i])] = static_cast<Index>(i);
    std::vector<std::vector<double>> own(levels.size());
    for (Index n = 0; n < residuals.size(); ++n) {
        const Index i = at[static_cast<std::size_t>(factor.level[static_cast<std::size_t>(n)])];
        if (i >= 0) own[static_cast<std::size_t>(i)].push_back(residuals[n]);
    }
    Matrix numbers = Matrix::Constant(static_cast<Index>(levels.size()), 5, kNan);
    std::vector<Index> counts;
    for (std::size_t i = 0; i < own.size(); ++i) {
        counts.push_back(static_cast<Index>(own[i].size()));
        if (own[i].empty()) continue;
        const std::array<double, 5> five = quartiles(own[i]);
        for (std::size_t q = 0; q < five.size(); ++q) numbers(static_cast<Index>(i), static_cast<Index>(q)) = five[q];
    }
    return Document{{"factor", place}, {"level", levels}, {"count", counts}, {"numbers", double_precision(numbers)}};
}

Document binned_fit(const FieldData& data, const FieldRowFit& rows) {
    const Axis across = axis(rows.fitted.minCoeff(), rows.fitted.maxCoeff(), kBins);
    const Axis up = axis(rows.observed.minCoeff(), rows.observed.maxCoeff(), kBins);
    PairBins pair(0, across, 1, up);
    for (Index n = 0; n < rows.fitted.size(); ++n) pair.add(rows.fitted[n], rows.observed[n], data.count(n));
    return Document{{"x_start", across.start},
                    {"x_step", across.step},
                    {"y_start", up.start},
                    {"y_step", up.step},
                    {"cells", cells_of(pair)}};
}

// Rows side by side by what is fitted: the mean of what was observed, and how far chance alone would take it.
Document calibration_of(const FieldData& data, const FieldRowFit& rows) {
    constexpr Index kMostBlocks = 12;
    constexpr Index kFewest = 5;
    const Index count = rows.fitted.size();
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return rows.fitted[a] < rows.fitted[b]; });
    const Index blocks = std::clamp(count / kFewest, Index{1}, kMostBlocks);
    Vector fitted(blocks);
    Vector observed(blocks);
    Vector sd(blocks);
    std::vector<Index> sizes;
    for (Index b = 0; b < blocks; ++b) {
        double weights = 0.0;
        double variance = 0.0;
        fitted[b] = observed[b] = 0.0;
        const Index begin = b * count / blocks;
        const Index end = (b + 1) * count / blocks;
        for (Index i = begin; i < end; ++i) {
            const Index n = order[static_cast<std::size_t>(i)];
            const double weight = data.count(n) * (data.trials.size() > 0 ? data.trials[n] : 1.0);
            weights += weight;
            fitted[b] += weight * rows.fitted[n];
            observed[b] += weight * rows.observed[n];
            variance += weight * weight * rows.sd[n] * rows.sd[n];
        }
        fitted[b] /= weights;
        observed[b] /= weights;
        sd[b] = std::sqrt(variance) / weights;
        sizes.push_back(end - begin);
    }
    return Document{{"fitted", fitted}, {"observed", observed}, {"sd", sd}, {"rows", sizes}};
}

}  // namespace

Index DrawnEffect::place(const FormulaShape& shape, Index level) const {
    return first + level * count_of(shape.factors[factor].effects) + effect;
}

std::vector<DrawnEffect> drawn_effects(const FormulaShape& shape, const Vector& means, Index most) {
    std::vector<DrawnEffect> result;
    Index first = 0;
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        const Index effects = count_of(shape.factors[f].effects);
        const Index levels = count_of(shape.factors[f].levels);
        for (Index e = 0; e < effects && result.size() < kMostDrawnEffects; ++e) {
            DrawnEffect& one = result.emplace_back();
            one.factor = f;
            one.effect = e;
            one.first = first;
            std::vector<Index> order(static_cast<std::size_t>(levels));
            std::iota(order.begin(), order.end(), Index{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](Index a, Index b) { return means[one.place(shape, a)] < means[one.place(shape, b)]; });
            one.ranks = drawn_ranks(levels, most);
            for (const Index rank : one.ranks) one.levels.push_back(order[static_cast<std::size_t>(rank)]);
        }
        first += effects * levels;
    }
    return result;
}

Document groups_document(const FormulaShape& shape, const FieldVariables& variables, const Posterior& posterior) {
    const Index count = static_cast<Index>(variables.statistics().size()) - variables.first_effect();
    const Vector means = posterior.mean.segment(variables.first_effect(), count);
    const Index first = static_cast<Index>(posterior.variables.size()) - count;  // where they stand last
    Document list = Document::list();
    for (const DrawnEffect& one : drawn_effects(shape, means, kMostDrawnGroups)) {
        const FormulaShape::Factor& factor = shape.factors[one.factor];
        std::vector<Index> chosen;
        std::vector<std::string> names;
        for (const Index level : one.levels) {
            chosen.push_back(first + one.place(shape, level));
            names.push_back(factor.levels[static_cast<std::size_t>(level)]);
        }
        const std::vector<Posterior::Row> rows = posterior.summary(chosen, kPageLevel);
        Matrix numbers(static_cast<Index>(rows.size()), 4);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Posterior::Row& row = rows[i];
            const bool responds = posterior.has_response();
            numbers.row(static_cast<Index>(i)) << row.mean, responds ? row.sd : row.mean_field_sd,
                responds ? row.lower : row.mean_field_lower, responds ? row.upper : row.mean_field_upper;
        }
        list.push_back(Document{{"factor", one.factor},
                                {"effect", one.effect},
                                {"count", factor.levels.size()},
                                {"level", one.levels},
                                {"rank", one.ranks},
                                {"names", names},
                                {"numbers", double_precision(numbers)}});
    }
    return list;
}

bool is_standardised(const Likelihood& likelihood) {
    return !likelihood.has_sigma();
}

FieldRowFit row_fit(const FieldData& data, const FieldVariables& variables, const Vector& centre, const Vector& means) {
    const Index rows = data.y.size();
    FieldRowFit result;
    result.predictor = data.offset.size() > 0 ? data.offset : Vector::Zero(rows);
    const Index slopes = data.columns.cols();
    const Vector beta = means.segment(variables.first_slope(), slopes);
    if (slopes > 0) result.predictor += data.columns * beta;
    if (data.intercept) result.predictor.array() += means[0] - (slopes > 0 ? beta.dot(centre) : 0.0);
    Index first = variables.first_effect();
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const FieldFactor& factor = data.factors[f];
        const Vector& zero = variables.effect_centre(f);
        const Index effects = factor.values.cols();
        for (Index n = 0; n < rows; ++n) {
            const Index place = first + factor.level[static_cast<std::size_t>(n)] * effects;
            for (Index e = 0; e < effects; ++e) {
                result.predictor[n] += (factor.values(n, e) - zero[e]) * means[place + e];
            }
        }
        first += effects * count_of(factor.levels);
    }
    const Vector psi = means.segment(variables.first_psi(), variables.psi_count());
    const Likelihood& likelihood = *data.likelihood;
    const bool has_sigma = likelihood.has_sigma();
    const Vector theta = variables.theta(psi);
    const VarianceFunction variance_of = has_sigma ? VarianceFunction{} : likelihood.variance(theta);
    for (Vector* part :
         {&result.observed, &result.fitted, &result.residual, &result.sd, &result.slope, &result.curvature}) {
        part->resize(rows);
    }
    for (Index n = 0; n < rows; ++n) {
        const double mean = likelihood.mean(result.predictor[n]);
        const double trials = data.trials.size() > 0 ? data.trials[n] : 1.0;
        const double observed = data.y[n] / trials;
        const double rest = observed - mean;
        // Where a probability rounds to 0 or 1 the rows would weigh nothing, and say nothing.
        const double variance =
            has_sigma ? theta[0] * theta[0] / data.precision(n) : std::max(variance_of.at(mean), 1e-12) / trials;
        const RowWorking working =
            likelihood.working(rest, likelihood.link().slope(result.predictor[n]), variance, theta);
        result.observed[n] = observed;
        result.fitted[n] = mean;
        result.sd[n] = std::sqrt(variance);
        result.residual[n] = has_sigma ? rest * std::sqrt(data.precision(n)) : rest / result.sd[n];
        result.curvature[n] = data.count(n) * working.curvature;
        result.slope[n] = data.count(n) * working.slope;
    }
    return result;
}

Document field_picture(const FormulaShape& shape, const FieldVariables& variables, const FieldData& data,
                       const FieldRowFit& rows, const Vector& means) {
    const Index count = static_cast<Index>(variables.statistics().size()) - variables.first_effect();
    const Vector effects = means.segment(variables.first_effect(), count);
    Document groups = Document::list();
    Document residuals = Document::list();
    Matrix own;
    for (const DrawnEffect& one : drawn_effects(shape, effects, kMostDrawnGroups)) {
        const FieldFactor& factor = data.factors[one.factor];
        if (one.effect == 0) {
            const Index levels = count_of(factor.levels);
            const Index width = count_of(factor.effects);
            Matrix own_means(levels, width);
            for (Index l = 0; l < levels; ++l) {
                own_means.row(l) = effects.segment(one.first + l * width, width).transpose();
            }
            own = own_estimates(factor, variables.effect_centre(one.factor), rows, own_means);
            residuals.push_back(residuals_of(factor, one.factor, one.levels, rows.residual));
        }
        Matrix chosen(static_cast<Index>(one.levels.size()), 1);
        for (std::size_t i = 0; i < one.levels.size(); ++i) {
            chosen(static_cast<Index>(i), 0) = own(one.levels[i], one.effect);
        }
        groups.push_back(Document{
            {"factor", one.factor}, {"effect", one.effect}, {"level", one.levels}, {"own", double_precision(chosen)}});
    }
    Document json;
    json["groups"] = std::move(groups);
    json["residuals"] = std::move(residuals);
    json["standardised"] = is_standardised(*data.likelihood);
    if (rows.fitted.size() > kFewRows) json["binned"] = Document{{"fitted", binned_fit(data, rows)}};
    if (is_standardised(*data.likelihood)) json["calibration"] = calibration_of(data, rows);
    return json;
}

}  // namespace lrvb::detail
