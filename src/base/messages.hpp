#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text that a file or a command line may have had a part in, made fit to be looked at: one rule for terminals, tables,
/// CSV, JSON and pages. What is written out instead of being obeyed or overlooked is `is_deceptive`, and every byte
/// that belongs to no UTF-8 character.
namespace lrvb::detail {

/// A character of a text: its code point, which is none for a byte that is no UTF-8, and the bytes that it has.
struct Character {
    static constexpr char32_t kNone = 0xFFFFFFFFU;

    char32_t code = kNone;
    std::size_t length = 1;
};

/// The one that begins at `at`, a place within the text. Overlong forms and surrogates are no UTF-8.
Character character_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

/// Controls (C0, DEL, C1), which a terminal obeys; marks, overrides and isolates of the writing direction, which let
/// text be read in another order; line and paragraph separators; and format characters that cannot be seen.
bool is_deceptive(char32_t code);

/// With all of these written out: \x1b for a byte, \u202e for a character.
std::string on_one_line(std::string_view text);

/// The same, but that lines end where they did: whole outputs of the program.
std::string on_lines(std::string_view text);

/// Text from a file on one line and not too long, whatever the file holds.
std::string printable(std::string_view text);

/// The same in quotes, as messages show it.
inline std::string shown(std::string_view text) {
    return fmt::format("'{}'", printable(text));
}

/// "a, b and c"; of more than ten, how many more there are.
inline std::string enumerated(const std::vector<std::string>& parts) {
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), most); ++i) {
        if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
        text += parts[i];
    }
    if (parts.size() > most) text += fmt::format(" and {} more", parts.size() - most);
    return text;
}

/// "'a', 'b' and 'c'".
inline std::string shown(const std::vector<std::string>& texts) {
    std::vector<std::string> quoted;
    quoted.reserve(texts.size());
    for (const std::string& text : texts) quoted.push_back(shown(text));
    return enumerated(quoted);
}

}  // namespace lrvb::detail
