#include "formula/grouping.hpp"

#include "base/messages.hpp"
#include "formula/calls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::detail {

namespace {

using Kind = Expression::Kind;

std::vector<std::string> group_columns(const FormulaSyntax& formula, const Expression& group) {
    if (group.kind == Kind::interaction) {
        std::vector<std::string> result;
        for (const Expression& part : group.parts) {
            for (std::string& column : group_columns(formula, unwrapped(part))) {
                if (std::find(result.begin(), result.end(), column) != result.end()) {
                    refuse(formula, fmt::format("column {} is twice in one group: leave it out once", shown(column)),
                           part.begin);
                }
                result.push_back(std::move(column));
            }
        }
        return result;
    }
    if (group.kind == Kind::column) return {group.text};
    if (group.kind == Kind::call && (group.text == "factor" || group.text == "C")) {
        return {factor_column(formula, group)};
    }
    if (group.kind == Kind::bar) refuse(formula, "a random term has one |", group.places.front());
    if (group.kind == Kind::sum) {
        refuse(formula, "groups are not added: write (… | g) + (… | h), a random term for each",
               group.places[group.places.size() > 1 ? 1 : 0]);
    }
    refuse(formula, "behind | stands a column that groups, or g:h, or g/h", group.begin);
}

}  // namespace

std::vector<std::vector<std::string>> groups_of(const FormulaSyntax& formula, const Expression& behind) {
    const Expression& group = unwrapped(behind);
    if (group.kind != Kind::product) return {group_columns(formula, group)};
    std::vector<std::vector<std::string>> result;
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
        if (i > 0 && group.operators[i - 1] != '/') {
            refuse(formula, "groups are not multiplied: write (… | g) + (… | h) + (… | g:h)", group.places[i - 1]);
        }
        for (const std::string& column : group_columns(formula, unwrapped(group.parts[i]))) {
            if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
                refuse(formula, fmt::format("column {} is twice in one group: leave it out once", shown(column)),
                       group.parts[i].begin);
            }
            columns.push_back(column);
        }
        result.push_back(columns);
    }
    return result;
}

}  // namespace lrvb::detail
