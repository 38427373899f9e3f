#include "kind/declared/record.hpp"

#include "base/messages.hpp"
#include "kind/declared/skewness.hpp"

#include <lrvb/kind/fitted_model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_set>

namespace lrvb::detail {

namespace {

constexpr Index kManyOfAGroup = 100;

}  // namespace

VariableMeaning meaning_of_name(const std::string& name) {
    VariableMeaning meaning;
    const std::size_t open = name.find('[');
    if (open == std::string::npos || open == 0 || name.back() != ']') {
        meaning.group = name;
        return meaning;
    }
    meaning.group = name.substr(0, open);
    const std::string inside = name.substr(open + 1, name.size() - open - 2);
    for (std::size_t begin = 0; begin <= inside.size();) {
        const std::size_t end = std::min(inside.find(',', begin), inside.size());
        meaning.indices.push_back(inside.substr(begin, end - begin));
        begin = end + 1;
    }
    return meaning;
}

namespace {

// The 2 of "2:4"; 0 where it is no range.
Index range_of(const std::string& text) {
    const std::size_t colon = text.find(':');
    Index first = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(colon, text.size()), first);
    return colon != std::string::npos && error == std::errc() && end == text.data() + colon && first > 0 ? first : 0;
}

// An entry of a vector that became a variable of its own: x[2:4,3] is x[4].
VariableMeaning entry_named(VariableMeaning meaning) {
    const auto range =
        std::ranges::find_if(meaning.indices, [](const std::string& text) { return range_of(text) > 0; });
    if (range == meaning.indices.end() || range + 1 == meaning.indices.end()) return meaning;
    Index entry = 0;
    const std::string& last = meaning.indices.back();
    std::from_chars(last.data(), last.data() + last.size(), entry);
    *range = fmt::format("{}", range_of(*range) + entry - 1);
    meaning.indices.pop_back();
    return meaning;
}

}  // namespace

DeclaredVariables::DeclaredVariables(const Layout& layout, std::set<std::string> taken)
    : layout_(layout), groups_(std::move(taken)) {
    for (const VariableInfo& info : layout) groups_.insert(meaning_of_name(info.name).group);
    for (Index j = 0; j < layout.variable_count(); ++j) add(j);
    std::unordered_set<std::string> names;
    for (const Reported& one : reported_) {
        for (const VariableMeaning& meaning : one.meanings) {
            if (names.insert(meaning.name()).second) continue;
            throw std::invalid_argument(fmt::format(
                "two variables of the model would be reported as {}: rename one of them", shown(meaning.name())));
        }
    }
    if (static_cast<Index>(stacked_.size()) <= kDenseStatistics) return;
    std::map<std::string, Index> counts;
    for (const Reported& one : reported_) {
        for (const VariableMeaning& meaning : one.meanings) ++counts[meaning.group];
    }
    for (Reported& one : reported_) {
        for (VariableMeaning& meaning : one.meanings) meaning.is_local = counts[meaning.group] > kManyOfAGroup;
    }
}

// "log_tau" of the group "tau"; "log__tau" where someone declared a "log_tau".
std::string DeclaredVariables::derived_group(std::string prefix, const std::string& group) const {
    if (prefix.empty()) return group;
    while (groups_.contains(prefix + group)) prefix += '_';
    return prefix + group;
}

void DeclaredVariables::add(Index variable) {
    const VariableInfo& info = layout_[variable];
    Reported reported{variable, static_cast<Index>(stacked_.size()), {}};
    const auto report = [&](const VariableMeaning& base, const std::string& prefix, Role role, FromDraw from_draw,
                            bool is_parameter, bool is_shown) {
        VariableMeaning meaning = base;
        meaning.group = derived_group(prefix, base.group);
        meaning.role = role;
        meaning.from_draw = std::move(from_draw);
        meaning.is_parameter = is_parameter;
        meaning.is_shown = is_shown;
        reported.meanings.push_back(std::move(meaning));
    };
    const VariableMeaning own = meaning_of_name(info.name);
    const auto entry = [&](std::initializer_list<Index> indices) {
        VariableMeaning meaning = own;
        auto at = meaning.indices.begin();
        for (const Index i : indices) {
            at = std::find_if(at, meaning.indices.end(), [](const std::string& text) { return range_of(text) > 0; });
            if (at == meaning.indices.end()) {
                meaning.indices.push_back(fmt::format("{}", i + 1));
                at = meaning.indices.end();
            } else {
                *at = fmt::format("{}", range_of(*at) + i);
            }
        }
        return meaning;
    };
    Index kept = info.size;
    const Index first = reported.first;
    if (std::holds_alternative<family::Normal>(info.family) || std::holds_alternative<family::Point>(info.family) ||
        std::holds_alternative<family::TruncatedNormal>(info.family)) {
        kept = 1;
        report(entry_named(own), "", Role::location, FromDraw::statistic(first), true, true);
    } else if (const auto* normal = std::get_if<family::MvNormal>(&info.family)) {
        kept = normal->dimension();
        for (Index i = 0; i < kept; ++i) {
            report(entry({i}), "", Role::location, FromDraw::statistic(first + i), true, true);
        }
    } else if (std::holds_alternative<family::Gamma>(info.family) ||
               std::holds_alternative<family::Scale>(info.family)) {
        report(own, "log_", Role::logarithm, FromDraw::statistic(first + 1), true, false);
        report(own, "", Role::precision, FromDraw::statistic(first), false, true);
        // A precision by its sd, which may be zero.
        const auto* scale = std::get_if<family::Scale>(&info.family);
        reported.meanings.back().may_be_infinite = scale != nullptr && std::isinf(scale->bounds_of_log().second);
    } else if (const auto* wishart = std::get_if<family::Wishart>(&info.family)) {
        const Index dimension = wishart->dimension();
        for (Index i = 0; i < dimension; ++i) {
            for (Index j = i; j < dimension; ++j) {
                report(entry({i, j}), "", i == j ? Role::precision : Role::off_diagonal,
                       FromDraw::statistic(first + half_index(i, j, dimension)), true, true);
            }
        }
        report(own, "log_det_", Role::logarithm, FromDraw::statistic(first + kept - 1), false, false);
    } else if (std::holds_alternative<family::Beta>(info.family)) {
        report(own, "log_", Role::logarithm, FromDraw::statistic(first), false, false);
        report(own, "log1m_", Role::logarithm, FromDraw::statistic(first + 1), false, false);
        report(own, "", Role::weight, FromDraw::of(Transform::exponential, first), true, true);
    } else if (std::holds_alternative<family::Dirichlet>(info.family)) {
        for (Index k = 0; k < kept; ++k) {
            report(entry({k}), "log_", Role::logarithm, FromDraw::statistic(first + k), false, false);
        }
        for (Index k = 0; k < kept; ++k) {
            report(entry({k}), "", Role::weight, FromDraw::of(Transform::exponential, first + k), true, true);
        }
    } else {  // labels: the probability of each
        for (Index k = 0; k < kept; ++k) {
            report(kept == 1 ? own : entry({k}), "", Role::weight, FromDraw::statistic(first + k), false, false);
        }
    }
    for (Index s = 0; s < kept; ++s) stacked_.push_back(info.offset + s);
    reported_.push_back(std::move(reported));
}

namespace {

// How many times their mean-field sds the posterior sds of combinations are.
Vector stretches(const SparseMatrix& combinations, const Posterior& posterior) {
    Vector result = Vector::Ones(combinations.cols());
    if (!posterior.covariance) return result;
    const Vector own = posterior.covariance->variances(combinations);
    const Vector mean_field = posterior.mean_field_covariance->variances(combinations);
    for (Index c = 0; c < result.size(); ++c) {
        if (mean_field[c] > 0.0 && own[c] > 0.0) result[c] = std::sqrt(own[c] / mean_field[c]);
    }
    return result;
}

// A variable that moves with the statistic at `at`, and whose u moves along the one at `along`.
PosteriorVariable skewed_variable(const VariableMeaning& meaning, const Posterior& posterior, const Vector& stretch,
                                  Index at, Index along, const Transform& transform, const SkewedScale& scale) {
    return transformed_variable(meaning, posterior.mean[at], {{at, 1.0}}, transform, scale.centre(stretch[along]),
                                {{along, scale.slope}});
}

// Logarithms of weights among the variables from `first` on, and weights behind them, in their order, get the intervals
// of their Beta densities. Statistics are the logarithms.
void skew_weights(Posterior& posterior, const Vector& stretch, std::size_t first, Index statistic,
                  const Vector& alpha) {
    const auto count = static_cast<std::size_t>(alpha.size());
    for (Index k = 0; k < alpha.size(); ++k) {
        const double others = alpha.head(k).sum() + alpha.tail(alpha.size() - k - 1).sum();
        const std::optional<SkewedScale> scale = skewed_logit(alpha[k], others);
        if (!scale) continue;
        const Index along = statistic + k;
        const std::size_t at = first + static_cast<std::size_t>(k);
        const Gradient slope{{along, scale->slope}};
        posterior.variables[at].unbounded = {Transform::log_logistic, scale->centre(stretch[along]), slope};
        if (at + count >= posterior.variables.size()) continue;  // 1 − p of a Beta variable
        posterior.variables[at + count].unbounded = {Transform::logistic, scale->centre(stretch[along]), slope};
    }
}

// What is 0 or 1: at level 0.9 its interval ends there, too.
PosteriorVariable indicator_variable(const VariableMeaning& meaning, const Posterior& posterior, const Vector& stretch,
                                     Index at) {
    constexpr double kTail = 0.05;
    const double probability = posterior.mean[at];
    const double lower = probability > 1.0 - kTail ? 1.0 : 0.0;
    const double upper = probability > kTail ? 1.0 : 0.0;
    const double sd = std::sqrt(std::max(0.0, probability * (1.0 - probability)));
    return interval_variable(meaning, probability, {{at, 1.0}}, lower, upper, sd * stretch[at]);
}

// Between its bounds, as its factor is.
PosteriorVariable cut_variable(const VariableMeaning& meaning, const Posterior& posterior, const Vector& stretch,
                               Index at, const family::TruncatedNormal& family, const VectorView& natural) {
    const Transform transform = Transform::between(family.lower(), family.upper());
    const std::optional<SkewedScale> scale = skewed_cut(family, natural, transform);
    return scale ? skewed_variable(meaning, posterior, stretch, at, at, transform, *scale)
                 : unbounded_variable(meaning, posterior.mean[at], {{at, 1.0}});
}

}  // namespace

void DeclaredVariables::report(Posterior& posterior, const State& state) const {
    SparseMatrix each(posterior.mean.size(), posterior.mean.size());
    each.setIdentity();
    const Vector stretch = stretches(each, posterior);
    for (const Reported& one : reported_) {
        const AnyFamily& family = layout_[one.variable].family;
        const auto statistic = [&](const VariableMeaning& meaning) {
            return meaning.from_draw.combination.front().first;
        };
        const bool is_gamma =
            std::holds_alternative<family::Gamma>(family) || std::holds_alternative<family::Scale>(family);
        const bool is_beta = std::holds_alternative<family::Beta>(family);
        if (is_beta || std::holds_alternative<family::Dirichlet>(family)) {
            // Of a Beta variable 1 − p is no variable of its own.
            const std::size_t count = is_beta ? 2 : one.meanings.size() / 2;
            std::vector<VariableMeaning> logs(one.meanings.begin(),
                                              one.meanings.begin() + static_cast<std::ptrdiff_t>(count));
            std::vector<VariableMeaning> plain(one.meanings.begin() + static_cast<std::ptrdiff_t>(count),
                                               one.meanings.end());
            plain.resize(count);
            const std::size_t begin = posterior.variables.size();
            add_weights(posterior, std::move(logs), std::move(plain), one.first, layout_, state, one.variable);
            if (is_beta) posterior.variables.pop_back();
            if (!state.clamped[static_cast<std::size_t>(one.variable)]) {
                const Vector alpha = std::visit(
                    [&](const auto& own) { return own.standard(layout_.segment(state.natural, one.variable)); },
                    family);
                skew_weights(posterior, stretch, begin, one.first, alpha);
            }
            continue;
        }
        for (const VariableMeaning& meaning : one.meanings) {
            const Index at = statistic(meaning);
            const double mean = posterior.mean[at];
            const bool is_positive = meaning.role == Role::precision;
            const bool is_free = !state.clamped[static_cast<std::size_t>(one.variable)];
            const VectorView natural = layout_.segment(state.natural, one.variable);
            if (const auto* cut = std::get_if<family::TruncatedNormal>(&family); cut != nullptr && is_free) {
                posterior.variables.push_back(cut_variable(meaning, posterior, stretch, at, *cut, natural));
                continue;
            }
            std::optional<SkewedScale> scale;
            if (const auto* wishart = std::get_if<family::Wishart>(&family); wishart != nullptr && is_positive) {
                if (is_free) scale = skewed_diagonal(*wishart, natural, mean);
            } else if (is_gamma && is_free) {
                scale = skewed_logarithm(family, natural);
            }
            if (scale) {
                const Transform transform = is_positive ? Transform::exponential : Transform::identity;
                posterior.variables.push_back(skewed_variable(
                    meaning, posterior, stretch, at, is_gamma && is_positive ? at + 1 : at, transform, *scale));
            } else if (is_gamma && is_positive) {  // the interval is that of its logarithm
                posterior.variables.push_back(transformed_variable(meaning, mean, {{at, 1.0}}, Transform::exponential,
                                                                   posterior.mean[at + 1], {{at + 1, 1.0}}));
            } else if (meaning.role == Role::weight) {  // of a label
                posterior.variables.push_back(indicator_variable(meaning, posterior, stretch, at));
            } else {
                posterior.variables.push_back(is_positive ? positive_variable(meaning, mean, {{at, 1.0}})
                                                          : unbounded_variable(meaning, mean, {{at, 1.0}}));
            }
        }
    }
}

double DeclaredVariables::stretch(Index statistic, const Posterior& posterior) {
    SparseMatrix unit(posterior.mean.size(), 1);
    unit.insert(statistic, 0) = 1.0;
    return stretches(unit, posterior)[0];
}

std::optional<std::pair<double, double>> DeclaredVariables::skewed_logarithm_at(Index statistic,
                                                                                const Posterior& posterior,
                                                                                const State& state) const {
    const Index stacked = stacked_[static_cast<std::size_t>(statistic)];
    const Index variable = layout_.variable_of(stacked);
    const VariableInfo& info = layout_[variable];
    if (stacked != info.offset + 1 || state.clamped[static_cast<std::size_t>(variable)]) return std::nullopt;
    const std::optional<SkewedScale> scale = skewed_logarithm(info.family, layout_.segment(state.natural, variable));
    if (!scale) return std::nullopt;
    return std::pair(scale->centre(stretch(statistic, posterior)), scale->slope);
}

SparseMatrix DeclaredVariables::weights() const {
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t s = 0; s < stacked_.size(); ++s) {
        entries.emplace_back(static_cast<int>(stacked_[s]), static_cast<int>(s), 1.0);
    }
    SparseMatrix result(layout_.size(), static_cast<Index>(stacked_.size()));
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

// Every one of them is a variable as it is.
std::vector<std::string> DeclaredVariables::names() const {
    std::vector<std::string> result(stacked_.size());
    for (const Reported& one : reported_) {
        for (const VariableMeaning& meaning : one.meanings) {
            const FromDraw& rule = meaning.from_draw;
            if (rule.transform != Transform::identity) continue;
            result[static_cast<std::size_t>(rule.combination.front().first)] = meaning.name();
        }
    }
    return result;
}

std::shared_ptr<const DeclaredRecord> DeclaredRecord::read(const Fields& fields) {
    auto record = std::make_shared<DeclaredRecord>();
    record->hyperparameters = fields.texts("hyperparameters");
    record->values = fields.vector("values", static_cast<Index>(record->hyperparameters.size()));
    return record;
}

Document DeclaredRecord::document() const {
    Document json;
    json["hyperparameters"] = hyperparameters;
    json["values"] = values;
    return json;
}

std::string DeclaredRecord::title(const DataRecord& data) const {
    return data.name.empty() ? "A declared model" : fmt::format("A declared model of {}", data.name);
}

// Nothing is known of a hyperparameter but its value: one that is positive can be moved by parts of itself, any other
// by one.
std::vector<PriorNumber> DeclaredRecord::prior(const DataRecord&) const {
    std::vector<PriorNumber> result;
    for (std::size_t h = 0; h < hyperparameters.size(); ++h) {
        const double value = values[static_cast<Index>(h)];
        const bool is_positive = value > 0.0;
        result.emplace_back(hyperparameters[h], meaning_of_name(hyperparameters[h]).group, value,
                            is_positive ? PriorNumber::Role::positive : PriorNumber::Role::location,
                            is_positive ? value : std::max(1.0, std::abs(value)));
    }
    return result;
}

std::vector<VariableMeaning> DeclaredRecord::meanings(const FitFile& fit) const {
    std::vector<VariableMeaning> result;
    const Layout layout = fit.parameter_layout();
    const DeclaredVariables variables(layout);
    for (const DeclaredVariables::Reported& one : variables.reported()) {
        result.insert(result.end(), one.meanings.begin(), one.meanings.end());
    }
    return result;
}

SparseMatrix DeclaredRecord::statistics(const FitFile& fit) const {
    const Layout layout = fit.parameter_layout();
    return DeclaredVariables(layout).weights();
}

void DeclaredRecord::predict(const FitFile&, const Dataset&, const PredictOptions&, TableSink&) const {
    throw std::runtime_error(
        "a model declared in C++ has no predictions of its own: declare what is to be predicted as a variable");
}

std::unique_ptr<FittedModel> DeclaredRecord::with_data(FitFile, const Dataset&, int) const {
    throw std::runtime_error(
        "the model of this fit was declared in C++, and its data are there: restore it in the program that declared "
        "it");
}

}  // namespace lrvb::detail
