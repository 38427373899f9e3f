#pragma once

#include "kind/mixture/statistics.hpp"

#include <lrvb/base/fields.hpp>
#include <lrvb/kind/kind.hpp>

#include <vector>

namespace lrvb::detail {

/// Draws of a mixture's parameters from its exact posterior, which all count the same: what predictions of a corrected
/// fit average over,
///
///     p(x | data) ≈ (1/S) Σ_s f_s,     f_s = Σ_k f_sk,     f_sk = π_k N(x; μ_k, Λ_k⁻¹) at draw s.
///
/// A new row says something of the parameters too, so that P(k | x, data) ≈ Σ_s f_sk / Σ_s f_s; one that was fitted has
/// said it already, and P(k | x_n, data) ≈ (1/S) Σ_s f_sk/f_s.
///
/// A draw stacks, in the units of the data, the weights (of two components or more), then component by component the
/// means and the precisions: of diagonal ones those of the columns, of full ones the lower half, column by column.
class MixtureDraws {
  public:
    MixtureDraws() = default;
    /// Some of the draws of a correction, by their weights: no more than a few hundred, fewer of large mixtures.
    static MixtureDraws of(const CorrectionDraws& draws, const MixtureStatistics& statistics);
    /// From a list of draws, each a list of its numbers. Throws std::runtime_error, with the place, for what are no
    /// draws of such a mixture.
    static MixtureDraws read(const Fields& fields, const std::string& key, const MixtureStatistics& statistics);

    bool empty() const { return numbers_.size() == 0; }
    Document document() const;

    /// For new rows, in the units of the data, one a row. Log densities are −∞ where no double holds them.
    enum class RowsAre { new_ones, fitted };
    MixtureModel::Prediction predict(const Matrix& rows, RowsAre rows_are) const;

  private:
    MixtureDraws(const MixtureStatistics& statistics, Matrix numbers);
    Vector far_away(const Vector& row) const;

    struct Component {
        double log_scale;  // log π + ½ log det Λ − ½ P log 2π
        Vector location;
        Matrix root;  // upper, Λ = rootᵀ root
    };

    Index components_ = 0;
    Matrix numbers_;  // a draw a column
    std::vector<Component> parts_;
};

}  // namespace lrvb::detail
