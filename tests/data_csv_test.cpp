#include "data_files.hpp"

#include <lrvb/data/csv.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace lrvb {
namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

/// What a text reads as, the same for every block size.
Numbers read_text(const std::string& text, CsvOptions options = {}, Index capacity = 3) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", text);
    Numbers first;
    for (const std::size_t block : kBlocks) {
        options.block = block;
        CsvSource source(path, options);
        const Numbers numbers = read_all(source, capacity);
        if (block == kBlocks.front()) first = numbers;
        EXPECT_EQ(numbers, first) << "block " << block;
    }
    return first;
}

TEST(CsvSource, ReadsNumbersUnderNames) {
    const TemporaryDirectory directory;
    CsvSource source(directory.write("a.csv", "x,y\n1,2\n3,4\n5,6\n"));
    EXPECT_EQ(source.columns(), 2);
    EXPECT_EQ(source.name(), directory.path("a.csv"));
    EXPECT_EQ(source.column_names(), (Names{"x", "y"}));
    for (const Index capacity : {1, 2, 3, 4}) {
        source.rewind();
        EXPECT_EQ(read_all(source, capacity), (Numbers{1, 2, 3, 4, 5, 6}));
    }
}

TEST(CsvSource, RewindsInTheMiddle) {
    const TemporaryDirectory directory;
    CsvSource source(directory.write("a.csv", "\xEF\xBB\xBFx\n1\n2\n3\n"), {.block = 2});
    double row = 0.0;
    EXPECT_EQ(source.read(&row, 1), 1);
    EXPECT_EQ(source.read(&row, 1), 1);
    source.rewind();
    EXPECT_EQ(read_all(source), (Numbers{1, 2, 3}));
}

TEST(CsvSource, ReturnsEveryDoubleThatWasPrintedWithSeventeenDigits) {
    std::mt19937_64 random(20140612);
    Numbers numbers;
    std::string text = "x,y\n";
    while (numbers.size() < 100'000) {
        const std::uint64_t bits = random();
        double number = 0.0;
        std::memcpy(&number, &bits, sizeof number);
        if (!std::isfinite(number)) continue;
        std::array<char, 40> printed = {};
        std::snprintf(printed.data(), printed.size(), "%.17g%c", number, numbers.size() % 2 == 0 ? ',' : '\n');
        text += printed.data();
        numbers.push_back(number);
    }
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", text);
    for (const std::size_t block : {std::size_t{61}, std::size_t{1} << 20}) {
        CsvSource source(path, {.block = block});
        const Numbers back = read_all(source, 4096);
        ASSERT_EQ(back.size(), numbers.size());
        EXPECT_EQ(std::memcmp(back.data(), numbers.data(), numbers.size() * sizeof(double)), 0);
    }
}

TEST(CsvSource, ReadsShortDecimalsAsTheCLibraryDoes) {
    std::mt19937_64 random(3);
    std::string text = "x\n";
    Numbers expected;
    for (int i = 0; i < 100'000; ++i) {
        // Up to ten digits before the point and behind it, with and without it, a sign and an exponent.
        std::string number = random() % 2 == 0 ? "-" : "";
        number += std::to_string(random() % 10'000'000'000U).substr(0, 1 + random() % 10);
        if (random() % 4 != 0) {
            number += '.';
            number += std::to_string(random() % 10'000'000'000U).substr(0, random() % 11);
        }
        if (random() % 8 == 0) number += "e-" + std::to_string(random() % 30);
        expected.push_back(std::strtod(number.c_str(), nullptr));
        text += number + "\n";
    }
    const TemporaryDirectory directory;
    CsvSource source(directory.write("a.csv", text));
    EXPECT_EQ(read_all(source), expected);
}

TEST(CsvSource, RoundsToTheNearestDouble) {
    // Half-way cases and borders of the range; the expected values are the compiler's.
    EXPECT_EQ(read_text("x\n9007199254740993\n2.2250738585072011e-308\n1e-400\n4.9406564584124654e-324\n"
                        "0.500000000000000166533453693773481063544750213623046875\n1.7976931348623157e308\n"),
              (Numbers{9007199254740992.0, 2.2250738585072011e-308, 0.0, 4.9406564584124654e-324,
                       0.500000000000000166533453693773481063544750213623046875, 1.7976931348623157e308}));
}

TEST(CsvSource, TakesNumbersHoweverTheyAreWritten) {
    EXPECT_EQ(read_text("x,y\n+1,-1\n.5,5.\n-.5,+.5\n1e3,1E+3\n  7,8  \n\t9\t, +10 \n007,-0e5\n"),
              (Numbers{1, -1, 0.5, 5, -0.5, 0.5, 1000, 1000, 7, 8, 9, 10, 7, 0}));
}

TEST(CsvSource, FindsTheSeparatorInTheHeader) {
    const Numbers expected{1, 2, 3, 4};
    EXPECT_EQ(read_text("x,y\n1,2\n3,4\n"), expected);
    EXPECT_EQ(read_text("x;y\n1;2\n3;4\n"), expected);
    EXPECT_EQ(read_text("x\ty\n1\t2\n3\t4\n"), expected);
    EXPECT_EQ(read_text("\"a,b,c\";y\n1;2\n3;4\n"), expected);
    // Which one it is takes the whole line to tell, and a quote within a field opens nothing.
    EXPECT_EQ(read_text("x,\"a\";\"b\";y;z\n1;2;3;4\n"), expected);
    EXPECT_EQ(read_text("5\" pipe;y\n1;2\n3;\"4\"\n"), expected);
    EXPECT_EQ(read_text("x\n1\n2\n3\n4"), expected);
}

TEST(CsvSource, TakesMarksLineEndsAndBlankLines) {
    const Numbers expected{1, 2, 3, 4};
    EXPECT_EQ(read_text("\xEF\xBB\xBFx,y\n1,2\n3,4\n"), expected);
    EXPECT_EQ(read_text("x,y\r\n1,2\r\n3,4\r\n"), expected);
    EXPECT_EQ(read_text("x,y\n1,2\n3,4"), expected);
    EXPECT_EQ(read_text("x,y\r\n1,2\r\n3,4\r"), expected);
    EXPECT_EQ(read_text("x,y\n1,2\n3,4\n\n\r\n   \n"), expected);
    EXPECT_EQ(read_text("x\n1\n2\n3\n4\n\n\n"), expected);
}

TEST(CsvSource, TakesQuotesAroundNamesNumbersAndText) {
    const TemporaryDirectory directory;
    const std::string text =
        "\"the \"\"x\"\", long\",note , \"y\"\r\n\"1\",\"a, \"\"b\"\"\nc\", 2\r\n3,5\" pipe, \" 4 \" \n";
    CsvSource source(directory.write("a.csv", text), {.columns = {"y", "the \"x\", long"}});
    EXPECT_EQ(source.column_names(), (Names{"y", "the \"x\", long"}));
    EXPECT_EQ(read_text(text, {.columns = {"y", "1"}}), (Numbers{2, 1, 4, 3}));
}

TEST(CsvSource, SelectsColumnsByNameOrNumberInTheOrderGiven) {
    const std::string text = "id,x,2,y\nred,1,10,100\nblue,2,20,200\n";
    EXPECT_EQ(read_text(text, {.columns = {"y", "x"}}), (Numbers{100, 1, 200, 2}));
    EXPECT_EQ(read_text(text, {.columns = {"4"}}), (Numbers{100, 200}));
    EXPECT_EQ(read_text(text, {.columns = {"2"}}), (Numbers{10, 20}));  // the name, not the number
    EXPECT_EQ(read_text(",x\nred,1\n", {.columns = {"2"}}), (Numbers{1}));
    EXPECT_EQ(read_text("x,x\n1,2\n", {.columns = {"2"}}), (Numbers{2}));
}

TEST(CsvSource, DropsRowsWithMissingValuesInSelectedColumns) {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("a.csv", "x,y,z\n1,2,\nNA,3,\n4,nan,1\n5,,NA\n6,7,8\n-nan,1,1\n\"\",1,1\n9,9,9");
    for (const std::size_t block : kBlocks) {
        CsvSource source(path, {.columns = {"x", "y"}, .missing = Missing::drop, .block = block});
        for (int round = 0; round < 2; ++round) {
            EXPECT_EQ(read_all(source, 2), (Numbers{1, 2, 6, 7, 9, 9}));
            EXPECT_EQ(source.dropped(), 5);
            source.rewind();
            EXPECT_EQ(source.dropped(), 0);
        }
    }
}

TEST(CsvSource, TextsThatMeanAMissingValueAreMissing) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", "x,y\n1,2\n?,3\n-999,4\n-999.0,5\n6,\"?\"\n7,8\n");
    for (const std::size_t block : kBlocks) {
        CsvSource source(path, {.missing = Missing::drop, .na = {"?", "-999"}, .block = block});
        EXPECT_EQ(read_all(source, 2), (Numbers{1, 2, 7, 8}));
        EXPECT_EQ(source.dropped(), 4);
    }
}

TEST(CsvSource, TakesABlankLineAmongTheRowsOfASingleColumnAsAMissingValue) {
    const TemporaryDirectory directory;
    CsvSource source(directory.write("a.csv", "x\n\n1\n\n\n2\n\n"), {.missing = Missing::drop});
    EXPECT_EQ(read_all(source), (Numbers{1, 2}));
    EXPECT_EQ(source.dropped(), 3);
}

TEST(CsvSource, ReadsAPipeAsOftenAsAFile) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path) << "x,y\n1,2\n3,4\n"; });
    CsvSource source(path);
    writer.join();
    EXPECT_EQ(read_all(source, 1), (Numbers{1, 2, 3, 4}));
    source.rewind();
    EXPECT_EQ(read_all(source, 1), (Numbers{1, 2, 3, 4}));
}

TEST(CsvSource, ReadsStandardInput) {
    std::array<int, 2> ends = {};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const std::string text = "x\n1\n2\n";
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    const int standard_input = ::dup(STDIN_FILENO);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    {
        CsvSource source("-");
        EXPECT_EQ(source.name(), "standard input");
        EXPECT_EQ(read_all(source), (Numbers{1, 2}));
        source.rewind();
        EXPECT_EQ(read_all(source), (Numbers{1, 2}));
    }
    ::dup2(standard_input, STDIN_FILENO);
    ::close(standard_input);
}

TEST(CsvSource, GivesTheSameForEveryBlockSizeWhateverTheText) {
    std::mt19937_64 random(7);
    const std::string alphabet = "0123456789.-+eNA,,,,;\t\"\"\r\n\n\n  x";
    const TemporaryDirectory directory;
    for (int text = 0; text < 1000; ++text) {
        std::string csv = text % 2 == 0 ? "x,y\n" : "x\n";
        const std::uint64_t length = random() % 40;
        for (std::uint64_t i = 0; i < length; ++i) csv += alphabet[random() % alphabet.size()];
        const std::string path = directory.write("a.csv", csv);
        std::string first;
        for (const std::size_t block : kBlocks) {
            std::string result;
            try {
                CsvSource source(path, {.missing = text % 3 == 0 ? Missing::refuse : Missing::drop, .block = block});
                result = ::testing::PrintToString(read_all(source, 2));
            } catch (const std::runtime_error& error) {
                result = error.what();
            }
            if (block == kBlocks.front()) first = result;
            ASSERT_EQ(result, first) << "block " << block << " of " << ::testing::PrintToString(csv);
        }
    }
}

}  // namespace
}  // namespace lrvb
