// Lists of columns on the command line, and what a fit keeps of them.

#include "program.hpp"

#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class ColumnLists : public ProgramTest {
  protected:
    ColumnLists() {
        std::string rows = "\"a,b\",c,y,kind\n";
        for (int i = 0; i < 40; ++i) {
            rows += std::to_string(i % 7) + "," + std::to_string((i * i) % 11) + "," +
                    std::to_string(2 * (i % 7) + i % 3) + (i % 2 == 0 ? ",u\n" : ",v\n");
        }
        write("d.csv", rows);
    }
    json columns_of(const std::string& arguments) const {
        const Result result = lrvb("fit " + arguments + " --quiet -o fit.json");
        EXPECT_EQ(result.code, 0) << result.err;
        return result.code == 0 ? json::parse(read_text(work() / "fit.json")).at("data").at("columns") : json();
    }
};

TEST_F(ColumnLists, RangesExclusionsAndQuotesAreRecordedByName) {
    const json all{"a,b", "c", "y"};
    for (const std::string list : {"1-3", "-kind", "-4", "'\"a,b\"-y'", "'\"a,b\",c,y'", "'1-4,-kind'"}) {
        EXPECT_EQ(columns_of("mixture d.csv -k 1 -c " + list), all) << list;
        // Found again in a file where they stand elsewhere.
        ASSERT_EQ(shell("awk -F, 'BEGIN {OFS=\",\"} NR == 1 {print \"x,y,c,\\\"a,b\\\"\"} NR > 1 {print 9, $3, $2, "
                        "$1}' d.csv > "
                        "moved.csv")
                      .code,
                  0);
        EXPECT_EQ(lrvb("predict fit.json moved.csv").out, lrvb("predict fit.json d.csv").out) << list;
    }
    EXPECT_EQ(columns_of("mixture d.csv -k 1 --weights c -c -kind"), json({"a,b", "y"}));
}

TEST_F(ColumnLists, ARegressionLeavesOutAndKeepsItsResponse) {
    EXPECT_EQ(columns_of("regression d.csv --response y -c -kind"), json({"a,b", "c"}));
    EXPECT_EQ(columns_of("regression d.csv --response y -c 1-4"), json({"a,b", "c", "kind"}));
    EXPECT_EQ(columns_of("regression d.csv --response 3 -c -1"), json({"c", "kind"}));
    EXPECT_EQ(lrvb("predict fit.json d.csv").code, 0);
}

TEST_F(ColumnLists, BadOnesAreOneSentence) {
    for (const auto& [list, says] : std::vector<std::pair<std::string, std::string>>{
             {"3-1", "d.csv: the range '3-1' runs backwards: write it as 1-3"},
             {"1-9", "d.csv: there is no column '1-9'"},
             {"-nobody", "d.csv: there is no column 'nobody'"},
             {"-1-4", "d.csv: all columns are left out"},
             {"'\"a,b'", "a quote is opened but never closed"}}) {
        const Result result = lrvb("fit mixture d.csv -k 1 -o fit.json -c " + list);
        EXPECT_NE(result.code, 0) << list;
        EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
        EXPECT_EQ(files(), (std::set<std::string>{"d.csv"}));
    }
}

}  // namespace
}  // namespace lrvb::testing
