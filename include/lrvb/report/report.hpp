#pragma once

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
};

/// `fitted` is the same fit with its data, to show these and what each row does; null for a report without.
LRVB_EXPORT std::string report_page(const FitFile& fit, const FittedModel* fitted, const ReportOptions& options = {});

}  // namespace lrvb
