#include "data/columns.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

namespace lrvb::detail {
namespace {

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t most = 20;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) list += (i == 0 ? "" : ", ") + shown(names[i]);
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

std::optional<std::size_t> place_by_number(const std::string& text, std::size_t columns) {
    std::size_t number = 0;
    const char* const end = text.data() + text.size();
    const std::from_chars_result result = std::from_chars(text.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || number < 1 || number > columns) return std::nullopt;
    return number - 1;
}

/// By its name or its number; nothing where there is no such column.
std::optional<std::size_t> find_place(const std::string& file, const std::vector<std::string>& names,
                                      const std::string& wanted) {
    const auto first = std::find(names.begin(), names.end(), wanted);
    if (first == names.end()) return place_by_number(wanted, names.size());
    const auto second = std::find(first + 1, names.end(), wanted);
    if (second == names.end()) return static_cast<std::size_t>(first - names.begin());
    throw std::invalid_argument(
        fmt::format("{}: columns {} and {} are both called {}: rename one of them in the file, or select by number",
                    file, first - names.begin() + 1, second - names.begin() + 1, shown(wanted)));
}

[[noreturn]] void refuse_unknown(const std::string& file, const std::vector<std::string>& names,
                                 const std::string& wanted, bool ranges) {
    throw std::invalid_argument(fmt::format(
        "{}: there is no column {}: give names or numbers from 1 to {}{}; the columns are {}", file, shown(wanted),
        names.size(), ranges ? ", ranges such as 1-3, or what to leave out, such as -1" : "", listed(names)));
}

struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// From one column to another, wherever a dash stands between the two; nothing where it stands between none.
std::optional<Range> find_range(const std::string& file, const std::vector<std::string>& names,
                                const std::string& text) {
    std::optional<Range> found;
    for (std::size_t dash = text.find('-', 1); dash < text.size() - 1; dash = text.find('-', dash + 1)) {
        const std::optional<std::size_t> first = find_place(file, names, text.substr(0, dash));
        const std::optional<std::size_t> last = find_place(file, names, text.substr(dash + 1));
        if (!first || !last) continue;
        if (found) {
            throw std::invalid_argument(fmt::format(
                "{}: {} can be read as more than one range of columns: give it by numbers", file, shown(text)));
        }
        found = Range{*first, *last};
    }
    if (found && found->first > found->last) {
        throw std::invalid_argument(fmt::format("{}: the range {} runs backwards: write it as {}-{}", file, shown(text),
                                                found->last + 1, found->first + 1));
    }
    return found;
}

/// One entry of a list of columns.
Range range_of(const std::string& file, const std::vector<std::string>& names, const std::string& wanted, bool ranges) {
    if (const std::optional<std::size_t> place = find_place(file, names, wanted)) return {*place, *place};
    const std::optional<Range> range = ranges ? find_range(file, names, wanted) : std::nullopt;
    if (range) return *range;
    refuse_unknown(file, names, wanted, ranges);
}

bool leaves_out(const std::string& file, const std::vector<std::string>& names, const std::string& wanted) {
    return wanted.size() > 1 && wanted[0] == '-' && !find_place(file, names, wanted);
}

std::vector<std::size_t> all_columns(const std::string& file, const std::vector<std::string>& names,
                                     const std::vector<bool>& left_out) {
    std::unordered_map<std::string, std::size_t> places;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (left_out[i] || (i == 0 && has_row_names(names))) continue;
        all.push_back(i);
        const auto [earlier, is_new] = places.emplace(names[i], i);
        if (is_new) continue;
        throw std::runtime_error(
            fmt::format("{}: columns {} and {} are both called {}: rename one of them, or select columns by number",
                        file, earlier->second + 1, i + 1, shown(names[i])));
    }
    return all;
}

}  // namespace

bool has_row_names(const std::vector<std::string>& names) {
    return names.size() > 1 && names.front().empty() && std::count(names.begin(), names.end(), "") == 1;
}

void refuse_row_names(const std::string& file) {
    throw std::invalid_argument(
        fmt::format("{}: the first column has no name, as row names have none, and is left out: give it a name in the "
                    "file to use it",
                    file));
}

bool leaves_out_row_names(const std::vector<std::string>& names, const std::vector<std::string>& wanted,
                          const std::vector<std::size_t>& places) {
    const bool chooses =
        std::any_of(wanted.begin(), wanted.end(), [](const std::string& column) { return !column.starts_with('-'); });
    return has_row_names(names) && !chooses && std::find(places.begin(), places.end(), 0U) == places.end();
}

std::vector<std::size_t> select_columns(const std::string& file, const std::vector<std::string>& names,
                                        const std::vector<std::string>& wanted, bool ranges) {
    std::vector<std::size_t> places;
    std::vector<bool> taken(names.size(), false);
    std::vector<bool> left_out(names.size(), false);
    bool any_wanted = false;
    for (const std::string& column : wanted) {
        if (ranges && leaves_out(file, names, column)) {
            const Range range = range_of(file, names, column.substr(1), ranges);
            for (std::size_t place = range.first; place <= range.last; ++place) left_out[place] = true;
            continue;
        }
        any_wanted = true;
        const Range range = range_of(file, names, column, ranges);
        for (std::size_t place = range.first; place <= range.last; ++place) {
            if (taken[place]) {
                throw std::invalid_argument(fmt::format("{}: column {} {} is selected twice: select it once", file,
                                                        place + 1, shown(names[place])));
            }
            taken[place] = true;
            places.push_back(place);
        }
    }
    if (!any_wanted) places = all_columns(file, names, left_out);
    std::erase_if(places, [&](std::size_t place) { return left_out[place]; });
    if (places.empty()) {
        throw std::invalid_argument(
            fmt::format("{}: all columns are left out: leave one of them, of {}", file, listed(names)));
    }
    return places;
}

std::vector<std::size_t> select_columns(const std::string& file, const std::vector<std::string>& names,
                                        const std::vector<std::string>& wanted, bool ranges,
                                        const std::vector<std::string>& last) {
    std::vector<std::size_t> places = select_columns(file, names, wanted, ranges);
    if (last.empty()) return places;
    const std::vector<std::size_t> behind = select_columns(file, names, last);
    for (const std::size_t place : behind) std::erase(places, place);
    if (places.empty()) {
        throw std::invalid_argument(
            fmt::format("{}: no column is left besides {}: select another", file, shown(names[behind.front()])));
    }
    places.insert(places.end(), behind.begin(), behind.end());
    return places;
}

}  // namespace lrvb::detail
