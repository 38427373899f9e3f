#include "cli/data.hpp"

#include "cli/arguments.hpp"
#include "cli/command.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/data/table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>

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

std::string checksum_of(const RegressionDesign& design) {
    Checksum checksum;
    checksum.add(design.y.data(), design.y.size());
    checksum.add(design.columns.data(), design.columns.size());
    return checksum.text();
}

void require_other_file(const std::string& output, const std::vector<std::string>& inputs, const std::string& option) {
    if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
        throw UsageError("only one file can come from standard input: save the other");
    }
    for (const std::string& input : inputs) {
        std::error_code ignored;
        if (!output.empty() && output != "-" && std::filesystem::is_regular_file(input, ignored) &&
            std::filesystem::equivalent(input, output, ignored)) {
            throw UsageError(fmt::format("{} {} would replace the input: choose another name", option, output));
        }
    }
}

bool same_file(const std::string& left, const std::string& right) {
    if (left.empty() || right.empty()) return false;
    if (left == right) return true;
    if (left == "-" || right == "-") return false;
    std::error_code error;
    const std::filesystem::path one = std::filesystem::weakly_canonical(left, error);
    if (error) return false;
    const std::filesystem::path other = std::filesystem::weakly_canonical(right, error);
    // A relative path of nothing that exists stays relative.
    return !error && (std::filesystem::absolute(one, error) == std::filesystem::absolute(other, error) ||
                      std::filesystem::equivalent(one, other, error));
}

void DataOptions::add_to(CLI::App& command) {
    command
        .add_option("DATA", path, "The data: a CSV file with a header, a NumPy file (.npy), or - for standard input")
        ->required();
    command.add_option("-c,--columns", columns,
                       "Columns to use, by name or number, separated by commas (default: all)");
    command.add_flag("--drop-missing", drop_missing, "Leave out rows with a missing value in a used column");
}

DataSelection DataOptions::selection() const {
    return {path, split(columns), weights, drop_missing};
}

Data open_data(const DataSelection& options) {
    std::vector<std::string> columns = options.columns;
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
    // One by one where rows are left out: then the number of those tells the file's row.
    const bool counts_rows = options.drop_missing && opened.csv != nullptr;
    while (const Index count = opened.source->read(chunk.data(), counts_rows ? 1 : kChunk)) {
        data.record.rows += count;
        if (counts_rows) data.file_rows.push_back(data.record.rows + opened.csv->dropped());
        checksum.add(chunk.data(), count * width);
        if (keep) kept.insert(kept.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count * width));
        if (kept.size() > kLargestInMemory) {
            keep = false;
            kept = {};
        }
    }
    data.record.checksum = checksum.text();
    if (opened.csv != nullptr) data.record.dropped = opened.csv->dropped();
    if (data.record.dropped == 0) data.file_rows.clear();
    if (data.record.rows == 0) {
        throw std::runtime_error(
            fmt::format("{}: every row has a missing value in a used column: use other columns", data.record.name));
    }
    data.source = opened.source;
    if (keep) data.source = std::make_shared<TableSource>(std::move(kept), data.record.name, opened.names);
    return data;
}

void for_each_row(RowSource& source, const std::function<void(const double*)>& visit) {
    const Index width = source.columns();
    std::vector<double> chunk(static_cast<std::size_t>(kChunk * width));
    source.rewind();
    while (const Index count = source.read(chunk.data(), kChunk)) {
        for (Index i = 0; i < count; ++i) visit(chunk.data() + i * width);
    }
}

FrameOptions columns_of(const std::vector<RegressionTerm>& terms, bool drop_missing) {
    FrameOptions options;
    for (const RegressionTerm& term : terms) {
        options.columns.push_back(term.column);
        if (term.is_factor()) options.text.push_back(term.column);
    }
    options.missing = drop_missing ? Missing::drop : Missing::refuse;
    return options;
}

NewRows open_columns(const std::string& path, const std::vector<std::string>& columns, bool drop_missing) {
    const Opened opened = open(path, columns, drop_missing);
    const CsvSource* const csv = opened.csv;
    return {opened.source, [csv] { return csv == nullptr ? Index{0} : csv->dropped(); }};
}

}  // namespace lrvb::cli
