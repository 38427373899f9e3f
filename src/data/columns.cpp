#include "data/columns.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
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

std::size_t place_of(const std::string& file, const std::vector<std::string>& names, const std::string& wanted) {
    const auto first = std::find(names.begin(), names.end(), wanted);
    if (first == names.end()) {
        if (const std::optional<std::size_t> place = place_by_number(wanted, names.size())) return *place;
        throw std::invalid_argument(
            fmt::format("{}: there is no column {}: give names or numbers from 1 to {}; the columns are {}", file,
                        shown(wanted), names.size(), listed(names)));
    }
    const auto second = std::find(first + 1, names.end(), wanted);
    if (second == names.end()) return static_cast<std::size_t>(first - names.begin());
    throw std::invalid_argument(
        fmt::format("{}: columns {} and {} are both called {}: rename one of them in the file, or select by number",
                    file, first - names.begin() + 1, second - names.begin() + 1, shown(wanted)));
}

std::vector<std::size_t> all_columns(const std::string& file, const std::vector<std::string>& names) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto [earlier, is_new] = places.emplace(names[i], i);
        if (is_new) continue;
        throw std::runtime_error(
            fmt::format("{}: columns {} and {} are both called {}: rename one of them, or select columns by number",
                        file, earlier->second + 1, i + 1, shown(names[i])));
    }
    std::vector<std::size_t> all(names.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

}  // namespace

std::vector<std::size_t> select_columns(const std::string& file, const std::vector<std::string>& names,
                                        const std::vector<std::string>& wanted) {
    if (wanted.empty()) return all_columns(file, names);
    std::vector<std::size_t> places;
    std::vector<bool> taken(names.size(), false);
    for (const std::string& column : wanted) {
        const std::size_t place = place_of(file, names, column);
        if (taken[place]) {
            throw std::invalid_argument(fmt::format("{}: column {} {} is selected twice: select it once", file,
                                                    place + 1, shown(names[place])));
        }
        taken[place] = true;
        places.push_back(place);
    }
    return places;
}

}  // namespace lrvb::detail
