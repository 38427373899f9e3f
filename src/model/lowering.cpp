#include "model/lowering.hpp"

#include "linalg/positive_definite.hpp"

#include <lrvb/family/symmetric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb::detail {

namespace {

std::string_view family_name(const VariableInfo& variable) {
    return std::visit([](const auto& family) { return std::remove_cvref_t<decltype(family)>::name; }, variable.family);
}

// Of a family with x and log x for statistics.
bool is_value_of_gamma(const Layout& layout, const Atom& atom) {
    const AnyFamily& family = layout[atom.variable].family;
    return atom.statistic == 0 &&
           (std::holds_alternative<family::Gamma>(family) || std::holds_alternative<family::Scale>(family));
}

bool is_value_of_beta(const Layout& layout, const Atom& atom) {
    return atom.statistic < 0 && std::holds_alternative<family::Beta>(layout[atom.variable].family);
}

// (h + 1) τ is one term, not two.
std::vector<Expression::Term> with_like_terms_merged(const std::vector<Expression::Term>& terms) {
    std::vector<Expression::Term> merged;
    for (const Expression::Term& term : terms) {
        std::vector<Atom> atoms = term.atoms;
        std::sort(atoms.begin(), atoms.end());
        const auto like =
            std::find_if(merged.begin(), merged.end(), [&](const auto& known) { return known.atoms == atoms; });
        if (like == merged.end()) {
            merged.push_back({term.coefficient, std::move(atoms)});
        } else {
            like->coefficient += term.coefficient;
        }
    }
    return merged;
}

}  // namespace

void Lowering::refuse(const std::string& reason) const {
    throw std::invalid_argument(fmt::format("{}: {}", subject_, reason));
}

void Lowering::require_own(const Expression& expression) const {
    const bool own = expression.model() == 0 || expression.model() == model_;
    // A variable that the builder got after the model was built has the right tag, but no place in the layout.
    const auto unknown = [&](const Atom& atom) { return atom.variable >= layout_.variable_count(); };
    const bool known = std::ranges::none_of(
        expression.terms(), [&](const Expression::Term& term) { return std::ranges::any_of(term.atoms, unknown); });
    if (own && known) return;
    refuse("an expression holds a variable or hyperparameter of another model; declare it in this one");
}

std::string Lowering::name_of(const Atom& atom) const {
    const VariableInfo& variable = layout_[atom.variable];
    return atom.statistic < 0 ? variable.name : layout_.statistic_name(variable.offset + atom.statistic);
}

std::string Lowering::describe(const Atom& atom) const {
    const VariableInfo& variable = layout_[atom.variable];
    return fmt::format("variable '{}' ~ {}", variable.name, family_name(variable));
}

Expression Lowering::lower(const Expression& expression) const {
    require_own(expression);
    std::vector<Expression::Term> terms;
    terms.reserve(expression.terms().size());
    for (const Expression::Term& term : expression.terms()) {
        std::vector<Atom> atoms = term.atoms;
        std::sort(atoms.begin(), atoms.end());
        std::vector<Atom> folded;
        bool vanishes = false;
        for (const Atom& atom : atoms) {
            if (atom.statistic < 0) {
                refuse(fmt::format("{} enters as a value, but only its logarithms are statistics of its family, {}",
                                   describe(atom), way_out_));
            }
            if (folded.empty() || folded.back().variable != atom.variable) {
                folded.push_back(atom);
                continue;
            }
            const StatisticProduct product =
                std::visit([&](const auto& family) { return family.product(folded.back().statistic, atom.statistic); },
                           layout_[atom.variable].family);
            if (product.kind == StatisticProduct::Kind::zero) {
                vanishes = true;
                break;
            }
            if (product.kind == StatisticProduct::Kind::none) {
                refuse(fmt::format("it needs {} * {}, which is not a statistic of {}, {}", name_of(folded.back()),
                                   name_of(atom), describe(atom), way_out_));
            }
            folded.back().statistic = static_cast<std::int32_t>(product.statistic);
        }
        if (!vanishes) terms.push_back({term.coefficient, std::move(folded)});
    }
    return {std::move(terms), expression.model()};
}

Expression Lowering::log_of(const Expression& positive, const std::string& role) const {
    require_own(positive);
    const std::vector<Expression::Term> terms = with_like_terms_merged(positive.terms());
    if (terms.size() > 1) {
        refuse(
            fmt::format("the {} is a sum with variables in it, whose logarithm is no statistic; it must be a positive "
                        "constant times Gamma variables",
                        role));
    }
    if (terms.empty() || terms.front().atoms.empty()) {
        const Constant number = positive_constant(positive, role);
        return number.mapped(std::log(number.value()), 1.0 / number.value());
    }
    const Constant& factor = terms.front().coefficient;
    if (!(factor.value() > 0.0)) {
        refuse(fmt::format("the {} has the factor {}, but must be positive", role, factor.value()));
    }
    Expression logarithm = factor.mapped(std::log(factor.value()), 1.0 / factor.value());
    for (const Atom& atom : terms.front().atoms) {
        if (!is_value_of_gamma(layout_, atom)) {
            refuse(fmt::format(
                "the {} holds {} of {}, but the logarithm it needs exists for Gamma variables only; give it "
                "a Gamma prior or make it a constant",
                role, name_of(atom), describe(atom)));
        }
        logarithm += Expression(Atom{atom.variable, 1}, positive.model());
    }
    return logarithm;
}

std::pair<Expression, Expression> Lowering::log_odds_parts(const Expression& probability,
                                                           const std::string& role) const {
    require_own(probability);
    const std::vector<Expression::Term>& terms = probability.terms();
    const bool has_variables =
        std::any_of(terms.begin(), terms.end(), [](const auto& term) { return !term.atoms.empty(); });
    if (!has_variables) {
        const Constant p = constant(probability, role);
        if (!(p.value() > 0.0 && p.value() < 1.0)) {
            refuse(fmt::format("the {} is {}, but must lie strictly between 0 and 1", role, p.value()));
        }
        return {p.mapped(std::log(p.value()), 1.0 / p.value()),
                p.mapped(std::log1p(-p.value()), -1.0 / (1.0 - p.value()))};
    }
    const bool is_beta = terms.size() == 1 && terms.front().atoms.size() == 1 &&
                         terms.front().coefficient.value() == 1.0 && terms.front().coefficient.derivatives().empty() &&
                         is_value_of_beta(layout_, terms.front().atoms.front());
    if (!is_beta) {
        const auto with_atoms =
            std::find_if(terms.begin(), terms.end(), [](const auto& term) { return !term.atoms.empty(); });
        refuse(fmt::format("the {} is an expression in {}, but must be a constant or a Beta variable by itself", role,
                           describe(with_atoms->atoms.front())));
    }
    const Atom atom = terms.front().atoms.front();
    return {Expression(Atom{atom.variable, 0}, probability.model()),
            Expression(Atom{atom.variable, 1}, probability.model())};
}

Constant Lowering::constant(const Expression& expression, const std::string& role) const {
    require_own(expression);
    Constant sum = 0.0;
    for (const Expression::Term& term : expression.terms()) {
        if (!term.atoms.empty()) {
            refuse(fmt::format("the {} depends on {}, but must be a constant: no family here is conjugate to it", role,
                               describe(term.atoms.front())));
        }
        sum += term.coefficient;
    }
    if (!std::isfinite(sum.value()))
        refuse(fmt::format("the {} is {}, but must be a finite number", role, sum.value()));
    return sum;
}

Constant Lowering::positive_constant(const Expression& expression, const std::string& role) const {
    Constant number = constant(expression, role);
    if (!(number.value() > 0.0)) refuse(fmt::format("the {} is {}, but must be positive", role, number.value()));
    return number;
}

std::pair<std::vector<Expression>, Expression> Lowering::matrix(const MatrixParameter& parameter,
                                                                const std::string& role) const {
    const Index dimension = parameter.dimension();
    const Expression log_scale = log_of(parameter.scale(), "scale of the " + role);
    Expression log_det = Expression(static_cast<double>(dimension)) * log_scale;
    std::vector<Expression> entries;
    if (parameter.is_variable()) {
        const std::vector<Expression>& statistics = parameter.entries();
        for (Index i = 0; i + 1 < static_cast<Index>(statistics.size()); ++i) {
            entries.push_back(lower(parameter.scale() * statistics[static_cast<std::size_t>(i)]));
        }
        log_det += statistics.back();
    } else {
        const PositiveDefinite cholesky(parameter.constant());
        if (!cholesky.succeeded()) {
            refuse(fmt::format("the {} is not positive definite; check its entries", role));
        }
        const Vector half = half_vector(parameter.constant());
        for (const double entry : half) entries.push_back(lower(parameter.scale() * entry));
        log_det += cholesky.log_determinant();
    }
    return {std::move(entries), lower(log_det)};
}

}  // namespace lrvb::detail
