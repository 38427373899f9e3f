#include "base/messages.hpp"

#include "linalg/semidefinite.hpp"

#include <lrvb/base/document.hpp>

#include <gtest/gtest.h>

#include <string>

namespace lrvb::detail {
namespace {

TEST(Messages, ControlsAreWrittenOut) {
    EXPECT_EQ(on_one_line("a\x1b[31mb\x07\t\n\r\x7f"), "a\\x1b[31mb\\x07\\x09\\x0a\\x0d\\x7f");
    EXPECT_EQ(on_one_line(std::string(1, '\0')), "\\x00");
    // C1: U+009B is what ESC [ is, U+0085 ends a line.
    EXPECT_EQ(on_one_line("\xC2\x9B"
                          "2J\xC2\x85"),
              "\\u009b2J\\u0085");
}

TEST(Messages, BytesThatAreNoUtf8AreWrittenOut) {
    EXPECT_EQ(on_one_line("\x9B"
                          "2J"),
              "\\x9b2J");
    EXPECT_EQ(on_one_line("\xE9"), "\\xe9");
    EXPECT_EQ(on_one_line("\xC0\x9B"), "\\xc0\\x9b");                    // overlong
    EXPECT_EQ(on_one_line("\xE2\x80"), "\\xe2\\x80");                    // cut off
    EXPECT_EQ(on_one_line("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(on_one_line("\xF5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");  // beyond Unicode
    EXPECT_EQ(on_one_line("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // just beyond
    EXPECT_FALSE(is_utf8("caf\xE9"));
    EXPECT_TRUE(is_utf8("café 漢 😀"));
}

TEST(Messages, WhatReversesOrHidesTextIsWrittenOut) {
    for (const auto& [character, shown] :
         std::initializer_list<std::pair<const char*, const char*>>{{"\u202A", "\\u202a"},
                                                                    {"\u202E", "\\u202e"},
                                                                    {"\u2066", "\\u2066"},
                                                                    {"\u2069", "\\u2069"},
                                                                    {"\u200E", "\\u200e"},
                                                                    {"\u200F", "\\u200f"},
                                                                    {"\u061C", "\\u061c"},
                                                                    {"\u200B", "\\u200b"},
                                                                    {"\uFEFF", "\\ufeff"},
                                                                    {"\u2028", "\\u2028"},
                                                                    {"\u2029", "\\u2029"},
                                                                    {"\u2060", "\\u2060"},
                                                                    {"\u00AD", "\\u00ad"},
                                                                    {"\U000E0041", "\\ue0041"}}) {
        EXPECT_EQ(on_one_line(std::string("a") + character + "b"), std::string("a") + shown + "b");
    }
}

TEST(Messages, OrdinaryTextOfAnyLanguageIsLeftAlone) {
    for (const std::string text : {"plain text 1.5", "größe", "наблюдение", "漢字", "عربي", "°C µm²", "😀 \\ \" '"}) {
        EXPECT_EQ(on_one_line(text), text);
        EXPECT_EQ(on_lines(text), text);
    }
    EXPECT_EQ(on_lines("one\ntwo\x1b\n"), "one\ntwo\\x1b\n");
}

TEST(Messages, JsonEscapesThemAndIsReadBackAsTheSame) {
    const std::string text = "a\x7f\u0085\u202E\u200B\uFEFF\U000E0041漢😀";
    const std::string json = Document(text).json();
    EXPECT_EQ(json, "\"a\\u007f\\u0085\\u202e\\u200b\\ufeff\\udb40\\udc41漢😀\"");
    EXPECT_EQ(*Document::parse(json).text(), text);
    EXPECT_EQ(on_one_line(json), json);
}

TEST(Messages, ACovarianceMayBeSingularButNotIndefinite) {
    EXPECT_TRUE(is_covariance(Matrix{{2.0, 1.0}, {1.0, 2.0}}));
    EXPECT_TRUE(is_covariance(Matrix{{1e-20, 1e-10}, {1e-10, 1.0}}));  // a correlation of one
    EXPECT_TRUE(is_covariance(Matrix{{1.0, 0.0}, {0.0, 0.0}}));        // something held
    EXPECT_TRUE(is_covariance(Matrix(0, 0)));
    EXPECT_FALSE(is_covariance(Matrix{{-1.0, 0.0}, {0.0, 1.0}}));
    EXPECT_FALSE(is_covariance(Matrix{{1.0, 1.001}, {1.001, 1.0}}));
    EXPECT_FALSE(is_covariance(Matrix{{0.0, 0.1}, {0.1, 1.0}}));
    // Every pair possible, the three not: det = 1 − 3·0.81 − 2·0.729 < 0.
    EXPECT_FALSE(is_covariance(Matrix{{1.0, -0.9, -0.9}, {-0.9, 1.0, -0.9}, {-0.9, -0.9, 1.0}}));
}

}  // namespace
}  // namespace lrvb::detail
