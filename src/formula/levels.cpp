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

/// Numbers of numbers: places are tried one after the other from that of its hash.
class NumberTable {
  public:
    /// That of a value, which is kNew where it has none yet.
    int& operator[](double value) {
        if (2 * count_ >= slots_.size()) grow();
        Slot& slot = slots_[place_of(value)];
        if (!slot.is_used) {
            slot = {value, kNew, true};
            ++count_;
        }
        return slot.number;
    }

    static constexpr int kNew = -2;

  private:
    struct Slot {
        double value = 0.0;
        int number = kNew;
        bool is_used = false;
    };

    std::size_t place_of(double value) const {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value);
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15U) >> 32U) & mask;
        while (slots_[place].is_used && slots_[place].value != value) place = (place + 1) & mask;
        return place;
    }

    void grow() {
        std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.is_used) slots_[place_of(slot.value)] = slot;
        }
    }

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

std::vector<std::string> levels_of_numbers(const Vector& numbers) {
    NumberTable seen;
    std::vector<std::string> levels;
    for (const double value : numbers) {
        int& number = seen[value];
        if (number != NumberTable::kNew) continue;
        number = 0;
        levels.push_back(written_number(value));
    }
    return levels;
}

std::vector<int> codes_of_numbers(const Vector& numbers, const LevelIndex& index) {
    NumberTable known;
    std::vector<int> codes(static_cast<std::size_t>(numbers.size()));
    for (Index n = 0; n < numbers.size(); ++n) {
        int& code = known[numbers[n]];
        if (code == NumberTable::kNew) {
            const std::optional<std::size_t> level = index.find(written_number(numbers[n]));
            code = level ? static_cast<int>(*level) : -1;
        }
        codes[static_cast<std::size_t>(n)] = code;
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
