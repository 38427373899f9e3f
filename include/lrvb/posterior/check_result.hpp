#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/export.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What came of comparing a posterior with the exact one: the one shape that a fit file keeps, a program prints and a
/// report shows. How it is found, and what the verdicts mean, is in <lrvb/check/check.hpp>.
namespace lrvb {

enum class CheckMethod { importance, nuts, metropolis, integration };

/// "importance", "nuts", "mh" or "integration".
LRVB_EXPORT std::string_view to_string(CheckMethod method);
LRVB_EXPORT std::optional<CheckMethod> check_method(std::string_view word);

enum class CheckVerdict {
    ok,        ///< nothing is off, and the draws can tell
    off,       ///< a variable is off
    doubtful,  ///< the draws are not reliable, or too few to tell of every variable, or other optima share the
               ///< posterior
    unchecked  ///< the draws are of no use
};

LRVB_EXPORT std::string_view to_string(CheckVerdict verdict);
LRVB_EXPORT std::optional<CheckVerdict> check_verdict(std::string_view word);

struct LRVB_EXPORT CheckedVariable {
    std::string name;
    /// Of the answer that is judged: the linear response, or what took its place (CheckResult::of_response).
    double mean_lrvb = 0.0;
    double sd_lrvb = 0.0;
    double mean_exact = 0.0;
    double sd_exact = 0.0;
    double shift = 0.0;  // 0 where the variable is fixed
    double ratio = 0.0;  // NaN where the variable is fixed
    /// Monte Carlo standard errors of the two; NaN where they were not kept.
    double shift_se = 0.0;  // 0 where the variable is fixed
    double ratio_se = 0.0;  // NaN where the variable is fixed
    /// "ok", or "seems ok" where the draws as a whole are doubtful; "sd off by -15%" (the answer's is too small), "mean
    /// off by +0.30 sd" (too large), both with a comma, "not resolved: ±0.31 sd" or "not resolved: sd ±15%" (z standard
    /// errors), "sd unknown: heavy tail", "mean and sd unknown: heavy tail", "fixed", or "not checked"; and, where
    /// optima share the posterior, "another optimum: -19.95", its mean there.
    std::string verdict;
    /// Monte Carlo standard error of mean_exact, in sds; not kept in files.
    double mean_se = 0.0;
    /// The median of the draws and their 90 % interval, of one with a heavy tail; not kept in files.
    double median_exact = std::numeric_limits<double>::quiet_NaN();
    double lower_exact = std::numeric_limits<double>::quiet_NaN();
    double upper_exact = std::numeric_limits<double>::quiet_NaN();

    /// As the verdict says.
    TailMoments moments() const;
    /// Those above as they are shown: NaN where a heavy tail leaves none.
    double shown_mean_exact() const;
    double shown_sd_exact() const;
    double shown_shift() const;
    double shown_ratio() const;
    /// The verdict, with the median and the interval of one with a heavy tail.
    std::string verdict_text() const;
};

/// The verdicts on variables whose sd, or mean and sd, no draws can tell.
inline constexpr std::string_view kNoSd = "sd unknown: heavy tail";
inline constexpr std::string_view kNoMean = "mean and sd unknown: heavy tail";

struct LRVB_EXPORT CheckResult {
    CheckMethod method = CheckMethod::importance;
    Index draws = 0;
    std::uint64_t seed = 1;
    /// Whether a linear response was judged. Of a fit that was integrated or corrected by draws the two are not called
    /// mean_lrvb and sd_lrvb, but mean_fit and sd_fit.
    bool of_response = true;
    /// In the order of the posterior; those that were not compared have no verdict.
    std::vector<CheckedVariable> variables;
    CheckVerdict verdict = CheckVerdict::unchecked;
    /// One sentence each: whether the draws can be trusted, and what they say.
    std::string trust;
    std::string message;

    /// Of chains the smallest, over the coordinates and the variables, of a mean, a variance or a tail.
    double ess = 0.0;
    /// Of importance sampling, −∞ where there is no tail and +∞ where the draws are of no use; NaN otherwise.
    double k_hat = std::numeric_limits<double>::quiet_NaN();
    /// Of chains; NaN otherwise.
    double acceptance = std::numeric_limits<double>::quiet_NaN();
    double r_hat = std::numeric_limits<double>::quiet_NaN();

    /// What the judged answer is called: "lrvb" or "fit".
    std::string_view answer() const { return of_response ? "lrvb" : "fit"; }

    /// As 'lrvb check --format json' prints it, of the variables at these positions.
    Document document(const std::vector<Index>& chosen) const;
};

/// What `CheckResult::document` made, read back for this posterior; `name` is what messages call the file. Throws
/// std::runtime_error for what is no such document, and for one of another fit.
LRVB_EXPORT CheckResult read_check_result(const Document& document, const Posterior& posterior,
                                          const std::string& name);

}  // namespace lrvb
