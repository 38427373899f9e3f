// Documents: from JSON and back, and the sentences of those who read them.

#include <lrvb/base/document.hpp>
#include <lrvb/base/fields.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace lrvb {
namespace {

// What is read back is written the same again: to the bit for numbers, by the type for the rest.
void expect_round_trip(const std::string& json) {
    EXPECT_EQ(Document::parse(json).json(), json);
}

std::string nested(int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += i % 2 == 0 ? "[" : "{\"a\":";
    text += "true";
    for (int i = levels; i-- > 0;) text += i % 2 == 0 ? "]" : "}";
    return text;
}

std::string sentence_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Document, EveryTypeComesBackAsItWas) {
    for (const char* json : {"null", "true", "false", "0", "-7", "1.5", "\"\"", "\"a\"", "[]", "{}", "[1.5,-2.0]",
                             "[\"a\",null,true,{\"b\":[]}]", "{\"z\":1,\"a\":{\"b\":[0.5]},\"m\":null}"}) {
        expect_round_trip(json);
    }
}

TEST(Document, EscapesComeBackAsTheyWere) {
    const std::string text =
        "quote \" slash \\ / line\n return\r tab\t back\b feed\f nul " + std::string(1, '\0') + " bell \x07 ü 漢 😀";
    const std::string json = Document(text).json();
    EXPECT_EQ(*Document::parse(json).text(), text);
    EXPECT_EQ(json.find('\n'), std::string::npos);
    EXPECT_EQ(*Document::parse("\"\\ud83d\\ude00\\u00fc\"").text(), "😀ü");
    Document keyed;
    keyed[text] = 1;
    ASSERT_NE(Document::parse(keyed.json()).find(text), nullptr);
}

TEST(Document, TextThatIsNoUtf8IsReplacedWhereItIsWritten) {
    const std::string text = "a\xFFz\xC3";
    const std::string replaced = "a\xEF\xBF\xBDz\xEF\xBF\xBD";
    EXPECT_EQ(*Document::parse(Document(text).json()).text(), replaced);
    EXPECT_EQ(valid_text(text), replaced);
    EXPECT_THROW(static_cast<void>(Document::parse("\"a\xFF\"")), std::runtime_error);
}

TEST(Document, NumbersComeBackToTheBit) {
    const double smallest = std::numeric_limits<double>::denorm_min();
    for (const double value : {1e308, -1e308, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                               smallest, 7.0 * smallest, 0.1, 1.0 / 3.0, 2.0, 1e15, 1e16, 1e22, 123456789012345680.0,
                               -0.0, 5e-324, 9007199254740993.0}) {
        const Document one = Document::parse(Document(value).json());
        ASSERT_TRUE(one.number()) << value;
        EXPECT_FALSE(one.is_integer()) << value;
        EXPECT_EQ(*one.number(), value);
        EXPECT_EQ(std::signbit(*one.number()), std::signbit(value)) << value;
        const Document list = Document::parse(Document(Document::Numbers{value, 1.0}).json());
        ASSERT_NE(list.numbers(), nullptr) << value;
        EXPECT_EQ(list.numbers()->front(), value);
    }
}

TEST(Document, WholeNumbersComeBackExactlyWhateverTheirSize) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(Document(most).json(), "18446744073709551615");
    EXPECT_EQ(Document::parse("18446744073709551615").whole(), most);
    const std::int64_t least = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(Document(least).json(), "-9223372036854775808");
    EXPECT_EQ(Document(std::int64_t{-9007199254740993}).json(), "-9007199254740993");  // −2⁵³ − 1, which is no double
    EXPECT_EQ(Document::parse("-9007199254740993").negative(), -9007199254740993);
    EXPECT_FALSE(Document::parse("-1").whole());
    EXPECT_FALSE(Document::parse("2.0").whole());
    EXPECT_TRUE(Document::parse("2").is_integer());
}

TEST(Document, WhatIsNoNumberIsNull) {
    EXPECT_EQ(Document(std::nan("")).json(), "null");
    EXPECT_EQ(Document(-std::numeric_limits<double>::infinity()).json(), "null");
    EXPECT_EQ(Document(Document::Numbers{1.0, std::nan("")}).json(), "[1.0,null]");
    EXPECT_THROW(static_cast<void>(Document::parse("[NaN]")), std::runtime_error);
    EXPECT_THROW(static_cast<void>(Document::parse("1e999")), std::runtime_error);
}

TEST(Document, AListOfNumbersWithSomethingElseInItKeepsTheirOrder) {
    const Document mixed = Document::parse("[1,2.5,\"a\",3,[4],null]");
    EXPECT_TRUE(mixed.is_list());
    EXPECT_EQ(mixed.numbers(), nullptr);
    ASSERT_NE(mixed.entries(), nullptr);
    ASSERT_EQ(mixed.size(), 6U);
    EXPECT_EQ((*mixed.entries())[0].number(), 1.0);
    EXPECT_EQ((*mixed.entries())[1].number(), 2.5);
    EXPECT_EQ(*(*mixed.entries())[2].text(), "a");
    EXPECT_EQ((*mixed.entries())[3].number(), 3.0);
    EXPECT_EQ((*mixed.entries())[4].size(), 1U);
    EXPECT_TRUE((*mixed.entries())[5].is_null());
}

TEST(Document, AHundredLevelsAreReadAndOneMoreIsRefused) {
    expect_round_trip(nested(100));
    EXPECT_EQ(sentence_of([] { static_cast<void>(Document::parse(nested(101))); }),
              "it is nested deeper than any file of ours");
    EXPECT_EQ(sentence_of([] { static_cast<void>(Document::parse(std::string(1000000, '['))); }),
              "it is nested deeper than any file of ours");
}

TEST(Document, WhatIsNoJsonIsRefused) {
    for (const char* text : {"", " ", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "{} x", "'a'", "\"a", "[1}", "{\"a\":1,}",
                             "\"\\ud83d\"", "\"\n\"", "01", "+1", ".5", "// a\n1"}) {
        EXPECT_EQ(sentence_of([&] { static_cast<void>(Document::parse(text)); }), "it is not JSON") << text;
    }
}

TEST(Document, OfSeveralEqualKeysTheLastCounts) {
    const Document document = Document::parse(R"({"a":1,"b":2,"a":3})");
    EXPECT_EQ(document.find("a")->number(), 3.0);
    EXPECT_EQ(document.find("c"), nullptr);
    EXPECT_EQ(Document(1.0).find("a"), nullptr);
}

TEST(Document, KeysStayInTheOrderInWhichTheyWereSet) {
    Document document;
    document["b"] = 1;
    document["a"] = "x";
    document["b"] = Document::Numbers{2.0};
    EXPECT_EQ(document.json(), R"({"b":[2.0],"a":"x"})");
    EXPECT_EQ(document.json(2), "{\n  \"b\": [\n    2.0\n  ],\n  \"a\": \"x\"\n}");
    EXPECT_EQ(Document::object().json(2), "{}");
    EXPECT_EQ(Document::list().json(2), "[]");
}

TEST(Document, OnlyObjectsHaveKeysAndOnlyListsGrow) {
    Document number(1.0);
    EXPECT_THROW(number["a"] = 1, std::logic_error);
    EXPECT_THROW(number.append("a", 1), std::logic_error);
    EXPECT_THROW(number.push_back(1), std::logic_error);
    Document list;
    list.push_back("a");
    list.push_back(2);
    EXPECT_EQ(list.json(), "[\"a\",2]");
    Document numbers(Document::Numbers{1.0});
    numbers.push_back("a");
    EXPECT_EQ(numbers.json(), "[1.0,\"a\"]");
}

TEST(Document, MatricesAreRowsAndTrianglesTheirLowerHalf) {
    const Matrix matrix{{1.0, 2.0}, {2.0, 5.0}};
    EXPECT_EQ(Document(matrix).json(), "[[1.0,2.0],[2.0,5.0]]");
    EXPECT_EQ(Document::lower_triangle(matrix).json(), "[[1.0],[2.0,5.0]]");
    EXPECT_EQ(Document(Matrix(0, 3)).json(), "[]");
}

class FieldSentences : public ::testing::Test {
  protected:
    std::string sentence(const std::function<void(const Fields&)>& read) const {
        const std::string all = sentence_of([&] { read(Fields(document, "fit.json").fields("at")); });
        const std::string start = "fit.json is no fit file of lrvb, or it is damaged: ";
        const std::string end = "; make it again with 'lrvb fit'";
        EXPECT_TRUE(all.starts_with(start) && all.ends_with(end)) << all;
        return all.substr(start.size(), all.size() - std::min(all.size(), start.size() + end.size()));
    }

    Document document = Document::parse(
        R"({"at":{"text":"a","number":1.5,"whole":3,"negative":-3,"null":null,"numbers":[1,2],"mixed":[1,"a"],
            "texts":["a"],"empty":[],"rows":[[1,2],[3]],"square":[[1,2],[3,4]],"objects":[{"a":1},2],"large":1e308}})");
};

TEST_F(FieldSentences, SayWhatIsMissingOrOfAnotherType) {
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.at("no")); }), "at.no is missing");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.text("whole")); }), "at.whole is no text");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.flag("whole")); }),
              "at.whole is neither true nor false");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.number("null")); }),
              "at.null holds something that is no number");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.fields("numbers")); }), "at.numbers is no object");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.vector("text")); }), "at.text is no list");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.length("text")); }), "at.text is no list");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.texts("numbers")); }),
              "at.numbers holds something that is no text");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.texts("mixed")); }),
              "at.mixed holds something that is no text");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.vector("mixed")); }),
              "at.mixed holds something that is no number");
}

TEST_F(FieldSentences, SayWhatIsOutOfBounds) {
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.whole("whole", 2)); }),
              "at.whole is no whole number from 0 to 2");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.small("negative")); }),
              "at.negative is no whole number from 0 to 2147483647");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.count("number")); }),
              "at.number is no whole number from 0 to 9007199254740992");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.vector("numbers", 3)); }),
              "at.numbers has 2 entries, not 3");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.matrix("rows", 2, 2)); }),
              "at.rows has 1 numbers in row 2, not 2");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.matrix("square", 3, 2)); }),
              "at.square has 2 rows, not 3");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.matrix("numbers", 2, 1)); }),
              "at.numbers is no list of lists of numbers");
    EXPECT_EQ(sentence([](const Fields& f) { static_cast<void>(f.symmetric("square", 2)); }),
              "at.square has 2 numbers in row 1, not 1");
    EXPECT_EQ(sentence([](const Fields& f) { f.each("objects", [](const Fields&) {}); }), "at.objects[2] is no object");
    EXPECT_EQ(sentence([](const Fields& f) { f.each("numbers", [](const Fields&) {}); }),
              "at.numbers holds something that is no object");
}

TEST_F(FieldSentences, WhatIsRightIsRead) {
    const Fields fields = Fields(document, "fit.json").fields("at");
    EXPECT_EQ(fields.vector("empty").size(), 0);
    EXPECT_TRUE(fields.texts("empty").empty());
    EXPECT_FALSE(fields.has("null"));
    EXPECT_FALSE(fields.has("no"));
    EXPECT_EQ(fields.number("large"), 1e308);
    EXPECT_TRUE(std::isinf(fields.number_or_infinity("null")));
    EXPECT_EQ(fields.matrix("square", 2, 2), (Matrix{{1.0, 2.0}, {3.0, 4.0}}));
    EXPECT_EQ(fields.matrix("empty", 0, 5).cols(), 5);
    EXPECT_EQ(sentence_of([] { Fields(Document::list(), "fit.json"); }),
              "fit.json is no fit file of lrvb, or it is damaged: it is no object; make it again with 'lrvb fit'");
}

}  // namespace
}  // namespace lrvb
