#include "data_files.hpp"
#include "says.hpp"
#include "support.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/dataset.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

// CSV files packed by gzip. They are packed by the program gzip, which knows nothing of the library.

namespace lrvb {
namespace {

using Numbers = std::vector<double>;

class Gzip : public ::testing::Test {
  protected:
    std::string path(const std::string& name) const { return folder_.path(name); }

    /// Packs a text; the file's name says nothing of it.
    std::string packed(const std::string& name, const std::string& text) const {
        const std::string plain = folder_.write("plain", text);
        run("gzip -c '" + plain + "' > '" + path(name) + "'");
        return path(name);
    }
    static std::string bytes_of(const std::string& file) {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    }
    static void run(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

    static std::string refusal(const std::string& file, std::size_t block = std::size_t{1} << 20) {
        CsvOptions options;
        options.block = block;
        return message_of<std::runtime_error>([&] {
                   CsvSource source(file, options);
                   read_all(source);
               })
            .substr(file.size());
    }

    static std::string many_rows(int rows) {
        std::string text = "x,y\n";
        for (int i = 0; i < rows; ++i)
            text += std::to_string(i % 97) + "." + std::to_string(i % 13) + "," + std::to_string(i) + "\n";
        return text;
    }

    const TemporaryDirectory folder_;
};

TEST_F(Gzip, IsReadAsThePlainFileIsInBlocksOfAnySizeAndAgain) {
    const std::string text = "x,y\n1,2\n3,4\n5,6\n";
    const std::string file = packed("a.csv", text);
    for (const std::size_t block : kBlocks) {
        CsvOptions options;
        options.block = block;
        CsvSource source(file, options);
        for (int pass = 0; pass < 3; ++pass) {
            EXPECT_EQ(read_all(source, 2), (Numbers{1, 2, 3, 4, 5, 6})) << block;
            source.rewind();
        }
    }
}

TEST_F(Gzip, ManyPassesOverMoreThanABlockGiveTheSameNumbers) {
    const std::string text = many_rows(100000);
    CsvSource plain(folder_.write("a.csv", text));
    const Numbers expected = read_all(plain);
    CsvOptions options;
    options.block = 5000;
    CsvSource source(packed("b.csv", text), options);
    for (int pass = 0; pass < 2; ++pass) {
        EXPECT_EQ(read_all(source), expected);
        source.rewind();
    }
    // Given up in the middle.
    std::vector<double> some(2 * 50);
    source.read(some.data(), 50);
    source.rewind();
    EXPECT_EQ(read_all(source), expected);
}

TEST_F(Gzip, SeveralMembersAreOneFile) {
    const std::string first = bytes_of(packed("a", "x\n1\n2"));
    const std::string second = bytes_of(packed("b", "3\n4\n"));
    CsvSource source(folder_.write("c.csv", first + second));
    EXPECT_EQ(read_all(source), (Numbers{1, 23, 4}));
    CsvSource padded(folder_.write("d.csv", first + std::string(1000, '\0')));
    EXPECT_EQ(read_all(padded), (Numbers{1, 2}));
}

TEST_F(Gzip, DamageIsRefusedInOneSentence) {
    const std::string whole = bytes_of(packed("a", many_rows(1000)));
    const std::string cut = ": is a gzip file that is cut short: copy or write it again";
    for (const std::size_t size :
         {whole.size() - 1, whole.size() - 9, whole.size() / 2, std::size_t{12}, std::size_t{2}}) {
        EXPECT_EQ(refusal(folder_.write("cut.csv.gz", whole.substr(0, size))), cut) << size;
        EXPECT_EQ(refusal(folder_.write("cut.csv.gz", whole.substr(0, size)), 7), cut) << size;
    }
    std::string other_sum = whole;
    other_sum[whole.size() - 8] = static_cast<char>(other_sum[whole.size() - 8] ^ 1);
    EXPECT_TRUE(test::says(refusal(folder_.write("sum.csv.gz", other_sum)), {"data check", "gzip", "copy"}));
    EXPECT_TRUE(test::says(refusal(folder_.write("more.csv.gz", whole + "and more")), {"follows", "gzip", "copy"}));
    std::string damaged = whole;
    for (std::size_t at = 20; at < 60; ++at) damaged[at] = '\xFF';
    EXPECT_NE(refusal(folder_.write("damaged.csv.gz", damaged)).find("gzip file"), std::string::npos);
}

TEST_F(Gzip, WhatIsInItIsRefusedAsEver) {
    EXPECT_TRUE(test::says(refusal(packed("a.csv", "")), {"empty", "numbers", "give"}));
    EXPECT_TRUE(
        test::says(refusal(packed("b.csv", "x\n1\nfoo\n")), {"'x'", "'foo'", "row 2", "NA", "missing", "correct"}));
}

TEST_F(Gzip, ADatasetOfItIsThatOfThePlainFileWithAnyMemory) {
    const std::string text = many_rows(20000);
    const std::string plain = folder_.write("a.csv", text);
    const std::string gzip = packed("b.csv", text);
    const DataRows expected = Dataset(plain).rows({});
    for (const std::size_t memory : {kDataMemory, std::size_t{1000}}) {
        const DataRows rows = Dataset(gzip, {.memory = memory}).rows({});
        EXPECT_EQ(rows.record.checksum, expected.record.checksum);
        rows.source->rewind();
        expected.source->rewind();
        EXPECT_EQ(read_all(*rows.source), read_all(*expected.source));
    }
}

// A thousand times smaller than what is in it.
TEST_F(Gzip, ATableThatUnpacksToMoreThanTheMemoryIsRefused) {
    std::string text = "x,y\n";
    for (int i = 0; i < 1000000; ++i) text += "0,0\n";
    const std::string file = packed("a.csv", text);
    ASSERT_LT(bytes_of(file).size(), 10000U);
    FrameOptions options;
    options.memory = std::size_t{1} << 20;
    const std::string says = message_of<std::runtime_error>([&] { read_frame(file, options); });
    EXPECT_EQ(says, file +
                        ": holds more, when it is unpacked, than the 1 MB that may be kept of it in memory: unpack it "
                        "to a file and give that, or allow more (--memory)");
    options.memory = std::size_t{64} << 20;
    EXPECT_EQ(read_frame(file, options).rows, 1000000);
}

TEST_F(Gzip, ATableWithTextIsReadTwice) {
    const DataFrame frame = read_frame(packed("a.csv", "x,kind\n1,u\n2,v\n3,u\n"));
    EXPECT_EQ(frame.columns[1].levels, (std::vector<std::string>{"u", "v"}));
    EXPECT_EQ(frame.columns[0].numbers, (Vector{{1.0, 2.0, 3.0}}));
}

}  // namespace
}  // namespace lrvb
