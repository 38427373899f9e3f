#include "base/parallel.hpp"
#include "family/special.hpp"
#include "kind/bins.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/query/loo.hpp>
#include <lrvb/query/model_check.hpp>
#include <lrvb/sample/model_density.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr Index kFewestReplicates = 200;
constexpr Index kMostReplicates = 1000;
constexpr double kReplicatedNumbers = 4e7;     // some seconds
constexpr double kHeldNumbers = 8e6;           // of the parameters of one pass
constexpr double kUnusual = 0.05;              // of all statistics together
constexpr Index kMostValues = Index{1} << 20;  // of a column, for its quantiles
constexpr Index kMostQuantiles = 200;
constexpr Index kMostGroups = 50;
constexpr Index kRowsOfAGroup = 20;
constexpr Index kMostBins = 400;
constexpr Index kPointsInDocument = 1000;  // rows that a document has one by one
constexpr std::uint64_t kOwnStreams = 0x9E3779B97F4A7C15U;

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

// Numbers in order, each as often as its row counts: what they would be if they were written out.
class RepeatedNumbers {
  public:
    void add(double number, Index times) {
        if (times > 0) numbers_.emplace_back(number, times);
    }
    void sort() {
        std::sort(numbers_.begin(), numbers_.end());
        for (std::size_t i = 1; i < numbers_.size(); ++i) numbers_[i].second += numbers_[i - 1].second;
    }
    // Once they are sorted.
    std::size_t size() const { return numbers_.empty() ? 0 : static_cast<std::size_t>(numbers_.back().second); }
    double operator[](std::size_t place) const {
        return std::upper_bound(numbers_.begin(), numbers_.end(), static_cast<Index>(place),
                                [](Index at, const std::pair<double, Index>& number) { return at < number.second; })
            ->first;
    }

  private:
    std::vector<std::pair<double, Index>> numbers_;  // with how many there are up to it
};

template <class Sorted>
double quantile_of(const Sorted& sorted, double probability) {
    const double place = probability * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

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
        const auto batch = static_cast<Index>(std::clamp(fit_in, 1.0, static_cast<double>(kMostReplicates)));
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

    std::vector<double> sorted_values(std::size_t column) { return values_[column].sorted(); }

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
        detail::in_parallel(threads_, count, [&](Index s) {
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
        const double sds = detail::central_quantile(1.0 - level);
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

// The places, from 0, of some of n sorted numbers: all, or those at even distances on a normal scale.
std::vector<Index> quantile_places(Index count) {
    std::vector<Index> places;
    if (count <= kMostQuantiles) {
        places.resize(static_cast<std::size_t>(count));
        std::iota(places.begin(), places.end(), Index{0});
        return places;
    }
    const auto n = static_cast<double>(count);
    const double end = -detail::normal_quantile(0.5 / n);
    for (Index i = 0; i < kMostQuantiles; ++i) {
        const double z = end * (2.0 * static_cast<double>(i) / static_cast<double>(kMostQuantiles - 1) - 1.0);
        const double share = 0.5 * std::erfc(-z / std::numbers::sqrt2);
        const auto place = std::clamp<Index>(static_cast<Index>(std::lround(n * share - 0.5)), 0, count - 1);
        if (places.empty() || place > places.back()) places.push_back(place);
    }
    return places;
}

template <class Sorted, class ModelQuantile>
QuantilePlot quantile_plot(const Sorted& sorted, ModelQuantile model_quantile) {
    const auto count = static_cast<Index>(sorted.size());
    const std::vector<Index> places = quantile_places(count);
    QuantilePlot plot;
    plot.model.resize(static_cast<Index>(places.size()));
    plot.data.resize(plot.model.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double probability = (static_cast<double>(places[i]) + 0.5) / static_cast<double>(count);
        plot.model[static_cast<Index>(i)] = model_quantile(probability);
        plot.data[static_cast<Index>(i)] = sorted[static_cast<std::size_t>(places[i])];
    }
    return plot;
}

// P(column ≤ x), or, of the upper tail, P(column > x).
double marginal_tail(const ColumnMarginal& marginal, double x, bool upper) {
    const double sign = upper ? 1.0 : -1.0;
    double result = 0.0;
    for (Index k = 0; k < marginal.weights.size(); ++k) {
        const double z = (x - marginal.means[k]) / marginal.sds[k];
        result += 0.5 * marginal.weights[k] * std::erfc(sign * z / std::numbers::sqrt2);
    }
    return result;
}

ColumnCheck column_check(ColumnMarginal marginal, const std::vector<double>& sorted) {
    ColumnCheck result;
    result.rows = static_cast<Index>(sorted.size());
    result.quantiles =
        quantile_plot(sorted, [&](double probability) { return marginal_quantile(marginal, probability); });
    const detail::Axis axis =
        detail::histogram_axis(sorted.front(), sorted.back(), sorted, result.rows, kMostBins, marginal.sds.minCoeff());
    detail::Histogram histogram(axis);
    for (const double x : sorted) histogram.add(x, 1.0);
    result.start = axis.start;
    result.step = axis.step;
    result.counts = histogram.counts();
    result.expected.resize(axis.bins);
    for (Index bin = 0; bin < axis.bins; ++bin) {
        const double low = axis.start + axis.step * static_cast<double>(bin);
        const double high = low + axis.step;
        const bool upper = marginal_tail(marginal, low, false) > 0.5;
        const double share = std::abs(marginal_tail(marginal, high, upper) - marginal_tail(marginal, low, upper));
        result.expected[bin] = share * static_cast<double>(result.rows);
    }
    result.marginal = std::move(marginal);
    return result;
}

// Some of the rows in order of their fitted values, one after the other.
class ResidualGroup {
  public:
    void add(double fitted, double residual, double band, Index times) {
        if (rows_ == 0) group_.lowest = fitted;
        group_.highest = fitted;
        group_.fitted += static_cast<double>(times) * fitted;
        group_.band += static_cast<double>(times) * band;
        residuals_.add(residual, times);
        rows_ += times;
    }

    ResponseCheck::Group finished() {
        group_.fitted /= static_cast<double>(rows_);
        group_.band /= static_cast<double>(rows_);
        residuals_.sort();
        group_.min = residuals_[0];
        group_.q5 = quantile_of(residuals_, 0.05);
        group_.q50 = quantile_of(residuals_, 0.5);
        group_.q95 = quantile_of(residuals_, 0.95);
        group_.max = residuals_[residuals_.size() - 1];
        return group_;
    }

  private:
    ResponseCheck::Group group_;
    RepeatedNumbers residuals_;
    Index rows_ = 0;
};

// A row that counts several times may do so in two groups.
std::vector<ResponseCheck::Group> groups_of(const ResponseCheck& check, const std::vector<Index>& times,
                                            const Vector& bands) {
    std::vector<Index> order(times.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return check.fitted[a] < check.fitted[b]; });
    const Index rows = std::accumulate(times.begin(), times.end(), Index{0});
    const Index count = std::clamp<Index>(rows / kRowsOfAGroup, 1, kMostGroups);
    std::vector<ResponseCheck::Group> groups;
    ResidualGroup group;
    Index before = 0;
    for (const Index row : order) {
        for (Index left = times[static_cast<std::size_t>(row)]; left > 0;) {
            const Index end = (static_cast<Index>(groups.size()) + 1) * rows / count;
            const Index taken = std::min(left, end - before);
            group.add(check.fitted[row], check.residuals[row], bands[row], taken);
            left -= taken;
            before += taken;
            if (before < end) continue;
            groups.push_back(group.finished());
            group = {};
        }
    }
    return groups;
}

ResponseCheck response_check(const FittedResponse& response) {
    const Eigen::ArrayXd weights = response.weights;
    const double rows = weights.sum();
    const double band = detail::central_quantile(kModelCheckLevel);
    ResponseCheck result;
    result.name = response.name;
    result.fitted = response.fitted;
    result.residuals = response.observed - response.fitted;
    const double left = (weights * result.residuals.array().square()).sum();
    const double mean = (weights * response.observed.array()).sum() / rows;
    result.r2 = 1.0 - left / (weights * (response.observed.array() - mean).square()).sum();
    result.residual_sd = std::sqrt(left / (rows - response.hat.sum()));
    result.standardised =
        result.residuals.array() / (result.residual_sd * (1.0 - response.hat.array() / weights).sqrt());
    const Eigen::ArrayXd is_within =
        (result.residuals.array().abs() <= band * response.predictive_sd.array()).cast<double>();
    result.coverage = (weights * is_within).sum() / rows;
    std::vector<Index> times;  // rows of other weights than whole ones were not drawn
    for (const double weight : response.weights) times.push_back(static_cast<Index>(weight));
    // A row that alone decides its fitted value has no residual.
    RepeatedNumbers sorted;
    for (Index n = 0; n < result.standardised.size(); ++n) {
        if (std::isfinite(result.standardised[n])) {
            sorted.add(result.standardised[n], times[static_cast<std::size_t>(n)]);
        }
    }
    sorted.sort();
    result.quantiles = quantile_plot(sorted, detail::normal_quantile);
    result.groups = groups_of(result, times, band * response.predictive_sd);
    return result;
}

Index replicates_of(const FittedModel& fitted, const ModelCheckOptions& options) {
    if (options.replicates) {
        if (*options.replicates >= 20) return *options.replicates;
        throw std::invalid_argument(
            fmt::format("check_model_fit: replicates is {}, but must be at least 20", *options.replicates));
    }
    const double rows = std::max(fitted.file().data.total_weight, static_cast<double>(fitted.file().data.rows));
    const double numbers = rows * static_cast<double>(fitted.inputs().size());
    return static_cast<Index>(std::clamp(kReplicatedNumbers / std::max(1.0, numbers),
                                         static_cast<double>(kFewestReplicates), static_cast<double>(kMostReplicates)));
}

// Stacked statistics of the normal posterior, one draw a column.
Matrix drawn_by_response(const FittedModel& fitted, Index count, std::uint64_t seed, int threads) {
    const State& state = fitted.optimum().state;
    if (std::all_of(state.clamped.begin(), state.clamped.end(), [](bool clamped) { return clamped; })) {
        return state.mean.replicate(1, count);
    }
    const ModelDensity density(fitted.model(), state);
    const Index size = density.dimension();
    if (size > kModelCheckParameters) {
        throw std::runtime_error(
            fmt::format("the model has {} free parameters, and data are drawn from models of {} at most", size,
                        kModelCheckParameters));
    }
    const NormalApproximation normal = density.chart().approximation(fitted.response());
    const Matrix root = normal.covariance.llt().matrixL();
    Matrix points(size, count);
    for (Index s = 0; s < count; ++s) {
        Random random(seed ^ kOwnStreams, ~static_cast<std::uint64_t>(s));
        points.col(s) = normal.mean + root * standard_normals(size, random);
    }
    return density.statistics(points, threads);
}

// As many of the draws, each as often as its weight says (systematic resampling).
Matrix resampled(const FittedModel& fitted, const Check& check, Index count, std::uint64_t seed, int threads) {
    const ModelDensity density(fitted.model(), fitted.optimum().state);
    Random random(seed ^ kOwnStreams, ~std::uint64_t{0});
    const double start = random.uniform();
    Matrix points(check.points.rows(), count);
    double until = std::exp(check.log_weights[0]);
    Index draw = 0;
    for (Index s = 0; s < count; ++s) {
        const double place = (static_cast<double>(s) + start) / static_cast<double>(count);
        while (until < place && draw + 1 < check.points.cols()) until += std::exp(check.log_weights[++draw]);
        points.col(s) = check.points.col(draw);
    }
    return density.statistics(points, threads);
}

// Before anything is drawn: a pass that draws nothing.
void require_drawn_rows(const FittedModel& fitted) {
    static_cast<void>(fitted.response());
    const auto refuse = [](const std::string& reason) {
        throw std::runtime_error(
            fmt::format("no data can be drawn from this fit, to compare with its own: {}", reason));
    };
    try {
        fitted.row_model().replicate_rows(Matrix(fitted.model().layout().size(), 0), 0, 1, [](const RowReplicates&) {});
    } catch (const FractionalWeight& error) {
        refuse(error.words(fitted.file_row(error.row())));
    } catch (const std::invalid_argument& error) {
        refuse(error.what());
    }
}

ModelCheck checked(const FittedModel& fitted, const Matrix& statistics, ParameterDraws draws,
                   const ModelCheckOptions& options) {
    ModelCheck result;
    result.replicates = statistics.cols();
    result.draws = draws;
    Replication replication(fitted, statistics.cols(), options.exact.seed, options.exact.threads);
    replication.run(statistics);
    result.statistics = replication.statistics();
    if (const std::optional<FittedResponse> response = fitted.fitted_response()) {
        result.response = response_check(*response);
        for (const Index row : response->rows) result.file_rows.push_back(fitted.file_row(row));
    }
    const std::vector<ColumnMarginal> marginals = fitted.column_marginals();
    for (std::size_t p = 0; p < marginals.size(); ++p) {
        result.columns.push_back(column_check(marginals[p], replication.sorted_values(p)));
    }
    return result;
}

Document document_of(const CheckedStatistic& one) {
    Document json;
    json["column"] = one.column;
    json["residuals"] = one.of_residuals;
    json["statistic"] = to_string(one.statistic);
    json["observed"] = one.observed;
    json["replicated"] = one.replicated;
    json["lower"] = one.lower;
    json["upper"] = one.upper;
    json["p"] = one.p;
    json["unusual"] = one.is_unusual;
    json["words"] = one.words();
    return json;
}

Document document_of(const ResponseCheck& check, const std::vector<Index>& file_rows) {
    Document json;
    json["name"] = check.name;
    json["rows"] = check.fitted.size();
    json["r2"] = check.r2;
    json["residual_sd"] = check.residual_sd;
    json["level"] = kModelCheckLevel;
    json["coverage"] = check.coverage;
    Document& points = json["points"];
    if (check.fitted.size() <= kPointsInDocument) {
        points["row"] = file_rows;
        points["fitted"] = check.fitted;
        points["residual"] = check.residuals;
        points["standardised"] = check.standardised;
    }
    Document& groups = json["groups"];
    const auto list = [&](const char* name, double ResponseCheck::Group::*member) {
        Document::Numbers numbers;
        for (const ResponseCheck::Group& group : check.groups) numbers.push_back(group.*member);
        groups[name] = std::move(numbers);
    };
    list("fitted", &ResponseCheck::Group::fitted);
    list("lowest", &ResponseCheck::Group::lowest);
    list("highest", &ResponseCheck::Group::highest);
    list("min", &ResponseCheck::Group::min);
    list("q5", &ResponseCheck::Group::q5);
    list("q50", &ResponseCheck::Group::q50);
    list("q95", &ResponseCheck::Group::q95);
    list("max", &ResponseCheck::Group::max);
    list("band", &ResponseCheck::Group::band);
    json["quantiles"] = Document{{"normal", check.quantiles.model}, {"residual", check.quantiles.data}};
    return json;
}

Document document_of(const ColumnCheck& check) {
    Document json;
    json["name"] = check.marginal.name;
    json["rows"] = check.rows;
    json["quantiles"] = Document{{"model", check.quantiles.model}, {"data", check.quantiles.data}};
    json["histogram"] =
        Document{{"start", check.start}, {"step", check.step}, {"counts", check.counts}, {"expected", check.expected}};
    json["marginal"] =
        Document{{"weights", check.marginal.weights}, {"means", check.marginal.means}, {"sds", check.marginal.sds}};
    return json;
}

// What an unusual statistic says of the data: below, and above what the model produces.
std::pair<const char*, const char*> words_of(DataStatistic statistic) {
    switch (statistic) {
        case DataStatistic::mean:
            return {"have a lower mean than the model produces", "have a higher mean than the model produces"};
        case DataStatistic::sd:
            return {"are less spread out than the model produces", "are more spread out than the model produces"};
        case DataStatistic::min:
            return {"have a smaller minimum than the model produces",
                    "do not go down as far as the model does: its minimum is smaller"};
        case DataStatistic::max:
            return {"do not go up as far as the model does: its maximum is larger",
                    "have a larger maximum than the model produces"};
        case DataStatistic::skewness:
            break;
    }
    return {"are more skewed to the left than the model produces",
            "are more skewed to the right than the model produces"};
}

}  // namespace

std::string_view to_string(DataStatistic statistic) {
    switch (statistic) {
        case DataStatistic::mean:
            return "mean";
        case DataStatistic::sd:
            return "sd";
        case DataStatistic::min:
            return "min";
        case DataStatistic::max:
            return "max";
        case DataStatistic::skewness:
            break;
    }
    return "skewness";
}

std::string CheckedStatistic::words() const {
    if (!is_unusual) return {};
    const auto [below, above] = words_of(statistic);
    return fmt::format("{} of {} {} (p = {:.2g})", of_residuals ? "the residuals" : "the values", column,
                       observed < replicated ? below : above, p);
}

bool ModelCheck::fits() const {
    return std::none_of(statistics.begin(), statistics.end(),
                        [](const CheckedStatistic& one) { return one.is_unusual; });
}

std::string ModelCheck::message() const {
    constexpr std::size_t most = 4;
    std::vector<std::string> words;
    for (const CheckedStatistic& one : statistics) {
        if (one.is_unusual) words.push_back(one.words());
    }
    if (words.empty()) {
        return fmt::format("nothing is unusual among {} statistics of the data: the model fits in these",
                           statistics.size());
    }
    std::string text = "the model does not fit: ";
    for (std::size_t i = 0; i < std::min(most, words.size()); ++i) text += (i > 0 ? "; " : "") + words[i];
    if (words.size() > most) text += fmt::format("; and {} more", words.size() - most);
    return text;
}

std::string ModelCheck::source() const {
    return draws == ParameterDraws::exact ? "draws of the exact posterior" : "the normal posterior of linear response";
}

Document ModelCheck::document() const {
    Document json;
    json["replicates"] = replicates;
    json["draws"] = draws == ParameterDraws::exact ? "exact" : "response";
    json["fits"] = fits();
    json["message"] = message();
    json["level"] = kModelCheckLevel;
    Document list = Document::list();
    for (const CheckedStatistic& one : statistics) list.push_back(document_of(one));
    json["statistics"] = std::move(list);
    json["response"] = response ? document_of(*response, file_rows) : Document();
    Document of_columns = Document::list();
    for (const ColumnCheck& one : columns) of_columns.push_back(document_of(one));
    json["columns"] = std::move(of_columns);
    return json;
}

ModelCheck check_model_fit(const FittedModel& fitted, const Check& check, const ModelCheckOptions& options) {
    require_drawn_rows(fitted);
    if (check.verdict == CheckVerdict::unchecked) {
        throw std::invalid_argument(fmt::format(
            "the draws of the exact posterior are of no use ({}): take those of linear response", check.trust));
    }
    const Index count = replicates_of(fitted, options);
    return checked(fitted, resampled(fitted, check, count, options.exact.seed, options.exact.threads),
                   ParameterDraws::exact, options);
}

ModelCheck check_model_fit(const FittedModel& fitted, const ModelCheckOptions& options) {
    require_drawn_rows(fitted);
    const Index count = replicates_of(fitted, options);
    const State& state = fitted.optimum().state;
    const bool is_held = std::all_of(state.clamped.begin(), state.clamped.end(), [](bool clamped) { return clamped; });
    const bool quick = !is_held && is_quick_by_draws(fitted, options.exact.draws);
    if (options.draws.value_or(quick ? ParameterDraws::exact : ParameterDraws::response) == ParameterDraws::exact) {
        // Where nothing was asked for, what can be had.
        try {
            const Check exact = check(fitted, options.exact);
            return check_model_fit(fitted, exact, options);
        } catch (const std::invalid_argument&) {  // draws of no use, or none
            if (options.draws) throw;
        }
    }
    return checked(fitted, drawn_by_response(fitted, count, options.exact.seed, options.exact.threads),
                   ParameterDraws::response, options);
}

bool is_quick_model_check(const FittedModel& fitted) {
    const double rows = std::max(fitted.file().data.total_weight, static_cast<double>(fitted.file().data.rows));
    const double numbers = rows * static_cast<double>(fitted.inputs().size());
    return numbers * static_cast<double>(kFewestReplicates) <= 2.0 * kReplicatedNumbers;
}

double marginal_quantile(const ColumnMarginal& marginal, double probability) {
    if (!(probability > 0.0 && probability < 1.0)) {
        throw std::invalid_argument(
            fmt::format("marginal_quantile: probability is {}, but must lie between 0 and 1", probability));
    }
    // It lies between those of the components.
    const double z = detail::normal_quantile(probability);
    const Eigen::ArrayXd own = marginal.means.array() + z * marginal.sds.array();
    double low = own.minCoeff();
    double high = own.maxCoeff();
    const bool upper = probability > 0.5;
    for (;;) {
        const double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) return middle;
        const bool is_below = upper ? marginal_tail(marginal, middle, true) > 1.0 - probability
                                    : marginal_tail(marginal, middle, false) < probability;
        (is_below ? low : high) = middle;
    }
}

}  // namespace lrvb
