#pragma once

#include <lrvb/export.hpp>
#include <lrvb/formula/formula.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Priors in words: `beta[Days] ~ normal(0, 2)`, `sd[Subject,Days] ~ half_cauchy(5)`.
///
///     normal(mean, sd)          half_t(df, scale)       half_cauchy(scale)      half_normal(scale)
///     exponential(rate)         uniform(lower, upper)   gamma(shape, rate)
///     huang_wand(df)            lkj(eta)                of correlations
///
/// What a sentence is about is a name and indices, which are texts of the data and may hold anything: `beta[a,b]` with
/// a column called "a,b" is as good as `sd[a,b]`. So they are compared as a whole with the names there are
/// (`matching_targets`), and the last ~ is the one between both sides.
///
/// Failures: FormulaError, with the place.
namespace lrvb {

struct LRVB_EXPORT PriorSentence {
    std::string text;              // as it was given
    std::string target;            // "sd"
    std::string indices;           // "Subject,Days", without spaces around; empty without brackets
    std::string distribution;      // "half_cauchy"
    std::vector<double> numbers;   // finite, and such that there is a distribution with them
    std::size_t target_place = 0;  // in bytes of the text, as are the following
    std::size_t distribution_place = 0;

    /// Throws FormulaError for text that is no sentence, a distribution that is not there, with those that are, another
    /// number of arguments than it has, and arguments that it cannot have.
    static PriorSentence parse(std::string text);

    /// Refuses, by FormulaError, a distribution that is none of these, for a reason such as "a coefficient".
    void require_distribution(const std::vector<std::string>& allowed, std::string_view of_what) const;

    /// In its one form: "sd[Subject,Days] ~ half_cauchy(5)".
    std::string written() const;
};

/// Something that a prior can be given to.
struct PriorTarget {
    std::string group;                 // "sd"
    std::vector<std::string> indices;  // {"Subject", "Days"}

    /// "sd[Subject,Days]".
    std::string name() const;
};

/// The targets (from 0) that a sentence is about: `sd` all of the group, `sd[Subject]` those whose first index is that,
/// `sd[Subject,Days]` one. Throws FormulaError where it is about none, with the names that there are.
LRVB_EXPORT std::vector<std::size_t> matching_targets(const PriorSentence& sentence,
                                                      const std::vector<PriorTarget>& targets);

/// Which of the sentences counts for each target: the one that names the most indices; −1 for none. Two that name as
/// many are refused by FormulaError.
LRVB_EXPORT std::vector<int> sentences_of_targets(const std::vector<PriorSentence>& sentences,
                                                  const std::vector<PriorTarget>& targets);

}  // namespace lrvb
