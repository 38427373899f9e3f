#include "base/encoding.hpp"
#include "kind/bins.hpp"

#include <lrvb/kind/picture.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

using detail::axis;
using detail::Histogram;
using detail::histogram_axis;
using detail::PairBins;
using detail::single_precision;

constexpr Index kMostBins = 100;
constexpr Index kMostPoints = 2000;
constexpr Index kMostPairColumns = 10;
constexpr Index kMostPairBins = 48;
constexpr double kMostCells = 46'000;  // of all pairs together

struct DataPicture {
    std::vector<Histogram> histograms;  // one a column
    std::vector<PairBins> pairs;        // of more rows than are shown as points
    Matrix points;                      // all rows, where they are few
};

Document histograms_of(const DataPicture& picture, const std::vector<std::string>& columns) {
    Document list = Document::list();
    for (std::size_t p = 0; p < picture.histograms.size(); ++p) {
        const Histogram& histogram = picture.histograms[p];
        Document json;
        json["name"] = columns[p];
        json["start"] = histogram.axis().start;
        json["step"] = histogram.axis().step;
        Document counts = Document::list();
        for (const double bin : histogram.counts()) counts.push_back(detail::count_of(bin));
        json["counts"] = std::move(counts);
        list.push_back(std::move(json));
    }
    return list;
}

Document pairs_of(const DataPicture& picture) {
    if (picture.pairs.empty()) return {};
    Document json;
    json["columns"] = picture.pairs.back().q() + 1;
    Document bins = Document::list();
    for (const PairBins& pair : picture.pairs) {
        Document entry;
        entry["p"] = pair.p();
        entry["q"] = pair.q();
        entry["x_start"] = pair.x().start;
        entry["x_step"] = pair.x().step;
        entry["x_bins"] = pair.x().bins;
        entry["y_start"] = pair.y().start;
        entry["y_step"] = pair.y().step;
        entry["y_bins"] = pair.y().bins;
        entry["cells"] = cells_of(pair);
        bins.push_back(std::move(entry));
    }
    json["bins"] = std::move(bins);
    return json;
}

class Painter {
  public:
    Painter(const DataRecord& data, const ColumnSummary& summary, const Vector& narrowest, RowSource& source)
        : source_(source),
          summary_(summary),
          narrowest_(narrowest),
          rows_(data.rows),
          columns_(static_cast<Index>(data.columns.size())),
          weighted_(data.weights.has_value()) {}

    DataPicture picture() const {
        DataPicture picture;
        for (Index p = 0; p < columns_; ++p) {
            picture.histograms.emplace_back(
                histogram_axis(summary_.smallest()[p], summary_.largest()[p], summary_.sample(p), rows_, kMostBins,
                               narrowest_.size() > 0 ? narrowest_[p] : std::numeric_limits<double>::infinity()));
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
            for (PairBins& pair : picture.pairs) pair.add(x[pair.p()], x[pair.q()], weight);
            if (row < picture.points.rows()) picture.points.row(row++) = Eigen::Map<const Vector>(x, columns_);
        });
        return picture;
    }

  private:
    double weight_of(const double* row) const { return weighted_ ? row[columns_] : 1.0; }

    std::vector<PairBins> empty_pairs() const {
        std::vector<PairBins> pairs;
        const Index shown = std::min(columns_, kMostPairColumns);
        const Index count = shown * (shown - 1) / 2;
        const Index bins =
            std::min(kMostPairBins, static_cast<Index>(std::sqrt(kMostCells / static_cast<double>(count))));
        const auto axis_of = [&](Index p) { return axis(summary_.smallest()[p], summary_.largest()[p], bins); };
        for (Index p = 0; p < shown; ++p) {
            for (Index q = p + 1; q < shown; ++q) pairs.emplace_back(p, axis_of(p), q, axis_of(q));
        }
        return pairs;
    }

    RowSource& source_;
    const ColumnSummary& summary_;
    const Vector& narrowest_;
    Index rows_;
    Index columns_;
    bool weighted_;
};

}  // namespace

Document picture_of(RowSource& source, const DataRecord& data, const ColumnSummary& summary, const Vector& narrowest) {
    const DataPicture picture = Painter(data, summary, narrowest, source).picture();
    Document json;
    json["histograms"] = histograms_of(picture, data.columns);
    json["pairs"] = pairs_of(picture);
    json["points"] = picture.points.size() > 0 ? Document{{"values", single_precision(picture.points)}} : Document();
    return json;
}

Document picture_of(RowSource& source, const DataRecord& data, const Vector& narrowest) {
    ColumnSummary summary(static_cast<Index>(data.columns.size()), data.weights.has_value());
    for_each_row(source, [&](const double* row) { summary.add(row); });
    return picture_of(source, data, summary, narrowest);
}

}  // namespace lrvb
