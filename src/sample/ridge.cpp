#include "sample/ridge.hpp"

#include "linalg/positive_definite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr double kRidgeInfinity = std::numeric_limits<double>::infinity();
constexpr double kRidgeDifference = 1e-3;  // in sds
constexpr int kRidgeMostNewtonSteps = 40;
constexpr double kRidgeConverged = 1e-5;  // of the squared last step, in sds
constexpr int kRidgeHalvings = 12;
constexpr int kRidgeMostNodes = 70;        // on a side
constexpr double kRidgeDrop = 12.0;        // nats, to the end of the mass
constexpr double kRidgeFarDrop = 25.0;     // nats, beyond which no moment is waited for
constexpr double kRidgeBeyond = 0.002;     // of a second moment, beyond the nodes
constexpr double kRidgeMostBeyond = 0.05;  // where nodes end for another reason
constexpr int kRidgeEven = 25;             // nodes on a side that are evenly spaced
constexpr double kRidgeGrowth = 1.06;      // of spacings beyond them
constexpr double kRidgeLeastShare = 0.1;   // of the draws, spread evenly over all nodes
constexpr double kRidgeMomentShare = 0.4;  // of the draws, for variances
constexpr double kRidgeInflation = 1.15;
constexpr double kRidgeReach = 1.7320508075688772;  // of the rule's outer points, in sds
constexpr Index kRidgeRepeats = 6;                  // of the point of a node

double log_sum_of(const Vector& logs) {
    const double largest = logs.maxCoeff();
    return largest + std::log((logs.array() - largest).exp().sum());
}

}  // namespace

class RidgeWalk {
    // Of every function about its start, at one node.
    struct Moments {
        Vector mean;
        Vector square;
    };

  public:
    RidgeWalk(const SmoothDensity& density, Index coordinate, const NormalApproximation& approximation,
              const RidgeOptions& options)
        : density_(density), options_(options), coordinate_(coordinate) {
        const Index dimension = density.dimension();
        for (Index i = 0; i < dimension; ++i) {
            if (i != coordinate && std::ranges::find(options.held, i) == options.held.end()) others_.push_back(i);
        }
        start_ = approximation.mean;
        scale_ = approximation.covariance.diagonal().cwiseSqrt();
        step_ =
            std::min(std::clamp(1.6 / std::sqrt(static_cast<double>(dimension)), 0.2, 0.6), 0.5 * scale_[coordinate]);
    }

    std::optional<Ridge> run() {
        const std::optional<RidgeNode> first = node_at(start_[coordinate_], start_, scale_);
        if (!first || !(step_ > 0.0)) return std::nullopt;
        add(*first, true);
        for (const bool up : {true, false}) {
            if (!walk(up)) return std::nullopt;
        }
        return finished();
    }

  private:
    void add(const RidgeNode& node, bool up) {
        nodes_.insert(up ? nodes_.end() : nodes_.begin(), node);
        Moments moments = moments_at(node);
        if (start_values_.size() == 0) start_values_ = moments.mean;
        moments.mean -= start_values_;
        moments.square += moments.mean.cwiseAbs2();
        values_.insert(up ? values_.end() : values_.begin(), std::move(moments));
        if (mass_drop(up) > kRidgeDrop) note_fallen(up);
    }

    // Moments at a node: those at x̂, which are draws where the density has integrated variables out, and what each axis
    // of its normal adds by a rule of three points, weighted as the posterior given ψ has them.
    Moments moments_at(const RidgeNode& node) const {
        if (!options_.functions) return {};
        const PositiveDefinite spread(node.covariance);
        const Index axes = spread.succeeded() ? static_cast<Index>(others_.size()) : 0;
        Matrix points = node.point.replicate(1, kRidgeRepeats + 2 * axes);
        for (Index k = 0; k < axes; ++k) {
            points(others_, kRidgeRepeats + 2 * k) += kRidgeReach * spread.factor().col(k);
            points(others_, kRidgeRepeats + 2 * k + 1) -= kRidgeReach * spread.factor().col(k);
        }
        const Matrix values = options_.functions(points);
        const Vector centre = values.leftCols(kRidgeRepeats).rowwise().mean();
        const Matrix repeats = values.leftCols(kRidgeRepeats).colwise() - centre;
        Moments result{centre, repeats.cwiseAbs2().rowwise().mean()};  // the second about the centre, as yet
        if (axes == 0) return result;
        const Vector logs = density_.evaluate(points.rightCols(2 * axes + 1), options_.threads);
        for (Index k = 0; k < axes; ++k) {
            const Matrix moved = values.middleCols(kRidgeRepeats + 2 * k, 2).colwise() - centre;
            const Vector ratios = logs.segment(2 * k + 1, 2).array() - logs[0];
            add_axis(moved, ratios, result);
        }
        return result;
    }

    static void add_axis(const Matrix& moved, const Vector& log_ratios, Moments& result) {
        constexpr double kMost = 20.0;  // of a weight: where the normal is far too narrow
        Vector weights(2);
        for (Index side = 0; side < 2; ++side) {
            const double ratio = std::exp(log_ratios[side] + 0.5 * kRidgeReach * kRidgeReach) / 6.0;
            weights[side] = ratio >= 0.0 ? std::min(ratio, kMost) : 0.0;
        }
        weights /= 2.0 / 3.0 + weights.sum();
        for (Index side = 0; side < 2; ++side) {
            if (weights[side] == 0.0) continue;
            result.mean += weights[side] * moved.col(side);
            result.square += weights[side] * moved.col(side).cwiseAbs2();
        }
    }

    // Integrals that have fallen off once stay so: what comes beyond is rounding, or holds nothing.
    void note_fallen(bool up) {
        for (const int power : {1, 2}) {
            std::vector<bool>& fallen = fallen_[up ? 0 : 1][static_cast<std::size_t>(power - 1)];
            fallen.resize(static_cast<std::size_t>(start_values_.size()), false);
            for (std::size_t f = 0; f < fallen.size(); ++f) {
                if (!fallen[f]) fallen[f] = share_beyond(static_cast<Index>(f), power, up) < kRidgeBeyond;
            }
        }
    }

    bool has_fallen(bool up, int power, Index function) const {
        const std::vector<bool>& fallen = fallen_[up ? 0 : 1][static_cast<std::size_t>(power - 1)];
        return !fallen.empty() && fallen[static_cast<std::size_t>(function)];
    }

    bool walk(bool up) {
        for (int n = 0; n < kRidgeMostNodes; ++n) {
            const RidgeNode& last = up ? nodes_.back() : nodes_.front();
            const double step = step_ * std::pow(kRidgeGrowth, std::max(0, n - kRidgeEven));
            const double move = up ? step : -step;
            Vector scale = scale_;
            for (std::size_t i = 0; i < others_.size(); ++i) {
                scale[others_[i]] = std::sqrt(last.covariance(static_cast<Index>(i), static_cast<Index>(i)));
            }
            const std::optional<RidgeNode> next =
                node_at(last.point[coordinate_] + move, last.point + move * last.slope, scale);
            const bool is_past_mass = mass_drop(up) > kRidgeDrop;
            // A density that rises again out there is rounding.
            if (!next || (is_past_mass && next->log_mass > last.log_mass)) return is_past_mass;
            add(*next, up);
            if (mass_drop(up) > kRidgeFarDrop) return true;
            if (mass_drop(up) > kRidgeDrop && have_fallen(up)) return true;
        }
        return mass_drop(up) > kRidgeDrop;
    }

    double mass_drop(bool up) const {
        double most = -kRidgeInfinity;
        for (const RidgeNode& node : nodes_) most = std::max(most, node.log_mass);
        return most - (up ? nodes_.back() : nodes_.front()).log_mass;
    }

    // The share of a moment that is beyond an end, where its integrand goes on falling as it does there; infinite where
    // it does not fall.
    double share_beyond(Index function, int power, bool up) const {
        const std::size_t last = nodes_.size() - 1;
        Vector logs(static_cast<Index>(nodes_.size()));
        for (std::size_t k = 0; k <= last; ++k) {
            const double square = values_[k].square[function];
            if (!std::isfinite(square)) return kRidgeInfinity;
            const double log_moment = 0.5 * static_cast<double>(power) * std::log(square);
            logs[static_cast<Index>(k)] = nodes_[k].log_mass + log_moment + std::log(width_of(k));
        }
        if (logs.maxCoeff() == -kRidgeInfinity) return 0.0;  // the same everywhere
        if (last < 2) return kRidgeInfinity;
        const double at_end = logs[static_cast<Index>(up ? last : 0)];
        const double fall = logs[static_cast<Index>(up ? last - 1 : 1)] - at_end;
        if (at_end == -kRidgeInfinity) return 0.0;
        if (!(fall > 0.0)) return kRidgeInfinity;
        return std::exp(at_end - fall - log_sum_of(logs)) / -std::expm1(-fall);
    }

    double width_of(std::size_t node) const {
        const std::size_t left = node > 0 ? node - 1 : 0;
        const std::size_t right = std::min(nodes_.size() - 1, node + 1);
        return (nodes_[right].point[coordinate_] - nodes_[left].point[coordinate_]) / static_cast<double>(right - left);
    }

    bool have_fallen(bool up) const {
        for (Index f = 0; f < start_values_.size(); ++f) {
            if (!has_fallen(up, 2, f)) return false;
        }
        return true;
    }

    // The mode of the others there, by Newton's method with differences of gradients.
    std::optional<RidgeNode> node_at(double place, Vector point, const Vector& scale) {
        const Index dimension = point.size();
        const auto count = static_cast<Index>(others_.size());
        point[coordinate_] = place;
        for (int iteration = 0; iteration < kRidgeMostNewtonSteps; ++iteration) {
            Matrix points = point.replicate(1, 2 * count + 3);
            const auto step_of = [&](Index i) {
                // Where the normal is far wider than at the start, what bends the density may be as narrow as there.
                return i == coordinate_ ? kRidgeDifference : kRidgeDifference * std::min(scale[i], scale_[i]);
            };
            for (Index i = 0; i < count; ++i) {
                const Index at = others_[static_cast<std::size_t>(i)];
                points(at, 2 * i) += step_of(at);
                points(at, 2 * i + 1) -= step_of(at);
            }
            points(coordinate_, 2 * count) += step_of(coordinate_);
            points(coordinate_, 2 * count + 1) -= step_of(coordinate_);
            gradients_ += points.cols();
            if (gradients_ > options_.most_gradients) return std::nullopt;
            const DensityGradients there = density_.evaluate_gradients(points, options_.threads);
            if (!there.values.allFinite() || !there.gradients.allFinite()) return std::nullopt;
            const double value = there.values[2 * count + 2];
            const Matrix own = there.gradients(others_, Eigen::all);
            Matrix curvature(count, count);
            for (Index i = 0; i < count; ++i) {
                const double h = step_of(others_[static_cast<std::size_t>(i)]);
                curvature.col(i) = (own.col(2 * i + 1) - own.col(2 * i)) / (2.0 * h);
            }
            curvature = (0.5 * (curvature + curvature.transpose())).eval();
            const Vector across = (own.col(2 * count) - own.col(2 * count + 1)) / (2.0 * kRidgeDifference);
            const Vector gradient = own.col(2 * count + 2);
            const PositiveDefinite factor(curvature);
            if (factor.succeeded()) {
                const Vector step = count > 0 ? factor.solve(gradient) : Vector();
                if (!(gradient.dot(step) > kRidgeConverged)) {
                    RidgeNode node;
                    node.point = point;
                    node.slope = Vector::Zero(dimension);
                    node.slope[coordinate_] = 1.0;
                    if (count > 0) node.slope(others_) = factor.solve(across);
                    node.covariance = count > 0 ? factor.inverse() : Matrix(0, 0);
                    node.log_mass = value + 0.5 * static_cast<double>(count) * std::log(2.0 * std::numbers::pi) -
                                    (count > 0 ? 0.5 * factor.log_determinant() : 0.0);
                    return node;
                }
            }
            const std::optional<Vector> step = ascent(curvature, gradient, scale);
            if (!step || !climb(point, *step, value)) return std::nullopt;
        }
        return std::nullopt;
    }

    // A step uphill, of the curvature with as much on its diagonal as that takes.
    std::optional<Vector> ascent(const Matrix& curvature, const Vector& gradient, const Vector& scale) const {
        const Vector widths = scale(others_);
        double damping = 0.0;
        for (int turn = 0; turn < 12; ++turn) {
            Matrix damped = curvature;
            damped.diagonal().array() += damping / widths.array().square();
            const PositiveDefinite factor(damped);
            if (factor.succeeded()) return factor.solve(gradient);
            damping = damping == 0.0 ? 0.1 : 4.0 * damping;
        }
        return std::nullopt;
    }

    bool climb(Vector& point, const Vector& step, double value) const {
        Matrix points = point.replicate(1, kRidgeHalvings);
        double length = 1.0;
        for (Index i = 0; i < kRidgeHalvings; ++i, length *= 0.5) points(others_, i) += length * step;
        const Vector values = density_.evaluate(points, options_.threads);
        Index best = -1;
        for (Index i = 0; i < kRidgeHalvings; ++i) {
            if (!(values[i] > value)) continue;
            best = i;
            value = values[i];
        }
        if (best < 0) return false;
        point = points.col(best);
        return true;
    }

    std::optional<Ridge> finished() const {
        Ridge ridge;
        ridge.coordinate_ = coordinate_;
        ridge.others_ = others_;
        ridge.nodes_ = nodes_;
        const auto count = static_cast<Index>(nodes_.size());
        Vector logs(count);
        for (Index k = 0; k < count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            logs[k] = nodes_[at].log_mass + std::log(width_of(at));
        }
        ridge.weights_ = (logs.array() - log_sum_of(logs)).exp();
        const Index functions = start_values_.size();
        ridge.means_.resize(functions, count);
        ridge.squares_.resize(functions, count);
        for (Index k = 0; k < count && functions > 0; ++k) {
            ridge.means_.col(k) = values_[static_cast<std::size_t>(k)].mean;
            ridge.squares_.col(k) = values_[static_cast<std::size_t>(k)].square;
        }
        ridge.far_shares_ = Vector::Zero(functions);
        for (Index f = 0; f < functions; ++f) {
            const auto has = [&](int power) {
                return std::ranges::all_of(std::array{true, false}, [&](bool up) {
                    return has_fallen(up, power, f) || share_beyond(f, power, up) < kRidgeMostBeyond;
                });
            };
            ridge.moments_.push_back(has(2)   ? TailMoments::mean_and_sd
                                     : has(1) ? TailMoments::mean
                                              : TailMoments::none);
            const Eigen::ArrayXd squares = ridge.variance_along(f);
            if (squares.size() == 0) continue;
            double far = 0.0;
            for (const bool up : {true, false}) {
                double beyond = 0.0;
                for (Index n = 0; n < count; ++n) {
                    const Index k = up ? count - 1 - n : n;
                    beyond += ridge.weights_[k];
                    if (beyond > options_.reach) break;
                    far += squares[k];
                }
            }
            if (squares.sum() > 0.0) ridge.far_shares_[f] = far / squares.sum();
        }
        return ridge;
    }

    const SmoothDensity& density_;
    const RidgeOptions& options_;
    Index coordinate_;
    std::vector<Index> others_;
    Vector start_;
    Vector scale_;
    double step_ = 0.0;
    Index gradients_ = 0;
    std::vector<RidgeNode> nodes_;
    std::vector<Moments> values_;
    Vector start_values_;
    std::array<std::array<std::vector<bool>, 2>, 2> fallen_;  // by side and power, of every function
};

std::optional<Ridge> ridge_along(const SmoothDensity& density, Index coordinate,
                                 const NormalApproximation& approximation, const RidgeOptions& options) {
    return RidgeWalk(density, coordinate, approximation, options).run();
}

Eigen::ArrayXd Ridge::variance_along(Index function) const {
    const Eigen::ArrayXd means = means_.row(function);
    const Eigen::ArrayXd squares = squares_.row(function);
    if (!squares.allFinite()) return {};
    const double mean = (means * weights_.array()).sum();
    return weights_.array() * (squares - 2.0 * mean * means + mean * mean).max(0.0);
}

std::vector<ProposalPart> Ridge::proposal() const {
    const auto count = static_cast<Index>(nodes_.size());
    // For each node the largest share that it has of the variance of a function.
    Vector spread = Vector::Zero(count);
    for (Index f = 0; f < squares_.rows(); ++f) {
        if (moments_[static_cast<std::size_t>(f)] != TailMoments::mean_and_sd) continue;
        const Eigen::ArrayXd squares = variance_along(f);
        if (squares.size() > 0 && squares.sum() > 0.0) spread = spread.cwiseMax((squares / squares.sum()).matrix());
    }
    const double of_moments = spread.sum() > 0.0 ? kRidgeMomentShare : 0.0;
    Vector shares = (1.0 - kRidgeLeastShare - of_moments) * weights_;
    shares.array() += kRidgeLeastShare / static_cast<double>(count);
    if (of_moments > 0.0) shares += of_moments / spread.sum() * spread;
    std::vector<ProposalPart> parts;
    for (Index k = 0; k < count; ++k) {
        const RidgeNode& node = nodes_[static_cast<std::size_t>(k)];
        const double left = k > 0 ? nodes_[static_cast<std::size_t>(k - 1)].point[coordinate_] : -kRidgeInfinity;
        const double right =
            k + 1 < count ? nodes_[static_cast<std::size_t>(k + 1)].point[coordinate_] : kRidgeInfinity;
        const double place = node.point[coordinate_];
        const double width = std::min(place - left, right - place);
        NormalApproximation scale;
        scale.mean = node.point;
        scale.covariance = width * width * node.slope * node.slope.transpose();
        for (std::size_t i = 0; i < others_.size(); ++i) {
            for (std::size_t j = 0; j < others_.size(); ++j) {
                scale.covariance(others_[i], others_[j]) +=
                    kRidgeInflation * node.covariance(static_cast<Index>(i), static_cast<Index>(j));
            }
        }
        parts.push_back({shares[k], std::move(scale)});
    }
    return parts;
}

void RidgeDensity::Curves::at(double place, Vector& value, Vector& slope) const {
    const Index last = places.size() - 1;
    if (place <= places[0] || place >= places[last]) {
        const Index end = place <= places[0] ? 0 : last;
        value += values.col(end) + (place - places[end]) * slopes.col(end);
        slope += slopes.col(end);
        return;
    }
    const Index right = std::upper_bound(places.begin(), places.end(), place) - places.begin();
    const Index left = right - 1;
    const double width = places[right] - places[left];
    const double t = (place - places[left]) / width;
    const double u = 1.0 - t;
    value += (1.0 + 2.0 * t) * u * u * values.col(left) + t * t * (3.0 - 2.0 * t) * values.col(right) +
             width * (t * u * u * slopes.col(left) - t * t * u * slopes.col(right));
    slope += 6.0 * t * u / width * (values.col(right) - values.col(left)) + u * (1.0 - 3.0 * t) * slopes.col(left) +
             t * (3.0 * t - 2.0) * slopes.col(right);
}

RidgeDensity::RidgeDensity(const SmoothDensity& density, std::vector<Ridge> ridges,
                           const NormalApproximation& approximation)
    : density_(&density),
      is_axis_(static_cast<std::size_t>(density.dimension()), false),
      centre_(approximation.mean),
      log_sd_(Vector::Zero(density.dimension())) {
    const Index dimension = density.dimension();
    for (const Ridge& ridge : ridges) is_axis_[static_cast<std::size_t>(ridge.coordinate())] = true;
    approximation_ = {approximation.mean, approximation.covariance};
    bool is_first = true;
    for (const Ridge& ridge : ridges) {
        const auto count = static_cast<Index>(ridge.nodes().size());
        Axis axis{ridge.coordinate(), {}, {}};
        axis.modes.places.resize(count);
        axis.modes.values = Matrix::Zero(dimension, count);
        axis.modes.slopes = Matrix::Zero(dimension, count);
        axis.log_sds = axis.modes;
        Index middle = 0;
        for (Index k = 0; k < count; ++k) {
            const RidgeNode& node = ridge.nodes()[static_cast<std::size_t>(k)];
            axis.modes.places[k] = node.point[axis.coordinate];
            if (std::abs(axis.modes.places[k] - centre_[axis.coordinate]) <
                std::abs(axis.modes.places[middle] - centre_[axis.coordinate])) {
                middle = k;
            }
            for (std::size_t i = 0; i < ridge.others().size(); ++i) {
                const Index at = ridge.others()[i];
                if (is_axis_[static_cast<std::size_t>(at)]) continue;
                axis.modes.values(at, k) = node.point[at];
                axis.modes.slopes(at, k) = node.slope[at];
                axis.log_sds.values(at, k) =
                    0.5 * std::log(node.covariance(static_cast<Index>(i), static_cast<Index>(i)));
            }
        }
        axis.log_sds.places = axis.modes.places;
        for (Index k = 0; k < count; ++k) {
            const Index left = std::max<Index>(0, k - 1);
            const Index right = std::min(count - 1, k + 1);
            if (left == right) continue;
            axis.log_sds.slopes.col(k) = (axis.log_sds.values.col(right) - axis.log_sds.values.col(left)) /
                                         (axis.modes.places[right] - axis.modes.places[left]);
        }
        const Vector mode = axis.modes.values.col(middle);
        const Vector log_sd = axis.log_sds.values.col(middle);
        if (is_first) {
            for (Index i = 0; i < dimension; ++i) {
                if (!is_axis_[static_cast<std::size_t>(i)]) centre_[i] = mode[i];
            }
            log_sd_ = log_sd;
            // In its own coordinates: correlations of the others there, and the spread along the ridge.
            const RidgeNode& node = ridge.nodes()[static_cast<std::size_t>(middle)];
            for (std::size_t i = 0; i < ridge.others().size(); ++i) {
                for (std::size_t j = 0; j < ridge.others().size(); ++j) {
                    const Index a = ridge.others()[i];
                    const Index b = ridge.others()[j];
                    approximation_.covariance(a, b) = node.covariance(static_cast<Index>(i), static_cast<Index>(j)) *
                                                      std::exp(-log_sd[a] - log_sd[b]);
                }
            }
        }
        is_first = false;
        axis.modes.values.colwise() -= mode;
        axis.log_sds.values.colwise() -= log_sd;
        const Eigen::ArrayXd places = axis.modes.places;
        const double mean = (places * ridge.weights().array()).sum();
        const double variance = (ridge.weights().array() * (places - mean).square()).sum();
        approximation_.covariance.row(axis.coordinate).setZero();
        approximation_.covariance.col(axis.coordinate).setZero();
        approximation_.covariance(axis.coordinate, axis.coordinate) = std::max(variance, 1e-12);
        approximation_.mean[axis.coordinate] = mean;
        axes_.push_back(std::move(axis));
    }
    for (Index i = 0; i < dimension; ++i) {
        if (!is_axis_[static_cast<std::size_t>(i)]) approximation_.mean[i] = 0.0;
    }
}

RidgeDensity::Frame RidgeDensity::frame_at(const VectorView& own) const {
    const auto count = static_cast<Index>(axes_.size());
    Frame frame{centre_, log_sd_, Matrix::Zero(centre_.size(), count), Matrix::Zero(centre_.size(), count)};
    for (Index a = 0; a < count; ++a) {
        const Axis& axis = axes_[static_cast<std::size_t>(a)];
        Vector slope = Vector::Zero(centre_.size());
        axis.modes.at(own[axis.coordinate], frame.centre, slope);
        frame.centre_slopes.col(a) = slope;
        slope.setZero();
        axis.log_sds.at(own[axis.coordinate], frame.log_sd, slope);
        frame.log_sd_slopes.col(a) = slope;
    }
    return frame;
}

Matrix RidgeDensity::points(const Matrix& own) const {
    Matrix result = own;
    for (Index c = 0; c < own.cols(); ++c) {
        const Frame frame = frame_at(own.col(c));
        for (Index i = 0; i < own.rows(); ++i) {
            if (is_axis_[static_cast<std::size_t>(i)]) continue;
            result(i, c) = frame.centre[i] + std::exp(frame.log_sd[i]) * own(i, c);
        }
    }
    return result;
}

Vector RidgeDensity::evaluate(const Matrix& points, int threads) const {
    Vector values = density_->evaluate(this->points(points), threads);
    for (Index c = 0; c < points.cols(); ++c) values[c] += frame_at(points.col(c)).log_sd.sum();
    return values;
}

DensityGradients RidgeDensity::evaluate_gradients(const Matrix& points, int threads) const {
    DensityGradients result = density_->evaluate_gradients(this->points(points), threads);
    for (Index c = 0; c < points.cols(); ++c) {
        const Frame frame = frame_at(points.col(c));
        result.values[c] += frame.log_sd.sum();
        Eigen::Ref<Vector> gradient = result.gradients.col(c);
        const Vector at_point = gradient;
        for (Index i = 0; i < points.rows(); ++i) {
            if (is_axis_[static_cast<std::size_t>(i)]) continue;
            const double stretch = std::exp(frame.log_sd[i]);
            gradient[i] = stretch * at_point[i];
            for (std::size_t a = 0; a < axes_.size(); ++a) {
                const auto column = static_cast<Index>(a);
                gradient[axes_[a].coordinate] +=
                    at_point[i] *
                        (frame.centre_slopes(i, column) + stretch * points(i, c) * frame.log_sd_slopes(i, column)) +
                    frame.log_sd_slopes(i, column);
            }
        }
    }
    return result;
}

NormalApproximation RidgeDensity::approximation() const {
    return approximation_;
}

}  // namespace lrvb::detail
