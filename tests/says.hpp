#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

/// Messages are tested by what they must name, not by their prose: the file, the row, column or option, the offending
/// value, and the key word of the remedy.
namespace lrvb::test {

/// Whether a text holds a word. Where the word begins or ends with a letter or a digit, so does the word in the text:
/// "1" is not in "12".
inline bool holds(std::string_view text, std::string_view word) {
    const auto joins = [](char a, char b) {
        return std::isalnum(static_cast<unsigned char>(a)) != 0 && std::isalnum(static_cast<unsigned char>(b)) != 0;
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !joins(text[at - 1], word.front());
        if (begins && (end == text.size() || !joins(word.back(), text[end]))) return true;
    }
    return false;
}

/// EXPECT_TRUE(test::says(message, {"a.csv", "row 3", "'x'", "--factor"}))
inline ::testing::AssertionResult says(const std::string& message, const std::vector<std::string>& words) {
    if (words.empty()) return ::testing::AssertionFailure() << "no words to look for";
    for (const std::string& word : words) {
        if (!holds(message, word)) return ::testing::AssertionFailure() << "no [" << word << "] in: " << message;
    }
    return ::testing::AssertionSuccess();
}

}  // namespace lrvb::test
