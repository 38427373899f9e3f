#include "says.hpp"

#include <lrvb/bugs/data.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace lrvb::bugs {
namespace {

using Values = std::vector<double>;
using Extents = std::vector<Index>;

Data json(const std::string& text) {
    Data data;
    data.add_json(text, "d.json");
    return data;
}

Data dump(const std::string& text) {
    Data data;
    data.add_dump(text, "d.R");
    return data;
}

template <class Read>
std::string refusal_of(Read read) {
    try {
        read();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

/// A file that is gone with the test.
class File {
  public:
    File(const std::string& name, const std::string& text)
        : path_(std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + name)) {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path() const { return path_; }

  private:
    std::filesystem::path path_;
};

TEST(BugsData, JsonIsReadRowByRowAndKeptColumnByColumn) {
    const Data data = json(R"({"N": 3, "x": [1, 2.5, null], "m": [[1, 2, 3], [4, 5, "NA"]], "b": true, "none": []})");
    EXPECT_EQ(data.find("N")->dims, Extents{});
    EXPECT_EQ(data.find("N")->values, Values{3});
    EXPECT_EQ(data.find("x")->dims, Extents{3});
    EXPECT_TRUE(std::isnan(data.find("x")->values[2]));
    const DataArray& m = *data.find("m");
    EXPECT_EQ(m.dims, (Extents{2, 3}));
    EXPECT_EQ(Values(m.values.begin(), m.values.begin() + 5), (Values{1, 4, 2, 5, 3}));
    EXPECT_TRUE(std::isnan(m.values[5]));
    EXPECT_EQ(data.find("b")->values, Values{1});
    EXPECT_EQ(data.find("none")->dims, Extents{0});
    EXPECT_EQ(data.find("y"), nullptr);
}

TEST(BugsData, JsonMayHaveAnyNumberOfDimensions) {
    // x[i][j][k] = 100 i + 10 j + k
    const Data data = json(R"({"x": [[[111, 112], [121, 122], [131, 132]], [[211, 212], [221, 222], [231, 232]]]})");
    const DataArray& x = *data.find("x");
    ASSERT_EQ(x.dims, (Extents{2, 3, 2}));
    for (Index i = 0; i < 2; ++i) {
        for (Index j = 0; j < 3; ++j) {
            for (Index k = 0; k < 2; ++k) {
                const double expected =
                    111.0 + 100.0 * static_cast<double>(i) + 10.0 * static_cast<double>(j) + static_cast<double>(k);
                EXPECT_EQ(x.values[static_cast<std::size_t>(i + 2 * j + 6 * k)], expected);
            }
        }
    }
}

TEST(BugsData, WhatJsonCannotMeanIsRefusedWithItsPlace) {
    EXPECT_TRUE(test::says(refusal_of([] { json("{\"x\": [[1, 2], [3]]}"); }),
                           {"d.json", "x[2]", "null", "1", "2", "numbers", "fill"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("{\"x\": [1, [2]]}"); }), {"d.json", "x[2]", "numbers", "give"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("{\"x\": [[1, 2], 3]}"); }), {"d.json", "x[2]", "give"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("{\"x\": [1, \"a\"]}"); }),
                           {"d.json", "'a'", "x[2]", "null", "NA", "missing", "numbers", "data"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("{\"x\": {\"y\": 1}}"); }), {"d.json", "numbers", "data"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("{\n  \"x\": [1, 2,]\n}"); }), {"d.json:2:14", "JSON", "correct"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("[1, 2]"); }), {"d.json", "JSON", "3", "1", "2", "data"}));
    EXPECT_TRUE(test::says(refusal_of([] { json("{\"x\": 1, \"x\": 2}"); }), {"d.json", "'x'", "twice", "remove"}));
}

TEST(BugsData, DumpFormatIsReadAsJagsReadsIt) {
    const Data data = dump(R"R(# a comment
"N" <- 5L
`y` <-
c(1.5, NA, -3e-2, 4L,
  +5)
x <- 1:4; z = 4:2
'm' <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L))
named <- structure(c(1, 2), .Names = c("a", "b"))
both <- c(a = 1, "b" = 2, c(3, 4))
g <- structure(c(1L, 2L, 1L), .Label = c("lo", "hi"), class = "factor")
dn <- structure(c(1, 2), .Dim = 1:2, .Dimnames = list(NULL, c("a)", "b")))
i <- as.integer(c(7, 8))
t <- TRUE
)R");
    EXPECT_EQ(data.find("N")->values, Values{5});
    EXPECT_EQ(data.find("N")->dims, Extents{});
    EXPECT_EQ(data.find("y")->dims, Extents{5});
    EXPECT_EQ(data.find("y")->values[2], -3e-2);
    EXPECT_TRUE(std::isnan(data.find("y")->values[1]));
    EXPECT_EQ(data.find("x")->values, (Values{1, 2, 3, 4}));
    EXPECT_EQ(data.find("z")->values, (Values{4, 3, 2}));
    EXPECT_EQ(data.find("m")->dims, (Extents{2, 3}));
    EXPECT_EQ(data.find("m")->values, (Values{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(data.find("named")->values, (Values{1, 2}));
    EXPECT_EQ(data.find("both")->values, (Values{1, 2, 3, 4}));
    EXPECT_EQ(data.find("g")->levels, (std::vector<std::string>{"lo", "hi"}));
    EXPECT_EQ(data.find("dn")->dims, (Extents{1, 2}));
    EXPECT_EQ(data.find("i")->values, (Values{7, 8}));
    EXPECT_EQ(data.find("t")->values, Values{1});
}

TEST(BugsData, TheListOfWinBugsHasItsLastIndexFastest) {
    const Data data = dump("list(N = 2, x = c(1, 2),\n m = structure(.Data = c(1, 2, 3, 4, 5, 6), .Dim = c(2, 3)))");
    EXPECT_EQ(data.find("N")->values, Values{2});
    EXPECT_EQ(data.find("m")->dims, (Extents{2, 3}));
    EXPECT_EQ(data.find("m")->values, (Values{1, 4, 2, 5, 3, 6}));
}

TEST(BugsData, WhatADumpCannotMeanIsRefusedWithItsPlace) {
    EXPECT_TRUE(test::says(refusal_of([] { dump("x <- 1\ny <- foo(3)"); }),
                           {"d.R:2:6", "'foo'", "c(…)", "structure(…, .Dim = c(…)", "NA", "numbers"}));
    EXPECT_TRUE(test::says(refusal_of([] { dump("x <- c(1, 2"); }), {"d.R:1:12", "')'"}));
    EXPECT_TRUE(test::says(refusal_of([] { dump("x 3"); }), {"d.R:1:3", "'x'", "'name <- value'", "<-", "data"}));
    EXPECT_TRUE(
        test::says(refusal_of([] { dump("x <- structure(c(1,2,3), .Dim = c(2,2))"); }), {"d.R:1:1", "'x'", "3", "4"}));
    EXPECT_TRUE(test::says(refusal_of([] { dump("x <- c(\"a\")"); }),
                           {"d.R:1:1", "'x'", "1", "text", "numbers", "number its"}));
    EXPECT_TRUE(test::says(refusal_of([] { dump("x <- 1x"); }), {"d.R:1:6", "'1x'"}));
    EXPECT_TRUE(test::says(refusal_of([] { dump("x <- 1:1e12"); }), {"d.R:1:7", "range", "too long"}));
    EXPECT_TRUE(test::says(refusal_of([] { dump("x <- list(1)"); }), {"d.R:1:6", "list", "give"}));
}

TEST(BugsData, ColumnsOfATableAreVectors) {
    const File file("bugs.csv", "y,x,g\n1,2.5,b\nNA,3,a\n3,,b\n4,5,NA\n");
    const Data data = Data::read({file.path()});
    EXPECT_EQ(data.find("N")->values, Values{4});
    EXPECT_EQ(data.find("y")->values[3], 4.0);
    EXPECT_TRUE(std::isnan(data.find("y")->values[1]));
    EXPECT_TRUE(std::isnan(data.find("x")->values[2]));
    const DataArray& g = *data.find("g");
    EXPECT_EQ(g.levels, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(Values(g.values.begin(), g.values.begin() + 3), (Values{2, 1, 2}));
    EXPECT_TRUE(std::isnan(g.values[3]));
}

TEST(BugsData, ATableInMemoryIsThatOfItsFile) {
    const File file("bugs.csv", "y,x,g\n1,2.5,b\nNA,3,a\n3,,b\n4,5,NA\n");
    FrameOptions options;
    options.keep_missing = true;
    Data data;
    data.add_frame(read_frame(file.path(), options));
    const Data read = Data::read({file.path()});
    for (const DataArray& array : read.arrays()) {
        ASSERT_NE(data.find(array.name), nullptr) << array.name;
        const Values& values = data.find(array.name)->values;
        ASSERT_EQ(values.size(), array.values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_TRUE(values[i] == array.values[i] || (std::isnan(values[i]) && std::isnan(array.values[i])));
        }
    }
}

TEST(BugsData, TextsMeanMissingValuesWhereTheyAreSaidTo) {
    const File table("na.csv", "y,g\n1,a\n-999,?\n");
    const File numbers("na.json", R"({"x": [1, -999.0]})");
    const Data data = Data::read({table.path(), numbers.path()}, {"-999", "?"});
    for (const char* name : {"y", "g", "x"}) {
        EXPECT_EQ(data.find(name)->values[0], 1.0) << name;
        EXPECT_TRUE(std::isnan(data.find(name)->values[1])) << name;
    }
}

TEST(BugsData, TextsOfATableInMemoryMeanMissingValuesToo) {
    DataFrame frame;
    frame.name = "here";
    frame.rows = 4;
    frame.columns.resize(2);
    frame.columns[0].name = "g";
    frame.columns[0].levels = {"?", "a", "b"};
    frame.columns[0].codes = {1, 0, 2, 1};
    frame.columns[1].name = "y";
    frame.columns[1].numbers = Vector{{4.0, -999.0, 1.0, 2.0}};
    Data data = Data::read({}, {"?", "-999", "2", "4"});
    data.add_frame(frame);
    const DataArray& text = *data.find("g");
    EXPECT_EQ(text.levels, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(text.values[0], 1.0);
    EXPECT_TRUE(std::isnan(text.values[1]));
    EXPECT_EQ(text.values[2], 2.0);  // the second of the levels, and not the number 2
    const DataArray& numbers = *data.find("y");
    EXPECT_TRUE(std::isnan(numbers.values[0]) && std::isnan(numbers.values[1]) && std::isnan(numbers.values[3]));
    EXPECT_EQ(numbers.values[2], 1.0);
    EXPECT_EQ(data.find("N")->values[0], 4.0);  // how many rows there are is not missing
}

TEST(BugsData, ASingleColumnKeepsItsBlankLines) {
    const File file("one.csv", "y\n1\n\n3\n");
    const Data data = Data::read({file.path()});
    ASSERT_EQ(data.find("y")->dims, Extents{3});
    EXPECT_TRUE(std::isnan(data.find("y")->values[1]));
    EXPECT_EQ(data.find("N")->values, Values{3});
}

TEST(BugsData, TheRowsOfATableAreNUnlessAnotherFileHasIt) {
    const File table("t.csv", "y\n1\n2\n");
    const File longer("l.csv", "z\n1\n2\n3\n");
    const File own("own.json", "{\"N\": 7}");
    EXPECT_EQ(Data::read({table.path(), own.path()}).find("N")->values, Values{7});
    EXPECT_EQ(Data::read({own.path(), table.path()}).find("N")->values, Values{7});
    EXPECT_EQ(Data::read({table.path(), longer.path()}).find("N"), nullptr);
    const File column("n.csv", "N\n3\n4\n");
    EXPECT_EQ(Data::read({column.path()}).find("N")->values, (Values{3, 4}));
}

TEST(BugsData, ANameInTwoFilesIsRefusedWithBoth) {
    const File one("a.json", "{\"x\": 1}");
    const File two("b.R", "x <- 2\n");
    EXPECT_EQ(refusal_of([&] {
                  Data::read({one.path(), two.path()});
              }),
              two.path() + ": 'x' is given in " + one.path() + " too: remove one of them");
}

TEST(BugsData, TheTextTellsTheFormatWhereTheNameDoesNot) {
    const File dumped("x.data", "\n# c\n`x` <-\nc(1,2)\n");
    EXPECT_EQ(Data::read({dumped.path()}).find("x")->values, (Values{1, 2}));
    const File object("x.txt", "  {\"x\": 3}");
    EXPECT_EQ(Data::read({object.path()}).find("x")->values, Values{3});
    const File listed("l.txt", "list(x=4)");
    EXPECT_EQ(Data::read({listed.path()}).find("x")->values, Values{4});
    const File table("t.dat", "x,y\n5,6\n");
    EXPECT_EQ(Data::read({table.path()}).find("x")->values, Values{5});
}

TEST(BugsData, ArraysByHandMustHaveTheirSize) {
    Data data;
    EXPECT_THROW(data.add({"x", {2, 2}, {1, 2, 3}, "here", {}}), std::invalid_argument);
    data.add({"x", {2}, {1, 2}, "here", {}});
    EXPECT_THROW(data.add({"x", {}, {1}, "there", {}}), std::runtime_error);
}

}  // namespace
}  // namespace lrvb::bugs
