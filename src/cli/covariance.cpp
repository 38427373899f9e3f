#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lrvb::cli {

namespace {

// What is held has no variance, and no correlation: not a number.
Matrix to_correlation(const Matrix& covariance) {
    const Vector sd = covariance.diagonal().cwiseSqrt();
    return sd.cwiseInverse().asDiagonal() * covariance * sd.cwiseInverse().asDiagonal();
}

std::string matrix_text(const std::vector<std::string>& names, const Matrix& matrix, Format format) {
    const Index size = matrix.rows();
    if (format == Format::json) {
        return Document{{"names", names}, {"matrix", matrix}}.json() + "\n";
    }
    if (format == Format::csv) {
        std::vector<std::string> header{"variable"};
        header.insert(header.end(), names.begin(), names.end());
        std::string text = csv_line(header);
        for (Index i = 0; i < size; ++i) {
            std::vector<std::string> fields{names[static_cast<std::size_t>(i)]};
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

// Printed as a whole: of very many variables that would be more than anyone reads.
void require_printable(const std::vector<Index>& chosen) {
    if (static_cast<Index>(chosen.size()) <= 2 * kDenseStatistics) return;
    throw std::runtime_error(
        fmt::format("the covariance of {} variables has {} entries: name some of them with --variables", chosen.size(),
                    chosen.size() * chosen.size()));
}

int show_covariance(const Settings& settings) {
    const FitFile fit = read_fit(settings.text("FIT"));
    const std::vector<Index> chosen = fit.posterior.select(settings.list("variables"));
    require_printable(chosen);
    std::vector<std::string> names;
    names.reserve(chosen.size());
    for (const Index at : chosen) names.push_back(fit.posterior.variables[static_cast<std::size_t>(at)].name);
    const Method method = settings.text("method", "lrvb") == "lrvb" ? Method::linear_response : Method::mean_field;
    const Matrix covariance = fit.posterior.covariance_of(chosen, method);
    say(matrix_text(names, settings.flag("correlation") ? to_correlation(covariance) : covariance,
                    format_of(settings)));
    return kSuccess;
}

}  // namespace

Command covariance_command() {
    return {"covariance",
            "Show the posterior covariance or correlation of a fit",
            {fit_argument(), variables_option(),
             OptionInfo::choice("--method", {"lrvb", "mfvb"}, "lrvb (default), or mfvb for what mean field says"),
             OptionInfo::flag("--correlation", "Correlations instead of covariances"), format_option()},
            show_covariance};
}

}  // namespace lrvb::cli
