#include "data/columns.hpp"
#include "data_files.hpp"
#include "says.hpp"

#include <lrvb/data/dataset.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/kind/options.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

// Lists of columns: names, numbers, ranges and what is left out.

namespace lrvb {
namespace {

using Places = std::vector<std::size_t>;
using Names = std::vector<std::string>;

const Names kNames{"a", "b", "c", "d", "Species"};

Places places(const Names& wanted, const Names& names = kNames) {
    return detail::select_columns("file", names, wanted, true);
}

std::string refusal(const Names& wanted, const Names& names = kNames) {
    return message_of<std::invalid_argument>([&] { places(wanted, names); });
}

TEST(Columns, RangesGoFromOneColumnToAnother) {
    EXPECT_EQ(places({"1-4"}), (Places{0, 1, 2, 3}));
    EXPECT_EQ(places({"b-d"}), (Places{1, 2, 3}));
    EXPECT_EQ(places({"b-4"}), (Places{1, 2, 3}));
    EXPECT_EQ(places({"2-2"}), (Places{1}));
    EXPECT_EQ(places({"Species", "1-2"}), (Places{4, 0, 1}));
}

TEST(Columns, AMinusLeavesOut) {
    EXPECT_EQ(places({"-Species"}), (Places{0, 1, 2, 3}));
    EXPECT_EQ(places({"-5", "-a"}), (Places{1, 2, 3}));
    EXPECT_EQ(places({"-1-3"}), (Places{3, 4}));
    EXPECT_EQ(places({"1-4", "-2"}), (Places{0, 2, 3}));
    EXPECT_EQ(places({"-2", "1-4"}), (Places{0, 2, 3}));
}

TEST(Columns, RowNamesAreNotAmongAll) {
    const Names names{"", "a", "b"};
    EXPECT_EQ(places({}, names), (Places{1, 2}));
    EXPECT_EQ(places({"-a"}, names), (Places{2}));
    EXPECT_EQ(places({"1-2"}, names), (Places{0, 1}));
    EXPECT_EQ(places({""}, names), (Places{0}));
    EXPECT_TRUE(detail::leaves_out_row_names(names, {"-a"}, {2}));
    EXPECT_FALSE(detail::leaves_out_row_names(names, {"a", "b"}, {1, 2}));
    EXPECT_FALSE(detail::leaves_out_row_names(names, {}, {1, 2, 0}));  // the first is the response, say
    // Elsewhere a column without a name is one like others, and so is the only one.
    EXPECT_EQ(places({}, {"a", ""}), (Places{0, 1}));
    EXPECT_EQ(places({}, {""}), (Places{0}));
}

TEST(Columns, NumbersOfTheFileCountRowNames) {
    const TemporaryDirectory folder;
    const DataFrame frame = read_frame(folder.write("names.csv", ",a,b\n0,1,2\n1,3,4\n"));
    EXPECT_TRUE(frame.leaves_out_row_names);
    EXPECT_EQ(frame.column_names(), (Names{"a", "b"}));
    EXPECT_EQ(frame.find("3"), 1);
    EXPECT_EQ(frame.find("a"), 0);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { frame.find("1"); }).find("give it a name") == std::string::npos,
              false);
    // In memory the table's own columns are counted.
    const DataRows rows = Dataset(frame).rows({{"2"}, {}, false});
    EXPECT_EQ(rows.record.columns, Names{"b"});
}

TEST(Columns, ATableInMemoryIsReadAsAFileIs) {
    DataFrame frame;
    frame.rows = 2;
    frame.columns = {{.name = "", .numbers = Vector{{0.0, 1.0}}, .levels = {}, .codes = {}},
                     {.name = "a", .numbers = Vector{{3.0, 4.0}}, .levels = {}, .codes = {}}};
    const DataRows rows = Dataset(frame).rows({});
    EXPECT_TRUE(rows.leaves_out_row_names);
    EXPECT_EQ(rows.record.columns, Names{"a"});
}

TEST(Columns, AColumnThatIsCalledSoWins) {
    EXPECT_EQ(places({"1-4"}, {"x", "1-4", "y", "z"}), (Places{1}));
    EXPECT_EQ(places({"-x"}, {"x", "-x", "y"}), (Places{1}));
    EXPECT_EQ(places({"--x"}, {"x", "-x", "y"}), (Places{0, 2}));
    // One dash belongs to a name, the other makes the range.
    EXPECT_EQ(places({"x-1-x-2"}, {"x-1", "y", "x-2"}), (Places{0, 1, 2}));
}

TEST(Columns, BadRangesAreRefusedInOneSentence) {
    EXPECT_TRUE(test::says(refusal({"4-1"}), {"file", "'4-1'", "1", "4", "range", "write"}));
    EXPECT_TRUE(test::says(refusal({"1-9"}), {"file", "'1-9'", "'a'", "'b'", "'c'", "'d'", "'Species'", "1", "5", "3",
                                              "-1", "numbers", "leave"}));
    EXPECT_EQ(refusal({"-e"}).substr(0, 31), "file: there is no column 'e': g");
    EXPECT_EQ(refusal({"a-"}).substr(0, 31), "file: there is no column 'a-': ");
    EXPECT_TRUE(
        test::says(refusal({"a-b-c"}, {"a", "b-c", "a-b", "c"}), {"file", "'a-b-c'", "numbers", "range", "give"}));
    EXPECT_TRUE(test::says(refusal({"1-3", "b"}), {"file", "'b'", "column 2", "twice", "select"}));
    EXPECT_TRUE(test::says(refusal({"-1-5"}), {"file", "'a'", "'b'", "'c'", "'d'", "'Species'", "leave"}));
    EXPECT_TRUE(test::says(refusal({"a-b"}, {"a", "a", "b"}), {"file", "'a'", "columns 1", "2", "called", "rename"}));
}

// Names that a fit recorded are names.
TEST(Columns, WithoutRangesADashIsPartOfAName) {
    EXPECT_TRUE(test::says(message_of<std::invalid_argument>([] { detail::select_columns("file", kNames, {"1-4"}); }),
                           {"file", "'1-4'", "'a'", "'b'", "'c'", "'d'", "'Species'", "1", "5", "numbers", "give"}));
}

TEST(Columns, LastOnesAreTakenOutOfTheOthers) {
    EXPECT_EQ(detail::select_columns("file", kNames, {"-Species"}, true, {"b"}), (Places{0, 2, 3, 1}));
    EXPECT_EQ(detail::select_columns("file", kNames, {"a"}, true, {"d", "2"}), (Places{0, 3, 1}));
    EXPECT_EQ(detail::select_columns("file", kNames, {}, true, {"1"}), (Places{1, 2, 3, 4, 0}));
    EXPECT_TRUE(test::says(
        message_of<std::invalid_argument>([] { detail::select_columns("file", kNames, {"b"}, true, {"2"}); }),
        {"file", "'b'", "select"}));
    EXPECT_TRUE(
        test::says(message_of<std::invalid_argument>([] { detail::select_columns("file", {"b"}, {}, true, {"b"}); }),
                   {"file", "'b'", "select"}));
}

TEST(Columns, AllReadersUnderstandTheSame) {
    const TemporaryDirectory folder;
    const std::string csv = folder.write("a.csv", "a,b,c,d\n1,2,3,4\n5,6,7,8\n");
    const double numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    write_npy(folder.path("a.npy"), 2, 4, numbers);
    RowSelection selection;
    selection.columns = {"-2"};
    selection.weights = "3";
    selection.ranges = true;
    const DataFrame frame = read_frame(csv);
    for (const Dataset& data : {Dataset(csv), Dataset(folder.path("a.npy")), Dataset(frame)}) {
        const DataRows rows = data.rows(selection);
        rows.source->rewind();
        EXPECT_EQ(read_all(*rows.source), (std::vector<double>{1, 4, 3, 5, 8, 7}));
        const bool has_names = data.name() != folder.path("a.npy");
        EXPECT_EQ(rows.record.columns, has_names ? (Names{"a", "d"}) : (Names{"1", "4"}));
        EXPECT_EQ(rows.record.weights, has_names ? "c" : "3");
        FrameOptions options;
        options.columns = {"2-4"};
        options.ranges = true;
        options.last = {"2"};
        const DataFrame chosen = data.frame(options);
        EXPECT_EQ(chosen.column_names(), has_names ? (Names{"c", "d", "b"}) : (Names{"3", "4", "2"}));
        EXPECT_EQ(chosen.columns[2].numbers, (Vector{{2.0, 6.0}}));
    }
}

TEST(Columns, QuotesKeepCommasTogether) {
    EXPECT_EQ(split_list("\"a,b\",c"), (Names{"a,b", "c"}));
    EXPECT_EQ(split_list("-\"a,b\""), (Names{"-a,b"}));
    EXPECT_EQ(split_list("\"say \"\"x\"\", y\""), (Names{"say \"x\", y"}));
    EXPECT_EQ(split_list("g=\"p,1\",c=4"), (Names{"g=p,1", "c=4"}));
    EXPECT_EQ(split_list("beta[g=\"p\"]"), (Names{"beta[g=\"p\"]"}));
    EXPECT_EQ(split_list("beta[5\"],mu[1,2]"), (Names{"beta[5\"]", "mu[1,2]"}));
    EXPECT_TRUE(test::says(message_of<UsageError>([] { split_list("a,\"b"); }), {"quote", "close"}));
}

}  // namespace
}  // namespace lrvb
