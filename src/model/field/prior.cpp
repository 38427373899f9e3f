#include "base/messages.hpp"
#include "base/validate.hpp"
#include "model/field/core.hpp"
#include "model/field/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb {

namespace detail {

namespace {

[[noreturn]] void refuse(const std::string& sentence) {
    throw std::runtime_error(sentence);
}

}  // namespace

double mean_response(const FieldData& data) {
    const bool has_exposure = data.likelihood->link().is_log && data.offset.size() > 0;
    double sum = 0.0;
    double total = 0.0;
    double least = 0.0;
    for (Index n = 0; n < data.y.size(); ++n) {
        const double exposure = has_exposure ? std::exp(data.offset[n]) : 1.0;
        const double weight = data.count(n);
        if (weight == 0.0) continue;
        sum += weight * data.y[n] / exposure;
        least += 0.5 / exposure;
        total += weight;
    }
    if (sum == 0.0 && data.likelihood->link().is_log) sum = least / static_cast<double>(data.y.size());
    return sum / total;
}

void require_field(const FieldData& data) {
    const Index rows = data.y.size();
    require_size("FieldData", "columns' rows", data.columns.rows(),
                 data.columns.cols() > 0 ? rows : data.columns.rows());
    require_size("FieldData", "names", static_cast<Index>(data.names.size()), data.columns.cols());
    if (data.offset.size() > 0) require_size("FieldData", "offset", data.offset.size(), rows);
    if (data.weights.size() > 0) require_size("FieldData", "weights", data.weights.size(), rows);
    if (data.trials.size() > 0) require_size("FieldData", "trials", data.trials.size(), rows);
    Index counted = 0;
    for (Index n = 0; n < rows; ++n) {
        const double weight = data.weight(n);
        if (!(weight >= 0.0) || !std::isfinite(weight)) {
            refuse(fmt::format("row {} has the weight {}, but a row counts zero times or more: correct it", n + 1,
                               weight));
        }
        if (weight > 0.0) ++counted;
        if (!std::isfinite(data.y[n]) || !std::isfinite(data.offset_of(n))) {
            refuse(fmt::format("row {} has no finite {}: leave the row out", n + 1,
                               std::isfinite(data.y[n]) ? "offset" : shown(data.response)));
        }
    }
    if (counted == 0) refuse("there are no rows with weight: nothing can be fitted");
    for (Index j = 0; j < data.columns.cols(); ++j) {
        const bool is_slope = j < data.slopes();
        const std::string name = shown(data.names[static_cast<std::size_t>(j)]);
        bool varies = false;
        bool nonzero = false;
        double first = 0.0;
        bool has_first = false;
        for (Index n = 0; n < rows; ++n) {
            const double value = data.columns(n, j);
            if (!std::isfinite(value)) refuse(fmt::format("row {} has no finite {}: leave the row out", n + 1, name));
            if (data.weight(n) == 0.0) continue;
            if (!has_first) first = value;
            has_first = true;
            varies = varies || value != first;
            nonzero = nonzero || value != 0.0;
        }
        if (!is_slope) continue;
        if (!nonzero) refuse(fmt::format("the column {} is zero in every row: leave it out", name));
        if (!varies && data.intercept) {
            refuse(fmt::format("the column {} is {} in every row, which the intercept already says: leave it out", name,
                               first));
        }
    }
    for (const FieldFactor& factor : data.factors) {
        const std::string name = shown(factor.name);
        require_at_least("FieldFactor", "number of levels of " + name, static_cast<Index>(factor.levels.size()), 1);
        require_at_least("FieldFactor", "number of effects of " + name, static_cast<Index>(factor.effects.size()), 1);
        if (factor.intercept >= factor.values.cols() ||
            (factor.intercept >= 0 && (factor.values.col(factor.intercept).array() != 1.0).any())) {
            throw std::invalid_argument(
                fmt::format("FieldFactor: the intercept of {} must be an effect whose values are all 1", name));
        }
        require_size("FieldFactor", "level of " + name, static_cast<Index>(factor.level.size()), rows);
        require_size("FieldFactor", "values of " + name, factor.values.rows(), rows);
        require_size("FieldFactor", "effects of " + name, static_cast<Index>(factor.effects.size()),
                     factor.values.cols());
        for (Index n = 0; n < rows; ++n) {
            const int level = factor.level[static_cast<std::size_t>(n)];
            if (level < 0 || level >= static_cast<int>(factor.levels.size())) {
                throw std::invalid_argument(fmt::format("row {} has level {} of {}, which has {} levels, from 0", n + 1,
                                                        level, name, factor.levels.size()));
            }
        }
        for (Index e = 0; e < factor.values.cols(); ++e) {
            bool nonzero = false;
            for (Index n = 0; n < rows; ++n) {
                const double value = factor.values(n, e);
                if (!std::isfinite(value)) {
                    refuse(fmt::format("row {} has no finite {} for {}: leave the row out", n + 1,
                                       shown(factor.effects[static_cast<std::size_t>(e)]), name));
                }
                nonzero = nonzero || (value != 0.0 && data.weight(n) > 0.0);
            }
            if (!nonzero) {
                refuse(fmt::format("the effect {} of {} is zero in every row: leave it out",
                                   shown(factor.effects[static_cast<std::size_t>(e)]), name));
            }
        }
    }
    if (data.likelihood == nullptr) throw std::invalid_argument("FieldData: there is no likelihood");
    if (data.precision_weights && !data.likelihood->has_sigma()) {
        throw std::invalid_argument(
            fmt::format("FieldData: {} rows have no precision weights: only those with a residual sd have",
                        data.likelihood->name()));
    }
    if (data.trials.size() > 0 && !data.likelihood->has_trials()) {
        throw std::invalid_argument(fmt::format("FieldData: {} rows have no trials", data.likelihood->name()));
    }
}

namespace {

// As far as their sizes tell.
void require_field(const FieldData& outline, const FieldScales& scales) {
    if (!outline.likelihood->is_normal()) {
        throw std::invalid_argument("FieldRows: rows that are with others must be normal");
    }
    for (Index j = 0; j < outline.slopes(); ++j) {
        const std::string name = shown(outline.names[static_cast<std::size_t>(j)]);
        const Index place = FieldScales::column(j);
        if (scales.about_zero[place] == 0.0) {
            refuse(fmt::format("the column {} is zero in every row: leave it out", name));
        }
        if (scales.about_mean[place] == 0.0 && outline.intercept) {
            refuse(fmt::format("the column {} is {} in every row, which the intercept already says: leave it out", name,
                               scales.mean[place]));
        }
    }
    for (std::size_t f = 0; f < outline.factors.size(); ++f) {
        for (std::size_t e = 0; e < outline.factors[f].effects.size(); ++e) {
            if (scales.about_zero[FieldScales::effect(outline, f, static_cast<Index>(e))] > 0.0) continue;
            refuse(fmt::format("the effect {} of {} is zero in every row: leave it out",
                               shown(outline.factors[f].effects[e]), shown(outline.factors[f].name)));
        }
    }
}

}  // namespace

FieldScales sound_scales(const FieldRows& rows) {
    const bool is_here = dynamic_cast<const RowsHere*>(&rows) != nullptr;
    if (is_here) require_field(*rows.outline());
    FieldScales scales = scales_of(rows);
    if (!is_here) require_field(*rows.outline(), scales);
    return scales;
}

}  // namespace detail

FieldPrior FieldPrior::automatic(const FieldData& data) {
    // Not to be deleted by who holds it here.
    return automatic(detail::RowsHere(std::shared_ptr<const FieldData>(std::shared_ptr<void>(), &data)));
}

FieldPrior FieldPrior::automatic(const FieldRows& rows) {
    using detail::FieldScales;
    const std::shared_ptr<const FieldData> outline = rows.outline();
    const FieldData& data = *outline;
    const FieldScales scales = detail::sound_scales(rows);
    const Likelihood& likelihood = *data.likelihood;
    FieldPrior prior;
    for (const LikelihoodParameter& parameter : likelihood.parameters()) prior.parameters.push_back(parameter.prior);
    double s = 1.0;
    if (likelihood.has_sigma()) {
        const double mean = scales.mean[FieldScales::response];
        const double sd = scales.mean_sd(FieldScales::response);
        if (!(sd > 1e-14 * std::abs(mean))) {
            throw std::runtime_error(fmt::format(
                "the response {} is {} in every row, which gives the prior no scale: state a prior, or leave the "
                "model out",
                detail::shown(data.response), mean));
        }
        prior.intercept_mean = mean;
        s = sd;
    } else {
        prior.intercept_mean = likelihood.intercept_guess(detail::mean_response(data));
    }
    constexpr double kWide = 2.5;
    constexpr double kDegrees = 2.0;
    prior.intercept_sd = kWide * s;
    const Index columns = data.columns.cols();
    prior.mean = Vector::Zero(columns);
    prior.sd = Vector::Ones(columns);
    prior.terms.assign(data.terms.size(), ScalePrior::half_t(kDegrees, s));
    // The unit of a column that never changes is its own size.
    const auto unit_of = [&](Index place) {
        const double mean = std::abs(scales.mean[place]);
        const double sd = scales.mean_sd(place);
        return sd > 1e-14 * mean ? sd : mean;
    };
    for (Index j = 0; j < data.slopes(); ++j) prior.sd[j] = kWide * s / unit_of(FieldScales::column(j));
    prior.sigma = ScalePrior::half_t(kDegrees, s * std::sqrt(scales.precision_unit()));
    const detail::FieldUnits units(data, scales);
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        Factor own;
        for (Index e = 0; e < data.factors[f].values.cols(); ++e) {
            own.sd.push_back(ScalePrior::half_t(kDegrees, s / unit_of(FieldScales::effect(data, f, e))));
        }
        own.centre = units.effect_centre[f];
        prior.factors.push_back(std::move(own));
    }
    return prior;
}

}  // namespace lrvb
