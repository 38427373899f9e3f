#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/check/check.hpp>
#include <lrvb/export.hpp>
#include <lrvb/kind/fitted_model.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Whether the model fits its data: another question than whether the approximation is that of the model (check.hpp).
///
/// **Posterior predictive checks.** S data sets are drawn from the model, each as large as the data, row for row:
/// θ_s from the posterior, then y_s ~ p(· | θ_s). For a statistic T of an observed column, the mean, the sd (with
/// n − 1), the smallest, the largest, and the skewness m₃/m₂^(3/2),
///
///     p = min(1, 2 (1 + min(#{T(y_s) ≥ T(y)}, #{T(y_s) ≤ T(y)})) / (1 + S)),
///
/// is two-sided. Of a kind with a response the residuals are looked at as well, y − E(y | θ_s) against
/// y_s − E(y | θ_s), where a strong effect hides nothing: smallest, largest, skewness. Mean and sd are what is fitted,
/// so that their p is near one wherever the model can say them; p of the others is somewhat larger than uniform for
/// data from the model. A statistic is `unusual` where p is no larger than 0.05 divided by the number of statistics,
/// or, where S is too small for that, where no replicate goes as far and T(y) is as many of their sds away as a normal
/// one would be with that probability: where the model is right, anything at all is unusual in fewer than one of twenty
/// data sets.
///
/// θ_s are draws of the exact posterior, resampled by their weights, where these take a few seconds at most
/// (is_quick_by_draws) and can be used; otherwise of the normal posterior of the linear response, on unbounded
/// parameters. With S from 200 to 1000, fewer where there are more than 4e7/S numbers in the data: all rows are always
/// drawn. Random numbers belong to rows, so that threads change no bit. A row of weight w is w rows; other weights than
/// whole ones are refused.
///
/// **Of a response** R² = 1 − Σe²/Σ(y − ȳ)² with e the residuals at the posterior means (the classical one); the
/// residual sd √(Σe²/(n − Σh)), h the hat values; residuals standardised by it and √(1 − h); and the share of rows
/// within their predictive bands. **Of columns with a distribution** their quantiles against those of the model, by
/// inverting its distribution function, and counts against expected ones. Pictures of many rows are thinned by
/// quantiles, or are of groups of rows: no row is chosen by what it does. In all of it a row of weight w is w rows.
namespace lrvb {

/// Where the parameters of replicated data come from.
enum class ParameterDraws { exact, response };

struct ModelCheckOptions {
    /// Absent: exact ones where they are quick and of use.
    std::optional<ParameterDraws> draws;
    /// Data sets that are drawn; absent: as above.
    std::optional<Index> replicates;
    /// How exact draws are made. Its seed and threads are those of the data sets, too.
    CheckOptions exact = {.seconds = 5.0};
};

constexpr double kModelCheckLevel = 0.9;  // of ranges and bands
/// At most so many free parameters, where they are drawn by linear response.
constexpr Index kModelCheckParameters = 5000;

enum class DataStatistic { mean, sd, min, max, skewness };
LRVB_EXPORT std::string_view to_string(DataStatistic statistic);

/// A statistic of a column, and what the model makes of it.
struct LRVB_EXPORT CheckedStatistic {
    std::string column;
    bool of_residuals = false;
    DataStatistic statistic = DataStatistic::mean;
    double observed = 0.0;    // of residuals: on average over the draws
    double replicated = 0.0;  // mean of the replicates
    double sd = 0.0;          // of the replicates
    double lower = 0.0;       // and their central range, of kModelCheckLevel
    double upper = 0.0;
    double p = 1.0;
    bool is_unusual = false;

    /// What is unusual, in words: "the values of mpg have a smaller minimum than the model
    /// produces (p = 0.002)". Empty otherwise.
    std::string words() const;
};

/// Two lists of the same length, the sorted quantiles of a plot: on the line where the model is right.
struct QuantilePlot {
    Vector model;
    Vector data;
};

struct ResponseCheck {
    std::string name;
    double r2 = 0.0;
    double residual_sd = 0.0;
    double coverage = 0.0;  // of the predictive bands, of kModelCheckLevel
    /// One for each row: at the posterior means.
    Vector fitted;
    Vector residuals;
    Vector standardised;
    /// Standardised residuals against those of a normal.
    QuantilePlot quantiles;
    /// Rows in order of their fitted value, in groups of the same size, 50 at most: mean and ends of the fitted values;
    /// of the residuals the ends and quantiles; and half the width of the predictive band, on average.
    struct Group {
        double fitted = 0.0;
        double lowest = 0.0;
        double highest = 0.0;
        double min = 0.0;
        double q5 = 0.0;
        double q50 = 0.0;
        double q95 = 0.0;
        double max = 0.0;
        double band = 0.0;
    };
    std::vector<Group> groups;
};

struct ColumnCheck {
    ColumnMarginal marginal;
    /// Rows that the rest is of: all, or rows at even distances where there are more than a million.
    Index rows = 0;
    QuantilePlot quantiles;
    /// Bins from `start` on, each of the width `step`: counted, and as many as the model expects there.
    double start = 0.0;
    double step = 1.0;
    Vector counts;
    Vector expected;
};

struct LRVB_EXPORT ModelCheck {
    Index replicates = 0;
    ParameterDraws draws = ParameterDraws::response;
    std::vector<CheckedStatistic> statistics;
    std::optional<ResponseCheck> response;
    std::vector<ColumnCheck> columns;
    /// The file's row of each row of the response.
    std::vector<Index> file_rows;

    /// Whether nothing is unusual.
    bool fits() const;
    /// In a sentence.
    std::string message() const;
    /// Where the parameters came from, in words.
    std::string source() const;
    /// For programs and the page: docs/fits.md.
    Document document() const;
};

/// Throws std::runtime_error for a model that draws no rows, and for weights that are no whole numbers; NotAnOptimum
/// for a fit without a response; std::invalid_argument where the draws that were asked for cannot be had.
LRVB_EXPORT ModelCheck check_model_fit(const FittedModel& fitted, const ModelCheckOptions& options = {});
/// The same with parameters from a check of the same fit.
LRVB_EXPORT ModelCheck check_model_fit(const FittedModel& fitted, const Check& check,
                                       const ModelCheckOptions& options = {});

/// Whether it takes a few seconds at most.
LRVB_EXPORT bool is_quick_model_check(const FittedModel& fitted);

/// The number below which a column of a model lies with this probability, between 0 and 1.
LRVB_EXPORT double marginal_quantile(const ColumnMarginal& marginal, double probability);

}  // namespace lrvb
