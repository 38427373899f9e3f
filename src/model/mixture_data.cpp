#include "model/mixture_data.hpp"

#include "family/validate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::detail {

namespace {

constexpr Index kSampleRows = 4096;
constexpr Index kReadRows = 16384;
constexpr int kLloydRounds = 10;

[[noreturn]] void refuse(const RowSource& source, const std::string& reason) {
    throw std::runtime_error(fmt::format("{}: {}", source.name(), reason));
}

// Weighted moments about the first row, so that an offset costs no digits; and a uniform sample.
class Summary {
  public:
    Summary(const RowSource& source, Index columns, bool weighted)
        : source_(source),
          columns_(columns),
          weighted_(weighted),
          origin_(Vector::Zero(columns)),
          first_(Vector::Zero(columns)),
          second_(Vector::Zero(columns)),
          smallest_(Vector::Constant(columns, std::numeric_limits<double>::infinity())),
          largest_(-smallest_) {}

    void add(const double* row) {
        ++rows_;
        const double weight = weighted_ ? row[columns_] : 1.0;
        for (Index p = 0; p < columns_; ++p) {
            if (!std::isfinite(row[p])) {
                refuse(source_,
                       fmt::format("row {} of column {} is {}, but must be a finite number", rows_, p + 1, row[p]));
            }
        }
        if (!(std::isfinite(weight) && weight >= 0.0)) {
            refuse(source_, fmt::format("the weight of row {} is {}, but must be zero or more", rows_, weight));
        }
        if (weight == 0.0) return;
        if (used_ == 0) std::copy(row, row + columns_, origin_.begin());
        ++used_;
        weight_ += weight;
        for (Index p = 0; p < columns_; ++p) {
            const double shifted = row[p] - origin_[p];
            first_[p] += weight * shifted;
            second_[p] += weight * shifted * shifted;
            smallest_[p] = std::min(smallest_[p], row[p]);
            largest_[p] = std::max(largest_[p], row[p]);
        }
        if (used_ > kSampleRows && used_ != next_kept_) return;
        keep(row, weight);
    }

    RowSummary finished(const MixtureSpecification& specification) const {
        if (used_ < specification.components) {
            refuse(source_, fmt::format("{} rows with weight are fewer than {} components; ask for fewer components",
                                        used_, specification.components));
        }
        RowSummary summary;
        summary.rows = rows_;
        summary.total_weight = weight_;
        summary.format.columns = columns_;
        summary.format.weighted = weighted_;
        summary.format.full = columns_ > 1 && specification.covariance == MixtureCovariance::full;
        const Vector shift = first_ / weight_;
        const Vector variance = second_ / weight_ - shift.cwiseAbs2();
        for (Index p = 0; p < columns_; ++p) {
            if (smallest_[p] == largest_[p]) {
                refuse(source_, fmt::format("column {} is constant ({}); leave it out", p + 1, smallest_[p]));
            }
            if (!(std::isfinite(variance[p]) && variance[p] > 0.0)) {
                refuse(source_,
                       fmt::format("column {} runs from {} to {}, too far for its variance to be a number; remove the "
                                   "outliers or take logarithms",
                                   p + 1, smallest_[p], largest_[p]));
            }
        }
        summary.format.centre = origin_ + shift;
        summary.format.inverse_scale = variance.cwiseSqrt().cwiseInverse();
        if (specification.standardisation) {
            summary.format.centre = specification.standardisation->first;
            summary.format.inverse_scale = specification.standardisation->second.cwiseInverse();
        }
        const Index kept = static_cast<Index>(sample_weights_.size());
        const Eigen::Map<const Matrix> columnwise(sample_.data(), columns_, kept);
        summary.sample =
            (columnwise.colwise() - summary.format.centre).transpose() * summary.format.inverse_scale.asDiagonal();
        summary.sample_weights = Eigen::Map<const Vector>(sample_weights_.data(), kept);
        return summary;
    }

  private:
    // Li's algorithm L: after the reservoir is full, the next row to enter it is drawn, and those before it are passed
    // by.
    void keep(const double* row, double weight) {
        Index place = used_ - 1;
        if (used_ <= kSampleRows) {
            sample_.resize(sample_.size() + static_cast<std::size_t>(columns_));
            sample_weights_.push_back(0.0);
        } else {
            place = std::min(kSampleRows - 1, static_cast<Index>(random_.uniform() * static_cast<double>(kSampleRows)));
        }
        std::copy(row, row + columns_, sample_.begin() + place * columns_);
        sample_weights_[static_cast<std::size_t>(place)] = weight;
        if (used_ < kSampleRows) return;
        log_threshold_ += std::log(random_.uniform()) / static_cast<double>(kSampleRows);
        const double skipped = std::log(random_.uniform()) / std::log1p(-std::exp(log_threshold_));
        next_kept_ = skipped < 1e15 ? used_ + 1 + static_cast<Index>(skipped) : std::numeric_limits<Index>::max();
    }

    const RowSource& source_;
    Index columns_;
    bool weighted_;
    Index rows_ = 0;
    Index used_ = 0;
    double weight_ = 0.0;
    Vector origin_;
    Vector first_;
    Vector second_;
    Vector smallest_;
    Vector largest_;
    Random random_{0x6d697874757265};
    double log_threshold_ = 0.0;
    Index next_kept_ = 0;
    std::vector<double> sample_;
    std::vector<double> sample_weights_;
};

}  // namespace

RowSummary describe_rows(RowSource& source, const MixtureSpecification& specification) {
    require_at_least("mixture", "components", specification.components, 1);
    require_at_least("mixture", "threads", specification.threads, 1);
    const Index columns = source.columns() - (specification.weighted ? 1 : 0);
    require_at_least("mixture", "columns", columns, 1);
    Summary summary(source, columns, specification.weighted);
    std::vector<double> buffer(static_cast<std::size_t>(kReadRows * source.columns()));
    source.rewind();
    while (const Index count = source.read(buffer.data(), kReadRows)) {
        for (Index i = 0; i < count; ++i) summary.add(buffer.data() + i * source.columns());
    }
    return summary.finished(specification);
}

Matrix cluster(const Matrix& rows, Index clusters, Random& random) {
    const Index count = rows.rows();
    Matrix centres(clusters, rows.cols());
    Vector distance = Vector::Constant(count, std::numeric_limits<double>::infinity());
    for (Index k = 0; k < clusters; ++k) {
        // The first centre is any row, each next one a row with probability proportional to its squared distance.
        const double total = k == 0 ? 0.0 : distance.sum();
        Index chosen = std::min(count - 1, static_cast<Index>(random.uniform() * static_cast<double>(count)));
        if (total > 0.0) {
            double left = random.uniform() * total;
            chosen = 0;
            while (chosen < count - 1 && left >= distance[chosen]) left -= distance[chosen++];
        }
        centres.row(k) = rows.row(chosen);
        distance = distance.cwiseMin((rows.rowwise() - rows.row(chosen)).rowwise().squaredNorm());
    }
    Matrix indicators;
    for (int round = 0; round < kLloydRounds; ++round) {
        Matrix distances(count, clusters);
        for (Index k = 0; k < clusters; ++k) {
            distances.col(k) = (rows.rowwise() - centres.row(k)).rowwise().squaredNorm();
        }
        indicators = Matrix::Zero(count, clusters);
        for (Index n = 0; n < count; ++n) {
            Index nearest = 0;
            distances.row(n).minCoeff(&nearest);
            indicators(n, nearest) = 1.0;
        }
        const Vector sizes = indicators.colwise().sum();
        for (Index k = 0; k < clusters; ++k) {
            if (sizes[k] > 0.0) centres.row(k) = indicators.col(k).transpose() * rows / sizes[k];
        }
    }
    return indicators;
}

}  // namespace lrvb::detail
