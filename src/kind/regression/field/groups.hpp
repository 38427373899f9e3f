#pragma once

#include "kind/regression/field/variables.hpp"

#include <lrvb/base/document.hpp>

#include <vector>

/// What the page and pictures show of the groups of a regression by formula, and of its rows.
///
/// A group's own estimate is what its rows alone say of its effects, the rest of the predictor being given: with s_n
/// the slope of a row's log likelihood in its predictor and w_n its (expected) curvature there,
///
///     û_own = û + (Σ w_n z_n z_nᵀ)⁻¹ Σ s_n z_n
///
/// over the rows of the group, a step of weighted least squares from the posterior mean û. Of normal rows that is least
/// squares; of others it stays finite where a maximum would not be, as in a group without successes. From there the
/// prior of the effects has pulled to û.
///
/// All of it is bounded, however many groups and rows there are.
namespace lrvb::detail {

/// The groups to draw of one effect, by its mean.
struct DrawnEffect {
    std::size_t factor = 0;
    Index effect = 0;
    Index first = 0;            // of the factor's effects among all of them
    std::vector<Index> levels;  // from the lowest mean to the highest
    std::vector<Index> ranks;   // of these among all, from 0

    /// Of one of the levels, its place among all effects.
    Index place(const FormulaShape& shape, Index level) const;
};

/// Of every effect those with the lowest and the highest means, and others evenly between: at most `most` of each, and
/// of the first kMostDrawnEffects effects. `means` are those of all effects.
std::vector<DrawnEffect> drawn_effects(const FormulaShape& shape, const Vector& means, Index most);

constexpr std::size_t kMostDrawnEffects = 12;
constexpr Index kMostDrawnGroups = 300;

/// For the page, from the posterior alone: means, sds and intervals of the drawn groups.
///
///     [{"factor", "effect", "count", "level", "rank", "names", "numbers": rows of mean, sd, lower, upper}]
Document groups_document(const FormulaShape& shape, const FieldVariables& variables, const Posterior& posterior);

/// The rows at the posterior means.
struct FieldRowFit {
    Vector predictor;
    Vector observed;   // of a binomial row, the share of its trials
    Vector fitted;     // its mean
    Vector residual;   // observed less fitted; where rows are not alike, in units of its sd
    Vector sd;         // of a response about its mean
    Vector slope;      // s_n
    Vector curvature;  // w_n
};

/// Whether residuals are in units of their sds.
bool is_standardised(const Likelihood& likelihood);

/// `means` are those of the posterior's statistics.
FieldRowFit row_fit(const FieldData& data, const FieldVariables& variables, const Vector& centre, const Vector& means);

/// For the page: the own estimates of the drawn groups, the spread of residuals in each, all rows as counts by fitted
/// and observed, and where rows are not normal how the observed follow the fitted.
///
///     {"groups": [{"factor", "effect", "level", "own"}],
///      "residuals": [{"factor", "level", "count", "numbers": rows of min, q25, median, q75, max}], "standardised",
///      "binned": {"fitted"}, "calibration": {"fitted", "observed", "sd", "rows"}}
Document field_picture(const FormulaShape& shape, const FieldVariables& variables, const FieldData& data,
                       const FieldRowFit& rows, const Vector& means);

}  // namespace lrvb::detail
