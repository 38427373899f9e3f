#pragma once

#include <lrvb/data/dataset.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/posterior/check_result.hpp>

#include <optional>
#include <string>

/// A report of a fit: one HTML page that needs no other file, with what is known of the fit, its data and its prior,
/// and in which prior and rows can be moved. In the library lrvb::report, which is built with the program.
///
///     const FitFile fit = read_fit("fit.json");
///     const auto fitted = fit.model->restore(fit, "data.csv", 1);
///     const std::string page = report_page(fit, fitted.get());
namespace lrvb {

struct ReportOptions {
    /// Empty: one that says what the model is.
    std::string title;
    /// What the page calls the fit: its file.
    std::string fit_name;
    /// In place of the one that the fit keeps.
    std::optional<CheckResult> check;
    /// The version of the program, in the footer.
    std::string program;
    /// What the page calls the data where it offers a command; empty: as the fit does.
    std::string data_name;
    /// Names for the rows: the first column, by the file's row. `read_labels` reads them.
    std::optional<DataFrame> labels;
};

/// A column of the data, by name or number, whose texts name the rows; a row without one stays without a name. Throws
/// std::invalid_argument where there is no such column.
LRVB_EXPORT DataFrame read_labels(const Dataset& data, const std::string& column);

/// `fitted` is the same fit with its data, to show these and what each row does; null for a report without.
LRVB_EXPORT std::string report_page(const FitFile& fit, const FittedModel* fitted, const ReportOptions& options = {});

}  // namespace lrvb
