#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/fitted_model.hpp>

#include <limits>
#include <string>
#include <vector>

/// How sensitive the posterior is to the prior: d mean / d number by linear response, in closed form, and d sd /
/// d number by the difference of two refits, where there are data to refit. Where the posterior was integrated, and
/// there are data, both by the difference of two integrals.
namespace lrvb {

/// How a variable answers to a number of the prior.
struct PriorEffect {
    std::string variable;
    PriorNumber prior;
    double mean_slope = 0.0;       // d mean / d value
    double sds_per_percent = 0.0;  // change of the mean, in posterior sds, for 1 % more
    double weight = 0.0;           // the same for sorting, with a location moved by 1 % of the prior's sd
    double sd_slope = std::numeric_limits<double>::quiet_NaN();  // d sd / d value
    double sd_percent =
        std::numeric_limits<double>::quiet_NaN();  // change of the sd, in percent of itself, for 1 % more
};

/// Of the chosen variables, by position, those that matter most first; what is held does not move and is left out.
/// Throws NotAnOptimum for a fit without a response, std::runtime_error where the file lacks a number of the prior.
LRVB_EXPORT std::vector<PriorEffect> prior_effects(const FitFile& fit, const std::vector<Index>& chosen);
/// The same with what happens to the sds.
LRVB_EXPORT std::vector<PriorEffect> prior_effects(const FittedModel& fitted, const std::vector<Index>& chosen);

/// What the prior decides, where there are data to decide it: a sentence for each group of its numbers of which halving
/// one (the distance from the least that it can be) would move the mean of a variable that people look at, or else of
/// another parameter, by more than half of its posterior sd, d mean / d log number × log 2 to first order. Those that
/// move most first, and no more than three. Locations and correlations have no half: where the prior of a location is
/// strong, its variance says so. Costs nothing but the sensitivities that a fit has anyway. Empty for a fit without a
/// response.
LRVB_EXPORT std::vector<std::string> prior_warnings(const FitFile& fit);

/// A number of the prior, how far it can be moved, and how far its linear response can be trusted: a location by two
/// sds of the prior, and one is trusted; a correlation nine tenths of the way to its bound; the rest, counted from the
/// least that it can be, from a quarter to four times.
struct PriorRange {
    PriorNumber prior;
    double least = 0.0;  // what it must exceed, and stay below; infinite where nothing bounds it
    double most = 0.0;
    double low = 0.0;
    double high = 0.0;
    double trusted_low = 0.0;
    double trusted_high = 0.0;
};
LRVB_EXPORT PriorRange prior_range(const PriorNumber& number);

/// The numbers of the prior in the order of the posterior's hyperparameters. Throws std::runtime_error where the model
/// of the file has no such number.
LRVB_EXPORT std::vector<PriorNumber> prior_numbers(const FitFile& fit);

}  // namespace lrvb
