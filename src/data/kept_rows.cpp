#include "data/kept_rows.hpp"

#include <utility>

namespace lrvb::detail {

namespace {

void keep_texts(FrameColumn& column, const std::vector<Index>& kept) {
    std::vector<std::uint32_t> codes;
    std::vector<bool> is_used(column.levels.size(), false);
    for (const Index n : kept) {
        codes.push_back(column.codes[static_cast<std::size_t>(n)]);
        is_used[codes.back()] = true;
    }
    std::vector<std::string> levels;
    std::vector<std::uint32_t> places(column.levels.size());
    for (std::size_t i = 0; i < is_used.size(); ++i) {
        if (!is_used[i]) continue;
        places[i] = static_cast<std::uint32_t>(levels.size());
        levels.push_back(std::move(column.levels[i]));
    }
    for (std::uint32_t& code : codes) code = places[code];
    column.levels = std::move(levels);
    column.codes = std::move(codes);
}

}  // namespace

void keep_rows(DataFrame& frame, const std::vector<Index>& kept) {
    std::vector<Index> file_rows;
    file_rows.reserve(kept.size());
    for (const Index n : kept) file_rows.push_back(frame.file_row(n));
    for (FrameColumn& column : frame.columns) {
        if (column.is_text()) {
            keep_texts(column, kept);
        } else {
            column.numbers = Vector(column.numbers(kept));
        }
    }
    frame.rows = static_cast<Index>(kept.size());
    frame.file_rows = std::move(file_rows);
}

}  // namespace lrvb::detail
