#include "base/picture.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace lrvb::detail {

namespace {

constexpr std::size_t kWidest = 100;  // characters of a text that are shown

/// The characters of a text as they are shown, white space as spaces; and which of them begin at the place, or behind
/// it.
struct ShownCharacters {
    std::vector<std::string> shown;
    std::size_t mark = 0;
    std::size_t mark_end = 0;

    ShownCharacters(std::string_view text, std::size_t begin, std::size_t end) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t length = character_at(text, at).length;
            if (at < begin) mark = shown.size() + 1;
            if (at < end) mark_end = shown.size() + 1;
            const std::string_view bytes = text.substr(at, length);
            const bool is_space = bytes == "\t" || bytes == "\n" || bytes == "\r";
            shown.push_back(is_space ? " " : on_one_line(bytes));
            at += length;
        }
    }
};

/// Of written-out text, in characters.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string picture_of(std::string_view text, std::size_t begin, std::size_t end) {
    const ShownCharacters characters(text, std::min(begin, text.size()), std::min(end, text.size()));
    const std::size_t count = characters.shown.size();
    const std::size_t first =
        count <= kWidest ? 0 : std::min(characters.mark - std::min(characters.mark, kWidest / 2), count - kWidest);
    const std::size_t last = std::min(count, first + kWidest);
    std::string line = first > 0 ? "  …" : "  ";
    std::size_t before = width_of(line);
    std::size_t marked = 0;
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t width = width_of(characters.shown[i]);
        if (i < characters.mark) {
            before += width;
        } else if (i < characters.mark_end) {
            marked += width;
        }
        line += characters.shown[i];
    }
    if (last < count) line += "…";
    return fmt::format("{}\n{}^{}", line, std::string(before, ' '),
                       std::string(std::max<std::size_t>(marked, 1) - 1, '~'));
}

}  // namespace lrvb::detail
