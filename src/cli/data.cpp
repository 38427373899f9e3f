#include "cli/data.hpp"

#include "cli/arguments.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/data/table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lrvb::cli {

namespace {

constexpr std::size_t kLargestInMemory = std::size_t{1} << 27;  // numbers
constexpr Index kChunk = 1 << 14;                               // rows

bool is_npy(const std::string& path) {
    return path.ends_with(".npy");
}

struct Opened {
    std::shared_ptr<RowSource> source;
    std::vector<std::string> names;
    const CsvSource* csv = nullptr;
};

Opened open(const std::string& path, const std::vector<std::string>& columns, bool drop_missing) {
    Opened opened;
    if (is_npy(path)) {
        auto source = std::make_shared<NpySource>(path, columns);
        opened.names = columns;
        for (Index i = 1; i <= source->columns() && columns.empty(); ++i) opened.names.push_back(fmt::format("{}", i));
        opened.source = std::move(source);
        return opened;
    }
    CsvOptions options;
    options.columns = columns;
    options.missing = drop_missing ? Missing::drop : Missing::refuse;
    auto source = std::make_shared<CsvSource>(path, options);
    opened.names = source->column_names();
    opened.csv = source.get();
    opened.source = std::move(source);
    return opened;
}

// All columns but the one of the weights, which comes last.
std::vector<std::string> with_weights_last(std::vector<std::string> names, const std::string& weights,
                                           const std::string& path) {
    auto found = std::find(names.begin(), names.end(), weights);
    if (found == names.end()) {
        // By number, as columns can be asked for.
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (fmt::format("{}", i + 1) == weights) found = names.begin() + static_cast<std::ptrdiff_t>(i);
        }
    }
    if (found == names.end()) {
        throw std::runtime_error(fmt::format("{}: there is no column '{}' for --weights; the columns are {}", path,
                                             weights, fmt::join(names, ", ")));
    }
    std::rotate(found, found + 1, names.end());
    return names;
}

}  // namespace

void Checksum::add(const double* values, Index count) {
    for (Index i = 0; i < count; ++i) {
        hash_ = (std::rotl(hash_, 5) ^ std::bit_cast<std::uint64_t>(values[i])) * 0x9E3779B97F4A7C15U;
    }
}

std::string Checksum::text() const {
    return fmt::format("{:016x}", hash_ ^ (hash_ >> 32U));
}

void DataOptions::add_to(CLI::App& command) {
    command
        .add_option("DATA", path, "The data: a CSV file with a header, a NumPy file (.npy), or - for standard input")
        ->required();
    command.add_option("-c,--columns", columns,
                       "Columns to use, by name or number, separated by commas (default: all)");
    command.add_flag("--drop-missing", drop_missing, "Leave out rows with a missing value in a used column");
}

Data open_data(const DataOptions& options) {
    std::vector<std::string> columns = options.column_names.empty() ? split(options.columns) : options.column_names;
    if (!options.weights.empty()) {
        if (!columns.empty()) {
            columns.push_back(options.weights);
        } else if (options.path != "-") {
            columns = with_weights_last(open(options.path, {}, true).names, options.weights, options.path);
        } else {
            throw std::runtime_error(
                "--weights on standard input needs to know the other columns as well: name them with -c");
        }
    }
    Opened opened = open(options.path, columns, options.drop_missing);
    Data data;
    data.record.name = opened.source->name();
    data.record.columns = opened.names;
    if (!options.weights.empty()) {
        data.record.weights = opened.names.back();
        data.record.columns.pop_back();
    }

    const Index width = opened.source->columns();
    std::vector<double> kept;
    std::vector<double> chunk(static_cast<std::size_t>(kChunk * width));
    Checksum checksum;
    bool keep = opened.source->resident() == nullptr;
    opened.source->rewind();
    while (const Index count = opened.source->read(chunk.data(), kChunk)) {
        data.record.rows += count;
        checksum.add(chunk.data(), count * width);
        if (keep) kept.insert(kept.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count * width));
        if (kept.size() > kLargestInMemory) {
            keep = false;
            kept = {};
        }
    }
    data.record.checksum = checksum.text();
    if (opened.csv != nullptr) data.record.dropped = opened.csv->dropped();
    if (data.record.rows == 0) {
        throw std::runtime_error(
            fmt::format("{}: every row has a missing value in a used column: use other columns", data.record.name));
    }
    data.source = opened.source;
    if (keep) data.source = std::make_shared<TableSource>(std::move(kept), data.record.name, opened.names);
    return data;
}

std::string checksum_of(const RegressionDesign& design) {
    Checksum checksum;
    checksum.add(design.y.data(), design.y.size());
    checksum.add(design.columns.data(), design.columns.size());
    return checksum.text();
}

void require_data_of(const FitFile& fit, const std::string& path, const std::string& checksum) {
    if (checksum == fit.data.checksum) return;
    throw std::runtime_error(fmt::format(
        "{} does not hold the numbers that were fitted (those of {}): give the data of the fit", path, fit.data.name));
}

std::shared_ptr<RowSource> open_columns(const std::string& path, const std::vector<std::string>& columns,
                                        bool drop_missing) {
    return open(path, columns, drop_missing).source;
}

}  // namespace lrvb::cli
