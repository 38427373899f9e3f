#include "base/messages.hpp"
#include "formula/column_uses.hpp"
#include "formula/dot.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace lrvb {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// What can be said without the data: everything but what columns are.
void require_sense(const detail::FormulaSyntax& syntax) {
    detail::ColumnRoles roles;
    roles.is_factor = [](const std::string&) { return false; };
    detail::expanded(syntax, roles);
}

}  // namespace

namespace detail {

void refuse_column(const FormulaSyntax& syntax, const ColumnUse& column, const std::vector<std::string>& names) {
    throw FormulaError(fmt::format("there is no column {}: there are {}", shown(column.name), shown(names)),
                       syntax.text, column.place);
}

std::vector<std::string> dot_columns(const FormulaSyntax& syntax, const std::vector<std::string>& names,
                                     const std::string& weights) {
    std::vector<std::string> result;
    if (!has_dot(syntax.right)) return result;
    std::unordered_set<std::string> held;
    for (const ColumnUse& use : column_uses(syntax)) {
        if (use.is_held) held.insert(use.name);
    }
    for (const std::string& name : names) {
        if (!name.empty() && name != weights && !held.contains(name)) result.push_back(name);
    }
    return result;
}

}  // namespace detail

Formula Formula::parse(std::string text) {
    Formula formula;
    formula.syntax_ = std::make_shared<const detail::FormulaSyntax>(detail::parse_formula(std::move(text)));
    require_sense(*formula.syntax_);
    return formula;
}

Formula Formula::of_columns(const std::string& response, const std::vector<std::string>& columns, bool intercept) {
    std::string text = formula_name(response) + " ~";
    std::string_view separator = " ";
    if (!intercept || columns.empty()) {
        text += intercept ? " 1" : " 0";
        separator = " + ";
    }
    for (const std::string& column : columns) {
        text += fmt::format("{}{}", separator, formula_name(column));
        separator = " + ";
    }
    return parse(std::move(text));
}

const std::string& Formula::text() const {
    return syntax_->text;
}

bool Formula::has_dot() const {
    return detail::has_dot(syntax_->right);
}

bool Formula::has_trials() const {
    return detail::response_parts(*syntax_).size() == 2;
}

bool Formula::has_random_terms() const {
    detail::ColumnRoles roles;
    roles.is_factor = [](const std::string&) { return false; };
    return !detail::expanded(*syntax_, roles).random.empty();
}

std::optional<std::string> Formula::response_column() const {
    const std::vector<const detail::Expression*> parts = detail::response_parts(*syntax_);
    if (parts.size() != 1 || parts.front()->kind != detail::Expression::Kind::column) return std::nullopt;
    return parts.front()->text;
}

std::vector<std::string> Formula::columns() const {
    std::vector<std::string> result;
    for (const detail::ColumnUse& use : detail::column_uses(*syntax_)) result.push_back(use.name);
    return result;
}

FrameOptions Formula::reading(const FormulaOptions& options, const std::vector<std::string>& names) const {
    FrameOptions result;
    result.missing = options.missing;
    const std::vector<detail::ColumnUse> uses = detail::column_uses(*syntax_);
    const bool reads_all = has_dot() && names.empty();
    std::unordered_set<std::string> chosen;
    const auto choose = [&](const std::string& name) {
        if (chosen.insert(name).second && !reads_all) result.columns.push_back(name);
    };
    for (const detail::ColumnUse& use : uses) {
        if (!names.empty() && !has(names, use.name)) detail::refuse_column(*syntax_, use, names);
    }
    detail::ColumnRoles roles;
    roles.is_factor = [](const std::string&) { return false; };
    roles.dot = detail::dot_columns(*syntax_, names, options.weights);
    const detail::Expansion expansion = detail::expanded(*syntax_, roles);
    for (const std::string& name : detail::needed_columns(*syntax_, expansion, true)) choose(name);
    for (const detail::ColumnUse& use : uses) {
        if (!chosen.contains(use.name)) continue;
        if (use.is_group || has(options.factors, use.name)) {
            result.text.push_back(use.name);
        } else if (use.is_number || has(options.numbers, use.name)) {
            result.numbers.push_back(use.name);
        }
    }
    const auto is_told = [&](const std::string& name) { return has(result.text, name) || has(result.numbers, name); };
    const auto is_read = [&](const std::string& name) { return reads_all || chosen.contains(name); };
    for (const std::string& name : options.factors) {
        if (is_read(name) && !is_told(name)) result.text.push_back(name);
    }
    for (const std::string& name : options.numbers) {
        if (is_read(name) && !is_told(name)) result.numbers.push_back(name);
    }
    if (!options.weights.empty()) {
        choose(options.weights);
        if (!is_told(options.weights)) result.numbers.push_back(options.weights);
    }
    return result;
}

FrameOptions Formula::reading(const FormulaOptions& options, const Dataset& data) const {
    FrameOptions result = reading(options, data.column_names());
    // A NumPy file has no text; its numbers group as they are.
    if (data.name().ends_with(".npy")) result.text.clear();
    return result;
}

DataFrame Formula::read(const Dataset& data, const FormulaOptions& options) const {
    return data.frame(reading(options, data));
}

std::string formula_name(const std::string& column) {
    if (detail::is_plain_name(column)) return column;
    std::string result = "`";
    for (const char c : column) {
        if (c == '`' || c == '\\') result += '\\';
        result += c;
    }
    return result + "`";
}

}  // namespace lrvb
