#include "kind/mixture/statistics.hpp"

#include "base/messages.hpp"

#include <lrvb/family/symmetric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace lrvb::detail {

namespace {

std::string number(Index i) {
    return fmt::format("{}", i + 1);
}

// Whether it can stand between commas and brackets, and for nothing else.
bool can_be_index(const std::string& name) {
    constexpr std::size_t kLongest = 60;  // bytes: names of entries hold two of them
    if (name.empty() || name.size() > kLongest || !is_utf8(name)) return false;
    if (name.find_first_of(",[]\"") != std::string::npos || on_one_line(name) != name) return false;
    return name.find_first_not_of("0123456789 ") != std::string::npos;
}

std::vector<std::string> labels_of(const std::vector<std::string>& names) {
    std::unordered_map<std::string_view, int> times;
    for (const std::string& name : names) ++times[name];
    std::vector<std::string> labels;
    bool any = false;
    for (std::size_t p = 0; p < names.size(); ++p) {
        const bool is_label = can_be_index(names[p]) && times[names[p]] == 1;
        labels.push_back(is_label ? names[p] : number(static_cast<Index>(p)));
        any = any || is_label;
    }
    return any && names.size() > 1 ? labels : std::vector<std::string>();
}

}  // namespace

MixtureStatistics::MixtureStatistics(Index components, Index columns, bool full, std::vector<std::string> names)
    : components_(components), columns_(columns), full_(full), column_names_(std::move(names)) {
    if (static_cast<Index>(column_names_.size()) == columns_) {
        labels_ = labels_of(column_names_);
        return;
    }
    column_names_.clear();
    for (Index p = 0; p < columns_; ++p) column_names_.push_back(number(p));
}

void MixtureStatistics::name_columns(VariableMeaning& meaning, std::initializer_list<Index> columns) const {
    if (!labels_.empty()) meaning.index_names = meaning.indices;
    for (const Index p : columns) {
        meaning.indices.push_back(number(p));
        if (!labels_.empty()) meaning.index_names.push_back(label(p));
    }
}

std::string MixtureStatistics::label(Index p) const {
    return labels_.empty() ? number(p) : labels_[static_cast<std::size_t>(p)];
}

std::vector<std::string> MixtureStatistics::names() const {
    std::vector<std::string> result(static_cast<std::size_t>(count()));
    for (const VariableMeaning& meaning : meanings()) {
        const FromDraw& rule = meaning.from_draw;
        const bool is_statistic =
            rule.combination.size() == 1 && rule.dimension == 0 && rule.transform == Transform::identity;
        if (is_statistic) result[static_cast<std::size_t>(rule.combination.front().first)] = meaning.name();
    }
    return result;
}

Index MixtureStatistics::precision_entry(Index k, Index i, Index j) const {
    return location(k, columns_) + half_index(std::min(i, j), std::max(i, j), columns_);
}

std::vector<Index> MixtureStatistics::stacked(const Layout& layout) const {
    std::vector<Index> result;
    for (const VariableInfo& variable : layout) {
        const bool is_location = std::holds_alternative<family::Normal>(variable.family) ||
                                 std::holds_alternative<family::MvNormal>(variable.family);
        Index size = variable.size;
        if (is_location) size = full_ ? columns_ : 1;
        for (Index i = 0; i < size; ++i) result.push_back(variable.offset + i);
    }
    return result;
}

VariableMeaning MixtureStatistics::of_component(const std::string& group, Index k) const {
    VariableMeaning meaning;
    meaning.group = group;
    meaning.indices = {number(k)};
    if (group == "log_pi") {
        meaning.role = Role::logarithm;
        meaning.from_draw = FromDraw::statistic(log_weight(k));
    } else if (group == "pi") {
        meaning.role = Role::weight;
        // The weight of the only component is 1: no parameter, and nothing to draw.
        meaning.is_parameter = meaning.is_shown = has_weights();
        meaning.from_draw = has_weights() ? FromDraw::of(Transform::exponential, log_weight(k)) : FromDraw::always(1.0);
    } else {
        meaning.role = Role::logarithm;
        meaning.from_draw = FromDraw::statistic(log_determinant(k));
    }
    return meaning;
}

VariableMeaning MixtureStatistics::of_column(const std::string& group, Index k, Index p) const {
    VariableMeaning meaning;
    meaning.group = group;
    meaning.indices = {number(k)};
    if (columns_ > 1) name_columns(meaning, {p});
    if (group == "mu") {
        meaning.role = Role::location;
        meaning.is_parameter = meaning.is_shown = true;
        meaning.from_draw = FromDraw::statistic(location(k, p));
    } else if (group == "log_tau") {
        meaning.role = Role::logarithm;
        meaning.is_parameter = true;
        meaning.from_draw = FromDraw::statistic(log_precision(k, p));
    } else if (group == "tau") {
        meaning.role = Role::precision;
        meaning.from_draw = FromDraw::statistic(precision(k, p));
    } else {
        meaning.role = Role::scale;
        meaning.is_shown = true;
        meaning.from_draw = FromDraw::of(Transform::exponential, log_precision(k, p), -0.5);
    }
    return meaning;
}

VariableMeaning MixtureStatistics::of_entry(const std::string& group, Index k, Index i, Index j) const {
    VariableMeaning meaning;
    meaning.group = group;
    meaning.indices = {number(k)};
    name_columns(meaning, {i, j});
    meaning.role = i != j ? Role::off_diagonal : group == "Sigma" ? Role::covariance : Role::precision;
    if (group == "Sigma") {
        meaning.is_shown = true;
        FromDraw& inverse = meaning.from_draw;
        inverse.dimension = columns_;
        inverse.row = i;
        inverse.column = j;
        const Index first = precision_entry(k, 0, 0);
        for (Index e = 0; e < half_size(columns_); ++e) inverse.combination.emplace_back(first + e, 1.0);
    } else {
        meaning.is_parameter = true;
        meaning.from_draw = FromDraw::statistic(precision_entry(k, i, j));
    }
    return meaning;
}

std::vector<VariableMeaning> MixtureStatistics::meanings() const {
    const auto column = [&](Index p) { return column_names_[static_cast<std::size_t>(p)]; };
    std::vector<VariableMeaning> result;
    const auto add = [&](VariableMeaning meaning, const std::string& panel) {
        meaning.panel = panel;
        result.push_back(std::move(meaning));
    };
    const auto of_components = [&](const std::string& group, const std::string& panel) {
        for (Index k = 0; k < components_; ++k) add(of_component(group, k), panel);
    };
    const auto of_columns = [&](const std::string& group) {
        for (Index k = 0; k < components_; ++k) {
            for (Index p = 0; p < columns_; ++p) {
                add(of_column(group, k, p), fmt::format("{}, of {}", group, column(p)));
            }
        }
    };
    const auto of_entries = [&](const std::string& group) {
        for (Index k = 0; k < components_; ++k) {
            for (Index i = 0; i < columns_; ++i) {
                for (Index j = i; j < columns_; ++j) {
                    add(of_entry(group, k, i, j), i == j
                                                      ? fmt::format("{}, of {}", group, column(i))
                                                      : fmt::format("{}, of {} and {}", group, column(i), column(j)));
                }
            }
        }
    };
    if (has_weights()) {
        of_components("log_pi", "log_pi, of the weights");
        of_components("pi", "pi, the weights");
    }
    of_columns("mu");
    if (full_) {
        of_entries("Lambda");
        of_components("log_det_Lambda", "log_det_Lambda");
        of_entries("Sigma");
    } else {
        of_columns("log_tau");
        of_columns("tau");
        of_columns("sigma");
    }
    // Last, so that the others stand where they stood in files of before it was listed.
    if (!has_weights()) of_components("pi", "pi, the weights");
    return result;
}

MixtureMeans mixture_means(const MixtureStatistics& statistics, const Posterior& posterior) {
    std::map<std::string, double> means;
    for (const PosteriorVariable& variable : posterior.variables) means[variable.name] = variable.mean;
    const auto mean = [&](const VariableMeaning& meaning) {
        const auto found = means.find(meaning.name());
        if (found != means.end()) return found->second;
        throw std::runtime_error(
            fmt::format("the posterior of the fit has no variable {}, which a mixture has: fit again", meaning.name()));
    };
    const Index components = statistics.components();
    const Index columns = statistics.columns();
    MixtureMeans result;
    result.weights = Vector::Ones(components);
    result.locations.resize(components, columns);
    for (Index k = 0; k < components; ++k) {
        if (statistics.has_weights()) result.weights[k] = mean(statistics.of_component("pi", k));
        Matrix precision = Matrix::Zero(columns, columns);
        Matrix covariance = Matrix::Zero(columns, columns);
        for (Index p = 0; p < columns; ++p) {
            result.locations(k, p) = mean(statistics.of_column("mu", k, p));
            if (!statistics.is_full()) {
                precision(p, p) = mean(statistics.of_column("tau", k, p));
                covariance(p, p) = 1.0 / precision(p, p);
            }
            for (Index q = p; q < columns && statistics.is_full(); ++q) {
                precision(p, q) = precision(q, p) = mean(statistics.of_entry("Lambda", k, p, q));
                covariance(p, q) = covariance(q, p) = mean(statistics.of_entry("Sigma", k, p, q));
            }
        }
        result.precisions.push_back(std::move(precision));
        result.covariances.push_back(std::move(covariance));
    }
    return result;
}

}  // namespace lrvb::detail
