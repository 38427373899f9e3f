#include "base/validate.hpp"
#include "model/builder_implementation.hpp"
#include "model/observed.hpp"

#include <lrvb/model/rows.hpp>

#include <algorithm>

namespace lrvb {

Row Rows::operator[](Index i) const {
    if (i < 0 || i >= count()) {
        throw std::invalid_argument(fmt::format("rows '{}': index {} is outside 0 to {}", name(), i, count() - 1));
    }
    return {model(), name(), first() + i, input()};
}

Rows Rows::as(const std::string& input) const {
    if (input.empty()) {
        throw std::invalid_argument(
            fmt::format("rows '{}': the name of what is observed is empty; give it one", name()));
    }
    return {model(), name(), first(), count(), input};
}

Rows ModelBuilder::rows(const std::string& name, Index count) {
    Implementation& self = implementation();
    if (name.empty()) throw std::invalid_argument("rows: the name is empty; give the rows one");
    for (const auto& [known, size] : self.rows.sets) {
        if (known == name) {
            throw std::invalid_argument(fmt::format("rows '{}' are declared twice; names must differ", name));
        }
    }
    detail::require_at_least("rows", fmt::format("the count of '{}'", name), count, 1);
    const Index first = self.rows.count;
    self.rows.sets.emplace_back(name, count);
    self.rows.count += count;
    return {self.tag, name, first, count, ""};
}

void ModelBuilder::Implementation::require_rows(std::string_view who, const RowRange& range, Index given) const {
    if (range.model() != tag) {
        throw std::invalid_argument(
            fmt::format("{}: rows '{}' are those of another model; declare them in this one", who, range.name()));
    }
    if (given == range.count()) return;
    throw std::invalid_argument(fmt::format("{}: {} rows are given, but '{}' has {}; give a value for each of them",
                                            who, given, range.name(), range.count()));
}

void ModelBuilder::Implementation::require_own_row(const Expression& lowered, const detail::Lowering& context,
                                                   const RowRange& speaks_of) const {
    if (row_of_variable.empty()) return;
    for (const Expression::Term& term : lowered.terms()) {
        for (const Atom& atom : term.atoms) {
            const auto variable = static_cast<std::size_t>(atom.variable);
            const Index row = variable < row_of_variable.size() ? row_of_variable[variable] : -1;
            if (row < 0 || (speaks_of.count() == 1 && speaks_of.first() == row)) continue;
            context.refuse(fmt::format(
                "variable '{}' belongs to {}, so only observations of that row may depend on it; name the row, or "
                "declare the variable without one",
                layout[atom.variable].name, rows.describe(row)));
        }
    }
}

std::vector<std::string> ModelBuilder::Implementation::free_inputs(const AnyObserved& kind,
                                                                   const RowRange& range) const {
    const auto first_taken = [&](const std::vector<std::string>& names) -> Index {
        for (const std::string& name : names) {
            const auto known = std::ranges::find(rows.inputs, name);
            if (known == rows.inputs.end()) continue;
            const std::vector<bool>& taken = input_taken[static_cast<std::size_t>(known - rows.inputs.begin())];
            const Index end = std::min(range.first() + range.count(), static_cast<Index>(taken.size()));
            for (Index row = range.first(); row < end; ++row) {
                if (taken[static_cast<std::size_t>(row)]) return row;
            }
        }
        return -1;
    };
    const std::string base = range.input().empty() ? "y" : range.input();
    std::vector<std::string> names = detail::input_names(kind, base);
    for (Index next = 2; first_taken(names) >= 0; ++next) {
        if (!range.input().empty()) {
            throw std::invalid_argument(
                fmt::format("{} has an input '{}' already; give this one another name, with as(…)",
                            rows.describe(first_taken(names)), names.front()));
        }
        names = detail::input_names(kind, fmt::format("{}_{}", base, next));
    }
    return names;
}

std::vector<std::int32_t> ModelBuilder::Implementation::claim(const std::vector<std::string>& input_names,
                                                              const RowRange& range) {
    std::vector<std::int32_t> places;
    for (const std::string& name : input_names) {
        const auto place = static_cast<std::size_t>(std::ranges::find(rows.inputs, name) - rows.inputs.begin());
        if (place == rows.inputs.size()) {
            rows.inputs.push_back(name);
            input_taken.emplace_back();
        }
        std::vector<bool>& taken = input_taken[place];
        const auto end = static_cast<std::size_t>(range.first() + range.count());
        if (taken.size() < end) taken.resize(std::max(end, static_cast<std::size_t>(rows.count)));
        std::fill(taken.begin() + range.first(), taken.begin() + range.first() + range.count(), true);
        places.push_back(static_cast<std::int32_t>(place));
    }
    return places;
}

void ModelBuilder::Implementation::record(const std::optional<AnyObserved>& kind, const Matrix& values,
                                          const detail::ConditionalForm& form,
                                          const std::vector<std::string>& input_names, const RowRange& range) {
    const auto polynomial = static_cast<std::uint32_t>(rows.polynomials.size());
    for (const Expression& natural : form.natural) rows.polynomials.add(natural, layout);
    rows.polynomials.add(form.log_normaliser, layout);
    std::vector<std::int32_t> inputs = claim(input_names, range);
    if (kind && range.count() > 1) {
        rows.blocks.push_back(
            std::make_shared<const detail::ObservedRows>(*kind, std::move(inputs), range.first(), values, polynomial));
        return;
    }
    auto group = std::ranges::find_if(single_rows, [&](const auto& known) { return known.takes(kind, inputs); });
    if (group == single_rows.end()) {
        single_rows.emplace_back(kind, std::move(inputs));
        group = single_rows.end() - 1;
    }
    group->add(range.first(), values, polynomial);
}

std::shared_ptr<const detail::RowTerms> ModelBuilder::Implementation::row_terms() const {
    if (rows.sets.empty()) return {};
    auto result = std::make_shared<detail::RowTerms>(rows);
    std::ranges::sort(result->own);
    for (detail::ObservedRows group : single_rows) {
        group.sort();
        result->blocks.push_back(std::make_shared<const detail::ObservedRows>(std::move(group)));
    }
    return result;
}

}  // namespace lrvb
