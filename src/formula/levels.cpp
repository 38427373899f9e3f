#include "formula/levels.hpp"

#include "data/csv_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace lrvb::detail {

namespace {

/// -0 is 0.
std::string written_number(double value) {
    return fmt::format("{}", value == 0.0 ? 0.0 : value);
}

/// Numbers as keys: with the bits mixed, as whole numbers differ in the highest alone.
struct NumberHash {
    std::size_t operator()(double value) const {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value);
        return static_cast<std::size_t>((bits ^ (bits >> 32U)) * 0x9E3779B97F4A7C15U);
    }
};

std::vector<std::string> levels_of_numbers(const Vector& numbers) {
    std::unordered_set<double, NumberHash> seen;
    std::vector<std::string> levels;
    double last = 0.0;
    for (Index n = 0; n < numbers.size(); ++n) {
        if (n > 0 && numbers[n] == last) continue;  // rows of a group often stand together
        last = numbers[n];
        if (seen.insert(last).second) levels.push_back(written_number(last));
    }
    return levels;
}

std::vector<int> codes_of_numbers(const Vector& numbers, const LevelIndex& index) {
    std::unordered_map<double, int, NumberHash> known;
    std::vector<int> codes(static_cast<std::size_t>(numbers.size()));
    for (Index n = 0; n < numbers.size(); ++n) {
        const auto [code, is_new] = known.try_emplace(numbers[n], -1);
        if (is_new) {
            const std::optional<std::size_t> level = index.find(written_number(numbers[n]));
            if (level) code->second = static_cast<int>(*level);
        }
        codes[static_cast<std::size_t>(n)] = code->second;
    }
    return codes;
}

}  // namespace

std::vector<std::string> in_order(std::vector<std::string> levels) {
    std::vector<std::pair<double, std::string>> numbered;
    for (const std::string& level : levels) {
        double number = 0.0;
        if (parse_number(level, number) != NumberKind::number) {
            std::sort(levels.begin(), levels.end());
            return levels;
        }
        numbered.emplace_back(number, level);
    }
    std::sort(numbered.begin(), numbered.end());
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = std::move(numbered[i].second);
    return levels;
}

std::vector<std::string> levels_of(const FrameColumn& column) {
    if (!column.is_text()) return levels_of_numbers(column.numbers);
    if (column.told != FrameColumn::Told::text || column.quoted) return column.levels;
    std::vector<std::string> forms;
    for (const std::string& level : column.levels) {
        std::optional<std::string> form = decimal_form(level);
        if (!form) return column.levels;
        forms.push_back(std::move(*form));
    }
    std::vector<std::string> levels;
    std::unordered_set<std::string> seen;
    std::vector<bool> is_seen(forms.size(), false);
    for (const std::uint32_t code : column.codes) {
        if (is_seen[code]) continue;
        is_seen[code] = true;
        if (seen.insert(forms[code]).second) levels.push_back(column.levels[code]);
    }
    return levels;
}

LevelIndex::LevelIndex(const std::vector<std::string>& levels) {
    texts_.reserve(levels.size());
    bool all_numbers = true;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        texts_.try_emplace(levels[i], i);
        if (!all_numbers) continue;
        const std::optional<std::string> form = decimal_form(levels[i]);
        all_numbers = form.has_value();
        if (!form) continue;
        const auto [known, is_new] = values_.try_emplace(*form, i);
        if (!is_new) known->second = std::nullopt;
    }
    if (!all_numbers) values_.clear();
}

std::optional<std::size_t> LevelIndex::find(const std::string& text) const {
    const auto same = texts_.find(text);
    if (same != texts_.end()) return same->second;
    if (values_.empty()) return std::nullopt;
    const std::optional<std::string> form = decimal_form(text);
    if (!form) return std::nullopt;
    const auto value = values_.find(*form);
    return value == values_.end() ? std::nullopt : value->second;
}

std::vector<int> level_codes(const FrameColumn& column, const std::vector<std::string>& levels) {
    const LevelIndex index(levels);
    if (!column.is_text()) return codes_of_numbers(column.numbers, index);
    std::vector<int> matches;
    matches.reserve(column.levels.size());
    for (const std::string& level : column.levels) {
        const std::optional<std::size_t> match = index.find(level);
        matches.push_back(match ? static_cast<int>(*match) : -1);
    }
    std::vector<int> codes(column.codes.size());
    for (std::size_t n = 0; n < codes.size(); ++n) codes[n] = matches[column.codes[n]];
    return codes;
}

std::string text_at(const FrameColumn& column, Index row) {
    if (!column.is_text()) return written_number(column.numbers[row]);
    return column.levels[column.codes[static_cast<std::size_t>(row)]];
}

}  // namespace lrvb::detail
