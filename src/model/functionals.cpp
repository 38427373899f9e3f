#include "model/lowering.hpp"

#include <lrvb/model/functionals.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb {

namespace {

using Entries = std::vector<Eigen::Triplet<double, int>>;

// Appends the weights of one expression; its constant.
double append_expression(const Expression& expression, const Layout& layout, int column, Entries& entries) {
    const detail::Lowering lowering(layout, layout.model() == 0 ? expression.model() : layout.model(), "a functional",
                                    "so ask for it by the delta method, as a function of statistics");
    const Expression lowered = lowering.lower(expression);
    double constant = 0.0;
    const bool has_statistic = std::any_of(lowered.terms().begin(), lowered.terms().end(),
                                           [](const Expression::Term& term) { return !term.atoms.empty(); });
    if (!has_statistic) {
        lowering.refuse("it holds no variable; ask for statistics by position as std::vector<Index>, or by name");
    }
    for (const Expression::Term& term : lowered.terms()) {
        if (!std::isfinite(term.coefficient.value())) {
            lowering.refuse(fmt::format("a coefficient is {}, but must be a finite number", term.coefficient.value()));
        }
        if (term.atoms.size() > 1) {
            lowering.refuse(
                fmt::format("it needs {} * {}, a product of two variables; ask for it by the delta method instead",
                            lowering.name_of(term.atoms[0]), lowering.name_of(term.atoms[1])));
        }
        if (term.atoms.empty()) constant += term.coefficient.value();
        for (const Atom& atom : term.atoms) {
            const Index statistic = layout[atom.variable].offset + atom.statistic;
            entries.emplace_back(static_cast<int>(statistic), column, term.coefficient.value());
        }
    }
    return constant;
}

}  // namespace

Functionals::Functionals(std::initializer_list<Expression> expressions)
    : content_(std::vector<Expression>(expressions)) {}

Functionals::Functionals(std::initializer_list<const char*> names)
    : content_(std::vector<std::string>(names.begin(), names.end())) {}

Functionals::Resolved Functionals::resolve(const Layout& layout) const {
    if (const auto* given = std::get_if<Resolved>(&content_)) {
        const Eigen::Map<const Vector> values(given->weights.valuePtr(), given->weights.nonZeros());
        if (given->weights.isCompressed() && !values.allFinite()) {
            throw std::invalid_argument("weights hold an entry that is not finite");
        }
        if (given->weights.rows() == layout.size() && given->weights.cols() == given->constants.size()) return *given;
        throw std::invalid_argument(fmt::format(
            "weights have {} rows and {} columns, but the model has {} statistics and there are {} constants",
            given->weights.rows(), given->weights.cols(), layout.size(), given->constants.size()));
    }
    Entries entries;
    std::vector<double> constants;
    const auto column = [&] { return static_cast<int>(constants.size()); };
    if (const auto* expressions = std::get_if<std::vector<Expression>>(&content_)) {
        for (const Expression& expression : *expressions) {
            constants.push_back(append_expression(expression, layout, column(), entries));
        }
    } else if (const auto* names = std::get_if<std::vector<std::string>>(&content_)) {
        for (const Index statistic : layout.statistics(*names)) {
            entries.emplace_back(static_cast<int>(statistic), column(), 1.0);
            constants.push_back(0.0);
        }
    } else {
        for (const Index statistic : std::get<std::vector<Index>>(content_)) {
            if (statistic < 0 || statistic >= layout.size()) {
                throw std::invalid_argument(
                    fmt::format("statistic {} is outside 0 to {}", statistic, layout.size() - 1));
            }
            entries.emplace_back(static_cast<int>(statistic), column(), 1.0);
            constants.push_back(0.0);
        }
    }
    Resolved resolved{SparseMatrix(layout.size(), column()), Eigen::Map<const Vector>(constants.data(), column())};
    resolved.weights.setFromTriplets(entries.begin(), entries.end());
    return resolved;
}

}  // namespace lrvb
