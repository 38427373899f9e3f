#include "kind/regression/standardised.hpp"

#include "base/messages.hpp"
#include "base/validate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb::detail {

namespace {

/// Scale 0: there is no spread. The shares of the rows add up to one; none: they are alike.
Standardisation standardisation_of(const VectorView& values, const Eigen::ArrayXd& shares, bool centred) {
    const auto mean_of = [&](const auto& array) { return shares.size() > 0 ? (shares * array).sum() : array.mean(); };
    Standardisation result;
    if (centred) {
        result.centre = mean_of(values.array());
        result.centre += mean_of(values.array() - result.centre);  // what rounding of the sum has lost
    }
    const double largest = values.cwiseAbs().maxCoeff();
    const double farthest = (values.array() - result.centre).abs().maxCoeff();
    if (farthest <= 4.0 * kRounding * largest && centred) return result;
    if (farthest == 0.0) return result;
    result.scale = farthest * std::sqrt(mean_of(((values.array() - result.centre) / farthest).square()));
    result.rounded_by = kRounding * largest / result.scale;
    return result;
}

void require_design(const RegressionDesign& design) {
    require_size("regression", "y", design.y.size(), design.columns.rows());
    require_size("regression", "names", static_cast<Index>(design.names.size()), design.columns.cols());
    if (!design.intercept && design.columns.cols() == 0) {
        throw std::invalid_argument("regression: there is neither a column nor an intercept: give at least one");
    }
    if (design.weights.size() == 0) return;
    require_size("regression", "weights", design.weights.size(), design.y.size());
    for (Index n = 0; n < design.weights.size(); ++n) {
        if (design.weights[n] >= 0.0 && std::isfinite(design.weights[n])) continue;
        refuse_design(design,
                      fmt::format("the weight of row {} is {}, but must be zero or more", n + 1, design.weights[n]));
    }
}

Standardisation standardise_column(const RegressionDesign& design, const VectorView& values,
                                   const Eigen::ArrayXd& shares, bool centred, const std::string& what) {
    if (!values.allFinite()) refuse_design(design, fmt::format("{} has a value that is not a finite number", what));
    const Standardisation result = standardisation_of(values, shares, centred);
    // Squares of scales and of their ratios must be ordinary numbers; NaN where sums have overflowed.
    if (!(result.scale == 0.0 || (result.scale > 1e-75 && result.scale < 1e75))) {
        refuse_design(design, fmt::format("{} has an sd of {:.3g}, too far from 1 for squares: change its unit", what,
                                          result.scale));
    }
    return result;
}

[[noreturn]] void refuse_constant(const RegressionDesign& design, const std::vector<Index>& columns) {
    const auto name = [&](Index j) { return shown(design.names[static_cast<std::size_t>(j)]); };
    if (columns.size() == 1) {
        const Index j = columns.front();
        refuse_design(design,
                      design.intercept
                          ? fmt::format("column {} is {} in every row, which the intercept already stands for: leave "
                                        "the column out, or the intercept",
                                        name(j), design.columns(0, j))
                          : fmt::format("column {} is 0 in every row: leave it out", name(j)));
    }
    std::vector<std::string> parts;
    parts.reserve(columns.size());
    for (const Index j : columns) {
        parts.push_back(design.intercept ? fmt::format("{} ({})", name(j), design.columns(0, j)) : name(j));
    }
    refuse_design(design,
                  fmt::format("columns {} {}: leave them out", enumerated(parts),
                              design.intercept ? "have one value in every row, which the intercept already stands for"
                                               : "are 0 in every row"));
}

}  // namespace

void refuse_design(const RegressionDesign& design, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", design.source.empty() ? "regression" : design.source, sentence));
}

Counted::Counted(const RegressionDesign& design) : design_(&design) {
    require_design(design);
    if (design.weights.size() > 0 && design.weights.minCoeff() == 0.0) leave_out(design);
    const Index rows = design_->y.size();
    const std::string with_weight = design.weights.size() > 0 ? " with a weight above zero" : "";
    if (rows < 2) {
        refuse_design(design, fmt::format("there {}{}, but a regression needs two rows at least",
                                          rows == 1 ? "is one row" : "are no rows", with_weight));
    }
    const double total = design_->total_weight();
    if (!std::isfinite(total))
        refuse_design(design, "the weights add up to more than a number can hold: scale them down");
    if (total < 2.0) {
        refuse_design(design, fmt::format("the weights add up to {:.6g}, but a regression needs two rows at least: a "
                                          "weight says how often a row counts; scale them so that they add up to the "
                                          "number of rows",
                                          total));
    }
}

void Counted::leave_out(const RegressionDesign& design) {
    std::vector<Index> kept;
    for (Index n = 0; n < design.y.size(); ++n) {
        if (design.weights[n] > 0.0) kept.push_back(n);
    }
    fewer_ = RegressionDesign{.source = design.source,
                              .response = design.response,
                              .terms = design.terms,
                              .intercept = design.intercept,
                              .names = design.names,
                              .columns = design.columns(kept, Eigen::all),
                              .y = design.y(kept),
                              .weights = design.weights(kept)};
    design_ = &fewer_;
}

Standardised standardise(const RegressionDesign& design) {
    Standardised result;
    Eigen::ArrayXd shares;
    if (design.weights.size() > 0) shares = design.weights.array() / design.weights.sum();
    const std::string response = fmt::format("the response {}", shown(design.response));
    if (design.y.minCoeff() == design.y.maxCoeff()) {
        refuse_design(design,
                      fmt::format("{} is {} in every row, so there is nothing to explain: take another response",
                                  response, design.y[0]));
    }
    result.response = standardise_column(design, design.y, shares, design.intercept, response);
    if (result.response.scale == 0.0) {
        refuse_design(design,
                      fmt::format("{} is the same in every row but for rounding: take another response", response));
    }
    std::vector<Index> constant;
    for (Index j = 0; j < design.columns.cols(); ++j) {
        const std::string column = fmt::format("column {}", shown(design.names[static_cast<std::size_t>(j)]));
        result.columns.push_back(standardise_column(design, design.columns.col(j), shares, design.intercept, column));
        if (!(result.columns.back().scale > 0.0)) constant.push_back(j);
    }
    if (!constant.empty()) refuse_constant(design, constant);
    return result;
}

}  // namespace lrvb::detail
