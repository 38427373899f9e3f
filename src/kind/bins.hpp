#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/types.hpp>

#include <limits>
#include <vector>

/// Data as counts, however many rows there are: histograms of columns, and of pairs of columns.
namespace lrvb::detail {

/// Bins of one width, side by side.
struct Axis {
    double start = 0.0;
    double step = 1.0;
    Index bins = 1;

    /// The bin of a number; the first or the last of one beyond them.
    Index bin(double x) const;
};

/// From `smallest` to `largest`, in this many bins.
Axis axis(double smallest, double largest, Index bins);

/// The same, in as many bins as a histogram of `rows` numbers wants: of the width of Freedman and Diaconis,
/// 2 IQR rows^(−1/3), with the quartiles of a sample of them, but at least √rows, since the quartiles of clusters that
/// lie apart say nothing of the clusters. Between 10 and `most`; but no wider than half of `narrowest`, the sd of what
/// is drawn over them, which a wider bin would make look broader than it is, up to 2000 bins.
Axis histogram_axis(double smallest, double largest, std::vector<double> sample, Index rows, Index most = 100,
                    double narrowest = std::numeric_limits<double>::infinity());

class Histogram {
  public:
    explicit Histogram(const Axis& axis) : axis_(axis), counts_(Vector::Zero(axis.bins)) {}

    void add(double x, double weight) { counts_[axis_.bin(x)] += weight; }

    const Axis& axis() const { return axis_; }
    const Vector& counts() const { return counts_; }

  private:
    Axis axis_;
    Vector counts_;
};

/// Of two columns, p and q: one row of counts a bin of the first.
class PairBins {
  public:
    PairBins(Index p, const Axis& x, Index q, const Axis& y)
        : p_(p), q_(q), x_(x), y_(y), counts_(Matrix::Zero(x.bins, y.bins)) {}

    void add(double x, double y, double weight) { counts_(x_.bin(x), y_.bin(y)) += weight; }

    Index p() const { return p_; }
    Index q() const { return q_; }
    const Axis& x() const { return x_; }
    const Axis& y() const { return y_; }
    const Matrix& counts() const { return counts_; }

  private:
    Index p_;
    Index q_;
    Axis x_;
    Axis y_;
    Matrix counts_;
};

/// [[i, j, count], …] of the bins that have any, for the page.
Document cells_of(const PairBins& pair);

/// Whole where it is, which is shorter: only weights make others.
Document count_of(double value);

}  // namespace lrvb::detail
