#pragma once

#include <lrvb/kind/fit_file.hpp>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// How results are shown.
namespace lrvb::cli {

enum class Format { table, csv, json };

/// An option that takes one of some words.
template <class Value>
void add_choice(CLI::App& command, const std::string& name, Value& value,
                const std::vector<std::pair<std::string, Value>>& choices, const std::string& description) {
    std::vector<std::string> words;
    std::string type;
    for (const auto& [word, ignored] : choices) {
        words.push_back(word);
        type += (type.empty() ? "" : "|") + word;
    }
    command
        .add_option_function<std::string>(
            name,
            [&value, choices](const std::string& word) {
                for (const auto& [known, meant] : choices) {
                    if (known == word) value = meant;
                }
            },
            description)
        ->check(CLI::IsMember(words).description(""))
        ->type_name(type);
}

/// --format table|csv|json.
void add_format(CLI::App& command, Format& format);

/// FIT, the file to read.
void add_fit_argument(CLI::App& command, std::string& path);

/// DATA, the data that was fitted.
void add_fitted_data(CLI::App& command, std::string& path);

/// --threads.
void add_threads(CLI::App& command, int& threads);
/// --seed: what is not a whole number from 0 is refused, where the parser would wrap a sign around.
void add_seed(CLI::App& command, std::uint64_t& seed, const std::string& description);

/// --variables, a list of names.
void add_variables(CLI::App& command, std::string& variables);

/// Right-aligned columns under their titles; the first column is left-aligned.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// One line of a CSV file, fields quoted where they must be.
std::string csv_line(const std::vector<std::string>& fields);

/// The double, as short as it can be to be read back as the same; NA for what is not a number.
std::string exact(double value);

using Json = nlohmann::ordered_json;

/// The number, or null for what JSON has no number for.
Json number_or_null(double value);

/// For people: as many digits as the sd (or, without one, the value) is worth.
std::string rounded(double value, double sd);

/// What is said above every summary: rows, components, passes, bound, converged or not.
std::string headline(const FitFile& fit);

struct SummaryOptions {
    Format format = Format::table;
    std::vector<std::string> variables;
    double level = 0.9;
};

std::string summary_text(const FitFile& fit, const SummaryOptions& options);

}  // namespace lrvb::cli
