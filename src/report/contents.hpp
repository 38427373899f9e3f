#pragma once

#include "report/asked_rows.hpp"
#include "report/selection.hpp"

#include <lrvb/base/document.hpp>
#include <lrvb/kind/kind.hpp>

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
    std::string label;  // the column that names the rows
};

Document contents_of(const Gathered& gathered);

}  // namespace lrvb::report
