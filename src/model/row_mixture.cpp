#include "base/validate.hpp"
#include "model/function_node.hpp"

#include <lrvb/model/row_mixture.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lrvb {

namespace {

void require_components(std::string_view who, std::string_view what, std::size_t given, std::size_t expected) {
    if (given == expected && given > 0) return;
    throw std::invalid_argument(
        fmt::format("{}: {} {} are given, but there are {} labels; give one for each", who, given, what, expected));
}

// −½τ(y − Σ_j d_j b_j)² + ½ log τ − ½ log 2π in y², y d_j and d_i d_j.
detail::ConditionalForm linear_form(const detail::Lowering& lowering, const VectorParameter& coefficients,
                                    const Expression& precision) {
    const Expression log_precision = lowering.log_of(precision, "precision");
    const std::vector<Expression>& entries = coefficients.entries();
    detail::ConditionalForm form{{lowering.lower(-0.5 * precision)},
                                 lowering.lower(0.5 * (log_precision - std::log(2.0 * std::numbers::pi)))};
    for (const Expression& entry : entries) form.natural.push_back(lowering.lower(precision * entry));
    for (std::size_t j = 0; j < entries.size(); ++j) {
        for (std::size_t i = j; i < entries.size(); ++i) {
            form.natural.push_back(lowering.lower((i == j ? -0.5 : -1.0) * precision * entries[j] * entries[i]));
        }
    }
    return form;
}

}  // namespace

LabelWeights::LabelWeights(const SimplexParameter& weights) : labels_(weights.size()), alternatives_(1) {
    for (const Expression& log : weights.logs()) alternatives_.front().logs.emplace_back(log);
}

LabelWeights::LabelWeights(const Variable<family::Beta>& p) : LabelWeights(bernoulli(p)) {}

LabelWeights LabelWeights::bernoulli(const Expression& p) {
    LabelWeights result;
    result.labels_ = 2;
    result.alternatives_.push_back({{}, p});
    return result;
}

LabelWeights LabelWeights::logs(std::vector<std::optional<Expression>> log_probabilities) {
    const auto occurs = [](const std::optional<Expression>& log) { return log.has_value(); };
    if (std::ranges::none_of(log_probabilities, occurs)) {
        throw std::invalid_argument("LabelWeights::logs: no label can occur; give at least one a probability");
    }
    LabelWeights result;
    result.labels_ = static_cast<Index>(log_probabilities.size());
    result.alternatives_.push_back({std::move(log_probabilities), {}});
    return result;
}

LabelWeights LabelWeights::chosen(const std::vector<LabelWeights>& alternatives, std::vector<Index> chosen) {
    if (alternatives.empty()) {
        throw std::invalid_argument("LabelWeights::chosen: there are no alternatives; give at least one");
    }
    LabelWeights result;
    result.labels_ = alternatives.front().labels_;
    for (const LabelWeights& one : alternatives) {
        detail::require_size("LabelWeights::chosen", "an alternative", one.labels_, result.labels_);
        detail::require_size("LabelWeights::chosen", "the choices of an alternative",
                             static_cast<Index>(one.chosen_.size()), 0);
        result.alternatives_.push_back(one.alternatives_.front());
    }
    for (std::size_t n = 0; n < chosen.size(); ++n) {
        if (chosen[n] >= 0 && chosen[n] < static_cast<Index>(alternatives.size())) continue;
        throw std::invalid_argument(fmt::format("LabelWeights::chosen: row {} chooses {}, but must choose 0 to {}",
                                                n + 1, chosen[n], alternatives.size() - 1));
    }
    result.chosen_ = std::move(chosen);
    return result;
}

LabelledColumn LabelledColumn::as(const std::string& input) const {
    if (input.empty()) throw std::invalid_argument("column: the name of what is observed is empty; give it one");
    LabelledColumn result = *this;
    result.input_ = input;
    return result;
}

LabelledColumn linear_column(const Vector& y, const Matrix& design, const std::vector<VectorParameter>& coefficients,
                             const std::vector<Expression>& precisions) {
    detail::require_size("linear_column", "y", y.size(), design.rows());
    require_components("linear_column", "precisions", precisions.size(), coefficients.size());
    LabelledColumn::Components nodes;
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
        detail::require_size("linear_column", fmt::format("coefficients of label {}", k + 1), coefficients[k].size(),
                             design.cols());
        nodes.push_back(
            detail::make_node([own = coefficients[k], precision = precisions[k]](const detail::Lowering& lowering) {
                return linear_form(lowering, own, precision);
            }));
    }
    LabelledColumn result(family::Normal{}, y, std::move(nodes));
    result.design_ = design;
    result.is_linear_ = true;
    return result;
}

LabelledColumn count_column(const Vector& counts, const Vector& exposures, const std::vector<Expression>& rates) {
    detail::require_size("count_column", "exposures", exposures.size(), counts.size());
    LabelledColumn::Components nodes;
    for (const Expression& rate : rates) {
        nodes.push_back(detail::make_node([rate](const detail::Lowering& lowering) {
            return detail::ConditionalForm{{lowering.log_of(rate, "rate"), lowering.lower(rate)}, {}};
        }));
    }
    if (nodes.empty()) detail::refuse_no_components();
    Matrix values(counts.size(), 2);
    values << counts, exposures;
    for (Index n = 0; n < counts.size(); ++n) {
        if (std::isnan(counts[n])) values(n, 1) = counts[n];
    }
    return {likelihood::ExposedPoisson{}, std::move(values), std::move(nodes)};
}

LabelledColumn trial_column(const Vector& successes, const Vector& trials,
                            const std::vector<Expression>& probabilities) {
    detail::require_size("trial_column", "trials", trials.size(), successes.size());
    // Successes and failures are counts of two labels.
    LabelledColumn::Components nodes;
    for (const Expression& p : probabilities) {
        nodes.push_back(detail::make_node([p](const detail::Lowering& lowering) {
            const auto [log_p, log_1m_p] = lowering.log_odds_parts(p, "probability");
            return detail::ConditionalForm{{log_p, log_1m_p}, {}};
        }));
    }
    if (nodes.empty()) detail::refuse_no_components();
    Matrix values(successes.size(), 2);
    values << successes, trials - successes;
    return {likelihood::Multinomial{2}, std::move(values), std::move(nodes)};
}

}  // namespace lrvb
