#pragma once

#include <lrvb/check/check.hpp>
#include <lrvb/export.hpp>
#include <lrvb/query/compare.hpp>

#include <optional>
#include <string>
#include <vector>

/// A kind fitted with each number of a range, such as the components of a mixture from 1 to 8, and compared. The data
/// are read once, and each fit is one more start of the next; every number gets the whole search for its optimum all
/// the same.
///
///     FitRequest request{"data.csv", {{"components", "1:8"}}, {}, 1, {}};
///     const FittedRange range = fit_range(*find_kind("mixture"), request);
///     write_fit("best.json", range.fits[*range.best].fit.fitted->file());
namespace lrvb {

/// At most so many fits.
constexpr Index kMostOfARange = 100;

/// The option that the settings give a range of more than one number; nothing where there is none.
LRVB_EXPORT std::optional<OptionInfo> range_option(const Kind& kind, const Settings& settings);

struct RangeFit {
    /// What stands for the range: "1".
    Index number = 0;
    CheckedFit fit;
    /// Of those that converged, where they could be compared.
    std::optional<ComparedFit> compared;
};

struct FittedRange {
    OptionInfo option;
    /// In the order of the range; fewer where the fits were cancelled, and the last of them has not converged then.
    std::vector<RangeFit> fits;
    /// That with the largest elpd_loo; where rows could not be left out, with the largest bound, labellings counted.
    /// Nothing where none converged.
    std::optional<std::size_t> best;
    bool is_cancelled = false;
    /// What the comparison says, in a sentence.
    std::string message;
};

/// Throws UsageError for a range that is none, or is too long, std::invalid_argument where the settings have none, and
/// what Kind::fit throws.
LRVB_EXPORT FittedRange fit_range(const Kind& kind, const FitRequest& request, CheckWish wish = CheckWish::quick);

}  // namespace lrvb
