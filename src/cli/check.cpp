#include "base/files.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"
#include "cli/restored.hpp"

#include <lrvb/check/check.hpp>

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string fit;
    std::string data;
    CheckOptions check;
    int threads = 0;
    Format format = Format::table;
    std::string variables;
    std::string draws_path;
    bool correct = false;
    std::string output;
};

Check check_data(const FitFile& fit, const Options& options) {
    const FittedData data = open_fitted(fit, options.data);
    return data.source ? check_mixture(fit, data.source, options.check)
                       : check_regression(fit, *data.design, options.check);
}

std::string_view method_name(CheckMethod method) {
    return method == CheckMethod::importance ? "importance" : "mh";
}

std::string json_text(const Check& check, const std::vector<Index>& chosen) {
    Json json;
    json["variables"] = Json::array();
    for (const Index at : chosen) {
        const CheckedVariable& variable = check.variables[static_cast<std::size_t>(at)];
        Json entry;
        entry["name"] = variable.name;
        entry["mean_lrvb"] = variable.mean_lrvb;
        entry["sd_lrvb"] = variable.sd_lrvb;
        entry["mean_exact"] = variable.mean_exact;
        entry["sd_exact"] = variable.sd_exact;
        entry["shift"] = number_or_null(variable.shift);
        entry["shift_se"] = number_or_null(variable.shift_se);
        entry["ratio"] = number_or_null(variable.ratio);
        entry["ratio_se"] = number_or_null(variable.ratio_se);
        entry["verdict"] = variable.verdict;
        json["variables"].push_back(std::move(entry));
    }
    json["method"] = method_name(check.options.method);
    json["k_hat"] = number_or_null(check.k_hat);
    json["r_hat"] = number_or_null(check.r_hat);
    json["acceptance"] = number_or_null(check.acceptance);
    json["ess"] = check.ess;
    json["draws"] = check.options.draws;
    json["seed"] = check.options.seed;
    json["verdict"] = to_string(check.verdict);
    json["message"] = check.message;
    json["trust"] = check.trust;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_text(const Check& check, const std::vector<Index>& chosen) {
    std::string text = csv_line({"variable", "mean_lrvb", "sd_lrvb", "mean_exact", "sd_exact", "shift", "shift_se",
                                 "ratio", "ratio_se", "verdict"});
    for (const Index at : chosen) {
        const CheckedVariable& variable = check.variables[static_cast<std::size_t>(at)];
        text += csv_line({variable.name, exact(variable.mean_lrvb), exact(variable.sd_lrvb), exact(variable.mean_exact),
                          exact(variable.sd_exact), exact(variable.shift), exact(variable.shift_se),
                          exact(variable.ratio), exact(variable.ratio_se), variable.verdict});
    }
    return text;
}

std::string table_text(const Check& check, const std::vector<Index>& chosen) {
    std::vector<std::vector<std::string>> table{
        {"variable", "mean_lrvb", "sd_lrvb", "mean_exact", "sd_exact", "shift", "ratio", "verdict"}};
    for (const Index at : chosen) {
        const CheckedVariable& variable = check.variables[static_cast<std::size_t>(at)];
        const double sd = variable.sd_exact;
        const bool fixed = std::isnan(variable.ratio);
        table.push_back({variable.name, rounded(variable.mean_lrvb, sd), rounded(variable.sd_lrvb, sd),
                         rounded(variable.mean_exact, sd), rounded(variable.sd_exact, sd),
                         fixed ? "NA" : fmt::format("{:.2f}", variable.shift),
                         fixed ? "NA" : fmt::format("{:.2f}", variable.ratio), variable.verdict});
    }
    const std::string method =
        check.options.method == CheckMethod::importance ? "importance sampling" : "Metropolis-Hastings";
    return fmt::format("{} draws of the exact posterior by {}, worth {:.0f} independent ones\n{}\n\n{}\n{}: {}\n",
                       check.options.draws, method, check.ess, check.trust, aligned(table), to_string(check.verdict),
                       check.message);
}

// Importance draws are draws of the proposal: their weights are exp(lp__ − log_g__).
void save_draws(const Check& check, const std::vector<Index>& chosen, const std::string& path) {
    const bool importance = check.options.method == CheckMethod::importance;
    std::vector<std::string> fields;
    if (!importance) fields = {".chain", ".iteration", ".draw"};
    for (const Index at : chosen) fields.push_back(check.variables[static_cast<std::size_t>(at)].name);
    fields.emplace_back("lp__");
    if (importance) fields.emplace_back("log_g__");
    std::string text = csv_line(fields);
    const Index length = importance ? check.values.cols() : check.values.cols() / check.chains;
    for (Index i = 0; i < check.values.cols(); ++i) {
        fields.clear();
        if (!importance) {
            fields = {fmt::format("{}", i / length + 1), fmt::format("{}", i % length + 1), fmt::format("{}", i + 1)};
        }
        for (const Index at : chosen) fields.push_back(exact(check.values(at, i)));
        fields.push_back(std::isfinite(check.log_density[i]) ? exact(check.log_density[i]) : "-Inf");
        if (importance) fields.push_back(exact(check.log_proposal[i]));
        text += csv_line(fields);
    }
    detail::write_text(path, text);
}

int run_check(Options options) {
    if (options.correct == options.output.empty()) throw UsageError("--correct and -o need each other");
    require_other_file(options.output, {options.fit, options.data});
    require_other_file(options.draws_path, {options.fit, options.data}, "--save-draws");
    if (same_file(options.output, options.draws_path)) {
        throw UsageError("-o and --save-draws name the same file: choose another for one of them");
    }
    options.check.threads = threads_of(options.threads);
    const FitFile fit = read_fit(options.fit);
    const std::vector<Index> chosen = fit.posterior.select(split(options.variables));
    const Check check = check_data(fit, options);
    if (!options.draws_path.empty()) save_draws(check, chosen, options.draws_path);
    if (options.correct) write_fit(options.output, corrected(fit, check));
    // A file on standard output is for the next program in the pipe: nothing else belongs there.
    if (options.draws_path == "-" || options.output == "-") return kSuccess;
    if (options.format == Format::json) {
        fmt::print("{}", json_text(check, chosen));
    } else {
        fmt::print("{}", options.format == Format::csv ? csv_text(check, chosen) : table_text(check, chosen));
    }
    return kSuccess;
}

}  // namespace

void add_check(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("check", "Compare a fit with the exact posterior");
    add_fit_argument(*command, options->fit);
    add_fitted_data(*command, options->data);
    command->add_option("--draws", options->check.draws, "Draws of the exact posterior (default 4000)")
        ->check(CLI::Range(100, 10000000).description("100 to 10000000"));
    add_choice<CheckMethod>(*command, "--method", options->check.method,
                            {{"importance", CheckMethod::importance}, {"mh", CheckMethod::metropolis}},
                            "importance (default), or mh for Metropolis-Hastings about the mode");
    add_format(*command, options->format);
    add_variables(*command, options->variables);
    add_seed(*command, options->check.seed, "Seed of the draws (default 1)");
    add_threads(*command, options->threads);
    command->add_option("--save-draws", options->draws_path,
                        "Write the draws to this CSV file, with lp__ and the log density log_g__ of the proposal");
    command->add_flag("--correct", options->correct, "Write a fit file with the checked means and covariances to -o");
    command->add_option("-o,--output", options->output, "The file of --correct");
    command->callback([options, &run] { run = [options] { return run_check(*options); }; });
}

}  // namespace lrvb::cli
