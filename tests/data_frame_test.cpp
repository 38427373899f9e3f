#include "data_files.hpp"
#include "says.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/data/npy.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <unistd.h>

// Tables in memory: which columns are text, and that all else is as the streaming readers have it.

namespace lrvb {
namespace {

using Codes = std::vector<std::uint32_t>;
using Names = std::vector<std::string>;
using Rows = std::vector<Index>;

/// A text as a frame, the same for every block size.
DataFrame frame_of(const std::string& text, FrameOptions options = {}) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", text);
    DataFrame first = read_frame(path, options);
    for (const std::size_t block : kBlocks) {
        options.block = block;
        const DataFrame frame = read_frame(path, options);
        EXPECT_EQ(frame.rows, first.rows);
        EXPECT_EQ(frame.file_rows, first.file_rows);
        for (std::size_t j = 0; j < first.columns.size(); ++j) {
            EXPECT_EQ(frame.columns[j].numbers, first.columns[j].numbers);
            EXPECT_EQ(frame.columns[j].levels, first.columns[j].levels);
            EXPECT_EQ(frame.columns[j].codes, first.columns[j].codes);
        }
    }
    return first;
}

/// How a text is refused, without the file's name.
template <class Exception>
std::string refusal_of(const std::string& text, const FrameOptions& options = {}) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.csv", text);
    const std::string message = message_of<Exception>([&] { read_frame(path, options); });
    EXPECT_EQ(message.find(path + ": "), 0U) << message;
    return message.substr(std::min(message.size(), path.size() + 2));
}

TEST(Frame, KeepsNumbersAndTextApart) {
    const DataFrame frame = frame_of("x,species,y\n1,setosa,2\n3,\"Iris, big\",4\n5,setosa,6e0\n");
    ASSERT_EQ(frame.columns.size(), 3U);
    EXPECT_EQ(frame.rows, 3);
    EXPECT_EQ(frame.columns[0].numbers, (Vector{{1, 3, 5}}));
    EXPECT_FALSE(frame.columns[0].is_text());
    EXPECT_EQ(frame.columns[1].name, "species");
    EXPECT_TRUE(frame.columns[1].is_text());
    EXPECT_EQ(frame.columns[1].levels, (Names{"Iris, big", "setosa"}));
    EXPECT_EQ(frame.columns[1].codes, (Codes{1, 0, 1}));
    EXPECT_EQ(frame.columns[2].numbers, (Vector{{2, 4, 6}}));
}

TEST(Frame, OneTextMakesAColumnText) {
    const DataFrame frame = frame_of("x\n10\n9\nhigh\n10\n");
    EXPECT_EQ(frame.columns[0].levels, (Names{"10", "9", "high"}));
    EXPECT_EQ(frame.columns[0].codes, (Codes{0, 1, 2, 0}));
}

TEST(Frame, SortsLevelsByTheirBytes) {
    const DataFrame frame = frame_of("x\nb\n\xC3\xA9\nB\na\n\"say \"\"a\"\"\"\n");
    EXPECT_EQ(frame.columns[0].levels, (Names{"B", "a", "b", "say \"a\"", "\xC3\xA9"}));
}

TEST(Frame, ReadsNumbersAsTextWhereAsked) {
    const DataFrame frame = frame_of("cyl,y\n8,1\n4,2\n8,3\n", {.text = {"cyl"}});
    EXPECT_EQ(frame.columns[0].levels, (Names{"4", "8"}));
    EXPECT_EQ(frame.columns[0].codes, (Codes{1, 0, 1}));
    EXPECT_FALSE(frame.columns[1].is_text());
    EXPECT_TRUE(test::says(refusal_of<std::invalid_argument>("cyl,y\n8,1\n", {.columns = {"y"}, .text = {"cyl"}}),
                           {"'cyl'", "text", "add"}));
}

TEST(Frame, QuotedNumbersAreText) {
    const std::string text =
        "y,cyl,gear,x\n1,\"8\",\"4\",5\n2,\"10\",NA,6\n3,\"8\",3,7\n4,NA,\"3\",8\n5,\"08\",\"5\",9\n";
    const DataFrame frame = frame_of(text, {.missing = Missing::drop});
    EXPECT_TRUE(frame.columns[1].quoted);
    EXPECT_EQ(frame.columns[1].levels, (Names{"08", "8"}));
    EXPECT_EQ(frame.columns[1].codes, (Codes{1, 1, 0}));
    // One of its values is not.
    EXPECT_FALSE(frame.columns[2].quoted);
    EXPECT_EQ(frame.columns[2].numbers, (Vector{{4, 3, 5}}));
    EXPECT_FALSE(frame.columns[0].quoted);
    const DataFrame asked = frame_of(text, {.numbers = {"cyl"}, .missing = Missing::drop});
    EXPECT_TRUE(asked.columns[1].quoted);
    EXPECT_EQ(asked.columns[1].told, FrameColumn::Told::numbers);
    EXPECT_EQ(asked.columns[1].numbers, (Vector{{8, 8, 8}}));
}

TEST(Frame, QuotesOfAFileThatQuotesEverythingSayNothing) {
    const DataFrame all = frame_of("\"y\",\"x\",\"s\"\n\"1\",\"2\",\"a\"\n\"3\",\"4\",\"b\"\n");
    EXPECT_FALSE(all.columns[0].quoted);
    EXPECT_EQ(all.columns[1].numbers, (Vector{{2, 4}}));
    EXPECT_EQ(all.columns[2].levels, (Names{"a", "b"}));
    // Columns that are not read tell as well.
    EXPECT_TRUE(frame_of("y,x\n\"1\",2\n\"3\",4\n", {.columns = {"y"}}).columns[0].is_text());
}

TEST(Frame, TextsThatMeanAMissingValueAreMissing) {
    const std::string text = "x,s\n1,a\n?,b\n-999,b\n4,\"n/a\"\n5,b\n";
    const DataFrame frame = frame_of(text, {.missing = Missing::drop, .na = {"?", "-999", "n/a"}});
    EXPECT_EQ(frame.columns[0].numbers, (Vector{{1, 5}}));
    EXPECT_EQ(frame.columns[1].levels, (Names{"a", "b"}));
    EXPECT_EQ(frame.file_rows, (Rows{1, 5}));
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>(text, {.na = {"?"}}), {"'x'", "row 2", "missing", "fill"}));
}

TEST(Frame, SelectsByNameAndNumberInTheGivenOrder) {
    const DataFrame frame = frame_of("a,b,c\n1,x,3\n4,y,6\n", {.columns = {"c", "1"}});
    ASSERT_EQ(frame.columns.size(), 2U);
    EXPECT_EQ(frame.columns[0].name, "c");
    EXPECT_EQ(frame.columns[1].numbers, (Vector{{1, 4}}));
    EXPECT_EQ(frame.find("a"), 1);
    EXPECT_EQ(frame.find("1"), 0);
    EXPECT_THROW(frame.find("b"), std::invalid_argument);
    EXPECT_TRUE(test::says(refusal_of<std::invalid_argument>("a,b\n1,2\n", {.columns = {"z"}}),
                           {"'z'", "'a'", "'b'", "1", "2", "numbers", "give"}));
}

TEST(Frame, RefusesMissingValuesWithTheirCount) {
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>("x,s\n1,a\n2,NA\n,b\n4,\n5,c\n"),
                           {"'s'", "row 2", "3", "missing", "fill"}));
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>("x\n1\n\n2\n"), {"'x'", "row 2", "missing", "fill"}));
}

TEST(Frame, DropsRowsWithMissingValuesAndKnowsTheOthers) {
    const DataFrame frame = frame_of("x,s\n1,a\n2,NA\nNaN,b\n4,c\n", {.missing = Missing::drop});
    EXPECT_EQ(frame.rows, 2);
    EXPECT_EQ(frame.dropped, 2);
    EXPECT_EQ(frame.columns[0].numbers, (Vector{{1, 4}}));
    EXPECT_EQ(frame.columns[1].levels, (Names{"a", "c"}));
    EXPECT_EQ(frame.file_rows, (Rows{1, 4}));
    EXPECT_EQ(frame.file_row(1), 4);
    EXPECT_EQ(frame_of("x\n1\n\n\nz\n", {.missing = Missing::drop}).file_rows, (Rows{1, 4}));
    EXPECT_TRUE(
        test::says(refusal_of<std::runtime_error>("x,s\n,a\n2,\n", {.missing = Missing::drop}), {"missing", "select"}));
}

TEST(Frame, RefusesTheInfiniteInNumbersOnly) {
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>("x\n1\ninf\n"),
                           {"'x'", "'inf'", "row 2", "NA", "missing", "infinite", "correct"}));
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>("x\n1\n1e999\n"), {"'x'", "'1e999'", "row 2", "correct"}));
    EXPECT_EQ(frame_of("x\ninf\nsup\n").columns[0].levels, (Names{"inf", "sup"}));
}

TEST(Frame, RefusesRaggedRows) {
    EXPECT_TRUE(test::says(refusal_of<std::runtime_error>("x,s\n1,a\n2\n"),
                           {"','", "row 2", "1", "2", "quote", "text", "give"}));
}

TEST(Frame, ReadsNumPyFiles) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("a.npy");
    const std::vector<double> rows = {1, 2, 3, 4, 5, 6};
    write_npy(path, 3, 2, rows.data());
    const DataFrame all = read_frame(path);
    ASSERT_EQ(all.columns.size(), 2U);
    EXPECT_EQ(all.columns[1].name, "2");
    EXPECT_EQ(all.columns[1].numbers, (Vector{{2, 4, 6}}));
    const DataFrame second = read_frame(path, {.columns = {"2", "1"}});
    EXPECT_EQ(second.columns[0].numbers, (Vector{{2, 4, 6}}));
    EXPECT_EQ(second.columns[1].name, "1");
    EXPECT_THROW(read_frame(path, {.text = {"1"}}), std::invalid_argument);
}

TEST(Frame, ReadsTextFromAPipe) {
    std::array<int, 2> ends = {};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const std::string text = "s,x\nb,1\na,2\n";
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    const int standard_input = ::dup(STDIN_FILENO);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    const DataFrame frame = read_frame("-");
    ::dup2(standard_input, STDIN_FILENO);
    ::close(standard_input);
    EXPECT_EQ(frame.name, "standard input");
    EXPECT_EQ(frame.columns[0].codes, (Codes{1, 0}));
    EXPECT_EQ(frame.columns[1].numbers, (Vector{{1, 2}}));
}

}  // namespace
}  // namespace lrvb
