#include "data_files.hpp"
#include "says.hpp"

#include <lrvb/data/csv.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

// What a CSV file can have wrong: every case is refused in one sentence with the file, the row, the column and the
// remedy, the same however the file falls into blocks.

namespace lrvb {
namespace {

using Names = std::vector<std::string>;

/// How a text is refused, without the file's name, the same for every block size.
template <class Exception>
std::string refusal_of(const std::string& text, CsvOptions options = {}) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", text);
    std::string first;
    for (const std::size_t block : kBlocks) {
        options.block = block;
        const std::string message = message_of<Exception>([&] {
            CsvSource source(path, options);
            read_all(source);
        });
        if (block == kBlocks.front()) first = message;
        EXPECT_EQ(message, first) << "block " << block;
    }
    EXPECT_EQ(first.find(path + ": "), 0U) << first;
    return first.substr(std::min(first.size(), path.size() + 2));
}

struct BadText {
    std::string name;
    std::string text;
    Names columns;
    std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& stream, const BadText& bad) {
    return stream << bad.name;
}

class BadCsv : public ::testing::TestWithParam<BadText> {};

TEST_P(BadCsv, IsRefusedInOneSentenceWithFileRowColumnAndRemedy) {
    const BadText& bad = GetParam();
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>(bad.text, {.columns = bad.columns}), bad.says));
}

std::string with_nul(std::string text) {
    for (char& c : text) c = c == '@' ? '\0' : c;
    return text;
}

INSTANTIATE_TEST_SUITE_P(
    Data, BadCsv,
    ::testing::Values(
        BadText{"Empty", "", {}, {"empty", "numbers", "give"}},
        BadText{"OnlyBlankLines", "\n \r\n", {}, {"empty", "numbers", "give"}},
        BadText{"BlankFirst", "\nx\n1\n", {}, {"blank", "columns"}},
        BadText{"OnlyAMark", "\xEF\xBB\xBF", {}, {"empty", "numbers", "give"}},
        BadText{"HeaderOnly", "x,y\n", {}, {"header", "numbers", "add"}},
        BadText{"HeaderAndBlanks", "x,y\n\n \n", {}, {"header", "numbers", "add"}},
        BadText{"HeaderAndTabs", "x,y\n\t\n", {}, {"header", "numbers", "add"}},
        BadText{"NoHeader", "1.5,2\n3,4\n", {}, {"quote", "numbers", "add"}},
        BadText{"NoHeaderOneColumn", "1\n2\n", {}, {"quote", "numbers", "add"}},
        BadText{"Missing", "x,y\n1,2\n3,\n", {}, {"'y'", "row 2", "missing", "fill"}},
        BadText{"MissingNA", "x\n1\nNA\n", {}, {"'x'", "row 2", "missing", "fill"}},
        BadText{"MissingNaN", "x\nNaN\n", {}, {"'x'", "row 1", "missing", "fill"}},
        BadText{"MissingMany", "x,y\n1,2\nNA,2\n1,2\n3,\n,\n", {}, {"'x'", "row 2", "3", "missing", "fill"}},
        BadText{"MissingThenWorse", "x\nNA\nNA\nred\nNA\n", {}, {"'x'", "row 1", "2", "missing", "fill"}},
        BadText{"MissingBlank", "x\n1\n\n\n2\n\n", {}, {"'x'", "row 2", "2", "missing", "fill"}},
        BadText{"MissingUnnamed", "x,\n1,\n", {}, {"row 1", "column 2", "missing", "fill"}},
        BadText{"Infinite", "x\n1\n-inf\n", {}, {"'x'", "'-inf'", "row 2", "NA", "missing", "infinite", "correct"}},
        BadText{"TooLarge", "x\n1e309\n", {}, {"'x'", "'1e309'", "row 1", "correct"}},
        BadText{"Text", "x,y\n1,2\n3,red\n", {}, {"'y'", "'red'", "row 2", "NA", "missing", "correct"}},
        BadText{"TextBehind", "x\n1.5kg\n", {}, {"'x'", "'1.5kg'", "row 1", "NA", "missing", "correct"}},
        BadText{"TwoSigns", "x\n+-1\n", {}, {"'x'", "'+-1'", "row 1", "NA", "missing", "correct"}},
        BadText{"OnlyAPlus", "x\n+\n", {}, {"'x'", "'+'", "row 1", "NA", "missing", "correct"}},
        BadText{"Hexadecimal", "x\n0x10\n", {}, {"'x'", "'0x10'", "row 1", "NA", "missing", "correct"}},
        BadText{"LongText",
                "x\n" + std::string(39, 'a') + "\xC3\xA9" + std::string(100, 'b') + "\n",
                {},
                {"'x'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'", "row 1", "NA", "missing", "correct"}},
        BadText{"DecimalComma", "x;y\n1;2,5\n", {}, {"'y'", "'2,5'", "row 1", "write"}},
        BadText{"TooFewFields", "x,y\n1,2\n3\n", {}, {"','", "row 2", "1", "2", "header", "quote", "text", "give"}},
        BadText{
            "TooManyFields", "x;y\n1;2\n3;4;5\n", {}, {"';'", "row 2", "3", "2", "header", "quote", "text", "give"}},
        BadText{"TrailingTab", "x\ty\n1\t2\t\n", {}, {"row 1", "3", "2", "header", "quote", "text", "give"}},
        BadText{"RaggedBeyondSelection",
                "x,y\n1,2\n3,4,5\n",
                {"x"},
                {"','", "row 2", "3", "2", "header", "quote", "text", "give"}},
        BadText{"BlankBetween", "x,y\n1,2\n\n3,4\n", {}, {"row 2", "blank", "remove"}},
        BadText{"SameName", "x,y,x\n1,2,3\n", {}, {"'x'", "columns 1", "3", "called", "rename"}},
        BadText{"Nul", with_nul("x,y\n1,2\n3,@4\n"), {}, {"'y'", "row 2", "8", "NUL", "text", "save"}},
        BadText{
            "NulBeyondSelection", with_nul("x,y\n1,2\n3,a@\n"), {"x"}, {"'y'", "row 2", "8", "NUL", "text", "save"}},
        BadText{"NulInQuotes", with_nul("x,y\n1,2\n3,\"@\"\n"), {"x"}, {"'y'", "row 2", "8", "NUL", "text", "save"}},
        BadText{"Utf16", with_nul("\xFF\xFEx@\n@1@\n@"), {}, {"column 1", "8", "NUL", "header", "text", "save"}},
        BadText{"OpenQuote", "x,y\n1,2\n3,\"4\n5,6\n", {}, {"'y'", "row 2", "quote", "text", "close"}},
        BadText{"OpenQuoteInHeader", "x,\"y\n1,2\n", {}, {"column 2", "header", "quote", "text", "close"}},
        BadText{"TextAfterQuote", "x,y\n1,\"2\"3\n", {}, {"'y'", "row 1", "quote", "text"}},
        BadText{"OldMacintosh", "x,y\r1,2\r3,4\r", {}, {"column 2", "carriage", "header", "save"}},
        BadText{"LoneCarriageReturn", "x,y\n1,2\n3\r,4\n", {}, {"'x'", "row 2", "carriage", "save"}},
        BadText{"CarriageReturnBeyondSelection", "x,y\n1,a\rb\n", {"x"}, {"'y'", "row 1", "carriage", "save"}}),
    [](const auto& test) { return test.param.name; });

TEST(CsvSource, RefusesColumnsThatCannotBeSelected) {
    const std::string text = "x,y,x\n1,2,3\n";
    const auto refusal = [&](const Names& columns) {
        return refusal_of<std::invalid_argument>(text, {.columns = columns});
    };
    EXPECT_TRUE(test::says(refusal({"z"}), {"'z'", "from 1 to 3", "'x', 'y', 'x'"}));
    EXPECT_TRUE(test::says(refusal({"0"}), {"'0'", "from 1 to 3", "'x', 'y', 'x'"}));
    EXPECT_TRUE(test::says(refusal({"4"}), {"'4'", "from 1 to 3", "'x', 'y', 'x'"}));
    EXPECT_TRUE(test::says(refusal({"x"}), {"'x'", "columns 1", "3", "called", "rename"}));
    EXPECT_TRUE(test::says(refusal({"y", "2"}), {"'y'", "column 2", "twice", "select"}));
}

TEST(CsvSource, ListsTheFirstOfManyColumns) {
    std::string header = "c1";
    for (int i = 2; i <= 30; ++i) header += ",c" + std::to_string(i);
    const std::string message = refusal_of<std::invalid_argument>(header + "\n1\n", {.columns = {"z"}});
    EXPECT_NE(message.find("'c20' and 10 more"), std::string::npos) << message;
}

TEST(CsvSource, RefusesAFileOfWhichNoRowIsLeft) {
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>("x,y\nNA,1\n1,NA\n", {.missing = Missing::drop}),
                           {"missing", "select"}));
}

TEST(CsvSource, DoesNotReadARecordWithoutEndIntoMemory) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", "x,y\n1,\"" + std::string(std::size_t{40} << 20, 'a') + "\"\n");
    CsvSource source(path, {.columns = {"x"}});
    double row = 0.0;
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { source.read(&row, 1); }),
                           {path, "'y'", "row 1", "16", "quote", "text", "close"}));
}

TEST(CsvSource, RefusesWhatIsNoFile) {
    const TemporaryDirectory directory;
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { CsvSource(directory.path("none.csv")); }),
                           {directory.path("none.csv"), "check", "directory", "cannot"}));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { CsvSource(directory.path("")); }),
                           {directory.path(""), "give", "directory"}));
}

}  // namespace
}  // namespace lrvb
