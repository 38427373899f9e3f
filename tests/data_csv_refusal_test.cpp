#include "data_files.hpp"

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
    std::string says;
};

std::ostream& operator<<(std::ostream& stream, const BadText& bad) {
    return stream << bad.name;
}

class BadCsv : public ::testing::TestWithParam<BadText> {};

TEST_P(BadCsv, IsRefusedInOneSentenceWithFileRowColumnAndRemedy) {
    const BadText& bad = GetParam();
    EXPECT_EQ(refusal_of<std::runtime_error>(bad.text, {.columns = bad.columns}), bad.says);
}

std::string with_nul(std::string text) {
    for (char& c : text) c = c == '@' ? '\0' : c;
    return text;
}

const std::string kFillIn = ": fill it in, or have rows with missing values dropped";
const std::string kNotANumber = " is not a number: correct it, write NA if it is missing, or select other columns";
const std::string kNul = "there is a NUL byte, so this is not a CSV file: save it as text in UTF-8";
const std::string kRagged = "but the header has 2: give every row one field a column, and quote text that contains ";
const std::string kOpen = "a quote is opened but never closed: close it, or double the quotes within quoted text";
const std::string kNumbersFirst =
    "the first line holds numbers, but must hold the names of the columns: add a line of names above it, or quote the "
    "names if they are numbers";
const std::string kCarriage = "a carriage return has no line feed behind it: save with line ends LF or CRLF";

INSTANTIATE_TEST_SUITE_P(
    Data, BadCsv,
    ::testing::Values(
        BadText{"Empty", "", {}, "is empty: give a line of column names, then rows of numbers"},
        BadText{"OnlyBlankLines", "\n \r\n", {}, "is empty: give a line of column names, then rows of numbers"},
        BadText{"BlankFirst", "\nx\n1\n", {}, "the first line is blank, but must hold the names of the columns"},
        BadText{"OnlyAMark", "\xEF\xBB\xBF", {}, "is empty: give a line of column names, then rows of numbers"},
        BadText{"HeaderOnly", "x,y\n", {}, "has a header but no rows: add rows of numbers below it"},
        BadText{"HeaderAndBlanks", "x,y\n\n \n", {}, "has a header but no rows: add rows of numbers below it"},
        BadText{"HeaderAndTabs", "x,y\n\t\n", {}, "has a header but no rows: add rows of numbers below it"},
        BadText{"NoHeader", "1.5,2\n3,4\n", {}, kNumbersFirst},
        BadText{"NoHeaderOneColumn", "1\n2\n", {}, kNumbersFirst},
        BadText{"Missing", "x,y\n1,2\n3,\n", {}, "row 2, column 'y': the value is missing" + kFillIn},
        BadText{"MissingNA", "x\n1\nNA\n", {}, "row 2, column 'x': the value is missing" + kFillIn},
        BadText{"MissingNaN", "x\nNaN\n", {}, "row 1, column 'x': the value is missing" + kFillIn},
        BadText{"MissingMany",
                "x,y\n1,2\nNA,2\n1,2\n3,\n,\n",
                {},
                "row 2, column 'x': the value is missing, in the first of 3 such rows" + kFillIn},
        BadText{"MissingThenWorse",
                "x\nNA\nNA\nred\nNA\n",
                {},
                "row 1, column 'x': the value is missing, in the first of at least 2 such rows" + kFillIn},
        BadText{"MissingBlank",
                "x\n1\n\n\n2\n\n",
                {},
                "row 2, column 'x': the value is missing, in the first of 2 such rows" + kFillIn},
        BadText{"MissingUnnamed", "x,\n1,\n", {}, "row 1, column 2: the value is missing" + kFillIn},
        BadText{"Infinite",
                "x\n1\n-inf\n",
                {},
                "row 2, column 'x': '-inf' is infinite, but must be a finite number: correct it, or write NA if it is "
                "missing"},
        BadText{"TooLarge",
                "x\n1e309\n",
                {},
                "row 1, column 'x': '1e309' is too large for a double: correct it, or change the unit of the column"},
        BadText{"Text", "x,y\n1,2\n3,red\n", {}, "row 2, column 'y': 'red'" + kNotANumber},
        BadText{"TextBehind", "x\n1.5kg\n", {}, "row 1, column 'x': '1.5kg'" + kNotANumber},
        BadText{"TwoSigns", "x\n+-1\n", {}, "row 1, column 'x': '+-1'" + kNotANumber},
        BadText{"OnlyAPlus", "x\n+\n", {}, "row 1, column 'x': '+'" + kNotANumber},
        BadText{"Hexadecimal", "x\n0x10\n", {}, "row 1, column 'x': '0x10'" + kNotANumber},
        BadText{"LongText",
                "x\n" + std::string(39, 'a') + "\xC3\xA9" + std::string(100, 'b') + "\n",
                {},
                "row 1, column 'x': '" + std::string(39, 'a') + "…'" + kNotANumber},
        BadText{"DecimalComma",
                "x;y\n1;2,5\n",
                {},
                "row 1, column 'y': '2,5' is not a number: write decimal points instead of commas"},
        BadText{"TooFewFields", "x,y\n1,2\n3\n", {}, "row 2: there is 1 field, " + kRagged + "','"},
        BadText{"TooManyFields", "x;y\n1;2\n3;4;5\n", {}, "row 2: there are 3 fields, " + kRagged + "';'"},
        BadText{"TrailingTab", "x\ty\n1\t2\t\n", {}, "row 1: there are 3 fields, " + kRagged + "tabs"},
        BadText{"RaggedBeyondSelection", "x,y\n1,2\n3,4,5\n", {"x"}, "row 2: there are 3 fields, " + kRagged + "','"},
        BadText{"BlankBetween", "x,y\n1,2\n\n3,4\n", {}, "row 2: the line is blank, but rows follow it: remove it"},
        BadText{"SameName",
                "x,y,x\n1,2,3\n",
                {},
                "columns 1 and 3 are both called 'x': rename one of them, or select columns by number"},
        BadText{"Nul", with_nul("x,y\n1,2\n3,@4\n"), {}, "row 2, column 'y': " + kNul},
        BadText{"NulBeyondSelection", with_nul("x,y\n1,2\n3,a@\n"), {"x"}, "row 2, column 'y': " + kNul},
        BadText{"NulInQuotes", with_nul("x,y\n1,2\n3,\"@\"\n"), {"x"}, "row 2, column 'y': " + kNul},
        BadText{"Utf16", with_nul("\xFF\xFEx@\n@1@\n@"), {}, "header, column 1: " + kNul},
        BadText{"OpenQuote", "x,y\n1,2\n3,\"4\n5,6\n", {}, "row 2, column 'y': " + kOpen},
        BadText{"OpenQuoteInHeader", "x,\"y\n1,2\n", {}, "header, column 2: " + kOpen},
        BadText{"TextAfterQuote",
                "x,y\n1,\"2\"3\n",
                {},
                "row 1, column 'y': text follows the closing quote: double the quotes within quoted text"},
        BadText{"OldMacintosh", "x,y\r1,2\r3,4\r", {}, "header, column 2: " + kCarriage},
        BadText{"LoneCarriageReturn", "x,y\n1,2\n3\r,4\n", {}, "row 2, column 'x': " + kCarriage},
        BadText{"CarriageReturnBeyondSelection", "x,y\n1,a\rb\n", {"x"}, "row 1, column 'y': " + kCarriage}),
    [](const auto& test) { return test.param.name; });

TEST(CsvSource, RefusesColumnsThatCannotBeSelected) {
    const std::string text = "x,y,x\n1,2,3\n";
    const auto refusal = [&](const Names& columns) {
        return refusal_of<std::invalid_argument>(text, {.columns = columns});
    };
    const std::string none = ": give names or numbers from 1 to 3; the columns are 'x', 'y', 'x'";
    EXPECT_EQ(refusal({"z"}), "there is no column 'z'" + none);
    EXPECT_EQ(refusal({"0"}), "there is no column '0'" + none);
    EXPECT_EQ(refusal({"4"}), "there is no column '4'" + none);
    EXPECT_EQ(refusal({"x"}),
              "columns 1 and 3 are both called 'x': rename one of them in the file, or select by number");
    EXPECT_EQ(refusal({"y", "2"}), "column 2 'y' is selected twice: select it once");
}

TEST(CsvSource, ListsTheFirstOfManyColumns) {
    std::string header = "c1";
    for (int i = 2; i <= 30; ++i) header += ",c" + std::to_string(i);
    const std::string message = refusal_of<std::invalid_argument>(header + "\n1\n", {.columns = {"z"}});
    EXPECT_NE(message.find("'c20' and 10 more"), std::string::npos) << message;
}

TEST(CsvSource, RefusesAFileOfWhichNoRowIsLeft) {
    EXPECT_EQ(refusal_of<std::runtime_error>("x,y\nNA,1\n1,NA\n", {.missing = Missing::drop}),
              "every row has a missing value in the selected columns, so none is left: select other columns");
}

TEST(CsvSource, DoesNotReadARecordWithoutEndIntoMemory) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", "x,y\n1,\"" + std::string(std::size_t{40} << 20, 'a') + "\"\n");
    CsvSource source(path, {.columns = {"x"}});
    double row = 0.0;
    EXPECT_EQ(message_of<std::runtime_error>([&] { source.read(&row, 1); }),
              path +
                  ": row 1, column 'y': no end of the row within 16 MiB: close the quote that was left open, or give a "
                  "text file with line ends");
}

TEST(CsvSource, RefusesWhatIsNoFile) {
    const TemporaryDirectory directory;
    EXPECT_EQ(message_of<std::runtime_error>([&] { CsvSource(directory.path("none.csv")); }),
              directory.path("none.csv") + ": cannot open the file: No such file or directory; check the path");
    EXPECT_EQ(message_of<std::runtime_error>([&] { CsvSource(directory.path("")); }),
              directory.path("") + ": is a directory: give the path of a file");
}

}  // namespace
}  // namespace lrvb
