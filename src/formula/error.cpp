#include "base/messages.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb {

namespace {

constexpr std::size_t kWidest = 100;  // characters of a text that are shown

/// The characters of a text as they are shown, white space as spaces; and which of them begins at the place, or behind
/// it.
struct Characters {
    std::vector<std::string> shown;
    std::size_t mark = 0;

    Characters(std::string_view text, std::size_t place) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t length = detail::character_at(text, at).length;
            if (at < place) mark = shown.size() + 1;
            const std::string_view bytes = text.substr(at, length);
            const bool is_space = bytes == "\t" || bytes == "\n" || bytes == "\r";
            shown.push_back(is_space ? " " : detail::on_one_line(bytes));
            at += length;
        }
    }
};

/// Of written-out text, in characters.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string picture_of(std::string_view text, std::size_t place) {
    const Characters characters(text, std::min(place, text.size()));
    const std::size_t count = characters.shown.size();
    const std::size_t first =
        count <= kWidest ? 0 : std::min(characters.mark - std::min(characters.mark, kWidest / 2), count - kWidest);
    const std::size_t last = std::min(count, first + kWidest);
    std::string line = first > 0 ? "  …" : "  ";
    std::size_t before = width_of(line);
    for (std::size_t i = first; i < last; ++i) {
        if (i < characters.mark) before += width_of(characters.shown[i]);
        line += characters.shown[i];
    }
    if (last < count) line += "…";
    return fmt::format("{}\n{}^", line, std::string(before, ' '));
}

}  // namespace

FormulaError::FormulaError(const std::string& sentence, std::string_view text, std::size_t place)
    : UsageError(fmt::format("{}\n{}", sentence, picture_of(text, place))),
      sentence_(sentence),
      picture_(picture_of(text, place)),
      place_(std::min(place, text.size())) {}

}  // namespace lrvb
