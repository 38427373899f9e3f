#include "formula/groups.hpp"

#include "base/messages.hpp"
#include "formula/levels.hpp"
#include "formula/row_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace lrvb::detail {

namespace {

/// Numbers for pairs of a place and a code: in a table where that is not too large, which is the quickest.
class PairNumbers {
  public:
    PairNumbers(std::size_t places, std::size_t codes) : codes_(codes) {
        constexpr std::size_t kLargest = std::size_t{1} << 24U;
        if (places <= kLargest / std::max<std::size_t>(codes, 1)) table_.assign(places * codes, -1);
    }

    /// −1 for a pair that has none.
    int find(int place, int code) const {
        const std::uint64_t key = key_of(place, code);
        if (!table_.empty()) return table_[key];
        const auto found = map_.find(key);
        return found == map_.end() ? -1 : found->second;
    }

    void set(int place, int code, int number) {
        const std::uint64_t key = key_of(place, code);
        if (!table_.empty()) {
            table_[key] = number;
        } else {
            map_[key] = number;
        }
    }

  private:
    struct Hash {
        std::size_t operator()(std::uint64_t key) const {
            return static_cast<std::size_t>((key ^ (key >> 32U)) * 0x9E3779B97F4A7C15U);
        }
    };

    std::uint64_t key_of(int place, int code) const {
        return static_cast<std::uint64_t>(place) * codes_ + static_cast<std::uint64_t>(code);
    }

    std::size_t codes_;
    std::vector<int> table_;
    std::unordered_map<std::uint64_t, int, Hash> map_;
};

/// The codes of several columns, column by column.
using ColumnCodes = std::vector<std::vector<int>>;

/// The cells that occur, ascending.
std::vector<std::vector<int>> cells_of(const RandomGroup& group, const ColumnCodes& codes) {
    std::vector<std::vector<int>> cells(group.column_levels.front().size());
    for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = {static_cast<int>(k)};
    std::vector<int> places = codes.front();
    for (std::size_t i = 1; i < codes.size(); ++i) {
        PairNumbers numbers(cells.size(), group.column_levels[i].size());
        std::vector<std::vector<int>> next;
        for (std::size_t n = 0; n < places.size(); ++n) {
            int number = numbers.find(places[n], codes[i][n]);
            if (number < 0) {
                number = static_cast<int>(next.size());
                numbers.set(places[n], codes[i][n], number);
                next.push_back(cells[static_cast<std::size_t>(places[n])]);
                next.back().push_back(codes[i][n]);
            }
            places[n] = number;
        }
        cells = std::move(next);
    }
    std::sort(cells.begin(), cells.end());
    return cells;
}

/// Which of the cells each row has, by their beginnings, which are the longer the more columns were seen.
std::vector<int> cell_codes(const RandomGroup& group, const ColumnCodes& codes) {
    std::vector<int> places = codes.front();
    std::vector<int> beginnings;  // of the cells
    for (const std::vector<int>& cell : group.cells) beginnings.push_back(cell.front());
    std::size_t count = group.column_levels.front().size();
    for (std::size_t i = 1; i < codes.size(); ++i) {
        PairNumbers numbers(count, group.column_levels[i].size());
        const bool is_last = i + 1 == codes.size();
        count = 0;
        for (std::size_t k = 0; k < beginnings.size(); ++k) {
            const int code = group.cells[k][i];
            int number = is_last ? -1 : numbers.find(beginnings[k], code);
            if (number < 0) {
                number = static_cast<int>(is_last ? k : count++);
                numbers.set(beginnings[k], code, number);
            }
            beginnings[k] = number;
        }
        for (std::size_t n = 0; n < places.size(); ++n) {
            const bool is_known = places[n] >= 0 && codes[i][n] >= 0;
            places[n] = is_known ? numbers.find(places[n], codes[i][n]) : -1;
        }
    }
    return places;
}

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

std::vector<std::vector<int>> cells_of(const RandomGroup& group, const DataFrame& frame) {
    ColumnCodes codes;
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
        const auto column = std::find_if(frame.columns.begin(), frame.columns.end(),
                                         [&](const FrameColumn& one) { return one.name == group.columns[i]; });
        codes.push_back(level_codes(*column, group.column_levels[i]));
    }
    return cells_of(group, codes);
}

RandomGroup learnt_group(const FrameNumbers& numbers, const RandomPart& random, const AskRows& ask) {
    RandomGroup group;
    group.columns = random.columns;
    for (const std::string& name : random.columns) {
        const FrameColumn& column = numbers.column(name, random.place);
        group.column_levels.push_back(in_order(levels_of(column)));
    }
    if (random.columns.size() > 1) group.cells = ask_cells(ask, group);
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
    ColumnCodes codes;
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
        codes.push_back(level_codes(numbers.column(group.columns[i], 0), group.column_levels[i]));
    }
    return cell_codes(group, codes);
}

}  // namespace lrvb::detail
