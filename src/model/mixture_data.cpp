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
constexpr double kSmallestSd = 1e-70;  // of a column; its fourth power is still a number

[[noreturn]] void refuse(const RowSource& source, const std::string& reason) {
    throw std::runtime_error(fmt::format("{}: {}", source.name(), reason));
}

// Weighted moments and a uniform sample of the rows that have weight.
class Summary {
  public:
    Summary(const RowSource& source, Index columns, bool weighted)
        : source_(source),
          columns_(columns),
          weighted_(weighted),
          mean_(Vector::Zero(columns)),
          squares_(Vector::Zero(columns)),
          smallest_(Vector::Constant(columns, std::numeric_limits<double>::infinity())),
          largest_(-smallest_) {}

    void add(const double* row) {
        ++rows_;
        const double weight = weighted_ ? row[columns_] : 1.0;
        for (Index p = 0; p < columns_; ++p) {
            if (!std::isfinite(row[p])) {
                refuse(source_, fmt::format("row {}, column '{}' is {}, but must be a finite number", rows_,
                                            source_.column_name(p), row[p]));
            }
        }
        if (!(std::isfinite(weight) && weight >= 0.0)) {
            refuse(source_, fmt::format("the weight of row {} is {}, but must be zero or more", rows_, weight));
        }
        if (weight == 0.0) return;
        ++used_;
        weight_ += weight;
        // West's update of weighted moments: the order of the rows and an offset cost no digits.
        for (Index p = 0; p < columns_; ++p) {
            const double off = row[p] - mean_[p];
            mean_[p] += weight / weight_ * off;
            squares_[p] += weight * off * (row[p] - mean_[p]);
            smallest_[p] = std::min(smallest_[p], row[p]);
            largest_[p] = std::max(largest_[p], row[p]);
        }
        if (used_ > kSampleRows && used_ != next_kept_) return;
        keep(row, weight);
    }

    RowSummary finished(const MixtureSpecification& specification) const {
        RowSummary summary;
        summary.rows = rows_;
        summary.used_rows = used_;
        summary.total_weight = weight_;
        summary.format.columns = columns_;
        summary.format.weighted = weighted_;
        summary.format.full = columns_ > 1 && specification.covariance == MixtureCovariance::full;
        if (specification.standardisation) {
            summary.format.centre = specification.standardisation->first;
            summary.format.inverse_scale = specification.standardisation->second.cwiseInverse();
        } else {
            if (used_ < specification.components) {
                refuse(source_,
                       fmt::format("{} rows with weight are fewer than {} components; ask for fewer components", used_,
                                   specification.components));
            }
            if (!std::isfinite(weight_))
                refuse(source_, "the weights add up to more than a number can hold; scale them down");
            summary.format.centre = mean_;
            summary.format.inverse_scale = standard_deviations(specification.prior.has_value()).cwiseInverse();
        }
        const Index kept = static_cast<Index>(sample_weights_.size());
        const Eigen::Map<const Matrix> columnwise(sample_.data(), columns_, kept);
        summary.sample =
            (columnwise.colwise() - summary.format.centre).transpose() * summary.format.inverse_scale.asDiagonal();
        summary.sample_weights = Eigen::Map<const Vector>(sample_weights_.data(), kept);
        return summary;
    }

  private:
    // A column without spread has no scale; where the prior does not ask for one, its unit will do.
    Vector standard_deviations(bool constants_allowed) const {
        Vector sds = (squares_ / weight_).cwiseSqrt();
        for (Index p = 0; p < columns_; ++p) {
            if (smallest_[p] == largest_[p]) {
                if (!constants_allowed) {
                    refuse(source_,
                           fmt::format("column '{}' is constant ({}); leave it out, or give a prior in its units",
                                       source_.column_name(p), smallest_[p]));
                }
                sds[p] = 1.0;
            } else if (!(sds[p] > kSmallestSd && sds[p] < 1.0 / kSmallestSd)) {
                refuse(source_,
                       fmt::format(
                           "column '{}' runs from {} to {}, too far or too near for squares to be numbers; change its "
                           "unit, or remove the outliers",
                           source_.column_name(p), smallest_[p], largest_[p]));
            }
        }
        return sds;
    }

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
    Vector mean_;
    Vector squares_;
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
    if (specification.standardisation) {
        require_size("mixture standardisation", "centre", specification.standardisation->first.size(), columns);
        require_size("mixture standardisation", "scale", specification.standardisation->second.size(), columns);
        require_finite("mixture standardisation", "centre", specification.standardisation->first);
        for (const double scale : specification.standardisation->second) {
            require_positive("mixture standardisation", "scale", scale);
        }
    }
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
