#include "check/explore.hpp"

#include "base/parallel.hpp"
#include "sample/resampling.hpp"

#include <lrvb/sample/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr std::uint64_t kChainStreams = std::uint64_t{1} << 50U;
constexpr double kWork = 1.5e7;  // numbers looked at by all chains
constexpr double kMostSweeps = 12000.0;
constexpr Index kMostChains = 120;
constexpr Index kFewestChains = 12;
constexpr Index kThinning = 4;
constexpr Index kFewestKept = 6;
constexpr double kWideOpen = 2.5;
constexpr double kDepth = 10.0;              // nats below the draws that are looked at
constexpr double kDepthOfACoordinate = 4.0;  // a prior is some fifty times as wide as its posterior
constexpr double kEmpty = -700.0;            // the log weight of a component without rows
constexpr Index kHeld = 8;                   // sweeps for the others to follow a precision that was moved
constexpr double kStride = 1.25;             // between places that a log precision is moved to
constexpr double kFarthest = 16.0;           // strides
constexpr std::size_t kMovedChains = 12;     // with locations elsewhere
constexpr std::size_t kMostSwaps = 6;
constexpr std::size_t kChainsForDrift = 8;
constexpr double kDriftErrors = 4.0;
constexpr double kBeyond = 0.5;  // sds beyond all draws
constexpr int kTurnOfDraws = 9;  // its random numbers are those of no other
constexpr double kDrift = 0.2;   // a mean by so many sds, or a variance by twice that share

// Mean and sd of a row of draws.
std::pair<double, double> mean_and_sd(const Matrix& drawn, Index row, const Vector& weights) {
    const Eigen::ArrayXd counted = (weights.array() > 0.0).select(drawn.row(row).transpose().array(), 0.0);
    const double mean = (weights.array() * counted).sum();
    return {mean, std::sqrt((weights.array() * (counted - mean).square()).sum())};
}

// Distances of reported variables from their means at the draws, in their sds.
Matrix distances(const Matrix& drawn, const Vector& weights, Matrix z) {
    for (Index v = 0; v < z.rows(); ++v) {
        const auto [mean, sd] = mean_and_sd(drawn, v, weights);
        if (sd > 1e-12 * std::abs(mean)) {
            z.row(v) = (z.row(v).array() - mean) / sd;
        } else {
            z.row(v).setZero();  // held
        }
    }
    return z;
}

}  // namespace

struct Explorer::Start {
    Vector statistics;
    bool at_draw = false;
    std::vector<Index> moved = {};  // variables that are held at first
    Index displaced = 0;            // coordinates that were put elsewhere
};

// Points of all chains, and where in which chain they are.
struct Explorer::Runs {
    std::vector<Start> starts;
    Matrix points;
    std::vector<Index> chain_of;
    std::vector<Index> place_of;

    const Start& start_of(Index point) const {
        return starts[static_cast<std::size_t>(chain_of[static_cast<std::size_t>(point)])];
    }
};

Explorer::Explorer(const Model& model, const State& state, const ModelDensity& density, const LabelledDensity& labelled,
                   ValuesAt values_at, std::uint64_t seed, int threads)
    : model_(model),
      state_(state),
      density_(density),
      labelled_(labelled),
      values_at_(std::move(values_at)),
      seed_(seed),
      threads_(threads) {
    const std::optional<double> work = model.gibbs_work();
    if (!work) return;
    const double sweeps = std::min(kMostSweeps, kWork / *work);
    const Index chains =
        std::clamp(static_cast<Index>(sweeps / static_cast<double>(40 * kThinning)), kFewestChains, kMostChains);
    kept_ = static_cast<Index>(sweeps / static_cast<double>(chains * kThinning));
    if (kept_ < kFewestKept) return;
    chains_ = chains;
    std::vector<bool> exchangeable(static_cast<std::size_t>(model.layout().variable_count()), false);
    for (const std::vector<Index>& block : model.exchangeable().blocks) {
        for (const Index variable : block) exchangeable[static_cast<std::size_t>(variable)] = true;
    }
    std::vector<Index> locations;
    for (Index j = 0; j < model.layout().variable_count(); ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (exchangeable[at] || state.clamped[at]) continue;
        const AnyFamily& family = model.layout()[j].family;
        if (std::holds_alternative<family::Gamma>(family) || std::holds_alternative<family::Scale>(family)) {
            precisions_.push_back(j);
        }
        if (std::holds_alternative<family::Normal>(family) || std::holds_alternative<family::MvNormal>(family)) {
            locations.push_back(j);
        }
    }
    moves_ = moves(locations);
}

// What two locations have is exchanged; then each coordinate of each goes so many sds up and down, about eight first.
std::vector<Explorer::Move> Explorer::moves(const std::vector<Index>& locations) const {
    std::vector<Move> result;
    std::vector<std::vector<Index>> coordinates;
    for (const Index j : locations) coordinates.push_back(density_.chart().coordinates_of(j));
    for (std::size_t a = 0; a < locations.size(); ++a) {
        for (std::size_t b = a + 1; b < locations.size() && result.size() < kMostSwaps; ++b) {
            if (coordinates[a].size() == coordinates[b].size()) result.push_back({locations[a], locations[b], 0, 0.0});
        }
    }
    for (const double sds : {8.0, 3.0, 20.0, 5.0, 12.0, 35.0}) {
        for (const double side : {1.0, -1.0}) {
            for (std::size_t a = 0; a < locations.size(); ++a) {
                for (std::size_t i = 0; i < coordinates[a].size() && result.size() < kMovedChains; ++i) {
                    result.push_back({locations[a], -1, static_cast<Index>(i), side * sds});
                }
            }
        }
    }
    return result;
}

Explorer::Start Explorer::moved(Vector point, const Move& move, const Matrix& draws, const Vector& weights) const {
    Start start;
    const std::vector<Index> own = density_.chart().coordinates_of(move.variable);
    start.moved = {move.variable};
    start.displaced = 1;
    if (move.other >= 0) {
        const std::vector<Index> others = density_.chart().coordinates_of(move.other);
        for (std::size_t i = 0; i < own.size(); ++i) std::swap(point[own[i]], point[others[i]]);
        start.moved.push_back(move.other);
        start.displaced = static_cast<Index>(2 * own.size());
    } else {
        const Index at = own[static_cast<std::size_t>(move.coordinate)];
        point[at] += move.sds * mean_and_sd(draws, at, weights).second;
    }
    start.statistics = density_.statistics(point);
    return start;
}

// A quarter of the chains, or more, from draws; the others by turns with components emptied, with precisions moved, and
// from where a fit would start. Then those with locations moved, beside them.
std::vector<Explorer::Start> Explorer::starts(const Matrix& draws, const Vector& weights, bool from_afar,
                                              Random& random) const {
    const Exchangeable exchangeable = model_.exchangeable();
    const bool can_empty = exchangeable.weights && !state_.clamped[static_cast<std::size_t>(*exchangeable.weights)];
    const std::vector<Index> chosen = resampled(weights, chains_, random.uniform());
    Matrix points(draws.rows(), chains_);
    for (Index c = 0; c < chains_; ++c) points.col(c) = draws.col(chosen[static_cast<std::size_t>(c)]);
    const Matrix statistics = density_.statistics(points);
    const Layout& layout = model_.layout();
    std::vector<Start> result;
    Index emptied = 0;
    Index moved = 0;
    for (Index c = 0; c < chains_; ++c) {
        Start start;
        start.statistics = statistics.col(c);
        if (c % 4 == 3 && from_afar) {
            const State begun = model_.start(random);
            start.statistics = density_.statistics(density_.chart().point(begun.mean));
        } else if (c % 4 == 1 && can_empty) {
            Vector log_weights = layout.segment(start.statistics, *exchangeable.weights);
            const Index parts = log_weights.size();
            const Index first = emptied % parts;
            // Every other time, others with it.
            const bool several = (emptied++ / parts) % 2 == 1;
            const Index stays =
                (first + 1 + static_cast<Index>(random.uniform() * static_cast<double>(parts - 1))) % parts;
            for (Index k = 0; k < parts; ++k) {
                if (k != first && !(several && k != stays && random.uniform() < 0.5)) continue;
                log_weights[k] = kEmpty;
                for (const Index variable : exchangeable.blocks[static_cast<std::size_t>(k)]) {
                    start.displaced += static_cast<Index>(density_.chart().coordinates_of(variable).size());
                }
                start.displaced += 1;
            }
            const double largest = log_weights.maxCoeff();
            log_weights.array() -= largest + std::log((log_weights.array() - largest).exp().sum());
            layout.segment(start.statistics, *exchangeable.weights) = log_weights;
        } else if (c % 4 != 0 && !precisions_.empty()) {
            const Index precision = precisions_[static_cast<std::size_t>(moved) % precisions_.size()];
            start.moved = {precision};
            const Index count = moved++ / static_cast<Index>(precisions_.size());
            const double side = count % 2 == 0 ? 1.0 : -1.0;
            const Index turns = count / 2;
            const double strides = 1.0 + std::fmod(static_cast<double>(turns), kFarthest);
            const VariableInfo& info = layout[precision];
            double log_value = state_.mean[info.offset + 1] + side * strides * kStride;
            if (const auto* scale = std::get_if<family::Scale>(&info.family)) {
                // At most half way from the mean to a bound for every stride.
                const auto [lower, upper] = scale->bounds_of_log();
                const double mean = state_.mean[info.offset + 1];
                if (!(log_value > lower)) log_value = lower + (mean - lower) * std::exp2(-strides);
                if (!(log_value < upper)) log_value = upper - (upper - mean) * std::exp2(-strides);
            }
            start.displaced = 1;
            start.statistics[info.offset] = std::exp(log_value);
            start.statistics[info.offset + 1] = log_value;
        } else {
            start.at_draw = true;
        }
        result.push_back(std::move(start));
    }
    for (std::size_t i = 0; i < moves_.size(); ++i) {
        result.push_back(this->moved(points.col(static_cast<Index>(i) % chains_), moves_[i], draws, weights));
    }
    return result;
}

// The labelled points of a chain; it ends early where a conditional cannot be drawn from.
Matrix Explorer::run(const Start& start, Random& random) const {
    Vector statistics = start.statistics;
    Matrix points(density_.dimension(), kept_);
    Index count = 0;
    try {
        std::vector<bool> held = state_.clamped;
        for (const Index variable : start.moved) held[static_cast<std::size_t>(variable)] = true;
        const Index sweeps = kept_ * kThinning;
        for (Index i = 1; i <= sweeps; ++i) {
            model_.gibbs(statistics, i <= kHeld ? held : state_.clamped, random);
            if (i % kThinning != 0) continue;
            points.col(count) = labelled_.relabelled(density_.chart().point(statistics));
            if (!points.col(count).allFinite()) break;
            ++count;
        }
    } catch (const std::domain_error&) {
    }
    return points.leftCols(count);
}

Explorer::Runs Explorer::run_all(const Matrix& draws, const Vector& weights, bool from_afar, int turn) const {
    const std::uint64_t first = kChainStreams * static_cast<std::uint64_t>(turn + 1);
    Random random(seed_, first);
    Runs runs;
    runs.starts = starts(draws, weights, from_afar, random);
    std::vector<Matrix> each(runs.starts.size());
    in_parallel(threads_, static_cast<Index>(each.size()), [&](Index c) {
        Random own(seed_, first + static_cast<std::uint64_t>(c) + 1);
        each[static_cast<std::size_t>(c)] = run(runs.starts[static_cast<std::size_t>(c)], own);
    });
    Index count = 0;
    for (const Matrix& one : each) count += one.cols();
    runs.points.resize(density_.dimension(), count);
    for (std::size_t c = 0; c < each.size(); ++c) {
        runs.points.middleCols(static_cast<Index>(runs.chain_of.size()), each[c].cols()) = each[c];
        runs.chain_of.insert(runs.chain_of.end(), static_cast<std::size_t>(each[c].cols()), static_cast<Index>(c));
        for (Index i = 0; i < each[c].cols(); ++i) runs.place_of.push_back(i);
    }
    return runs;
}

Explored Explorer::explore(const ImportanceSample& sample, const Matrix& values, double dof, double limit,
                           int turn) const {
    const Vector weights = weights_of(sample.log_weights);
    Runs runs = run_all(sample.points, weights, true, turn);
    Explored explored;
    explored.points = std::move(runs.points);
    const Index count = explored.points.cols();
    const Vector log_density = density_.evaluate(explored.points, threads_);
    const Vector log_ratio = log_density - log_proposal_at(sample.proposal, explored.points, dof, threads_);

    const Matrix z = distances(values, weights, values_at_(explored.points));
    const double log_limit = std::log(limit * static_cast<double>(sample.points.cols())) + sample.log_integral;
    // What is so far below the draws would have to be that much larger to hold anything.
    const Vector heights = (weights.array() > 0.0).select(sample.log_density, 0.0);
    const double deepest =
        weights.dot(heights) - kDepth - kDepthOfACoordinate * static_cast<double>(density_.dimension());
    std::vector<Index> blamed(static_cast<std::size_t>(z.rows()), 0);
    for (Index i = 0; i < count; ++i) {
        Index variable = 0;
        const double distance = z.rows() > 0 ? z.col(i).cwiseAbs().maxCoeff(&variable) : 0.0;
        const double importance = 2.0 * std::log(std::max(1.0, distance));
        if (!std::isfinite(distance) || !(log_ratio[i] + importance > log_limit)) continue;
        if (!(log_density[i] + importance > deepest)) continue;
        explored.uncovered.push_back(i);
        // On its way back from where it was put, a chain may pass tails that hold nothing.
        const bool settled = runs.start_of(i).at_draw || 2 * runs.place_of[static_cast<std::size_t>(i)] >= kept_;
        const bool wide_open = log_ratio[i] + importance > log_limit + std::log(kWideOpen);
        explored.wide_open += settled && wide_open ? 1.0 : 0.0;
        if (z.rows() > 0) ++blamed[static_cast<std::size_t>(variable)];
    }
    if (!explored.uncovered.empty() && !blamed.empty()) {
        explored.variable = std::max_element(blamed.begin(), blamed.end()) - blamed.begin();
    }
    explored.drifting = drifting(runs, z);
    return explored;
}

// By means of the second half of each chain that began at a draw.
Index Explorer::drifting(const Runs& runs, const Matrix& z) const {
    Index found = -1;
    Matrix first_moments = Matrix::Zero(z.rows(), chains_);
    Matrix second_moments = first_moments;
    Vector lengths = Vector::Zero(chains_);
    for (Index i = 0; i < z.cols(); ++i) {
        const Index c = runs.chain_of[static_cast<std::size_t>(i)];
        if (2 * runs.place_of[static_cast<std::size_t>(i)] < kept_ || !runs.start_of(i).at_draw) continue;
        first_moments.col(c) += z.col(i);
        second_moments.col(c) += z.col(i).cwiseAbs2();
        lengths[c] += 1.0;
    }
    std::vector<Index> used;
    for (Index c = 0; c < chains_; ++c) {
        if (lengths[c] > 0.0) used.push_back(c);
    }
    double largest = 0.0;
    for (Index v = 0; v < z.rows() && used.size() >= kChainsForDrift; ++v) {
        for (const bool squares : {false, true}) {
            Vector means(static_cast<Index>(used.size()));
            for (std::size_t i = 0; i < used.size(); ++i) {
                const Matrix& moments = squares ? second_moments : first_moments;
                means[static_cast<Index>(i)] = moments(v, used[i]) / lengths[used[i]];
            }
            const double mean = means.mean();
            const double size = static_cast<double>(means.size());
            const double error = std::sqrt((means.array() - mean).square().sum() / (size * (size - 1.0)));
            const double off = squares ? mean - 1.0 : std::abs(mean);
            const double beyond = off - kDriftErrors * error - (squares ? 2.0 : 1.0) * kDrift;
            if (z.row(v).cwiseAbs().maxCoeff() == 0.0 || !(beyond > largest)) continue;
            largest = beyond;
            found = v;
        }
    }
    return found;
}

Left Explorer::leave(const Matrix& draws, const Matrix& values, const Vector& log_density) const {
    const Vector weights = Vector::Constant(draws.cols(), 1.0 / static_cast<double>(draws.cols()));
    const Runs runs = run_all(draws, weights, false, kTurnOfDraws);
    Left left;
    if (runs.points.cols() == 0) return left;
    const Matrix z = distances(values, weights, values_at_(runs.points));
    left.drifting = drifting(runs, z);
    const Matrix drawn = distances(values, weights, values);
    const Vector lowest = drawn.rowwise().minCoeff().array() - kBeyond;
    const Vector highest = drawn.rowwise().maxCoeff().array() + kBeyond;
    const Vector heights = density_.evaluate(runs.points, threads_);
    for (Index c = 0; c < static_cast<Index>(runs.starts.size()) && left.away < 0; ++c) {
        const Start& start = runs.starts[static_cast<std::size_t>(c)];
        if (start.displaced == 0) continue;
        double height = 0.0;
        double count = 0.0;
        Vector least = Vector::Constant(z.rows(), std::numeric_limits<double>::infinity());
        Vector most = -least;
        for (Index i = 0; i < z.cols(); ++i) {
            if (runs.chain_of[static_cast<std::size_t>(i)] != c) continue;
            if (2 * runs.place_of[static_cast<std::size_t>(i)] < kept_) continue;
            height += heights[i];
            count += 1.0;
            least = least.cwiseMin(z.col(i));
            most = most.cwiseMax(z.col(i));
        }
        const double depth = kDepth + kDepthOfACoordinate * static_cast<double>(start.displaced);
        if (!(count > 0.0 && height / count > log_density.mean() - depth)) continue;
        for (Index v = 0; v < z.rows(); ++v) {
            if (least[v] > highest[v] || most[v] < lowest[v]) left.away = v;
        }
    }
    return left;
}

}  // namespace lrvb::detail
