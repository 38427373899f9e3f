#include "kind/model/variables.hpp"

#include "kind/model/node_function.hpp"
#include "kind/model/node_values.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace lrvb::detail {

namespace {

constexpr Index kManyNodes = 100;  // of an array that a summary shows

std::set<std::string> groups_of(const std::vector<DerivedNode>& nodes) {
    std::set<std::string> groups;
    for (const DerivedNode& node : nodes) groups.insert(node.group);
    return groups;
}

bool is_monitored(const VariableMeaning& meaning, const std::vector<std::string>& monitor) {
    return std::ranges::any_of(
        monitor, [&](const std::string& name) { return name == meaning.group || name == meaning.name(); });
}

// The written node that a variable of this group is in the place of; nothing where it stands beside one.
std::optional<std::string> stands_for(const std::string& group) {
    for (const std::string_view suffix : {".precision", ".scaled", ".parts"}) {
        if (group.ends_with(suffix)) return group.substr(0, group.size() - suffix.size());
    }
    return std::nullopt;
}

// Whether it has an exponential, or a negative power of what may be zero: of a location, or of an sd by the precision
// that stands for it. By the words that NodeFunction reads: "e7" is that precision, "e7 -0.5 ^" the sd, "x3 -1 ^" one
// over a location.
bool may_be_infinite(const std::string& function, const std::vector<std::string>& statistics,
                     const std::set<std::string>& unwritten) {
    std::istringstream stream(function);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    const auto is_inverted = [&](std::size_t w) {
        return w + 2 < words.size() && words[w + 2] == "^" && words[w + 1].starts_with('-');
    };
    bool has_location = false;
    bool has_inverse = false;
    for (std::size_t w = 0; w < words.size(); ++w) {
        const std::string& word = words[w];
        if (word == "exp") return true;
        has_inverse = has_inverse || (word == "^" && w > 0 && words[w - 1].starts_with('-'));
        has_location = has_location || word.starts_with('x');
        const bool is_exponential = word.size() > 1 && word.find_first_not_of("0123456789", 1) == std::string::npos;
        if (word[0] != 'e' || !is_exponential || is_inverted(w)) continue;
        const std::size_t at = std::stoul(word.substr(1));
        if (at >= statistics.size()) continue;  // a damaged file, which is refused where it is read
        const std::string& name = statistics[at];
        const std::string group = name.substr(0, name.find('['));
        if (group.starts_with("log_") && group.ends_with(".precision") && unwritten.contains(group.substr(4))) {
            return true;
        }
    }
    return has_location && has_inverse;
}

Role role_of(const NodeFunction& function) {
    if (function.range() == NodeFunction::Range::probability) return Role::weight;
    if (function.log_linear().is && function.log_linear().powers.size() == 1) {
        const double power = function.log_linear().powers[0];
        if (power == -0.5) return Role::scale;
        if (power == -1.0) return Role::covariance;
        if (power == 1.0) return Role::rate;
    }
    return function.range() == NodeFunction::Range::positive ? Role::rate : Role::location;
}

Matrix block_of(const Covariance& covariance, const std::vector<Index>& positions, Index size) {
    SparseMatrix chosen(size, static_cast<Index>(positions.size()));
    for (std::size_t c = 0; c < positions.size(); ++c) chosen.insert(positions[c], static_cast<Index>(c)) = 1.0;
    return covariance.between(chosen, chosen);
}

Gradient along(const std::vector<Index>& positions, const Vector& slopes) {
    Gradient gradient;
    for (std::size_t s = 0; s < positions.size(); ++s)
        gradient.emplace_back(positions[s], slopes[static_cast<Index>(s)]);
    return gradient;
}

constexpr double kLeast = 1e-100;  // what is less has no logarithm with a slope

// What jumps has no derivatives, and what has few values no normal: moments and intervals are those of its values. The
// gradient is that of the best linear function of the statistics, as long as its sd.
PosteriorVariable valued_variable(const VariableMeaning& meaning, const NodeFunction& function, const Vector& at,
                                  const std::vector<NodeLabel>& labels, const Posterior& posterior) {
    const std::vector<Index>& positions = function.statistics();
    const Matrix mean_field = block_of(*posterior.mean_field_covariance, positions, posterior.mean.size());
    const Matrix covariance =
        posterior.covariance ? block_of(*posterior.covariance, positions, posterior.mean.size()) : mean_field;
    // Labels are those of mean field, and so is what is drawn with them: the response is in the slopes alone.
    const Matrix& drawn = labels.empty() ? covariance : mean_field;
    const NodeValues values = node_values(function, at, labels, drawn);
    double mean = values.mean();
    Vector slopes = Vector::Zero(at.size());
    if (function.is_linear()) {
        std::tie(mean, slopes) = function.gradient(at);
    } else if (const double sd_drawn = values.sd(); sd_drawn > 0.0 && std::isfinite(sd_drawn)) {
        slopes = drawn.completeOrthogonalDecomposition().solve(values.along);
        const double length = slopes.dot(drawn * slopes);
        if (length > 0.0) slopes *= sd_drawn / std::sqrt(length);
        if (!(length > 0.0)) slopes.setZero();
    }
    const double sd = std::sqrt(std::max(0.0, slopes.dot(covariance * slopes)));
    const double lower = values.quantile(0.05);
    const double upper = values.quantile(0.95);
    const Gradient gradient = along(positions, slopes);
    if (!(sd > 0.0) || !std::isfinite(upper - lower)) return unbounded_variable(meaning, mean, gradient);
    return interval_variable(meaning, mean, gradient, lower, upper, sd);
}

// A function of one Beta node: moments and interval are those of its values.
PosteriorVariable share_variable(const VariableMeaning& meaning, const NodeFunction& function, const Vector& at,
                                 const BetaValues& beta, const Posterior& posterior) {
    const NodeValues& values = beta.stretched;
    const double mean = beta.plain.mean();
    const std::vector<Index>& positions = function.statistics();
    const Covariance& whole = posterior.covariance ? *posterior.covariance : *posterior.mean_field_covariance;
    const Matrix covariance = block_of(whole, positions, posterior.mean.size());
    Vector slopes = function.gradient(at).second;
    const double first = std::sqrt(std::max(0.0, slopes.dot(covariance * slopes)));
    const double sd = values.sd();
    if (!(first > 0.0 && sd > 0.0)) return unbounded_variable(meaning, mean, along(positions, slopes));
    slopes *= sd / first;
    const Transform transform = function.range() == NodeFunction::Range::probability ? Transform::logistic
                                : function.range() == NodeFunction::Range::positive  ? Transform::exponential
                                                                                     : Transform::identity;
    const Vector quantiles{{values.quantile(0.05), values.quantile(0.95)}};
    const Vector ends = unbounded_values(transform, quantiles);
    const bool is_inside = ends.allFinite();
    PosteriorVariable variable =
        interval_variable(meaning, mean, along(positions, slopes), is_inside ? ends[0] : quantiles[0],
                          is_inside ? ends[1] : quantiles[1], sd);
    if (is_inside) variable.unbounded.transform = transform;
    return variable;
}

constexpr double kLeastFreedom = 1.0;  // of an inverse, below which its variance is hardly finite

constexpr double kWidestLogarithm = 0.5;  // its variance, beyond which it is hardly normal

// The sd of a lognormal over that of its linear part. Logarithms of precisions are skewed to the left, so that it is
// too much for their powers, and rather too little for those of variances.
double lognormal_factor(const Vector& powers, const Matrix& covariance) {
    if (!(powers.maxCoeff() <= 0.0)) return 1.0;
    const double variance = std::min(powers.dot(covariance * powers), kWidestLogarithm);
    return variance > 1e-8 ? std::sqrt(std::expm1(variance) / variance) : 1.0;
}

constexpr double kLargestLogVariance = 4.0;  // the variance of a logarithm that is taken for normal at all

constexpr double kMostBent = 100.0;  // beyond which what is left of first order may be rounding

// F with V = FFᵀ, also where V is singular.
Matrix factor_of(const Matrix& covariance) {
    const Eigen::LDLT<Matrix> factor(covariance);
    const Vector roots = factor.vectorD().cwiseMax(0.0).cwiseSqrt();
    return factor.transpositionsP().transpose() * Matrix(Matrix(factor.matrixL()) * roots.asDiagonal());
}

// The sd to second order over that to first, of a normal with this covariance: Var f = gᵀVg + ½ tr(HVHV).
double second_order_factor(const Vector& slopes, const NodeFunction& function, const Vector& at,
                           const Matrix& covariance) {
    const double first = slopes.dot(covariance * slopes);
    const double second = 0.5 * function.curvature(at, factor_of(covariance)).squaredNorm();
    if (!(first > 0.0 && second > 0.0 && std::isfinite(second))) return 1.0;
    return std::min(std::sqrt(1.0 + second / first), kMostBent);
}

// The logarithm of a positive variable, at a statistic: its centre, and how much wider than its sd it is.
using Logarithm = std::function<std::optional<std::pair<double, double>>(Index statistic)>;

// Its mean to second order under q, its sd to second order, or those of a lognormal; its interval where it is
// unbounded. `inverse` is what makes the moments of an inverse of the inverse of a mean, where that is known.
PosteriorVariable derived_variable(const VariableMeaning& meaning, const NodeFunction& function,
                                   const Posterior& posterior, const std::optional<InverseFactors>& inverse,
                                   const Logarithm& skewed, const std::vector<NodeLabel>& labels,
                                   const std::optional<BetaValues>& beta) {
    const std::vector<Index>& positions = function.statistics();
    Vector at(static_cast<Index>(positions.size()));
    for (std::size_t s = 0; s < positions.size(); ++s) at[static_cast<Index>(s)] = posterior.mean[positions[s]];
    if (!positions.empty() && (function.has_steps() || !labels.empty())) {
        return valued_variable(meaning, function, at, labels, posterior);
    }
    if (beta) return share_variable(meaning, function, at, *beta, posterior);
    const auto [value, slopes] = function.gradient(at);
    if (!positions.empty() && !(std::isfinite(value) && slopes.allFinite())) {
        return valued_variable(meaning, function, at, labels, posterior);
    }
    if (function.is_multiple()) {  // its logarithm is that of the statistic, and a number
        const Index logarithm = positions.front() + 1;
        const auto [centre, slope] = skewed(logarithm).value_or(std::pair(posterior.mean[logarithm], 1.0));
        return transformed_variable(meaning, value, along(positions, slopes), Transform::exponential,
                                    centre + std::log(slopes[0]), {{logarithm, slope}});
    }
    const NodeFunction::Range range = function.range();
    const bool is_bounded =
        range != NodeFunction::Range::any && range != NodeFunction::Range::correlation && value > kLeast;
    if (positions.empty() || (function.is_linear() && !is_bounded)) {
        return unbounded_variable(meaning, value, along(positions, slopes));
    }
    const Matrix spread = block_of(*posterior.mean_field_covariance, positions, posterior.mean.size());
    const Matrix covariance =
        posterior.covariance ? block_of(*posterior.covariance, positions, posterior.mean.size()) : spread;
    if (const NodeFunction::LogLinear& logarithm = function.log_linear(); logarithm.is) {
        const double middle = logarithm.constant + logarithm.powers.dot(at);
        const double mean = std::exp(middle + 0.5 * logarithm.powers.dot(spread * logarithm.powers));
        const bool is_probability = function.range() == NodeFunction::Range::probability;
        if (!is_probability) {
            const double wider = lognormal_factor(logarithm.powers, covariance);
            const auto alone = positions.size() == 1 ? skewed(positions.front()) : std::nullopt;
            const auto [centre, slope] = alone.value_or(std::pair(at[0], 1.0));
            const Vector slopes_of_log = slope * logarithm.powers;
            return transformed_variable(
                meaning, mean, along(positions, Vector(wider * mean * logarithm.powers)), Transform::exponential,
                alone ? logarithm.constant + logarithm.powers[0] * centre : middle, along(positions, slopes_of_log));
        }
    }
    const double moved =
        inverse ? inverse->mean * value : value + 0.5 * function.curvature(at, factor_of(spread)).trace();
    const double wider = inverse ? inverse->sd : second_order_factor(slopes, function, at, covariance);
    const Gradient gradient = along(positions, Vector(wider * slopes));
    if (function.range() == NodeFunction::Range::probability && value > kLeast && value < 1.0) {
        const double mean = moved > 0.0 && moved < 1.0 ? moved : value;
        return transformed_variable(meaning, mean, gradient, Transform::logistic, std::log(value / (1.0 - value)),
                                    along(positions, Vector(slopes / (value * (1.0 - value)))));
    }
    if (function.range() == NodeFunction::Range::positive && value > kLeast) {
        const double mean = moved > 0.0 ? moved : value;
        const Vector relative = slopes / value;
        // That of a lognormal with this mean.
        const double variance = std::min(relative.dot(covariance * relative), kLargestLogVariance);
        return transformed_variable(meaning, mean, gradient, Transform::exponential, std::log(mean) - 0.5 * variance,
                                    along(positions, relative));
    }
    if (range == NodeFunction::Range::correlation && std::abs(value) < 1.0) {
        return transformed_variable(meaning, std::abs(moved) < 1.0 ? moved : value, gradient, Transform::correlation,
                                    std::atanh(value), along(positions, Vector(slopes / (1.0 - value * value))));
    }
    return unbounded_variable(meaning, std::isfinite(moved) ? moved : value, gradient);
}

// What mean field says of coefficients that are joined: their covariance given the others.
std::shared_ptr<const Covariance> joined_mean_field(const JointModel& model, const State& state,
                                                    const SparseMatrix& statistics) {
    const Vector variances = model.mean_field_variances(state);
    const Layout& layout = model.layout();
    const Index others = model.other_count();
    std::vector<Eigen::Triplet<double>> entries;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const VariableInfo& info = layout[j];
        if (info.offset >= others) break;
        const Matrix block = std::visit(
            [&](const auto& family) -> Matrix {
                return family.covariance(state.natural.segment(info.offset, info.size));
            },
            info.family);
        for (Index c = 0; c < info.size; ++c) {
            for (Index r = 0; r < info.size; ++r) {
                entries.emplace_back(static_cast<int>(info.offset + r), static_cast<int>(info.offset + c), block(r, c));
            }
        }
    }
    if (statistics.cols() <= kDenseStatistics) {
        const Matrix conditional = model.conditional_covariance(state.mean);
        for (Index c = 0; c < conditional.cols(); ++c) {
            for (Index r = 0; r < conditional.rows(); ++r) {
                entries.emplace_back(static_cast<int>(others + r), static_cast<int>(others + c), conditional(r, c));
            }
        }
    } else {
        for (Index s = others; s < variances.size(); ++s) {
            entries.emplace_back(static_cast<int>(s), static_cast<int>(s), variances[s]);
        }
    }
    SparseMatrix all(layout.size(), layout.size());
    all.setFromTriplets(entries.begin(), entries.end());
    SparseMatrix product = statistics.transpose() * SparseMatrix(all * statistics);
    if (statistics.cols() <= kDenseStatistics) {
        const Matrix dense = product;
        return std::make_shared<DenseCovariance>(0.5 * (dense + dense.transpose()));
    }
    return std::make_shared<SparseCovariance>(std::move(product));
}

}  // namespace

ModelVariables::ModelVariables(const Layout& layout, const std::vector<DerivedNode>& derived,
                               const std::vector<std::string>& hidden, const std::vector<std::string>& monitor)
    : declared_(layout, groups_of(derived)) {
    // Of an array; the label z[3] is of another than the probabilities of its values, z[3,1] and so on.
    std::map<std::pair<std::string, std::size_t>, Index> sizes;
    const auto array_of = [](const VariableMeaning& meaning) {
        return std::make_pair(meaning.group, meaning.indices.size());
    };
    for (const DerivedNode& node : derived) {
        VariableMeaning meaning;
        meaning.group = node.group;
        meaning.indices = node.indices;
        const NodeFunction function(node.function);
        meaning.role = role_of(function);
        meaning.is_shown = true;
        if (function.statistics().empty()) {
            meaning.from_draw = FromDraw::always(function.value(Vector()));
        } else {
            meaning.from_draw = FromDraw::of(
                function.statistics(), [function](const Vector& statistics) { return function.value(statistics); });
        }
        ++sizes[array_of(meaning)];
        derived_.push_back(std::move(meaning));
        functions_.push_back(node.function);
    }
    for (const DeclaredVariables::Reported& one : declared_.reported()) {
        for (const VariableMeaning& meaning : one.meanings) ++sizes[array_of(meaning)];
    }
    const std::set<std::string> unwritten(hidden.begin(), hidden.end());
    const std::set<std::string> reported = groups_of(derived);
    const auto settle = [&](VariableMeaning& meaning) {
        const bool is_asked_for = is_monitored(meaning, monitor);
        const bool is_small = sizes[array_of(meaning)] <= kManyNodes && meaning.role != Role::logarithm;
        meaning.is_local = monitor.empty() ? !is_small : !is_asked_for;
    };
    for (DeclaredVariables::Reported& one : declared_.reported()) {
        const std::string group = one.meanings.back().group;
        for (VariableMeaning& meaning : one.meanings) {
            settle(meaning);
            if (!unwritten.contains(group)) continue;
            const std::optional<std::string> written = stands_for(group);
            meaning.is_local = true;
            meaning.is_auxiliary = !written || reported.contains(*written);
            meaning.is_shown = meaning.is_parameter = false;
        }
    }
    for (VariableMeaning& meaning : derived_) settle(meaning);
    const std::vector<std::string> statistics = names();
    for (std::size_t d = 0; d < derived_.size(); ++d) {
        const NodeFunction function(functions_[d]);
        const bool is_unbounded =
            function.range() == NodeFunction::Range::any || function.range() == NodeFunction::Range::positive;
        derived_[d].may_be_infinite = is_unbounded && may_be_infinite(functions_[d], statistics, unwritten);
    }
}

std::vector<VariableMeaning> ModelVariables::meanings() const {
    std::vector<VariableMeaning> result;
    for (const DeclaredVariables::Reported& one : declared_.reported()) {
        result.insert(result.end(), one.meanings.begin(), one.meanings.end());
    }
    result.insert(result.end(), derived_.begin(), derived_.end());
    return result;
}

// E X⁻¹ = ν/(ν − P − 1) (E X)⁻¹ of a Wishart matrix, and the sd of an entry on its diagonal is √(2/(ν − P − 3)) of its
// mean, where derivatives would have √(2/ν).
std::optional<InverseFactors> ModelVariables::factors_of(const NodeFunction& function, const Layout& layout,
                                                         const State& state) const {
    if (!function.is_inverse() || function.statistics().empty()) return std::nullopt;
    const Index first = stacked()[static_cast<std::size_t>(function.statistics().front())];
    const VariableInfo& info = layout[layout.variable_of(first)];
    const auto* wishart = std::get_if<family::Wishart>(&info.family);
    if (wishart == nullptr || first != info.offset) return std::nullopt;
    const double dof = wishart->standard(state.natural.segment(info.offset, info.size))[0];
    const double left = dof - static_cast<double>(wishart->dimension()) - 1.0;
    if (!(left > 0.0)) return std::nullopt;
    return InverseFactors{dof / left, dof / left * std::sqrt(dof / std::max(left - 2.0, kLeastFreedom))};
}

std::optional<BetaValues> ModelVariables::beta_values(const NodeFunction& function, const Layout& layout,
                                                      const State& state, const Posterior& posterior) const {
    if (function.statistics().empty()) return std::nullopt;
    const Index first = stacked()[static_cast<std::size_t>(function.statistics().front())];
    const Index variable = layout.variable_of(first);
    const auto* beta = std::get_if<family::Beta>(&layout[variable].family);
    if (beta == nullptr || state.clamped[static_cast<std::size_t>(variable)]) return std::nullopt;
    std::vector<Index> entries;  // log p or log(1 − p), for each statistic
    for (const Index position : function.statistics()) {
        const Index at = stacked()[static_cast<std::size_t>(position)];
        if (layout.variable_of(at) != variable) return std::nullopt;
        entries.push_back(at - layout[variable].offset);
    }
    const Vector standard = beta->standard(layout.segment(state.natural, variable));
    const auto values = [&](double stretch) {
        return beta_node_values(function, entries, standard[0], standard[1], stretch);
    };
    BetaValues result{values(1.0), values(declared_.stretch(function.statistics().front(), posterior))};
    const bool is_finite = std::isfinite(result.plain.mean()) && std::isfinite(result.stretched.sd());
    return is_finite ? std::optional(std::move(result)) : std::nullopt;
}

std::vector<NodeLabel> ModelVariables::labels_of(const NodeFunction& function, const Layout& layout,
                                                 const State& state) const {
    std::map<Index, NodeLabel> labels;
    for (std::size_t s = 0; s < function.statistics().size(); ++s) {
        const Index stacked = this->stacked()[static_cast<std::size_t>(function.statistics()[s])];
        const Index variable = layout.variable_of(stacked);
        const VariableInfo& info = layout[variable];
        const bool is_indicator = std::holds_alternative<family::Bernoulli>(info.family);
        if (!is_indicator && !std::holds_alternative<family::Categorical>(info.family)) continue;
        NodeLabel& label = labels[variable];
        label.slots.emplace_back(static_cast<Index>(s), stacked - info.offset);
        label.probabilities = layout.segment(state.mean, variable);
        if (is_indicator) label.probabilities = Vector{{label.probabilities[0], 1.0 - label.probabilities[0]}};
    }
    std::vector<NodeLabel> result;
    result.reserve(labels.size());
    for (auto& [variable, label] : labels) result.push_back(std::move(label));
    return result;
}

Posterior ModelVariables::posterior(const CompiledModel& compiled, const Model& model, const Optimum& optimum) const {
    const SparseMatrix statistics = weights();
    Posterior posterior = posterior_of(model, optimum, names(), statistics);
    if (compiled.joint) {
        const auto& joint = dynamic_cast<const JointModel&>(model);
        posterior.mean_field_covariance = joined_mean_field(joint, optimum.state, statistics);
    }
    declared_.report(posterior, optimum.state);
    for (std::size_t d = 0; d < derived_.size(); ++d) {
        const NodeFunction function(functions_[d]);
        posterior.variables.push_back(derived_variable(
            derived_[d], function, posterior, factors_of(function, model.layout(), optimum.state),
            [&](Index statistic) { return declared_.skewed_logarithm_at(statistic, posterior, optimum.state); },
            labels_of(function, model.layout(), optimum.state),
            beta_values(function, model.layout(), optimum.state, posterior)));
    }
    keep_marginals(posterior);
    return posterior;
}

}  // namespace lrvb::detail
