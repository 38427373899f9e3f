#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lrvb::detail {

/// Text that a file may have had a part in, with what a terminal would obey written out.
inline std::string on_one_line(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const unsigned char byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F) {
            result += c;
        } else {
            result += fmt::format("\\x{:02x}", byte);
        }
    }
    return result;
}

/// Text from a file on one line and not too long, whatever the file holds.
inline std::string printable(std::string_view text) {
    constexpr std::size_t longest = 40;
    std::size_t length = text.size();
    if (length > longest) {
        length = longest;
        // Not within a UTF-8 character, whose later bytes are 10xxxxxx.
        while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    }
    std::string result = on_one_line(text.substr(0, length));
    if (length < text.size()) result += "…";
    return result;
}

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

}  // namespace lrvb::detail
