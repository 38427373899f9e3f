#include "query/replication.hpp"

#include "base/parallel.hpp"
#include "family/special.hpp"
#include "query/quantiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr double kHeldNumbers = 8e6;           // of the parameters of one pass
constexpr double kMostHeld = 1000.0;           // parameters of a pass, each a data set
constexpr double kUnusual = 0.05;              // of all statistics together
constexpr Index kMostValues = Index{1} << 20;  // of a column, for its quantiles

constexpr std::array<DataStatistic, 5> kOfColumns{DataStatistic::mean, DataStatistic::sd, DataStatistic::min,
                                                  DataStatistic::max, DataStatistic::skewness};
// The rest is what least squares makes it.
constexpr std::array<DataStatistic, 3> kOfResiduals{DataStatistic::min, DataStatistic::max, DataStatistic::skewness};

// Sums of (x − centre)/scale and its powers, and the ends.
struct Moments {
    double first = 0.0;
    double second = 0.0;
    double third = 0.0;
    double smallest = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();

    template <class Numbers>
    void add(const Numbers& numbers, double centre, double inverse_scale) {
        for (const double x : numbers) {
            const double z = (x - centre) * inverse_scale;
            first += z;
            second += z * z;
            third += z * z * z;
            smallest = std::min(smallest, x);
            largest = std::max(largest, x);
        }
    }

    double of(DataStatistic statistic, double rows, double centre, double scale) const {
        const double mean = first / rows;
        const double variance = std::max(0.0, second / rows - mean * mean);
        switch (statistic) {
            case DataStatistic::mean:
                return centre + scale * mean;
            case DataStatistic::sd:
                return scale * std::sqrt(variance * rows / (rows - 1.0));
            case DataStatistic::min:
                return smallest;
            case DataStatistic::max:
                return largest;
            case DataStatistic::skewness:
                break;
        }
        if (!(variance > 0.0)) return 0.0;
        return (third / rows - 3.0 * mean * variance - mean * mean * mean) / (variance * std::sqrt(variance));
    }
};

// All of one column, or of its residuals.
struct ColumnMoments {
    double centre = 0.0;
    double scale = 1.0;
    std::vector<Moments> observed;  // one; of residuals one a draw
    std::vector<Moments> replicated;
};

// Numbers of a column: all, or those at even distances where there are too many.
class EvenlyKept {
  public:
    void add(double value) {
        if (next_++ % stride_ != 0) return;
        values_.push_back(value);
        if (static_cast<Index>(values_.size()) <= kMostValues) return;
        for (std::size_t i = 0; 2 * i < values_.size(); ++i) values_[i] = values_[2 * i];
        values_.resize((values_.size() + 1) / 2);
        stride_ *= 2;
    }
    std::vector<double> sorted() {
        std::sort(values_.begin(), values_.end());
        return std::move(values_);
    }

  private:
    Index next_ = 0;
    Index stride_ = 1;
    std::vector<double> values_;
};

class Replication {
  public:
    Replication(const FittedModel& fitted, Index rows_replicated, std::uint64_t seed, int threads)
        : fitted_(fitted), names_(fitted.inputs()), replicates_(rows_replicated), seed_(seed), threads_(threads) {
        columns_.resize(names_.size());
        residuals_.resize(names_.size());
        keeps_values_ = !fitted.column_marginals().empty();
        values_.resize(keeps_values_ ? names_.size() : 0);
    }

    // Of these parameters; the rows are passed over once for some of them.
    void run(const Matrix& statistics) {
        const double fit_in = kHeldNumbers / static_cast<double>(std::max<Index>(1, statistics.rows()));
        const auto batch = static_cast<Index>(std::clamp(fit_in, 1.0, kMostHeld));
        for (Index first = 0; first < statistics.cols(); first += batch) {
            const Index count = std::min(batch, statistics.cols() - first);
            const std::uint64_t seed = seed_ ^ (kOwnStreams * static_cast<std::uint64_t>(first + 1));
            fitted_.row_model().replicate_rows(statistics.middleCols(first, count), seed, threads_,
                                               [&](const RowReplicates& rows) { add(rows, first, count); });
        }
    }

    std::vector<CheckedStatistic> statistics() const {
        std::vector<CheckedStatistic> result;
        for (std::size_t p = 0; p < names_.size(); ++p) {
            for (const DataStatistic statistic : kOfColumns) result.push_back(compared(p, columns_[p], statistic));
            if (residuals_[p].replicated.empty()) continue;
            for (const DataStatistic statistic : kOfResiduals) {
                result.push_back(compared(p, residuals_[p], statistic));
                result.back().of_residuals = true;
            }
        }
        judge(result);
        return result;
    }

    std::vector<std::vector<double>> sorted_columns() {
        std::vector<std::vector<double>> result;
        for (EvenlyKept& column : values_) result.push_back(column.sorted());
        return result;
    }

  private:
    static void begin(ColumnMoments& moments, const Vector& sample, bool is_residual, Index observed,
                      Index replicates) {
        moments.centre = is_residual ? 0.0 : sample.mean();
        const double spread = std::sqrt((sample.array() - moments.centre).square().mean());
        if (spread > 0.0 && std::isfinite(spread)) moments.scale = spread;
        moments.observed.resize(static_cast<std::size_t>(observed));
        moments.replicated.resize(static_cast<std::size_t>(replicates));
    }

    void add(const RowReplicates& rows, Index first, Index count) {
        const auto width = static_cast<Index>(names_.size());
        const bool has_expected = rows.expected.size() > 0;
        if (first == 0) rows_ += rows.observed.rows();
        for (Index p = 0; p < width; ++p) {
            ColumnMoments& own = columns_[static_cast<std::size_t>(p)];
            ColumnMoments& off = residuals_[static_cast<std::size_t>(p)];
            if (own.replicated.empty()) begin(own, rows.observed.col(p), false, 1, replicates_);
            if (has_expected && off.replicated.empty()) {
                begin(off, rows.replicated.col(p) - rows.expected.col(p), true, replicates_, replicates_);
            }
            if (first > 0) continue;
            own.observed.front().add(rows.observed.col(p), own.centre, 1.0 / own.scale);
            if (keeps_values_) {
                for (const double x : rows.observed.col(p)) values_[static_cast<std::size_t>(p)].add(x);
            }
        }
        in_parallel(threads_, count, [&](Index s) {
            const auto draw = static_cast<std::size_t>(first + s);
            for (Index p = 0; p < width; ++p) {
                ColumnMoments& own = columns_[static_cast<std::size_t>(p)];
                const Index at = s * width + p;
                own.replicated[draw].add(rows.replicated.col(at), own.centre, 1.0 / own.scale);
                if (!has_expected) continue;
                ColumnMoments& off = residuals_[static_cast<std::size_t>(p)];
                const Vector observed = rows.observed.col(p) - rows.expected.col(at);
                const Vector replicated = rows.replicated.col(at) - rows.expected.col(at);
                off.observed[draw].add(observed, 0.0, 1.0 / off.scale);
                off.replicated[draw].add(replicated, 0.0, 1.0 / off.scale);
            }
        });
    }

    CheckedStatistic compared(std::size_t column, const ColumnMoments& moments, DataStatistic statistic) const {
        CheckedStatistic result;
        result.column = names_[column];
        result.statistic = statistic;
        const auto value = [&](const Moments& sums) {
            return sums.of(statistic, static_cast<double>(rows_), moments.centre, moments.scale);
        };
        std::vector<double> observed;
        for (const Moments& sums : moments.observed) observed.push_back(value(sums));
        std::vector<double> replicated;
        for (const Moments& sums : moments.replicated) replicated.push_back(value(sums));
        Index above = 0;
        Index below = 0;
        for (std::size_t s = 0; s < replicated.size(); ++s) {
            const double own = observed[std::min(s, observed.size() - 1)];
            above += replicated[s] >= own ? 1 : 0;
            below += replicated[s] <= own ? 1 : 0;
        }
        const auto count = static_cast<double>(replicated.size());
        result.p = std::min(1.0, 2.0 * static_cast<double>(1 + std::min(above, below)) / (count + 1.0));
        result.observed = std::accumulate(observed.begin(), observed.end(), 0.0) / static_cast<double>(observed.size());
        result.replicated = std::accumulate(replicated.begin(), replicated.end(), 0.0) / count;
        double squares = 0.0;
        for (const double one : replicated) squares += (one - result.replicated) * (one - result.replicated);
        result.sd = std::sqrt(squares / std::max(1.0, count - 1.0));
        std::sort(replicated.begin(), replicated.end());
        result.lower = quantile_of(replicated, 0.5 * (1.0 - kModelCheckLevel));
        result.upper = quantile_of(replicated, 0.5 * (1.0 + kModelCheckLevel));
        return result;
    }

    void judge(std::vector<CheckedStatistic>& all) const {
        const double level = kUnusual / static_cast<double>(all.size());
        const double least = 2.0 / static_cast<double>(replicates_ + 1);
        const double sds = central_quantile(1.0 - level);
        for (CheckedStatistic& one : all) {
            const bool is_far = std::abs(one.observed - one.replicated) > sds * one.sd;
            one.is_unusual = one.p <= level || (least > level && one.p <= least && is_far);
        }
    }

    const FittedModel& fitted_;
    std::vector<std::string> names_;
    Index replicates_;
    std::uint64_t seed_;
    int threads_;
    Index rows_ = 0;
    std::vector<ColumnMoments> columns_;
    std::vector<ColumnMoments> residuals_;
    bool keeps_values_ = false;
    std::vector<EvenlyKept> values_;
};

}  // namespace

Replicated replicated(const FittedModel& fitted, const Matrix& statistics, std::uint64_t seed, int threads) {
    Replication replication(fitted, statistics.cols(), seed, threads);
    replication.run(statistics);
    return {replication.statistics(), replication.sorted_columns()};
}

}  // namespace lrvb::detail
