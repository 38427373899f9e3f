#include "bugs/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace lrvb::bugs {

namespace {

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// How many letters are to be left out, added, changed or swapped with the next.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                edits[i][j] = std::max(i, j);
                continue;
            }
            const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + change});
            const bool is_swap =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (is_swap) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
        }
    }
    return edits[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string_view>& known) {
    constexpr std::size_t longest = 40;
    if (name.size() > longest) return "";
    std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
    std::string_view best;
    for (const std::string_view other : known) {
        if (other.size() > longest || other == name) continue;
        const std::size_t edits = edits_between(name, other);
        if (edits >= least || edits >= other.size()) continue;
        least = edits;
        best = other;
    }
    return std::string(best);
}

}  // namespace lrvb::bugs
