#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/export.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <string>
#include <vector>

/// Another optimum of the bound, which shares the posterior with the one that a fit reports.
///
/// A bound F is the logarithm of the posterior mass about its optimum, less what mean field misses there. With F_0 that
/// of the fit and F_1, F_2, … those of the others,
///
///     share_i = exp(F_i) / Σ_j exp(F_j),
///
/// which is exact where mean field misses the same at all of them (mirror images, say), and a guess otherwise: an
/// optimum that was not found has no share.
namespace lrvb {

struct OtherOptimum {
    /// A reported variable there; sd by linear response.
    struct Value {
        std::string name;
        double mean = 0.0;
        double sd = 0.0;
    };

    double bound = 0.0;
    double share = 0.0;
    /// Those that a summary shows, in the order of the posterior, and with the labels that a fit of its own would have.
    std::vector<Value> variables;

    /// Null where it is not among them.
    LRVB_EXPORT const Value* find(const std::string& name) const;
};

/// Gives the optima their shares beside a fit with this bound, whose own share is what they leave of one.
LRVB_EXPORT void set_shares(double bound, std::vector<OtherOptimum>& others);
LRVB_EXPORT double own_share(const std::vector<OtherOptimum>& others);

/// "50%", or "less than 1%".
LRVB_EXPORT std::string share_text(double share);

/// One sentence, with the location (or else the variable) that differs most: "another optimum holds
/// about 50% of the posterior: mu[1] -19.95 there". Empty where there is none.
LRVB_EXPORT std::string other_optima_text(const Posterior& posterior, const std::vector<OtherOptimum>& others);

/// As a fit file keeps them, a report shows them and 'lrvb summary --format json' prints them: bound, share, and name,
/// mean and sd of the variables at these positions.
LRVB_EXPORT Document other_optima_document(const std::vector<OtherOptimum>& others, const Posterior& posterior,
                                           const std::vector<Index>& chosen);

}  // namespace lrvb
