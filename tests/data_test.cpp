#include "data_files.hpp"
#include "says.hpp"

#include <lrvb/data/npy.hpp>
#include <lrvb/data/table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <utility>

// Tables in memory and NumPy files. The bytes of the files are built here from the format's specification
// (numpy.lib.format), not by the library's own writer, which has its own test.

namespace lrvb {
namespace {

using Numbers = std::vector<double>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(TableSource, GivesAMatrixRowByRow) {
    const Matrix rows{{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}};
    TableSource source(rows);
    EXPECT_EQ(source.columns(), 2);
    EXPECT_EQ(source.rows(), 3);
    EXPECT_EQ(source.name(), "a table in memory");
    for (const Index capacity : {1, 2, 3, 4}) {
        source.rewind();
        EXPECT_EQ(read_all(source, capacity), (Numbers{1, 2, 3, 4, 5, 6}));
    }
    EXPECT_EQ(source.resident()[3], 4.0);
}

TEST(TableSource, TakesAVectorAsOneColumn) {
    TableSource source(Vector{{1.0, 2.0, 3.0}});
    EXPECT_EQ(source.columns(), 1);
    EXPECT_EQ(read_all(source, 2), (Numbers{1, 2, 3}));
}

TEST(TableSource, TakesExpressionsAndPartsOfMatrices) {
    const Matrix rows{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
    TableSource doubled(2.0 * rows);
    EXPECT_EQ(read_all(doubled), (Numbers{2, 4, 6, 8, 10, 12}));
    TableSource part(rows.rightCols(2));
    EXPECT_EQ(read_all(part), (Numbers{2, 3, 5, 6}));
    TableSource transposed(rows.transpose());
    EXPECT_EQ(read_all(transposed), (Numbers{1, 4, 2, 5, 3, 6}));
}

TEST(TableSource, TakesOverRowsWithoutACopy) {
    Numbers rows{1, 2, 3, 4};
    const double* const place = rows.data();
    TableSource source(std::move(rows), 2);
    EXPECT_EQ(source.resident(), place);
    EXPECT_EQ(source.rows(), 2);
}

TEST(TableSource, ViewsRowsWithoutACopy) {
    const Numbers rows{1, 2, 3, 4, 5, 6};
    TableSource source(rows.data(), 2, 3);
    EXPECT_EQ(source.resident(), rows.data());
    EXPECT_EQ(read_all(source), rows);
}

TEST(TableSource, SurvivesItsOriginalWhenCopied) {
    auto original = std::make_unique<TableSource>(Vector{{1.0, 2.0}});
    TableSource copy(*original);
    original.reset();
    EXPECT_EQ(read_all(copy), (Numbers{1, 2}));
}

TEST(TableSource, RefusesWhatIsNoTable) {
    const auto message = [](auto... arguments) {
        return message_of<std::invalid_argument>([&] { TableSource source(arguments...); });
    };
    EXPECT_TRUE(test::says(message(Numbers{1, 2, 3}, 2), {"TableSource", "3", "2"}));
    EXPECT_TRUE(test::says(message(Numbers{1, 2}, 0), {"TableSource", "0", "1", "at least"}));
    EXPECT_TRUE(test::says(message(Numbers{}, 1), {"TableSource", "0", "1", "at least"}));
    EXPECT_TRUE(test::says(message(Matrix(3, 0)), {"TableSource", "0", "1", "at least"}));
    EXPECT_TRUE(test::says(message(static_cast<const double*>(nullptr), 1, 1), {"TableSource", "null"}));
    EXPECT_TRUE(test::says(message(Matrix{{1.0, 2.0}, {3.0, kNaN}}), {"TableSource", "row 2", "column 2", "nan"}));
    double row = 0.0;
    TableSource source(Vector::Ones(1));
    EXPECT_TRUE(test::says(message_of<std::invalid_argument>([&] { source.read(&row, 0); }),
                           {"TableSource", "0", "1", "at least"}));
}

/// A NumPy file with this dictionary in its header, which is padded as numpy.save does.
std::string npy(char version, std::string dictionary, std::string_view data, std::size_t alignment = 64) {
    const std::size_t start = version == 1 ? 10 : 12;
    while ((start + dictionary.size() + 1) % alignment != 0) dictionary += ' ';
    dictionary += '\n';
    std::string bytes = std::string("\x93NUMPY") + version + '\0';
    for (std::size_t i = 0; i < start - 8; ++i) bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
    return bytes + dictionary + std::string(data);
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    std::string bytes(numbers.size() * sizeof(Number), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

std::string dictionary(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
    return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

const std::string kSix = bytes_of(Numbers{1, 2, 3, 4, 5, 6});

TEST(NpySource, ReadsEveryFormatVersionInChunks) {
    const TemporaryDirectory directory;
    for (const char version : {'\1', '\2', '\3'}) {
        NpySource source(directory.write("a.npy", npy(version, dictionary("<f8", "(3, 2)"), kSix)));
        EXPECT_EQ(source.columns(), 2);
        EXPECT_EQ(source.rows(), 3);
        EXPECT_EQ(source.name(), directory.path("a.npy"));
        for (const Index capacity : {1, 2, 3, 4}) {
            source.rewind();
            EXPECT_EQ(read_all(source, capacity), (Numbers{1, 2, 3, 4, 5, 6}));
        }
    }
}

TEST(NpySource, ReadsOneDimensionAsOneColumn) {
    const TemporaryDirectory directory;
    for (const char* const fortran : {"False", "True"}) {
        NpySource source(directory.write("a.npy", npy(1, dictionary("<f8", "(6,)", fortran), kSix)));
        EXPECT_EQ(source.columns(), 1);
        EXPECT_EQ(source.rows(), 6);
        EXPECT_EQ(read_all(source, 4), (Numbers{1, 2, 3, 4, 5, 6}));
    }
}

TEST(NpySource, ConvertsSinglePrecision) {
    const TemporaryDirectory directory;
    const std::string data = bytes_of(std::vector<float>{0.1F, -2.5F, 3e38F, 4.0F});
    NpySource source(directory.write("a.npy", npy(1, dictionary("<f4", "(2, 2)"), data)));
    EXPECT_EQ(read_all(source), (Numbers{static_cast<double>(0.1F), -2.5, static_cast<double>(3e38F), 4.0}));
}

// The bytes of a number in the other order.
template <class Number>
std::string swapped_bytes_of(const std::vector<Number>& numbers) {
    std::string bytes = bytes_of(numbers);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(Number)));
    }
    return bytes;
}

// Both orders of bytes, both orders of numbers, and one column by its number.
template <class Number>
void expect_read(const std::string& type, const std::vector<Number>& numbers) {
    const TemporaryDirectory directory;
    const Numbers doubles(numbers.begin(), numbers.end());
    ASSERT_EQ(numbers.size(), 4U);
    for (const bool swapped : {false, true}) {
        const std::string data = swapped ? swapped_bytes_of(numbers) : bytes_of(numbers);
        const std::string name = (swapped ? ">" : "<") + type;
        NpySource rows(directory.write("a.npy", npy(1, dictionary(name, "(2, 2)"), data)));
        EXPECT_EQ(read_all(rows, 1), doubles) << name;
        NpySource columns(directory.write("b.npy", npy(1, dictionary(name, "(2, 2)", "True"), data)));
        EXPECT_EQ(read_all(columns), (Numbers{doubles[0], doubles[2], doubles[1], doubles[3]})) << name;
        NpySource second(directory.path("a.npy"), {"2"});
        EXPECT_EQ(read_all(second), (Numbers{doubles[1], doubles[3]})) << name;
        NpySource line(directory.write("c.npy", npy(1, dictionary(name, "(4,)"), data)));
        EXPECT_EQ(line.columns(), 1);
        EXPECT_EQ(read_all(line, 3), doubles) << name;
    }
}

TEST(NpySource, ConvertsEveryTypeOfNumberInEitherOrderOfBytes) {
    expect_read<double>("f8", {1.5, -0.0, 1e300, 5e-324});
    expect_read<float>("f4", {1.5F, -2.25F, 1e30F, 1e-45F});
    expect_read<std::int8_t>("i1", {-128, -1, 0, 127});
    expect_read<std::uint8_t>("u1", {0, 1, 128, 255});
    expect_read<std::int16_t>("i2", {-32768, -1, 258, 32767});
    expect_read<std::uint16_t>("u2", {0, 1, 258, 65535});
    expect_read<std::int32_t>("i4", {-2147483647 - 1, -1, 16909060, 2147483647});
    expect_read<std::uint32_t>("u4", {0, 1, 16909060, 4294967295U});
    expect_read<std::int64_t>("i8", {-(std::int64_t{1} << 53), -1, 72057594037927, std::int64_t{1} << 53});
    expect_read<std::uint64_t>("u8", {0, 1, 72057594037927U, std::uint64_t{1} << 53U});
}

// The values that IEEE 754 gives these bits.
TEST(NpySource, ConvertsHalfPrecision) {
    const TemporaryDirectory directory;
    const std::vector<std::uint16_t> bits{0x3C00, 0xC000, 0x7BFF, 0x0001, 0x0400, 0x3555, 0x8000, 0x03FF};
    const Numbers expected{
        1.0, -2.0, 65504.0, std::ldexp(1.0, -24), std::ldexp(1.0, -14), 1365.0 / 4096.0, -0.0, std::ldexp(1023.0, -24)};
    NpySource source(directory.write("a.npy", npy(1, dictionary("<f2", "(8,)"), bytes_of(bits))));
    EXPECT_EQ(read_all(source), expected);
    NpySource other(directory.write("b.npy", npy(1, dictionary(">f2", "(8,)"), swapped_bytes_of(bits))));
    EXPECT_EQ(read_all(other), expected);
    NpySource infinite(
        directory.write("c.npy", npy(1, dictionary("<f2", "(1,)"), bytes_of(std::vector<std::uint16_t>{0xFC00}))));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { read_all(infinite); }),
                           {directory.path("c.npy"), "row 1", "column 1", "inf", "correct"}));
}

TEST(NpySource, TakesBooleansAsZeroAndOne) {
    const TemporaryDirectory directory;
    NpySource source(directory.write("a.npy", npy(1, dictionary("|b1", "(2, 2)"), std::string("\0\1\1\0", 4))));
    EXPECT_EQ(read_all(source), (Numbers{0, 1, 1, 0}));
}

TEST(NpySource, RefusesWholeNumbersThatADoubleMayNotHold) {
    const TemporaryDirectory directory;
    const auto refusal = [&](const std::string& type, const std::string& data) {
        const std::string path = directory.write("a.npy", npy(1, dictionary(type, "(2, 1)"), data));
        NpySource source(path);
        return message_of<std::runtime_error>([&] { read_all(source); }).substr(path.size());
    };
    const std::vector<std::string> words{"row 2", "column 1", "2^53", "save", "array.astype('<f8')"};
    constexpr std::int64_t most = std::int64_t{1} << 53;
    EXPECT_TRUE(test::says(refusal("<i8", bytes_of(std::vector<std::int64_t>{0, most + 1})), words));
    EXPECT_TRUE(test::says(refusal("<i8", bytes_of(std::vector<std::int64_t>{0, -most - 1})), words));
    EXPECT_TRUE(test::says(refusal(">u8", swapped_bytes_of(std::vector<std::uint64_t>{0, ~std::uint64_t{0}})), words));
}

TEST(NpySource, ReadsFortranOrder) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.npy", npy(1, dictionary("<f8", "(3, 2)", "True"), kSix));
    NpySource source(path);
    EXPECT_EQ(read_all(source, 2), (Numbers{1, 4, 2, 5, 3, 6}));
    NpySource second(path, {"2"});
    EXPECT_EQ(read_all(second), (Numbers{4, 5, 6}));
}

TEST(NpySource, SelectsColumnsByNumberInTheOrderGiven) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.npy", npy(1, dictionary("<f8", "(2, 3)"), kSix));
    NpySource source(path, {"3", "1"});
    EXPECT_EQ(source.columns(), 2);
    EXPECT_EQ(read_all(source), (Numbers{3, 1, 6, 4}));
    EXPECT_TRUE(test::says(message_of<std::invalid_argument>([&] { NpySource(path, {"4"}); }),
                           {path, "'4'", "'1'", "'2'", "'3'", "1", "3", "numbers", "give"}));
    EXPECT_TRUE(test::says(message_of<std::invalid_argument>([&] {
                               NpySource(path, {"2", "2"});
                           }),
                           {path, "'2'", "column 2", "twice", "select"}));
}

TEST(NpySource, ReadsNumbersThatAreNotAligned) {
    const TemporaryDirectory directory;
    const std::string file = npy(1, dictionary("<f8", "(3L, 2L)") + " ", kSix, 1);
    ASSERT_NE((file.size() - kSix.size()) % 8, 0U);
    NpySource source(directory.write("a.npy", file));
    EXPECT_EQ(read_all(source), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(NpySource, KeepsItsPlaceOverManyReads) {
    const TemporaryDirectory directory;
    const Index rows = 1'500'000;  // 24 MB
    Numbers numbers(static_cast<std::size_t>(2 * rows));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
    write_npy(directory.path("a.npy"), rows, 2, numbers.data());
    NpySource source(directory.path("a.npy"));
    for (int round = 0; round < 2; ++round) {
        source.rewind();
        EXPECT_EQ(read_all(source, 4096), numbers);
    }
}

TEST(NpySource, RefusesNumbersThatAreNotFinite) {
    const TemporaryDirectory directory;
    const std::string data = bytes_of(Numbers{1, 2, 3, kInfinity});
    NpySource source(directory.write("a.npy", npy(1, dictionary("<f8", "(2, 2)"), data)));
    Numbers row(2);
    EXPECT_EQ(source.read(row.data(), 1), 1);
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { source.read(row.data(), 1); }),
                           {source.name(), "row 2", "column 2", "inf", "correct"}));
}

struct BadFile {
    std::string name;
    std::string bytes;
    std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& stream, const BadFile& bad) {
    return stream << bad.name;
}

class BadNpy : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadNpy, IsRefusedInOneSentenceWithTheFile) {
    const TemporaryDirectory directory;
    const std::string path = directory.write("a.npy", GetParam().bytes);
    const std::string message = message_of<std::runtime_error>([&] { NpySource source(path); });
    EXPECT_EQ(message.find(path + ": "), 0U) << message;
    EXPECT_TRUE(test::says(message.substr(path.size()), GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Data, BadNpy,
    ::testing::Values(
        BadFile{"Empty", "", {"NumPy", "empty", "write"}}, BadFile{"Text", "x,y\n1,2\n3,4\n", {"NumPy", "write"}},
        BadFile{"WrongMagic", "\x93NUMPI" + kSix, {"NumPy", "write"}},
        BadFile{"OnlyMagic", "\x93NUM", {"header", "truncated", "write"}},
        BadFile{
            "HalfAHeader", npy(1, dictionary("<f8", "(3, 2)"), kSix).substr(0, 40), {"header", "truncated", "write"}},
        BadFile{"Version9", npy(9, dictionary("<f8", "(3, 2)"), kSix), {"9.0", "1.0", "2.0", "3.0", "NumPy", "write"}},
        BadFile{"Truncated",
                npy(1, dictionary("<f8", "(3, 2)"), kSix.substr(1)),
                {"3 × 2", "47", "8", "header", "truncated", "numbers", "write"}},
        BadFile{"MoreThanCanBeCounted",
                npy(1, dictionary("<f8", "(4611686018427387904, 4)"), kSix),
                {"4611686018427387904 × 4", "48", "8", "header", "truncated", "numbers", "write"}},
        BadFile{"Complex", npy(1, dictionary("<c16", "(3, 1)"), kSix), {"'<c16'", "'<f8'", "numbers", "save"}},
        BadFile{"LongDouble", npy(1, dictionary("<f16", "(3, 1)"), kSix), {"'<f16'", "'<f8'", "numbers", "save"}},
        BadFile{"NoOrderOfBytes", npy(1, dictionary("|f8", "(3, 2)"), kSix), {"'|f8'", "'<f8'", "numbers", "save"}},
        BadFile{"CutIntegers",
                npy(1, dictionary(">i4", "(13, 1)"), kSix),
                {"13 × 1", "48", "4", "header", "truncated", "numbers", "write"}},
        BadFile{
            "TypeOfTwoLines", npy(1, dictionary("<\n8", "(3, 2)"), kSix), {"'<\\x0a8'", "'<f8'", "numbers", "save"}},
        BadFile{"Records",
                npy(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (6,), }", kSix),
                {"'<f8'", "records", "numbers", "save"}},
        BadFile{"NoRows", npy(1, dictionary("<f8", "(0, 2)"), ""), {"save", "number", "array"}},
        BadFile{"NoColumns", npy(1, dictionary("<f8", "(3, 0)"), ""), {"save", "columns", "number"}},
        BadFile{"NoDimension",
                npy(1, dictionary("<f8", "()"), kSix),
                {"reshape(rows, columns)", "0", "dimensions", "save"}},
        BadFile{"ThreeDimensions",
                npy(1, dictionary("<f8", "(1, 2, 3)"), kSix),
                {"reshape(rows, columns)", "3", "dimensions", "save"}},
        BadFile{"NegativeShape", npy(1, dictionary("<f8", "(-3, 2)"), kSix), {"header", "damaged", "write"}},
        BadFile{
            "HugeShape", npy(1, dictionary("<f8", "(99999999999999999999, 2)"), kSix), {"header", "damaged", "write"}},
        BadFile{"NoShape", npy(1, "{'descr': '<f8', 'fortran_order': False}", kSix), {"header", "damaged", "write"}},
        BadFile{"UnknownKey", npy(1, "{'color': 'red'}", kSix), {"header", "damaged", "write"}},
        BadFile{"OpenString", npy(1, "{'descr: <f8}", kSix), {"header", "damaged", "write"}},
        BadFile{"NoDictionary", npy(1, "", kSix), {"header", "damaged", "write"}},
        BadFile{"TextBehind", npy(1, dictionary("<f8", "(3, 2)") + "x", kSix), {"header", "damaged", "write"}}),
    [](const auto& test) { return test.param.name; });

TEST(NpySource, RefusesWhatIsNoFile) {
    const TemporaryDirectory directory;
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { NpySource(directory.path("none.npy")); }),
                           {directory.path("none.npy"), "check", "directory", "cannot"}));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { NpySource(directory.path("")); }),
                           {directory.path(""), "give", "directory"}));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([] { NpySource("/dev/null"); }), {"/dev/null", "save"}));
}

TEST(WriteNpy, WritesTheFormatToTheByte) {
    const TemporaryDirectory directory;
    const Numbers numbers{1, 2, 3, 4, 5, 6};
    write_npy(directory.path("a.npy"), 3, 2, numbers.data());
    std::ifstream file(directory.path("a.npy"), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(bytes, npy(1, dictionary("<f8", "(3, 2)"), kSix));
}

TEST(WriteNpy, ReplacesAFileAndLeavesNothingBeside) {
    const TemporaryDirectory directory;
    const Numbers numbers{1, 2, 3, 4};
    directory.write("a.npy", "old");
    write_npy(directory.path("a.npy"), 2, 2, numbers.data());
    EXPECT_EQ(directory.list(), std::vector<std::string>{"a.npy"});
    NpySource source(directory.path("a.npy"));
    EXPECT_EQ(read_all(source), numbers);
}

TEST(WriteNpy, LeavesNothingBehindWhenItFails) {
    const TemporaryDirectory directory;
    const double number = 1.0;
    std::filesystem::create_directory(directory.path("a.npy"));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { write_npy(directory.path("a.npy"), 1, 1, &number); }),
                           {directory.path("a.npy"), "give", "directory"}));
    EXPECT_EQ(directory.list(), std::vector<std::string>{"a.npy"});
    EXPECT_TRUE(
        test::says(message_of<std::runtime_error>([&] { write_npy(directory.path("none/a.npy"), 1, 1, &number); }),
                   {directory.path("none/a.npy"), "check", "directory", "cannot"}));
    EXPECT_TRUE(
        test::says(message_of<std::invalid_argument>([&] { write_npy(directory.path("b.npy"), 0, 1, &number); }),
                   {"write_npy", "0", "1", "at least"}));
}

}  // namespace
}  // namespace lrvb
