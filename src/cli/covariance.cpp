#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

namespace lrvb::cli {

namespace {

struct Options {
    std::string path;
    std::string variables;
    Method method = Method::linear_response;
    bool correlation = false;
    Format format = Format::table;
};

// What is held has no variance, and no correlation: not a number.
Matrix to_correlation(const Matrix& covariance) {
    const Vector sd = covariance.diagonal().cwiseSqrt();
    return sd.cwiseInverse().asDiagonal() * covariance * sd.cwiseInverse().asDiagonal();
}

std::string matrix_text(const std::vector<std::string>& names, const Matrix& matrix, Format format) {
    const Index size = matrix.rows();
    if (format == Format::json) {
        nlohmann::ordered_json json;
        json["names"] = names;
        json["matrix"] = nlohmann::json::array();
        for (Index i = 0; i < size; ++i) {
            const Vector row = matrix.row(i);
            json["matrix"].push_back(std::vector<double>(row.begin(), row.end()));
        }
        return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
    if (format == Format::csv) {
        std::string text = csv_line(names);
        for (Index i = 0; i < size; ++i) {
            std::vector<std::string> fields;
            for (Index j = 0; j < size; ++j) fields.push_back(exact(matrix(i, j)));
            text += csv_line(fields);
        }
        return text;
    }
    std::vector<std::vector<std::string>> table{{""}};
    table.front().insert(table.front().end(), names.begin(), names.end());
    for (Index i = 0; i < size; ++i) {
        std::vector<std::string> fields{names[static_cast<std::size_t>(i)]};
        for (Index j = 0; j < size; ++j) {
            fields.push_back(std::isnan(matrix(i, j)) ? "NA" : fmt::format("{:.4g}", matrix(i, j)));
        }
        table.push_back(std::move(fields));
    }
    return aligned(table);
}

int show(const Options& options) {
    const FitFile fit = read_fit(options.path);
    const std::vector<Index> chosen = fit.posterior.select(split(options.variables));
    std::vector<std::string> names;
    for (const Index at : chosen) names.push_back(fit.posterior.variables[static_cast<std::size_t>(at)].name);
    const Matrix covariance = fit.posterior.covariance_of(chosen, options.method);
    fmt::print("{}", matrix_text(names, options.correlation ? to_correlation(covariance) : covariance, options.format));
    return kSuccess;
}

}  // namespace

void add_covariance(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("covariance", "Show the posterior covariance or correlation of a fit");
    add_fit_argument(*command, options->path);
    add_variables(*command, options->variables);
    add_choice<Method>(*command, "--method", options->method,
                       {{"lrvb", Method::linear_response}, {"mfvb", Method::mean_field}},
                       "lrvb (default), or mfvb for what mean field says");
    command->add_flag("--correlation", options->correlation, "Correlations instead of covariances");
    add_format(*command, options->format);
    command->callback([options, &run] { run = [options] { return show(*options); }; });
}

}  // namespace lrvb::cli
