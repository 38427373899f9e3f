#pragma once

#include <lrvb/data/frame.hpp>
#include <lrvb/export.hpp>
#include <lrvb/formula/formula.hpp>
#include <lrvb/types.hpp>

#include <string>
#include <vector>

/// How the columns of a table become those of a design matrix: numbers as they are, and text as a factor with treatment
/// coding. A factor with levels a < b < c, sorted as numbers where all of them are, and by their bytes otherwise, makes
/// the columns "name=b" and "name=c", which are 1 in the rows with that level and 0 elsewhere: the coefficient of each
/// is the difference from the first level, the baseline, unless another is chosen.
namespace lrvb {

/// A column of a table as a part of a model.
struct RegressionTerm {
    std::string column;
    /// Of a factor, all of them, the reference first; none for numbers.
    std::vector<std::string> levels = {};

    bool is_factor() const { return !levels.empty(); }
    bool operator==(const RegressionTerm&) const = default;
};

/// A response and what it is regressed on.
struct RegressionDesign {
    /// What messages call the data: a file's path.
    std::string source;
    std::string response;
    std::vector<RegressionTerm> terms;
    bool intercept = true;
    /// Of the columns of `columns`: "wt", "species=setosa".
    std::vector<std::string> names;
    /// One row a row; the intercept's ones are not among them.
    Matrix columns;
    Vector y;
    /// How often each row counts, zero or more; none: once.
    Vector weights = {};

    /// How often row n counts.
    double weight(Index n) const { return weights.size() > 0 ? weights[n] : 1.0; }
    /// The number of rows, where there are none.
    double total_weight() const { return weights.size() > 0 ? weights.sum() : static_cast<double>(y.size()); }
};

/// The names of the columns that the terms make. Throws std::invalid_argument where two are the same.
LRVB_EXPORT std::vector<std::string> design_names(const std::vector<RegressionTerm>& terms);

/// The response is the frame's column of that place (from 0), and every other column is a term. Throws
/// std::runtime_error, with the column and the remedy, for a response of text and for text that makes no factor: one
/// level, more than a thousand, or as many as there are rows, as identifiers have; and for a baseline of a column that
/// is no factor, or without that level, with the levels that there are.
LRVB_EXPORT RegressionDesign regression_design(const DataFrame& frame, Index response, bool intercept = true,
                                               const std::vector<Baseline>& baselines = {});

/// The same columns for other rows: those of the frame that the terms name, which may stand in any order and among
/// others. Read the frame with the terms that are factors as FrameOptions::text, so that levels which look like numbers
/// are levels. Throws std::invalid_argument for a column that is not there, and std::runtime_error for text in a column
/// of numbers and for a level that the fit had not seen, with its row.
LRVB_EXPORT Matrix design_matrix(const DataFrame& frame, const std::vector<RegressionTerm>& terms);

}  // namespace lrvb
