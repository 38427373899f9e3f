#include "cli/options.hpp"

#include "base/files.hpp"
#include "base/output_guard.hpp"
#include "data/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace lrvb::cli {

namespace {

// A whole number and its unit.
std::size_t bytes_of(const std::string& size) {
    constexpr std::string_view units = "KMGT";
    std::size_t number = 0;
    const char* const end = size.data() + size.size();
    const std::from_chars_result result = std::from_chars(size.data(), end, number);
    const std::size_t unit = result.ptr + 1 == end ? units.find(*result.ptr) : std::string_view::npos;
    const std::size_t shift = 10 * (unit + 1);
    if (result.ec != std::errc() || unit == std::string_view::npos || number == 0 ||
        (number << shift) >> shift != number) {
        throw UsageError(
            fmt::format("--memory '{}' is no size: give a whole number with K, M, G or T, such as 512M", size));
    }
    return number << shift;
}

// Whether two outputs, which need not exist, are one; "-" is one as well.
bool same_file(const std::string& left, const std::string& right) {
    if (left.empty() || right.empty()) return false;
    if (left == right) return true;
    if (left == "-" || right == "-") return false;
    std::error_code error;
    const std::filesystem::path one = std::filesystem::weakly_canonical(detail::end_of_links(left), error);
    if (error) return false;
    const std::filesystem::path other = std::filesystem::weakly_canonical(detail::end_of_links(right), error);
    // A relative path of nothing that exists stays relative.
    return !error && (std::filesystem::absolute(one, error) == std::filesystem::absolute(other, error) ||
                      std::filesystem::equivalent(one, other, error));
}

RankOptions
    ranks_here;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the process is one of them, or not

}  // namespace

void set_ranks(RankOptions ranks) {
    ranks_here = std::move(ranks);
}

void require_shared_rows(const Kind& kind) {
    if (!ranks_here.crew || !kind.row_questions().empty()) return;
    throw std::runtime_error(fmt::format(
        "a {} needs all rows in one process, so that they cannot be shared out among ranks: fit it by lrvb instead of "
        "lrvb-mpi",
        kind.name()));
}

OptionInfo fit_argument() {
    return OptionInfo{"FIT", "A fit file, as 'lrvb fit … -o FIT' writes it; - for standard input",
                      OptionInfo::Type::file}
        .require();
}

OptionInfo fitted_data() {
    return OptionInfo{"DATA", "The data that was fitted: CSV, .npy, or - for standard input", OptionInfo::Type::files}
        .require();
}

OptionInfo format_option() {
    return OptionInfo::choice("--format", {"table", "csv", "json"},
                              "table for people (default), csv or json for programs");
}

OptionInfo threads_option() {
    return OptionInfo::whole("--threads", 1, 1024, "Threads (default: as many as there are cores)");
}

OptionInfo memory_option() {
    return {"--memory",
            "Most of the data that is kept in memory, such as 512M or 2G; more is read again whenever it is needed "
            "(default 256M)",
            OptionInfo::Type::text,
            false,
            {},
            "SIZE"};
}

OptionInfo level_option(const std::string& help) {
    return OptionInfo::number("--level", 1e-6, 0.999999, "from 0.000001 to 0.999999, such as 0.95", help);
}

OptionInfo na_option() {
    OptionInfo option{"--na", "Texts that mean a missing value, besides nothing, NA and NaN, separated by commas"};
    option.type = OptionInfo::Type::list;
    return option;
}

OptionInfo seconds_option(const std::string& help) {
    return OptionInfo::number("--seconds", 0.1, 1e6, "between 0.1 and 1000000", help);
}

OptionInfo seed_option(const std::string& help) {
    return {"--seed", help, OptionInfo::Type::seed};
}

OptionInfo variables_option() {
    return {"--variables", "Variables to show, separated by commas; mu stands for every mu[…] (default: all)"};
}

OptionInfo all_option(const std::string& these) {
    return OptionInfo::flag("--all", "Show all " + these);
}

OptionInfo output_option(const std::string& help) {
    return {"-o,--output", help, OptionInfo::Type::output};
}

Format format_of(const Settings& settings) {
    const std::string word = settings.text("format", "table");
    return word == "json" ? Format::json : word == "csv" ? Format::csv : Format::table;
}

Dataset data_of(const Settings& settings) {
    DataOptions options;
    if (settings.given("memory")) options.memory = bytes_of(settings.text("memory"));
    options.na = settings.list("na");
    options.crew = ranks_here.crew;
    return {settings.texts("DATA"), options};
}

std::vector<std::string> files_of(const Settings& settings, const std::vector<std::string>& keys) {
    std::vector<std::string> files;
    for (const std::string& key : keys) {
        for (std::string& file : settings.texts(key)) files.push_back(std::move(file));
    }
    return files;
}

int threads_of(const Settings& settings) {
    const auto cores = ranks_here.crew ? Index{ranks_here.threads}
                                       : static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
    return static_cast<int>(settings.whole("threads", cores));
}

void guard_files(const std::vector<OptionInfo>& options, const Settings& settings) {
    std::vector<std::string> inputs;
    std::vector<std::pair<std::string, std::string>> outputs;  // path and option
    for (const OptionInfo& option : options) {
        if (option.type == OptionInfo::Type::file || option.type == OptionInfo::Type::files) {
            for (std::string& file : settings.texts(option.key())) inputs.push_back(std::move(file));
        } else if (option.type == OptionInfo::Type::output && settings.has(option.key())) {
            outputs.emplace_back(settings.text(option.key()), option.name.substr(0, option.name.find(',')));
        }
    }
    if (std::count(inputs.begin(), inputs.end(), "-") > 1) {
        throw UsageError("only one file can come from standard input: save the other");
    }
    for (const auto& [path, option] : outputs) {
        for (const auto& [other_path, other] : outputs) {
            if (option == other || !same_file(path, other_path)) continue;
            throw UsageError(
                fmt::format("{} and {} name the same file: choose another for one of them", option, other));
        }
        detail::note_output(path, option);
    }
    for (const std::string& file : detail::with_parts(inputs)) detail::note_input(file);
}

void prepare_output(const std::string& output, const std::string& option) {
    if (output.empty()) return;
    detail::note_output(output, option);
    detail::require_writable(output);
}

}  // namespace lrvb::cli
