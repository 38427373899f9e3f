#pragma once

#include <lrvb/data/dataset.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/options.hpp>

#include <memory>
#include <string>
#include <vector>

/// Options that several commands have, and what they mean.
namespace lrvb::cli {

enum class Format { table, csv, json };

/// FIT, the file to read.
OptionInfo fit_argument();
/// DATA, the data that was fitted: one file, or as many as were.
OptionInfo fitted_data();
/// --format table|csv|json.
OptionInfo format_option();
/// --threads.
OptionInfo threads_option();
/// --memory.
OptionInfo memory_option();
/// --na, texts that mean a missing value.
OptionInfo na_option();
/// --seed.
OptionInfo seed_option(const std::string& help);
/// --seconds, how long a check may take.
OptionInfo seconds_option(const std::string& help);
/// --level, the probability of intervals.
OptionInfo level_option(const std::string& help);
/// --variables, a list of names.
OptionInfo variables_option();
/// --all: "Show all <these>".
OptionInfo all_option(const std::string& these);
/// -o, --output.
OptionInfo output_option(const std::string& help);

Format format_of(const Settings& settings);
/// Processes that read DATA together, in the program lrvb-mpi: set before the command runs.
struct RankOptions {
    std::shared_ptr<RowCrew> crew;
    int threads = 1;  // where nobody asks for more: cores are shared by the ranks of a machine
};
void set_ranks(RankOptions ranks);
/// Refuses a kind of model whose rows cannot be shared out, where they should be.
void require_shared_rows(const Kind& kind);

/// DATA, with as much memory as it may take.
Dataset data_of(const Settings& settings);
/// All cores, where none were asked for.
int threads_of(const Settings& settings);

/// Notes all inputs and outputs of a command before it runs: throws UsageError where an output would replace an input,
/// where two outputs are one file, and where two inputs are standard input. What a command reads besides (the files
/// that a fit names) is compared when it is read.
void guard_files(const std::vector<OptionInfo>& options, const Settings& settings);

/// Refuses an output that would replace an input (UsageError), or that cannot be written (std::runtime_error). Call it
/// before the work starts.
void prepare_output(const std::string& output, const std::string& option = "-o");

}  // namespace lrvb::cli
