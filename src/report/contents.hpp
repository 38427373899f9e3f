#pragma once

#include "report/asked_rows.hpp"
#include "report/selection.hpp"

#include <lrvb/base/document.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/query/model_check.hpp>
#include <lrvb/query/robust.hpp>

#include <optional>
#include <string>
#include <vector>

/// All that a report shows, as one object: what the page draws, it draws from that alone.
namespace lrvb::report {

struct Gathered {
    const FitFile& fit;
    std::string fit_name;
    std::string data_name;  // empty: as the fit calls them
    std::string title;      // empty: one that says what the model is
    std::string program;
    Selection selection;
    std::vector<PriorNumber> priors;  // in the order of the posterior's hyperparameters
    std::optional<CheckResult> check;
    Document picture;  // of the data, by the model's kind
    std::optional<AskedRows> rows;
    std::string label = {};  // the column that names the rows
    /// Whether the model fits: of all variables of the selection what the rows say of their sds, and data drawn from
    /// the model. Nothing where there are no rows, or they take long.
    std::vector<RobustSd> robust = {};
    std::optional<ModelCheck> model_check = {};
};

/// Asks a fit with rows whether its model fits.
void gather_fit(const FittedModel& fitted, Gathered& gathered);

Document contents_of(const Gathered& gathered);

}  // namespace lrvb::report
