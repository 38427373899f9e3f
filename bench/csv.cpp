// How fast numbers come out of a CSV file: a file of five columns, two of them with 17 digits, is read on one core, and
// so is one a tenth of its size. The time is given relative to that of `wc -l` on the same file, which only looks for
// line ends; memory as what the larger file took beyond the smaller one. All sums must be those of the numbers as
// std::from_chars reads them.
//
// usage: csv [ROWS]      (default 1800000, about 100 MB)

#include <lrvb/data/csv.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using lrvb::Index;

constexpr Index kColumns = 5;
constexpr int kRounds = 5;

double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// The shortest of a few times: what the machine can do when nobody else is at it.
template <class Call>
double seconds_of(Call call) {
    double best = INFINITY;
    for (int round = 0; round < kRounds; ++round) {
        const Clock::time_point start = Clock::now();
        call();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
}

/// A file that goes when the program ends.
class DataFile {
  public:
    explicit DataFile(Index rows) {
        std::string pattern = std::filesystem::temp_directory_path() / "lrvb-bench-XXXXXX";
        const int descriptor = ::mkstemp(pattern.data());
        if (descriptor < 0) throw std::runtime_error("cannot make " + pattern);
        ::close(descriptor);
        path_ = pattern;
        write(rows);
    }
    ~DataFile() { std::remove(path_.c_str()); }
    DataFile(const DataFile&) = delete;
    DataFile& operator=(const DataFile&) = delete;

    const std::string& path() const { return path_; }
    double sum() const { return sum_; }
    double megabytes() const { return static_cast<double>(std::filesystem::file_size(path_)) / 1e6; }

  private:
    void write(Index rows) {
        std::ofstream file(path_, std::ios::binary);
        file << "income,height,score,age,balance\n";
        std::mt19937_64 random(1);
        std::normal_distribution<double> normal;
        std::string line;
        for (Index row = 0; row < rows; ++row) {
            line.clear();
            append(line, "{:.17g}", 1e4 * normal(random), ',');
            append(line, "{:.2f}", 170.0 + 10.0 * normal(random), ',');
            append(line, "{:.6f}", normal(random), ',');
            append(line, "{:.0f}", std::abs(30.0 * normal(random)), ',');
            append(line, "{:.17g}", normal(random), '\n');
            file << line;
        }
        if (!file.flush()) throw std::runtime_error("cannot write " + path_);
    }

    void append(std::string& line, const char* format, double number, char end) {
        const std::size_t begin = line.size();
        fmt::format_to(std::back_inserter(line), fmt::runtime(format), number);
        double written = 0.0;
        std::from_chars(line.data() + begin, line.data() + line.size(), written);
        sum_ += written;
        line += end;
    }

    std::string path_;
    double sum_ = 0.0;
};

double sum_of(const std::string& path) {
    constexpr Index capacity = 4096;
    lrvb::CsvSource source(path);
    std::vector<double> chunk(static_cast<std::size_t>(capacity * kColumns));
    double sum = 0.0;
    while (const Index count = source.read(chunk.data(), capacity)) {
        for (Index i = 0; i < count * kColumns; ++i) sum += chunk[static_cast<std::size_t>(i)];
    }
    return sum;
}

void count_lines(const std::string& path) {
    std::FILE* const output = ::popen(("wc -l " + path).c_str(), "r");
    if (output == nullptr) throw std::runtime_error("cannot run wc");
    while (std::fgetc(output) != EOF) continue;
    if (::pclose(output) != 0) throw std::runtime_error("wc failed");
}

void compare(Index most) {
    fmt::print("{:>9} {:>7} {:>14} {:>7} {:>9}\n", "rows", "MB", "time / wc -l", "MB/s", "peak MB");
    double small_peak = 0.0;
    for (const Index rows : {most / 10, most}) {
        const DataFile file(rows);
        const double counting = seconds_of([&] { count_lines(file.path()); });
        double sum = 0.0;
        const double reading = seconds_of([&] { sum = sum_of(file.path()); });
        if (sum != file.sum()) throw std::runtime_error("the numbers read are not those written");
        fmt::print("{:>9} {:>7.0f} {:>14.1f} {:>7.0f} {:>9.1f}\n", rows, file.megabytes(), reading / counting,
                   file.megabytes() / reading, peak_megabytes());
        if (small_peak == 0.0) small_peak = peak_megabytes();
    }
    fmt::print("memory for ten times the rows: {:+.1f} MB\n", peak_megabytes() - small_peak);
}

}  // namespace

int main(int argc, char** argv) {
    const Index most = argc > 1 ? std::atol(argv[1]) : 1800000;
    try {
        if (most < 10) throw std::runtime_error("rows must be a whole number from 10");
        compare(most);
    } catch (const std::exception& error) {
        fmt::print(stderr, "csv: {}\n", error.what());
        return 1;
    }
    return 0;
}
