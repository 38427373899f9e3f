#include "formula/groups.hpp"

#include "base/messages.hpp"
#include "formula/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace lrvb::detail {

namespace {

struct CellHash {
    std::size_t operator()(const std::vector<int>& cell) const {
        std::size_t hash = cell.size();
        for (const int code : cell) hash = (hash ^ static_cast<std::size_t>(code)) * 0x9E3779B97F4A7C15U;
        return hash;
    }
};

using Cells = std::unordered_map<std::vector<int>, int, CellHash>;

}  // namespace

void RandomGroup::name_levels() {
    if (columns.size() == 1) {
        levels = column_levels.front();
        return;
    }
    levels.clear();
    for (const std::vector<int>& cell : cells) {
        std::string name;
        for (std::size_t i = 0; i < cell.size(); ++i) {
            if (i > 0) name += ':';
            name += column_levels[i][static_cast<std::size_t>(cell[i])];
        }
        levels.push_back(std::move(name));
    }
}

Document RandomGroup::document() const {
    Document result;
    Document list = Document::list();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        list.push_back(Document{{"column", columns[i]}, {"levels", column_levels[i]}});
    }
    result["columns"] = std::move(list);
    if (columns.size() == 1) return result;
    // Column by column: which of its levels each level of the group has.
    list = Document::list();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        Document::Numbers codes;
        for (const std::vector<int>& cell : cells) codes.push_back(cell[i]);
        list.push_back(std::move(codes));
    }
    result["cells"] = std::move(list);
    return result;
}

RandomGroup RandomGroup::read(const Fields& fields) {
    RandomGroup group;
    fields.each("columns", [&](const Fields& column) {
        group.columns.push_back(column.text("column"));
        group.column_levels.push_back(column.texts("levels"));
        if (group.column_levels.back().empty()) fields.refuse("levels", "are none, but a group has one at least");
    });
    if (group.columns.empty()) fields.refuse("columns", "are none, but a group is of one at least");
    if (group.columns.size() > 1) {
        const Document::List* const lists = fields.at("cells").entries();
        if (lists == nullptr || lists->size() != group.columns.size()) {
            fields.refuse("cells", "is not one list a column");
        }
        const Document::Numbers* first = lists->front().numbers();
        if (first == nullptr || first->empty()) fields.refuse("cells", "holds no numbers");
        group.cells.assign(first->size(), std::vector<int>(group.columns.size(), 0));
        for (std::size_t i = 0; i < lists->size(); ++i) {
            const Document::Numbers* codes = (*lists)[i].numbers();
            if (codes == nullptr || codes->size() != first->size()) {
                fields.refuse("cells", "has lists of different lengths");
            }
            for (std::size_t k = 0; k < codes->size(); ++k) {
                const double code = (*codes)[k];
                const auto most = static_cast<double>(group.column_levels[i].size());
                if (!(code >= 0.0 && code < most) || code != std::floor(code)) {
                    fields.refuse("cells", "holds a number that is no level's");
                }
                group.cells[k][i] = static_cast<int>(code);
            }
        }
    }
    group.name_levels();
    if (repeated(group.levels)) fields.refuse("columns", "make two levels of one name");
    return group;
}

std::optional<std::string> repeated(const std::vector<std::string>& names) {
    std::unordered_set<std::string_view> seen;
    for (const std::string& name : names) {
        if (!seen.insert(name).second) return name;
    }
    return std::nullopt;
}

RandomGroup learnt_group(const FrameNumbers& numbers, const RandomPart& random) {
    RandomGroup group;
    group.columns = random.columns;
    std::vector<std::vector<int>> codes;
    for (const std::string& name : random.columns) {
        const FrameColumn& column = numbers.column(name, random.place);
        group.column_levels.push_back(in_order(levels_of(column)));
        if (random.columns.size() > 1) codes.push_back(level_codes(column, group.column_levels.back()));
    }
    if (random.columns.size() > 1) {
        Cells known;
        std::vector<int> cell(codes.size());
        for (std::size_t n = 0; n < codes.front().size(); ++n) {
            for (std::size_t i = 0; i < codes.size(); ++i) cell[i] = codes[i][n];
            if (known.try_emplace(cell, 0).second) group.cells.push_back(cell);
        }
        std::sort(group.cells.begin(), group.cells.end());
    }
    group.name_levels();
    if (const std::optional<std::string> name = repeated(group.levels)) {
        throw std::runtime_error(fmt::format("{}: two levels of {} are both called {}: rename one of them",
                                             numbers.frame().name, shown(random.name()), shown(*name)));
    }
    return group;
}

std::vector<int> group_codes(const FrameNumbers& numbers, const RandomGroup& group) {
    if (group.columns.size() == 1) {
        return level_codes(numbers.column(group.columns.front(), 0), group.column_levels.front());
    }
    std::vector<std::vector<int>> codes;
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
        codes.push_back(level_codes(numbers.column(group.columns[i], 0), group.column_levels[i]));
    }
    Cells places;
    for (std::size_t i = 0; i < group.cells.size(); ++i) places.emplace(group.cells[i], static_cast<int>(i));
    std::vector<int> result(codes.front().size());
    std::vector<int> cell(codes.size());
    for (std::size_t n = 0; n < result.size(); ++n) {
        for (std::size_t i = 0; i < codes.size(); ++i) cell[i] = codes[i][n];
        const auto found = places.find(cell);
        result[n] = found == places.end() ? -1 : found->second;
    }
    return result;
}

}  // namespace lrvb::detail
