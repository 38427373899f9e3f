#include "model/joint/core.hpp"

#include "model/polynomials.hpp"
#include "model/row_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lrvb::detail {

namespace {

constexpr std::int64_t kNotJoined = -1;

std::string product_name(const Layout& layout, std::span<const std::uint32_t> statistics) {
    std::string result;
    for (const std::uint32_t s : statistics) {
        if (!result.empty()) result += " * ";
        result += layout.statistic_name(static_cast<Index>(s));
    }
    return result;
}

/// Entries of x that a variable has.
Index dimension_of(const AnyFamily& family) {
    if (const auto* normal = std::get_if<family::MvNormal>(&family)) return normal->dimension();
    return std::holds_alternative<family::Normal>(family) ? 1 : 0;
}

}  // namespace

/// From the base's statistics to (t, x, pairs); pairs get numbers as they are met.
struct JointCore::Remap {
    struct Own {
        std::int64_t row = kNotJoined;     // of the coefficients
        std::int64_t column = kNotJoined;  // for a product of two
    };
    const Layout& base;
    std::vector<Index> positions;
    std::vector<Own> own;  // of each statistic of the base
    Layout layout;         // of the model
    JointShape shape;
    std::unordered_map<std::uint64_t, std::uint32_t> pair_numbers;
    std::vector<Index> other_variables;   // of the base
    std::vector<Index> variable_numbers;  // of the base's, in the layout; −1 for joined ones

    explicit Remap(const Layout& base_layout) : base(base_layout) {}

    std::uint32_t pair(std::int64_t i, std::int64_t j) {
        const auto row = static_cast<std::uint32_t>(std::max(i, j));
        const auto column = static_cast<std::uint32_t>(std::min(i, j));
        const std::uint64_t key = (static_cast<std::uint64_t>(row) << 32U) | column;
        const auto [found, is_new] = pair_numbers.emplace(key, static_cast<std::uint32_t>(shape.pairs.size()));
        if (is_new) shape.pairs.push_back({row, column});
        return found->second;
    }

    std::vector<std::uint32_t> operator()(std::span<const std::uint32_t> statistics) {
        std::vector<std::uint32_t> result;
        std::vector<std::int64_t> coefficients;
        for (const std::uint32_t s : statistics) {
            const Own& one = own[s];
            if (one.row == kNotJoined) {
                result.push_back(static_cast<std::uint32_t>(positions[s]));
                continue;
            }
            coefficients.push_back(one.row);
            if (one.column != kNotJoined) coefficients.push_back(one.column);
        }
        std::ranges::sort(result);
        if (coefficients.size() > 2) {
            throw std::invalid_argument(fmt::format(
                "the joined variables are not jointly normal given the others: the log joint has {}, of degree {} in "
                "them; leave out one of its variables (joinable says which can be joined)",
                product_name(base, statistics), coefficients.size()));
        }
        if (coefficients.size() == 1) result.push_back(static_cast<std::uint32_t>(shape.others + coefficients[0]));
        if (coefficients.size() == 2) {
            result.push_back(static_cast<std::uint32_t>(shape.statistics()) + pair(coefficients[0], coefficients[1]));
        }
        return result;
    }
};

std::shared_ptr<JointCore::Remap> JointCore::remap_of(const MultilinearModel& base, const std::vector<Index>& joined) {
    auto remap = std::make_shared<Remap>(base.layout());
    const Layout& layout = base.layout();
    std::vector<bool> is_joined(static_cast<std::size_t>(layout.variable_count()), false);
    for (const Index j : joined) {
        if (j < 0 || j >= layout.variable_count()) {
            throw std::invalid_argument(
                fmt::format("joined: {} is no variable of the model, which has {}", j, layout.variable_count()));
        }
        if (dimension_of(layout[j].family) == 0) {
            throw std::invalid_argument(
                fmt::format("joined: variable '{}' is not normal; join Normal and MvNormal variables", layout[j].name));
        }
        is_joined[static_cast<std::size_t>(j)] = true;
    }
    if (base.labelled_) {
        throw std::invalid_argument(
            "joined: the model has rows with labels (observe_mixture, observe_chain), beside which nothing can be "
            "joined; fit it as it is");
    }
    if (joined.empty()) throw std::invalid_argument("joined: there is nothing to join; name normal variables");
    if (base.rows_) {
        for (const auto& [row, variable] : base.rows_->own) {
            if (!is_joined[static_cast<std::size_t>(variable)]) continue;
            throw std::invalid_argument(
                fmt::format("joined: variable '{}' belongs to {}, and cannot be joined; declare it without the row",
                            layout[variable].name, base.rows_->describe(row)));
        }
    }
    remap->positions.assign(static_cast<std::size_t>(layout.size()), -1);
    remap->own.resize(static_cast<std::size_t>(layout.size()));
    remap->variable_numbers.assign(static_cast<std::size_t>(layout.variable_count()), -1);
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (is_joined[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = layout[j];
        const Index offset = remap->layout.size();
        remap->variable_numbers[static_cast<std::size_t>(j)] = remap->layout.add(variable.name, variable.family);
        remap->other_variables.push_back(j);
        for (Index s = 0; s < variable.size; ++s) {
            remap->positions[static_cast<std::size_t>(variable.offset + s)] = offset + s;
        }
    }
    remap->shape.others = remap->layout.size();
    Index coefficient = 0;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (!is_joined[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = layout[j];
        const Index dimension = dimension_of(variable.family);
        const std::vector<std::string> names =
            std::visit([&](const auto& family) { return family.statistic_names(variable.name); }, variable.family);
        for (Index i = 0; i < dimension; ++i) {
            const auto statistic = static_cast<std::size_t>(variable.offset + i);
            remap->positions[statistic] = remap->layout.size();
            remap->layout.add(names[static_cast<std::size_t>(i)], family::Point());
            remap->own[statistic] = {coefficient + i, kNotJoined};
        }
        for (Index i = 0; i < dimension; ++i) {
            for (Index k = i; k < dimension; ++k) {
                const Index half = half_index(i, k, dimension);
                remap->own[static_cast<std::size_t>(variable.offset + dimension + half)] = {coefficient + i,
                                                                                            coefficient + k};
            }
        }
        coefficient += dimension;
    }
    remap->shape.coefficients = coefficient;
    if (coefficient > kMostJoined) {
        throw std::invalid_argument(fmt::format(
            "joined: {} coefficients are more than the {} that can be joined; join fewer", coefficient, kMostJoined));
    }
    return remap;
}

MultilinearModel JointCore::remapped(const MultilinearModel& base, Remap& remap) {
    const auto map = [&](std::span<const std::uint32_t> statistics) { return remap(statistics); };
    MonomialSum sum;
    base.form_->visit_terms([&](double coefficient, std::span<const std::uint32_t> statistics) {
        const std::vector<std::uint32_t> mapped = map(statistics);
        sum.add(coefficient, mapped);
    });
    const auto derivatives = std::make_shared<const Polynomials>(base.hyperparameter_derivatives_->remapped(map));
    std::shared_ptr<RowTerms> rows;
    if (base.rows_) {
        rows = std::make_shared<RowTerms>(*base.rows_);
        rows->polynomials = base.rows_->polynomials.remapped(map);
        for (auto& [row, variable] : rows->own) variable = remap.variable_numbers[static_cast<std::size_t>(variable)];
    }
    auto layout = std::make_shared<Layout>(remap.layout);
    // A space first: a name that no variable has.
    for (const CoefficientPair& pair : remap.shape.pairs) {
        layout->add(fmt::format(" {} {}", pair.row, pair.column), family::Point());
    }
    const auto form = std::make_shared<const MultilinearForm>(sum, remap.shape.extended());
    Vector start = Vector::Zero(remap.shape.extended());
    for (Index s = 0; s < remap.base.size(); ++s) {
        const Index position = remap.positions[static_cast<std::size_t>(s)];
        if (position >= 0 && position < remap.shape.others) start[position] = base.start_natural_[s];
    }
    // Numbers that families hold: those of joined ones none.
    std::vector<BaseDerivative> base_derivatives = base.base_derivatives_;
    for (BaseDerivative& own : base_derivatives) {
        own.variable = remap.variable_numbers[static_cast<std::size_t>(own.variable)];
    }
    MultilinearModel result(layout, form, std::move(start), base.hyperparameters_, base.hyperparameter_values_,
                            derivatives, rows, {}, std::move(base_derivatives));
    result.weights_ = base.weights_;
    return result;
}

JointCore::JointCore(const MultilinearModel& base, const std::vector<Index>& joined_variables,
                     const std::vector<PredictorRows>& rows)
    : JointCore(base, joined_variables, rows, remap_of(base, joined_variables)) {}

JointCore::JointCore(const MultilinearModel& base, const std::vector<Index>& joined_variables,
                     const std::vector<PredictorRows>& rows, const std::shared_ptr<Remap>& remap)
    : base_layout(base.layout_),
      joined(joined_variables),
      inner(remapped(base, *remap)),
      form(*inner.form_, remap->shape, !rows.empty()) {
    std::ranges::sort(joined);
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    positions = remap->positions;
    base_variables = remap->other_variables;
    shape = remap->shape;
    units = Vector::Ones(coefficients());
    set_layout();
    const auto scales = static_cast<Index>(form.scales().size());
    if (scales > kMostScales) {
        throw std::invalid_argument(
            fmt::format("joined: {} statistics of other variables multiply what is quadratic in the joined ones, more "
                        "than the {} that can respond to each other; join fewer",
                        scales, kMostScales));
    }
    if (rows.empty()) {
        find_units();
        return;
    }
    const auto coefficient_of = [&](const Atom& atom) -> Index {
        if (atom.variable >= base_layout->variable_count() || atom.statistic < 0) return -1;
        const Index position =
            positions[static_cast<std::size_t>((*base_layout)[atom.variable].offset + atom.statistic)];
        return position < others() ? -1 : position - others();
    };
    for (const PredictorRows& set : rows) {
        for (const Expression& predictor : set.predictors) {
            if (predictor.model() == 0 || predictor.model() == base_layout->model()) continue;
            throw std::invalid_argument("predictor rows: a predictor has variables of another model");
        }
    }
    predictors =
        std::make_shared<const JointPredictors>(rows, coefficients(), coefficient_of, inner.rows(), inner.weights_);
    find_units();
}

// The families of the others are those that the terms are about, which a step of a hyperparameter may have moved.
void JointCore::set_layout() {
    layout = Layout();
    for (const VariableInfo& variable : inner.layout()) {
        if (variable.offset < others()) {
            layout.add(variable.name, variable.family);
        } else if (variable.offset < shape.statistics()) {
            layout.add(variable.name, family::Point(units[variable.offset - others()]));
        }
    }
}

// Sds of the coefficients, roughly, where they are so large that a curvature beside one would lose digits.
void JointCore::find_units() {
    constexpr int kSweeps = 4;
    constexpr double kLarge = 1e3;
    Random random(1);
    try {
        State state = start(random);
        for (int i = 0; i < kSweeps; ++i) sweep(state);
        const std::shared_ptr<const JointAt> there = at(state.mean);
        if (!there->fine) return;
        for (Index i = 0; i < coefficients(); ++i) {
            const double sd = std::sqrt(there->covariance(i, i));
            if (sd > kLarge && std::isfinite(sd)) units[i] = std::exp2(std::round(std::log2(sd)));
        }
    } catch (const std::domain_error&) {
        return;  // which a fit will say
    }
    set_layout();
}

JointCore::JointCore(const JointCore& other, MultilinearModel changed)
    : base_layout(other.base_layout),
      joined(other.joined),
      positions(other.positions),
      base_variables(other.base_variables),
      shape(other.shape),
      units(other.units),
      inner(std::move(changed)),
      form(*inner.form_, shape, other.predictors != nullptr),
      predictors(other.predictors
                     ? std::make_shared<const JointPredictors>(other.predictors->reweighted(inner.weights_))
                     : nullptr) {
    set_layout();
}

State JointCore::inner_state(const JointAt& at, const State& state) const {
    State result;
    result.mean = extended(at.t, at.x, &at.covariance);
    result.natural = result.mean;
    result.natural.head(shape.statistics()) = state.natural;
    result.clamped = state.clamped;
    result.clamped.resize(static_cast<std::size_t>(inner.layout().variable_count()), false);
    return result;
}

}  // namespace lrvb::detail
