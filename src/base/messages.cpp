#include "base/messages.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

namespace lrvb::detail {

namespace {

// First and last of each range, in order.
constexpr std::array<std::pair<char32_t, char32_t>, 19> kDeceptive{{
    {0x0000, 0x001F},    // C0 controls
    {0x007F, 0x009F},    // DEL, C1 controls
    {0x00AD, 0x00AD},    // soft hyphen
    {0x034F, 0x034F},    // combining grapheme joiner
    {0x061C, 0x061C},    // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // Khmer vowels that are not shown
    {0x180B, 0x180F},    // Mongolian selectors and separator
    {0x200B, 0x200F},    // zero-width spaces and joiners, marks of direction
    {0x2028, 0x202E},    // line and paragraph separators, embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // half-width Hangul filler
    {0xFFF0, 0xFFFB},    // unassigned, interlinear annotation
    {0x13430, 0x1345F},  // Egyptian joiners
    {0x1BCA0, 0x1BCA3},  // shorthand controls
    {0x1D173, 0x1D17A},  // musical controls
    {0xE0000, 0xE0FFF},  // tags
}};

bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F;
}

std::string written_out(std::string_view text, bool keep_line_ends) {
    if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        const std::string_view bytes = text.substr(at, character.length);
        at += character.length;
        if (character.code != Character::kNone && !is_deceptive(character.code)) {
            result += bytes;
        } else if (keep_line_ends && character.code == U'\n') {
            result += '\n';
        } else if (bytes.size() == 1) {
            fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(bytes.front()));
        } else {
            fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<std::uint32_t>(character.code));
        }
    }
    return result;
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
    const char32_t first = byte(at);
    if (first < 0x80U) return {first, 1};
    const std::size_t length = first >= 0xF0U && first < 0xF5U ? 4 : first >= 0xE0U ? 3 : first >= 0xC2U ? 2 : 0;
    if (length == 0 || first >= 0xF5U || at + length > text.size()) return {};
    char32_t code = first & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xC0U) != 0x80U) return {};
        code = (code << 6U) | (byte(at + i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};  // by length
    const bool is_surrogate = code >= 0xD800U && code <= 0xDFFFU;
    if (code < kLeast[length] || code > 0x10FFFFU || is_surrogate) return {};
    return {code, length};
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        if (character.code == Character::kNone) return false;
        at += character.length;
    }
    return true;
}

bool is_deceptive(char32_t code) {
    return std::any_of(kDeceptive.begin(), kDeceptive.end(),
                       [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string on_one_line(std::string_view text) {
    return written_out(text, false);
}

std::string on_lines(std::string_view text) {
    return written_out(text, true);
}

std::string printable(std::string_view text) {
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

}  // namespace lrvb::detail
