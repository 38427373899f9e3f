#pragma once

#include "fit.hpp"

#include <lrvb/kind/drawing.hpp>
#include <lrvb/query/loo.hpp>
#include <lrvb/query/sensitivity.hpp>
#include <lrvb/report/plot.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What Python asks of a fit: the library's own queries, with their answers as tables of numbers.
namespace lrvb::python {

struct NumberTable {
    std::vector<std::string> columns;
    /// Names of the rows, or else their numbers in the data, from 1.
    std::vector<std::string> names;
    std::vector<Index> rows;
    Matrix numbers;
};

std::vector<Index> select(const Fit& fit, const std::vector<std::string>& names);
NumberTable summary(const Fit& fit, const std::vector<Index>& chosen, double level);
Matrix covariance(const Fit& fit, const std::vector<Index>& chosen, bool mean_field);
std::vector<PriorEffect> sensitivity(const Fit& fit, const std::vector<Index>& chosen, bool with_sds);
/// All rows in order where there is no `top`.
/// By fits without the rows that are shown, where `refit`; NaN where there is no model without them.
NumberTable influence(const Fit& fit, const std::vector<std::string>& names, std::optional<Index> top, bool refit);
/// Of all rows with the same value of a column together.
NumberTable influence_by(const Fit& fit, const std::vector<std::string>& names, const std::string& column,
                         std::optional<Index> top, bool refit);
NumberTable leverage(const Fit& fit, const std::vector<std::string>& names);
NumberTable robust(const Fit& fit, const std::vector<std::string>& names);
std::shared_ptr<Check> check_of(const Fit& fit, const std::optional<std::string>& method, Index draws,
                                std::uint64_t seed, double seconds);
/// Draws that all count the same: their positions among those of the check, and variables at them, one draw a row.
std::vector<Index> draw_positions(const Check& check, Index count);
Matrix draws_of(const Check& check, Index count, const std::vector<Index>& chosen);
/// Draws of the normal posterior of the linear response, each variable on the scale where it is unbounded.
Matrix response_draws(const Fit& fit, Index count, std::uint64_t seed, const std::vector<Index>& chosen);
/// log p(row | draw): draws × rows.
Matrix log_likelihoods(const Fit& fit, const Check& check, Index count);
LooOptions loo_options(const std::optional<std::string>& method, std::uint64_t seed);
/// What the rows are called, without numbers.
NumberTable row_labels(const Fit& fit);
Loo loo(const Fit& fit, const std::optional<std::string>& method, std::uint64_t seed);
NumberTable predict(const Fit& fit, const Data& rows, const PredictOptions& options);
/// As JSON.
std::string model_check(const Fit& fit, std::uint64_t seed);
std::string report(const Fit& fit, const std::string& title);
std::string plot(const Fit& fit, const std::string& figure, const PlotOptions& options);
Drawing drawing(const Fit& fit, const std::vector<std::string>& columns, double level);
/// The continuous numbers of every row that was fitted.
std::pair<std::vector<std::string>, Matrix> observed(const Fit& fit);

}  // namespace lrvb::python
