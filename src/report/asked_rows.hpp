#pragma once

#include "report/selection.hpp"

#include <lrvb/kind/fitted_model.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lrvb::report {

/// Rows that can be asked what they do.
struct AskedRows {
    std::vector<std::string> inputs;  // what can be moved; where nothing can, what is shown of a row
    bool all = true;
    std::vector<Index> file_rows;  // from 1, ascending
    Matrix values;                 // rows × inputs
    std::optional<Vector> weights;
    Matrix beside;        // rows × what its kind shows beside the inputs
    Matrix leverage;      // rows × (variables × inputs), inputs running fastest; empty where nothing moves
    Matrix case_weights;  // rows × variables
    Vector distances;
    std::vector<std::string> labels;  // empty where there are none
    Index most_influential = 0;       // so many of them are the furthest of all rows
};

/// What the rows of a fit do to the selected variables. Of more rows than a report can hold, half of those kept are the
/// most influential, as RowInfluence finds them, and half lie at even distances among the others. Memory does not grow
/// with the rows. Nothing for a model that has no rows to ask.
std::optional<AskedRows> asked_rows(const FittedModel& fitted, const Selection& selection);

}  // namespace lrvb::report
