#include "cli/data_picture.hpp"

#include "cli/data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::cli {

namespace {

constexpr Index kMostPoints = 2000;
constexpr Index kMostPairColumns = 10;
constexpr Index kMostPairBins = 48;
constexpr double kMostCells = 46'000;  // of all pairs together
constexpr Index kSample = 10'000;

class Painter {
  public:
    Painter(const FitFile& fit, RowSource& source)
        : source_(source),
          rows_(fit.data.rows),
          columns_(static_cast<Index>(fit.data.columns.size())),
          weighted_(fit.data.weights.has_value()),
          smallest_(Vector::Constant(columns_, std::numeric_limits<double>::infinity())),
          largest_(-smallest_),
          samples_(static_cast<std::size_t>(columns_)) {
        look();
    }

    report::DataPicture picture() const {
        report::DataPicture picture;
        for (Index p = 0; p < columns_; ++p) {
            picture.histograms.emplace_back(
                report::histogram_axis(smallest_[p], largest_[p], samples_[static_cast<std::size_t>(p)], rows_));
        }
        if (columns_ > 1) {
            if (rows_ <= kMostPoints) {
                picture.points.resize(rows_, columns_);
            } else {
                picture.pairs = empty_pairs();
            }
        }
        Index row = 0;
        for_each_row(source_, [&](const double* x) {
            const double weight = weight_of(x);
            for (Index p = 0; p < columns_; ++p) picture.histograms[static_cast<std::size_t>(p)].add(x[p], weight);
            for (report::PairBins& pair : picture.pairs) pair.add(x[pair.p()], x[pair.q()], weight);
            if (picture.points.size() > 0) picture.points.row(row++) = Eigen::Map<const Vector>(x, columns_);
        });
        return picture;
    }

  private:
    double weight_of(const double* row) const { return weighted_ ? row[columns_] : 1.0; }

    // The ends of every column, and rows at even distances for its quartiles. Rows without weight are not there.
    void look() {
        const Index stride = (rows_ + kSample - 1) / kSample;
        Index row = 0;
        for_each_row(source_, [&](const double* x) {
            const bool is_sampled = row++ % stride == 0;
            if (!(weight_of(x) > 0.0)) return;
            for (Index p = 0; p < columns_; ++p) {
                smallest_[p] = std::min(smallest_[p], x[p]);
                largest_[p] = std::max(largest_[p], x[p]);
                if (is_sampled) samples_[static_cast<std::size_t>(p)].push_back(x[p]);
            }
        });
    }

    std::vector<report::PairBins> empty_pairs() const {
        std::vector<report::PairBins> pairs;
        const Index shown = std::min(columns_, kMostPairColumns);
        const Index count = shown * (shown - 1) / 2;
        const Index bins =
            std::min(kMostPairBins, static_cast<Index>(std::sqrt(kMostCells / static_cast<double>(count))));
        const auto axis = [&](Index p) { return report::axis(smallest_[p], largest_[p], bins); };
        for (Index p = 0; p < shown; ++p) {
            for (Index q = p + 1; q < shown; ++q) pairs.emplace_back(p, axis(p), q, axis(q));
        }
        return pairs;
    }

    RowSource& source_;
    Index rows_;
    Index columns_;
    bool weighted_;
    Vector smallest_;
    Vector largest_;
    std::vector<std::vector<double>> samples_;
};

}  // namespace

report::DataPicture picture_of(const FitFile& fit, RowSource& source) {
    return Painter(fit, source).picture();
}

}  // namespace lrvb::cli
