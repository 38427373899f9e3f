#include "base/validate.hpp"
#include "model/builder_implementation.hpp"
#include "model/distribution_node.hpp"
#include "model/multilinear_form.hpp"
#include "model/polynomials.hpp"

#include <lrvb/model/builder.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace lrvb {

namespace {

std::uint32_t next_tag() {
    static std::atomic<std::uint32_t> last{0};
    return ++last;
}

double evaluate(const Expression& expression, const Layout& layout, const std::vector<double>& mean) {
    double sum = 0.0;
    for (const Expression::Term& term : expression.terms()) {
        double product = term.coefficient.value();
        for (const Atom& atom : term.atoms) {
            product *= mean[static_cast<std::size_t>(layout[atom.variable].offset + atom.statistic)];
        }
        sum += product;
    }
    return sum;
}

}  // namespace

ModelBuilder::Implementation::Implementation() : tag(next_tag()), layout(tag) {}

void ModelBuilder::Implementation::require_finite(const Expression& lowered, const detail::Lowering& context) {
    for (const Expression::Term& term : lowered.terms()) {
        const auto& derivatives = term.coefficient.derivatives();
        const bool finite = std::all_of(derivatives.begin(), derivatives.end(),
                                        [](const Constant::Derivative& d) { return std::isfinite(d.second); });
        if (finite && std::isfinite(term.coefficient.value())) continue;
        context.refuse(
            fmt::format("a coefficient of the log density is {}; check the data and constants for values that are "
                        "missing or too large",
                        term.coefficient.value()));
    }
}

detail::Lowering ModelBuilder::Implementation::lowering(std::string subject) const {
    return {layout, tag, std::move(subject)};
}

void ModelBuilder::Implementation::accumulate(const Expression& lowered, const detail::Lowering& context,
                                              const RowRange& speaks_of) {
    require_finite(lowered, context);
    require_own_row(lowered, context, speaks_of);
    std::vector<std::uint32_t> statistics;
    for (const Expression::Term& term : lowered.terms()) {
        statistics.clear();
        for (const Atom& atom : term.atoms) {
            statistics.push_back(static_cast<std::uint32_t>(layout[atom.variable].offset + atom.statistic));
        }
        log_joint.add(term.coefficient.value(), statistics);
        for (const auto& [hyperparameter, derivative] : term.coefficient.derivatives()) {
            hyperparameter_derivatives[hyperparameter].add(derivative, statistics);
        }
    }
}

ModelBuilder::ModelBuilder() : implementation_(std::make_unique<Implementation>()) {}
ModelBuilder::~ModelBuilder() = default;
ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder& ModelBuilder::operator=(ModelBuilder&&) noexcept = default;

ModelBuilder::Implementation& ModelBuilder::implementation() const {
    if (implementation_) return *implementation_;
    throw std::logic_error("this model builder was moved from; use the one that it was moved to");
}

std::uint32_t ModelBuilder::model_tag() const {
    return implementation().tag;
}

Hyperparameter ModelBuilder::hyperparameter(const std::string& name, double value) {
    Implementation& self = implementation();
    if (name.empty()) throw std::invalid_argument("a hyperparameter's name is empty; give it one");
    for (const std::string& known : self.hyperparameters) {
        if (known == name) {
            throw std::invalid_argument(fmt::format("hyperparameter '{}' is declared twice; names must differ", name));
        }
    }
    detail::require_finite("hyperparameter", name, value);
    const auto index = static_cast<std::uint32_t>(self.hyperparameters.size());
    self.hyperparameters.push_back(name);
    self.hyperparameter_values.push_back(value);
    self.hyperparameter_derivatives.emplace_back();
    return {value, index, self.tag};
}

Index ModelBuilder::add_variable(const std::string& name, const AnyFamily& family, const detail::DistributionNode& node,
                                 const Row& row) {
    Implementation& self = implementation();
    if (row.is_named()) self.require_rows("add", row, 1);
    const std::string_view family_name =
        std::visit([](const auto& f) { return std::remove_cvref_t<decltype(f)>::name; }, family);
    const detail::Lowering lowering = self.lowering(fmt::format("variable '{}' ~ {}", name, family_name));
    const detail::ConditionalForm form = node.lower(lowering);
    for (const Expression& natural : form.natural) {
        Implementation::require_finite(natural, lowering);
        self.require_own_row(natural, lowering, row);
    }
    Implementation::require_finite(form.log_normaliser, lowering);
    self.require_own_row(form.log_normaliser, lowering, row);

    // The start of the fit: the prior at the starting means of its parents, or the family's reference where it is flat.
    Vector natural(static_cast<Index>(form.natural.size()));
    for (Index s = 0; s < natural.size(); ++s) {
        natural[s] = evaluate(form.natural[static_cast<std::size_t>(s)], self.layout, self.start_mean);
    }
    std::visit(
        [&](const auto& f) {
            if (!f.domain_error(natural).empty()) natural = f.reference_natural();
        },
        family);
    const Vector mean = std::visit([&](const auto& f) { return f.mean(natural); }, family);

    const Index index = self.layout.add(name, family);
    self.start_natural.insert(self.start_natural.end(), natural.begin(), natural.end());
    self.start_mean.insert(self.start_mean.end(), mean.begin(), mean.end());
    for (std::size_t n = 0; n < form.numbers.size(); ++n) {
        for (const auto& [hyperparameter, derivative] : form.numbers[n].derivatives()) {
            self.base_derivatives.push_back(
                {static_cast<Index>(hyperparameter), index, static_cast<Index>(n), derivative});
        }
    }

    Expression log_density = form.log_normaliser;
    for (std::size_t s = 0; s < form.natural.size(); ++s) {
        const Atom own{static_cast<std::int32_t>(index), static_cast<std::int32_t>(s)};
        log_density += form.natural[s] * Expression(own, self.tag);
    }
    const Expression lowered = lowering.lower(log_density);
    self.accumulate(lowered, lowering, row);
    if (row.is_named()) {
        self.row_of_variable.resize(static_cast<std::size_t>(index) + 1, -1);
        self.row_of_variable.back() = row.first();
        self.rows.own.emplace_back(row.first(), index);
        self.record({}, Matrix(), {{}, lowered}, {}, row);
    }
    return index;
}

void ModelBuilder::add_term(const Expression& log_density, const Row& row) {
    Implementation& self = implementation();
    if (row.is_named()) self.require_rows("add_term", row, 1);
    const detail::Lowering lowering = self.lowering("a raw term");
    const Expression lowered = lowering.lower(log_density);
    self.accumulate(lowered, lowering, row);
    if (row.is_named()) self.record({}, Matrix(), {{}, lowered}, {}, row);
}

MultilinearModel ModelBuilder::build() const {
    const Implementation& self = implementation();
    if (self.layout.variable_count() == 0) {
        throw std::invalid_argument("the model has no variables; add at least one");
    }
    const Index size = self.layout.size();
    auto form = std::make_shared<const detail::MultilinearForm>(self.log_joint, size);

    const Vector start_mean = Eigen::Map<const Vector>(self.start_mean.data(), size);
    const std::shared_ptr<const detail::LabelledTerms> labelled = self.labelled_terms();
    Vector conditional = form->gradient(start_mean);
    if (labelled) {
        Vector point = labelled->extended(start_mean);
        Expansion unused;
        labelled->fill_counts(point, Vector(), 1, unused);
        labelled->add_block_gradient(point, 0, conditional);
    }
    for (const VariableInfo& variable : self.layout) {
        const Vector natural = conditional.segment(variable.offset, variable.size);
        const std::string error =
            std::visit([&](const auto& family) { return family.domain_error(natural); }, variable.family);
        if (!error.empty()) throw std::invalid_argument(ImproperConditional(variable.name, error).what());
    }

    auto derivatives = std::make_shared<detail::Polynomials>();
    for (const detail::MonomialSum& derivative : self.hyperparameter_derivatives) derivatives->add(derivative);
    return {std::make_shared<const Layout>(self.layout),
            std::move(form),
            Eigen::Map<const Vector>(self.start_natural.data(), size),
            self.hyperparameters,
            Eigen::Map<const Vector>(self.hyperparameter_values.data(),
                                     static_cast<Index>(self.hyperparameter_values.size())),
            std::move(derivatives),
            self.row_terms(),
            labelled,
            self.base_derivatives};
}

}  // namespace lrvb
