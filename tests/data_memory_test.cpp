// One rule: of a file's numbers no more is kept in memory than was allowed, the rest is read again whenever it is
// needed; the answers are the same to the last bit, and the program grows no further with the file.

#include "data_files.hpp"
#include "memory.hpp"
#include "says.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/mixture/model.hpp>

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <thread>

namespace lrvb {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Numbers of two clusters, the same for the same place.
double number_at(std::size_t place) {
    return std::sin(static_cast<double>(place)) + (place % 3 == 0 ? 6.0 : 0.0);
}

// A NumPy file of any type and order, written in pieces. Blocks of a million numbers repeat, which costs less than to
// make as many.
template <class Number>
void write_numbers(const std::string& path, const std::string& type, Index rows, Index columns, bool fortran) {
    constexpr std::size_t block = 1'000'000;
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}, {}), }}", type,
                                     fortran ? "True" : "False", rows, columns);
    header.resize(117, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00\x76\x00", 10);
    file << header;
    std::vector<Number> numbers(block);
    for (std::size_t i = 0; i < block; ++i) numbers[i] = static_cast<Number>(number_at(i));
    for (std::size_t left = static_cast<std::size_t>(rows * columns); left > 0;) {
        const std::size_t count = std::min(left, block);
        file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(count * sizeof(Number)));
        left -= count;
    }
}

void write_rows(const std::string& path, Index rows) {
    constexpr Index block = 10'000;
    std::string text;
    for (Index i = 0; i < block; ++i) {
        const auto place = static_cast<std::size_t>(2 * i);
        text += fmt::format("{:.3f},{:.3f}\n", number_at(place), number_at(place + 1));
    }
    std::ofstream file(path, std::ios::binary);
    file << "x,y\n";
    for (Index left = rows; left > 0; left -= block) file << text;
}

// The text of a fit file.
std::string fit_text(const std::string& path, std::size_t memory, const Settings& settings) {
    const TemporaryDirectory folder;
    const auto fitted = find_kind("mixture")->fit({Dataset(path, {memory}), settings, {}, 2});
    write_fit(folder.path("fit.json"), fitted->file());
    std::ifstream stream(folder.path("fit.json"));
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(DataMemory, AStreamedFitIsTheKeptOneToTheBit) {
    const TemporaryDirectory folder;
    const Index rows = 5000;
    write_rows(folder.path("a.csv"), 10'000);
    write_numbers<double>(folder.path("c.npy"), "<f8", rows, 3, false);
    write_numbers<double>(folder.path("fortran.npy"), "<f8", rows, 3, true);
    write_numbers<float>(folder.path("single.npy"), "<f4", rows, 3, false);
    std::string text = "x,y,w\n";
    for (int i = 0; i < 3000; ++i) {
        text += fmt::format("{},{},{}\n", i % 7 == 0 ? "NA" : fmt::format("{}", number_at(static_cast<std::size_t>(i))),
                            i % 5, i % 3);
    }
    const std::string missing = folder.write("missing.csv", text);
    const Settings all{{"components", "2"}, {"restarts", "2"}};
    const Settings chosen{{"components", "2"}, {"columns", "3,1"}, {"restarts", "2"}};
    EXPECT_EQ(fit_text(folder.path("a.csv"), 1, all), fit_text(folder.path("a.csv"), kDataMemory, all));
    for (const char* const name : {"c.npy", "fortran.npy", "single.npy"}) {
        const std::string path = folder.path(name);
        EXPECT_EQ(fit_text(path, 1, all), fit_text(path, kDataMemory, all)) << name;
        EXPECT_EQ(fit_text(path, 1, chosen), fit_text(path, kDataMemory, chosen)) << name;
    }
    const Settings dropped{{"components", "2"}, {"columns", "x"}, {"weights", "w"}, {"drop-missing", "true"}};
    EXPECT_EQ(fit_text(missing, 1, dropped), fit_text(missing, kDataMemory, dropped));
}

TEST(DataMemory, WhatFitsIsKeptAndWhatDoesNotIsNot) {
    const TemporaryDirectory folder;
    write_numbers<double>(folder.path("a.npy"), "<f8", 100, 2, false);
    EXPECT_NE(Dataset(folder.path("a.npy"), {1600}).rows({}).source->resident(), nullptr);
    EXPECT_EQ(Dataset(folder.path("a.npy"), {1599}).rows({}).source->resident(), nullptr);
}

TEST(DataMemory, AFileThatIsCutShortIsRefusedInASentence) {
    const TemporaryDirectory folder;
    const std::string path = folder.path("a.npy");
    write_numbers<double>(path, "<f8", 1000, 1, false);
    NpySource source(path);
    std::vector<double> chunk(1000);
    EXPECT_EQ(source.read(chunk.data(), 10), 10);
    std::filesystem::resize_file(path, 400);
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { source.read(chunk.data(), 990); }),
                           {path, "400", "8128", "let nothing"}));
}

TEST(DataMemory, ACsvFileThatChangesBetweenPassesIsRefusedInASentence) {
    const TemporaryDirectory folder;
    const std::string path = folder.path("a.csv");
    const Index rows = 200'000;  // longer than what is read at a time
    for (const auto& [change, says] : {std::pair(Index{10'000}, "more"), std::pair(Index{-10'000}, "fewer")}) {
        write_rows(path, rows);
        const DataRows data = Dataset(path, {1}).rows({});
        MixtureSpecification specification;
        specification.components = 1;
        const MixtureModel model(data.source, specification);
        write_rows(path, rows + change);
        EXPECT_EQ(
            message_of<std::runtime_error>([&] { fit(model); }),
            fmt::format("{}: has {} rows than the 200000 that it had at first: let nothing change it while it is read",
                        path, says));
    }
}

// A named pipe that somebody fills.
class FilledPipe {
  public:
    FilledPipe(std::string path, std::string text) : path_(std::move(path)) {
        if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("no pipe");
        std::signal(SIGPIPE, SIG_IGN);
        writer_ = std::thread([this, own = std::move(text)] { std::ofstream(path_) << own; });
    }
    ~FilledPipe() { writer_.join(); }
    FilledPipe(const FilledPipe&) = delete;
    FilledPipe& operator=(const FilledPipe&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    std::thread writer_;
};

std::string numbers_text(int rows) {
    std::string text = "x\n";
    for (int i = 0; i < rows; ++i) text += fmt::format("{}\n", number_at(static_cast<std::size_t>(i)));
    return text;
}

TEST(DataMemory, APipeIsKeptOnceAsNumbers) {
    const TemporaryDirectory folder;
    const std::string text = numbers_text(5000);
    const FilledPipe pipe(folder.path("pipe"), text);
    const DataRows through = Dataset(pipe.path(), {40'000}).rows({});
    EXPECT_EQ(through.record.rows, 5000);
    EXPECT_EQ(through.record.checksum, Dataset(folder.write("a.csv", text)).rows({}).record.checksum);
    EXPECT_NE(through.source->resident(), nullptr);
}

TEST(DataMemory, APipeThatHoldsMoreIsRefusedInASentence) {
    const TemporaryDirectory folder;
    const FilledPipe pipe(folder.path("pipe"), numbers_text(5000));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { Dataset(pipe.path(), {39'999}).rows({}); }),
                           {pipe.path(), "--memory", "39999", "twice", "pipe", "save"}));
}

TEST(DataMemory, ASourceCanReadAPipeAgainUnlessItWasToReadItOnce) {
    const TemporaryDirectory folder;
    const std::string text = numbers_text(3000);
    CsvSource file(folder.write("a.csv", text));
    const std::vector<double> numbers = read_all(file);
    {
        const FilledPipe pipe(folder.path("again"), text);
        CsvSource source(pipe.path(), {.block = 1000});
        EXPECT_TRUE(source.can_go_back());
        for (int round = 0; round < 3; ++round) {
            source.rewind();
            EXPECT_EQ(read_all(source, 70), numbers);
        }
    }
    const FilledPipe pipe(folder.path("once"), text);
    CsvSource source(pipe.path(), {.block = 1000, .read_once = true});
    EXPECT_FALSE(source.can_go_back());
    source.rewind();  // nothing has been passed yet
    EXPECT_EQ(read_all(source, 70), numbers);
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { source.rewind(); }), {pipe.path(), "save"}));
}

TEST(CsvSource, ReadsAColumnLast) {
    const TemporaryDirectory folder;
    const std::string path = folder.write("a.csv", "a,b,c\n1,2,3\n4,5,6\n");
    CsvSource all(path, {.last = "b"});
    EXPECT_EQ(read_all(all), (std::vector<double>{1, 3, 2, 4, 6, 5}));
    CsvSource chosen(path, {.columns = {"c"}, .last = "1"});
    EXPECT_EQ(read_all(chosen), (std::vector<double>{3, 1, 6, 4}));
    EXPECT_EQ(chosen.column_names(), (std::vector<std::string>{"c", "a"}));
}

#ifndef LRVB_MEMORY_IS_NOT_OURS
constexpr double kBesides = 100.0;  // megabytes: the program, buffers, starts

void fit_within(const std::string& path, std::size_t memory, const Settings& settings) {
    const auto fitted = find_kind("mixture")->fit({Dataset(path, {memory}), settings, {}, 2});
    const double peak = test::peak_megabytes();
    const double most = static_cast<double>(memory) / static_cast<double>(kMegabyte) + kBesides;
    const bool converged = fitted->file().converged();
    fmt::print(stderr, "{}, peak memory {:.0f} MB of {:.0f}\n", converged ? "converged" : "failed", peak, most);
    std::exit(converged && peak < most ? 0 : 1);
}

// In a process of its own, whose peak is not that of other tests.
void expect_within(const std::string& path, std::size_t memory, const Settings& settings) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fit_within(path, memory, settings), ::testing::ExitedWithCode(0), "converged");
}

const Settings kOne{{"components", "1"}};
const Settings kSecondColumn{{"components", "1"}, {"columns", "2"}};

TEST(DataMemory, AMillionRowsStayWithinIt) {
    const TemporaryDirectory folder;
    for (const Index columns : {1, 2}) {
        write_numbers<double>(folder.path("a.npy"), "<f8", 1'000'000, columns, false);
        expect_within(folder.path("a.npy"), kDataMemory, kOne);
        expect_within(folder.path("a.npy"), kMegabyte, kOne);
    }
    write_rows(folder.path("a.csv"), 1'000'000);
    expect_within(folder.path("a.csv"), kDataMemory, kOne);
    expect_within(folder.path("a.csv"), kMegabyte, kOne);
}

// 160 MB of numbers, which would not stay unnoticed.
TEST(DataMemory, TenMillionRowsOfANumpyFileStayWithinIt) {
    const TemporaryDirectory folder;
    const std::string path = folder.path("a.npy");
    write_numbers<double>(path, "<f8", 10'000'000, 2, false);
    expect_within(path, kMegabyte, kOne);
    expect_within(path, kMegabyte, kSecondColumn);
    write_numbers<float>(path, "<f4", 10'000'000, 2, false);
    expect_within(path, kMegabyte, kOne);
    write_numbers<double>(path, "<f8", 10'000'000, 2, true);
    expect_within(path, kMegabyte, kOne);
}

TEST(DataMemory, TenMillionRowsOfACsvFileStayWithinIt) {
    const TemporaryDirectory folder;
    write_rows(folder.path("a.csv"), 10'000'000);
    expect_within(folder.path("a.csv"), kMegabyte, kOne);
}

// While they are kept, the numbers move to larger places: never to more than what is allowed, together.
TEST(DataMemory, TenMillionRowsThatAreKeptStayWithinItToo) {
    const TemporaryDirectory folder;
    write_numbers<double>(folder.path("a.npy"), "<f8", 10'000'000, 2, false);
    expect_within(folder.path("a.npy"), 200 * kMegabyte, kOne);
}
#endif

}  // namespace
}  // namespace lrvb
