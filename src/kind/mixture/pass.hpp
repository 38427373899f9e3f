#pragma once

#include <lrvb/base/interruption.hpp>
#include <lrvb/data/row_source.hpp>
#include <lrvb/types.hpp>

#include <vector>

/// A pass over the rows of a mixture. Component k scores a standardised row x by a quadratic about its own origin,
///
///     ρ_k = constant_k + Σ squares_k,pq y_p y_q,     y = x − origin_k,
///
/// and with r = softmax of the scores one pass gives
///
///     Σ w log Σ_k exp ρ_k,     Σ w r_k φ(x − origin_k),     and on request     Σ w r_k r_l φφᵀ(x − origin_kl)  for k <
///     l,
///
/// φ(y) the features (1, y, y²) column by column, or (1, y, half-vector of yyᵀ): all that value, gradient and Hessian
/// of the expected log joint need of the data. Sums about a component's own origin keep their digits however narrow it
/// is and however far from the rest. Rows are worked on in blocks that stay in cache; nothing that grows with the
/// number of rows is stored; sums are taken in an order that does not depend on the number of threads, nor on where the
/// rows come from.
namespace lrvb::detail {

/// How a source's row is read: its columns, standardised, then its weight if it has one.
struct RowFormat {
    Index columns = 1;
    bool weighted = false;
    bool full = false;  // features hold products of different columns
    Vector centre;
    Vector inverse_scale;

    Index width() const { return columns + (weighted ? 1 : 0); }
    Index features() const { return full ? 1 + columns + columns * (columns + 1) / 2 : 1 + 2 * columns; }
};

/// The scores of all components, one a column.
struct MixtureScores {
    Matrix origins;
    Vector constants;
    Matrix squares;  // column by column, or the half-vector's order
};

struct PassSums {
    double log_sum = 0.0;
    double magnitude = 0.0;
    Matrix sums;                // features × components: Σ w r_k φ
    std::vector<Matrix> pairs;  // Σ w r_k r_l φφᵀ for k < l, in order; a matrix without entries where there is no row
    /// No entry of `pairs` is off by more than this for the rows that were skipped in it.
    double skipped = 0.0;
};

struct PassOptions {
    int threads = 1;
    /// Rows with w r_k r_l below this do not enter the pair (k, l) where there is more than one column.
    double skip_below = 1e-14;
};

/// `pair_origins` has a column for each pair k < l, in order; none where the pairs are not asked for.
PassSums mixture_pass(RowSource& source, Index rows, const RowFormat& format, const MixtureScores& scores,
                      const Matrix& pair_origins, const PassOptions& options);

/// Σ w log Σ_k exp ρ_k for each of many sets of scores in one pass: a block of rows stays in cache while all of a
/// task's sets are summed over it. Every sum is taken in the order of the rows.
Vector log_sums(RowSource& source, Index rows, const RowFormat& format, const std::vector<MixtureScores>& scores,
                int threads);

/// The scores of standardised rows: rows × components.
Matrix scores_of(const Matrix& standardised, const RowFormat& format, const MixtureScores& scores);

/// Σ r_k φ(x − origin_k) of standardised rows with given responsibilities.
Matrix sums_of(const Matrix& standardised, const RowFormat& format, const Matrix& responsibilities,
               const Matrix& origins);

/// For a source that does not give the rows that it gave at first.
[[noreturn]] void refuse_changed(const RowSource& source, Index rows, bool has_fewer);

/// Reads all rows in chunks of at most `chunk` rows; `visit(rows, count)`.
template <class Visit>
void for_each_chunk(RowSource& source, Index width, Index total, Index chunk, Visit visit) {
    if (const double* resident = source.resident()) {
        for (Index first = 0; first < total; first += chunk) {
            interruption_point();
            visit(resident + first * width, std::min(chunk, total - first));
        }
        return;
    }
    std::vector<double> buffer(static_cast<std::size_t>(std::min(chunk, total) * width));
    source.rewind();
    Index left = total;
    while (const Index count = source.read(buffer.data(), std::min(chunk, total))) {
        left -= count;
        if (left < 0) break;
        interruption_point();
        visit(buffer.data(), count);
    }
    if (left != 0) refuse_changed(source, total, left > 0);
}

}  // namespace lrvb::detail
