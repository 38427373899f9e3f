#pragma once

#include <lrvb/data/row_source.hpp>
#include <lrvb/types.hpp>

#include <vector>

/// A pass over the rows of a mixture. The score of row n under component k is θ_k · φ(x_n), with φ the features of the
/// standardised row: (1, x, x²) column by column, or (1, x, half-vector of xxᵀ). With r = softmax of the scores, one
/// pass gives
///
///     Σ w log Σ_k exp(θ_k·φ),     Σ w r_k φ,     and on request     Σ w r_k r_l φφᵀ  for k < l,
///
/// which is all that value, gradient and Hessian of the expected log joint need of the data. Rows are worked on in
/// blocks that stay in cache; nothing that grows with the number of rows is stored; sums are taken in an order that
/// does not depend on the number of threads, nor on where the rows come from.
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

struct PassSums {
    double log_sum = 0.0;
    double magnitude = 0.0;
    Matrix sums;                // features × components: Σ w r_k φ
    std::vector<Matrix> pairs;  // Σ w r_k r_l φφᵀ for k < l, in order; empty unless asked for
    /// No entry of `pairs` is off by more than this for the rows that were skipped in it.
    double skipped = 0.0;
};

struct PassOptions {
    bool pairs = false;
    int threads = 1;
    /// Rows with w r_k r_l below this do not enter the pair (k, l) where there is more than one column.
    double skip_below = 1e-14;
};

/// θ: features × components.
PassSums mixture_pass(RowSource& source, Index rows, const RowFormat& format, const Matrix& theta,
                      const PassOptions& options);

/// φ of standardised rows (one a row of the result).
Matrix features_of(const Matrix& standardised, const RowFormat& format);

/// Reads all rows in chunks of at most `chunk` rows; `visit(rows, count)`.
template <class Visit>
void for_each_chunk(RowSource& source, Index width, Index total, Index chunk, Visit visit) {
    if (const double* resident = source.resident()) {
        for (Index first = 0; first < total; first += chunk) {
            visit(resident + first * width, std::min(chunk, total - first));
        }
        return;
    }
    std::vector<double> buffer(static_cast<std::size_t>(std::min(chunk, total) * width));
    source.rewind();
    while (const Index count = source.read(buffer.data(), std::min(chunk, total))) visit(buffer.data(), count);
}

}  // namespace lrvb::detail
