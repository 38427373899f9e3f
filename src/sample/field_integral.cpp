#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "family/special.hpp"

#include <lrvb/sample/field_integral.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/pareto.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kLongestStep = 1.0;  // of ψ: logs of sds and the like turn within it

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

double automatic_step(Index dimension) {
    if (dimension <= 1) return 0.5;
    if (dimension == 2) return 0.6;
    return dimension <= 4 ? 1.0 : 1.25;
}

/// Long tails, such as that of the log of an sd towards zero, fall by a nat for each of its units: cutting them costs
/// variances of logs most. They are cheap where dimensions are few.
double automatic_drop(Index dimension) {
    if (dimension <= 2) return 13.0;
    return dimension == 3 ? 11.0 : 9.5;
}

// Nodes are looked at one after the other: several threads were found to change the last digits of what is added up.
constexpr int kThreads = 1;

/// −∇²e by central differences of its gradient.
Matrix curvature_at(const FieldModel& model, const Vector& top, int threads) {
    constexpr double kStep = 1e-3;
    const Index size = top.size();
    Matrix gradients(size, 2 * size);
    detail::in_parallel(threads, 2 * size, [&](Index i) {
        Vector moved = top;
        moved[i / 2] += i % 2 == 0 ? kStep : -kStep;
        Vector gradient;
        const double value = model.log_density(moved, &gradient);
        gradients.col(i) = std::isfinite(value) ? gradient : Vector(Vector::Zero(size));
    });
    Matrix result(size, size);
    for (Index j = 0; j < size; ++j) {
        result.col(j) = (gradients.col(2 * j + 1) - gradients.col(2 * j)) / (2.0 * kStep);
    }
    return 0.5 * (result + result.transpose());
}

/// Columns are one sd along each axis of the curvature; flat and rising ones as far as ψ may go at once.
Matrix axes_of(const Matrix& curvature) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(curvature);
    Matrix axes = eigen.eigenvectors();
    for (Index j = 0; j < axes.cols(); ++j) {
        const double value = eigen.eigenvalues()[j];
        const double longest = kLongestStep / axes.col(j).cwiseAbs().maxCoeff();
        axes.col(j) *= value > 0.0 ? std::min(1.0 / std::sqrt(value), longest) : longest;
        // The sign of an eigenvector is anybody's.
        Index largest = 0;
        axes.col(j).cwiseAbs().maxCoeff(&largest);
        if (axes(largest, j) < 0.0) axes.col(j) *= -1.0;
    }
    return axes;
}

/// e, for importance sampling.
class PsiDensity final : public LogDensity {
  public:
    explicit PsiDensity(const FieldModel& model) : model_(model) {}
    Index dimension() const override { return model_.variance_count(); }
    Vector evaluate(const Matrix& points, int threads) const override {
        Vector result(points.cols());
        detail::in_parallel(threads, points.cols(),
                            [&](Index i) { result[i] = model_.corrected_log_density(points.col(i)); });
        return result;
    }

  private:
    const FieldModel& model_;
};

double normal_probability(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// u is linear in Φ⁻¹(p) between points whose Φ⁻¹(p) are z, ascending; beyond them it goes on along the last two.
double interpolated(const std::vector<double>& z, const std::vector<double>& u, double where) {
    if (u.size() == 1) return u.front();
    const auto above = std::lower_bound(z.begin(), z.end(), where);
    std::size_t right = static_cast<std::size_t>(above - z.begin());
    right = std::clamp<std::size_t>(right, 1, z.size() - 1);
    const double share = (where - z[right - 1]) / (z[right] - z[right - 1]);
    return u[right - 1] + share * (u[right] - u[right - 1]);
}

/// Of Σ_k w_k N(m_k, v_k): its distribution function on a grid about its mean, and that turned round.
Vector mixture_quantiles(const Vector& weights, const VectorView& means, const VectorView& variances, double mean,
                         double sd, const std::vector<double>& probabilities) {
    constexpr int kHalf = 64;
    constexpr double kReach = 8.0;
    std::vector<double> z;
    std::vector<double> u;
    const Vector sds = variances.cwiseMax(0.0).cwiseSqrt();
    for (int g = -kHalf; g <= kHalf; ++g) {
        const double value = mean + sd * kReach * g / kHalf;
        double below = 0.0;
        double above = 0.0;
        for (Index k = 0; k < weights.size(); ++k) {
            const double distance = sds[k] > 0.0 ? (value - means[k]) / sds[k] : (value >= means[k] ? 40.0 : -40.0);
            below += weights[k] * normal_probability(distance);
            above += weights[k] * normal_probability(-distance);
        }
        // From the end where it is small, so that nothing cancels.
        const double score = below < above ? detail::normal_quantile(std::clamp(below, 1e-300, 0.5))
                                           : -detail::normal_quantile(std::clamp(above, 1e-300, 0.5));
        if (!z.empty() && !(score > z.back() + 1e-9)) continue;
        if (std::abs(score) > 8.0) continue;
        z.push_back(score);
        u.push_back(value);
    }
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        result[static_cast<Index>(i)] =
            z.empty() ? mean : interpolated(z, u, detail::normal_quantile(probabilities[i]));
    }
    return result;
}

/// Of weighted values, those that are about the same as one.
Vector weighted_quantiles(const Vector& weights, const VectorView& values, const std::vector<double>& probabilities) {
    std::vector<Index> order(at(values.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
    const double same = 1e-9 * (values.maxCoeff() - values.minCoeff());
    std::vector<double> z;
    std::vector<double> u;
    double before = 0.0;
    for (std::size_t i = 0; i < order.size();) {
        double weight = 0.0;
        double sum = 0.0;
        const double first = values[order[i]];
        for (; i < order.size() && values[order[i]] - first <= same; ++i) {
            weight += weights[order[i]];
            sum += weights[order[i]] * values[order[i]];
        }
        const double probability = before + 0.5 * weight;
        before += weight;
        if (!(weight > 0.0 && probability > 0.0 && probability < 1.0)) continue;
        const double score = detail::normal_quantile(probability);
        if (!z.empty() && !(score > z.back())) continue;
        z.push_back(score);
        u.push_back(sum / weight);
    }
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        result[static_cast<Index>(i)] = interpolated(z, u, detail::normal_quantile(probabilities[i]));
    }
    return result;
}

/// Of values that are spread evenly over widths about them: the distribution function is made of straight pieces.
Vector spread_quantiles(const Vector& weights, const VectorView& values, const VectorView& widths,
                        const std::vector<double>& probabilities) {
    const double smallest = 1e-12 * (values.maxCoeff() - values.minCoeff()) + std::numeric_limits<double>::min();
    std::vector<std::pair<double, double>> turns;  // places, and by how much the density rises there
    turns.reserve(2 * at(values.size()));
    for (Index i = 0; i < values.size(); ++i) {
        if (!(weights[i] > 0.0)) continue;
        const double width = std::max(widths[i], smallest);
        turns.emplace_back(values[i] - 0.5 * width, weights[i] / width);
        turns.emplace_back(values[i] + 0.5 * width, -weights[i] / width);
    }
    std::sort(turns.begin(), turns.end());
    std::vector<double> below(turns.size(), 0.0);
    double density = 0.0;
    for (std::size_t t = 1; t < turns.size(); ++t) {
        density = std::max(density + turns[t - 1].second, 0.0);
        below[t] = below[t - 1] + density * (turns[t].first - turns[t - 1].first);
    }
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const double wanted = probabilities[i] * below.back();
        const auto above = std::lower_bound(below.begin(), below.end(), wanted);
        const std::size_t right =
            std::clamp<std::size_t>(static_cast<std::size_t>(above - below.begin()), 1, below.size() - 1);
        const double gained = below[right] - below[right - 1];
        const double share = gained > 0.0 ? (wanted - below[right - 1]) / gained : 1.0;
        result[static_cast<Index>(i)] = turns[right - 1].first + share * (turns[right].first - turns[right - 1].first);
    }
    return result;
}

/// Weights of the four points about a place between the second and the third (Catmull and Rom's cubic): exact for
/// quadratics.
std::array<double, 4> cubic_weights(double t) {
    return {0.5 * t * (-1.0 + t * (2.0 - t)), 0.5 * (2.0 + t * t * (-5.0 + 3.0 * t)),
            0.5 * t * (1.0 + t * (4.0 - 3.0 * t)), 0.5 * t * t * (-1.0 + t)};
}

}  // namespace

/// e at places of the lattice, by their integer coordinates.
struct FieldIntegral::Lattice {
    using Place = std::vector<int>;
    std::map<Place, double> values;
    Vector top;
    Matrix axes;  // a step along each
    double highest = kNone;

    Vector psi(const Place& place) const {
        Vector result = top;
        for (std::size_t j = 0; j < place.size(); ++j) result += place[j] * axes.col(static_cast<Index>(j));
        return result;
    }
};

FieldIntegral::FieldIntegral(const FieldModel& model, const FieldIntegralOptions& options)
    : model_(&model), options_(options) {
    const Index dimension = model.variance_count();
    if (!(options.step > 0.0)) options_.step = automatic_step(dimension);
    if (!(options.drop > 0.0)) options_.drop = automatic_drop(dimension);
    if (dimension == 0) {
        // Nothing to add up over.
        psi_ = fine_ = Matrix(0, 1);
        weights_ = fine_weights_ = Vector::Ones(1);
        coarse_ = {true};
        cell_ = Matrix(0, 0);
        k_hat_ = kNone;
        ess_ = 1.0;
        log_evidence_ = model.corrected_log_density(Vector());
        return;
    }
    const Vector top = model.top(options.start);
    const Matrix axes = axes_of(curvature_at(model, top, kThreads));
    if (dimension <= options.lattice_dimensions) {
        fill_lattice(top, axes);
    } else {
        sample(top, axes);
    }
}

double FieldIntegral::work(const FieldModel& model, const FieldIntegralOptions& options) {
    const double dimension = static_cast<double>(model.variance_count());
    double nodes = static_cast<double>(options.draws);
    if (model.variance_count() <= options.lattice_dimensions) {
        const double step = options.step > 0.0 ? options.step : automatic_step(model.variance_count());
        // A ball of the radius at which a normal has dropped as far, and its shell; posteriors of sds are skewed.
        const double drop = options.drop > 0.0 ? options.drop : automatic_drop(model.variance_count());
        const double radius = std::sqrt(2.0 * drop) / step + 0.7;
        nodes = std::pow(std::numbers::pi, 0.5 * dimension) / std::exp(detail::log_gamma(0.5 * dimension + 1.0)) *
                std::pow(radius, dimension);
    }
    return (2.0 * nodes + 15.0 + 4.0 * dimension) *
           (model.work() + 20.0 * static_cast<double>(model.coefficient_count()));
}

// From the top outwards, a shell at a time: the neighbours, along the axes, of what has not dropped too far.
void FieldIntegral::fill_lattice(const Vector& top, const Matrix& axes) {
    const Index dimension = top.size();
    Lattice lattice;
    lattice.top = top;
    lattice.axes = options_.step * axes;
    std::vector<Lattice::Place> frontier{Lattice::Place(at(dimension), 0)};
    while (!frontier.empty()) {
        Vector found(static_cast<Index>(frontier.size()));
        detail::in_parallel(kThreads, found.size(),
                            [&](Index i) { found[i] = model_->log_density(lattice.psi(frontier[at(i)])); });
        for (std::size_t i = 0; i < frontier.size(); ++i) {
            lattice.values.emplace(frontier[i], found[static_cast<Index>(i)]);
            lattice.highest = std::max(lattice.highest, found[static_cast<Index>(i)]);
        }
        if (static_cast<Index>(lattice.values.size()) > options_.most_nodes) {
            sample(top, axes);
            return;
        }
        std::vector<Lattice::Place> next;
        for (const Lattice::Place& place : frontier) {
            if (!(lattice.values.at(place) > lattice.highest - options_.drop)) continue;
            for (std::size_t j = 0; j < at(dimension); ++j) {
                for (const int side : {-1, 1}) {
                    Lattice::Place beside = place;
                    beside[j] += side;
                    if (!lattice.values.contains(beside)) next.push_back(std::move(beside));
                }
            }
        }
        std::sort(next.begin(), next.end());
        next.erase(std::unique(next.begin(), next.end()), next.end());
        frontier = std::move(next);
    }

    std::vector<Lattice::Place> kept;
    for (const auto& [place, value] : lattice.values) {
        if (value > lattice.highest - options_.drop) kept.push_back(place);
    }
    correct(lattice, kept);
    psi_.resize(dimension, static_cast<Index>(kept.size()));
    weights_.resize(psi_.cols());
    for (Index k = 0; k < psi_.cols(); ++k) {
        psi_.col(k) = lattice.psi(kept[at(k)]);
        weights_[k] = std::exp(lattice.values.at(kept[at(k)]) - lattice.highest);
        coarse_.push_back(std::accumulate(kept[at(k)].begin(), kept[at(k)].end(), 0) % 2 == 0);
    }
    const double volume = std::abs(lattice.axes.determinant());
    log_evidence_ = lattice.highest + std::log(weights_.sum() * volume);
    weights_ /= weights_.sum();
    k_hat_ = kNone;
    ess_ = static_cast<double>(psi_.cols());

    // Between them, on a finer lattice, by cubics along each axis.
    constexpr std::array<int, 6> kFiner{1, 16, 8, 4, 3, 2};
    const int finer = dimension <= 5 ? kFiner[at(dimension)] : 1;
    Index cells = 1;
    for (Index j = 0; j < dimension; ++j) cells *= finer;
    cell_ = lattice.axes / finer;
    fine_.resize(dimension, psi_.cols() * cells);
    fine_weights_.resize(fine_.cols());
    const double missing = lattice.highest - options_.drop - 3.0;
    detail::in_parallel(kThreads, psi_.cols(), [&](Index k) {
        const Lattice::Place& place = kept[at(k)];
        // All values that cells of this node may need, two to either side.
        constexpr int kSide = 5;
        Index block = 1;
        for (Index j = 0; j < dimension; ++j) block *= kSide;
        std::vector<double> near(at(block));
        Lattice::Place beside(place.size());
        for (Index b = 0; b < block; ++b) {
            Index rest = b;
            for (std::size_t j = 0; j < place.size(); ++j, rest /= kSide) {
                beside[j] = place[j] + static_cast<int>(rest % kSide) - 2;
            }
            const auto value = lattice.values.find(beside);
            near[at(b)] = value == lattice.values.end() ? missing : std::max(value->second, missing - 20.0);
        }
        std::vector<double> shrinking;
        for (Index c = 0; c < cells; ++c) {
            Vector point = psi_.col(k);
            shrinking = near;
            std::size_t size = shrinking.size();
            Index rest = c;
            // Axis by axis, the first running fastest: five values become one.
            for (Index j = 0; j < dimension; ++j, rest /= finer) {
                const double offset = (static_cast<double>(rest % finer) + 0.5) / finer - 0.5;
                point += offset * lattice.axes.col(j);
                const int first = offset < 0.0 ? 0 : 1;
                const std::array<double, 4> weights = cubic_weights(offset < 0.0 ? 1.0 + offset : offset);
                size /= kSide;
                for (std::size_t i = 0; i < size; ++i) {
                    double sum = 0.0;
                    for (int w = 0; w < 4; ++w) sum += weights[at(w)] * shrinking[i * kSide + at(first + w)];
                    shrinking[i] = sum;
                }
            }
            fine_.col(k * cells + c) = point;
            fine_weights_[k * cells + c] = std::exp(std::min(shrinking[0] - lattice.highest, 2.0));
        }
    });
    fine_weights_ /= fine_weights_.sum();
}

// Where rows are not normal, the lattice reaches as far as the bound does, but its nodes weigh what they do with what
// the bound misses. The shell about them is moved along with the top.
void FieldIntegral::correct(Lattice& lattice, const std::vector<std::vector<int>>& kept) const {
    if (!model_->has_corrections()) return;
    Vector found(static_cast<Index>(kept.size()));
    detail::in_parallel(kThreads, found.size(),
                        [&](Index i) { found[i] = model_->corrected_log_density(lattice.psi(kept[at(i)])); });
    double shift = 0.0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (lattice.values.at(kept[i]) == lattice.highest) shift = found[static_cast<Index>(i)] - lattice.highest;
    }
    for (auto& [place, value] : lattice.values) value += shift;
    for (std::size_t i = 0; i < kept.size(); ++i) lattice.values[kept[i]] = found[static_cast<Index>(i)];
    lattice.highest = found.maxCoeff();
}

void FieldIntegral::sample(const Vector& top, const Matrix& axes) {
    lattice_ = false;
    coarse_.clear();
    ImportanceOptions options;
    options.draws = options_.draws;
    options.seed = options_.seed;
    const ImportanceSample sample =
        importance_sample(PsiDensity(*model_), NormalApproximation{top, axes * axes.transpose()}, options);
    psi_ = sample.points;
    weights_ = weights_of(sample.log_weights);
    log_evidence_ = sample.log_integral;
    k_hat_ = sample.k_hat;
    ess_ = sample.ess;
    reliable_ = sample.reliable();
    fine_ = psi_;
    fine_weights_ = weights_;
    cell_ = Matrix::Zero(top.size(), top.size());
}

/// Means and variances of functionals given ψ, a column a node.
struct FieldIntegral::Parts {
    Matrix means;
    Matrix variances;
};

FieldIntegral::Parts FieldIntegral::parts(const Functionals& functionals) const {
    const Functionals::Resolved resolved = functionals.resolve(model_->layout());
    const Index first = model_->variance_count();
    const Index count = resolved.weights.cols();
    const SparseMatrix by_psi = resolved.weights.topRows(first);
    const SparseMatrix by_x = resolved.weights.bottomRows(model_->coefficient_count());
    // Variances of single coefficients are in the selected inverse; the others take a solve each.
    std::vector<Index> several;
    bool any_single = false;
    for (Index c = 0; c < count; ++c) {
        const Index entries = by_x.outerIndexPtr()[c + 1] - by_x.outerIndexPtr()[c];
        if (entries > 1) several.push_back(c);
        any_single = any_single || entries == 1;
    }
    constexpr Index kFewSolves = 4;
    if (any_single && count <= kFewSolves) {
        several.resize(at(count));
        std::iota(several.begin(), several.end(), Index{0});
        any_single = false;
    }
    Parts result{Matrix(count, nodes()), Matrix::Zero(count, nodes())};
    detail::in_parallel(kThreads, nodes(), [&](Index k) {
        const std::unique_ptr<FieldConditional> conditional = model_->conditional(psi_.col(k));
        result.means.col(k) =
            resolved.constants + by_psi.transpose() * psi_.col(k) + by_x.transpose() * conditional->mean();
        if (any_single) {
            const Vector variances = conditional->variances();
            for (Index c = 0; c < count; ++c) {
                for (SparseMatrix::InnerIterator entry(by_x, c); entry; ++entry) {
                    result.variances(c, k) = entry.value() * entry.value() * variances[entry.row()];
                }
            }
        }
        for (const Index c : several) {
            const Vector column = by_x.col(c);
            result.variances(c, k) = column.dot(conditional->covariance_times(column).col(0));
        }
    });
    return result;
}

FieldMarginals FieldIntegral::summary(const Matrix& means, const Matrix& variances) const {
    const auto moments = [&](const Vector& weights, Vector& mean, Vector& sd) {
        mean = means * weights;
        Vector square = variances * weights;
        for (Index k = 0; k < means.cols(); ++k) square += weights[k] * (means.col(k) - mean).cwiseAbs2();
        sd = square.cwiseSqrt();
    };
    FieldMarginals result;
    moments(weights_, result.mean, result.sd);
    const Vector inverse = (result.sd.array() > 0.0).select(result.sd.cwiseInverse(), 0.0);
    if (!lattice_) {
        result.mean_error = Vector::Constant(result.mean.size(), 1.0 / std::sqrt(ess_));
        result.sd_error = Vector::Constant(result.mean.size(), 1.0 / std::sqrt(2.0 * ess_));
        return result;
    }
    Vector coarse = weights_;
    for (Index k = 0; k < coarse.size(); ++k) {
        if (!coarse_[at(k)]) coarse[k] = 0.0;
    }
    coarse /= coarse.sum();
    Vector mean;
    Vector sd;
    moments(coarse, mean, sd);
    result.mean_error = (mean - result.mean).cwiseAbs().cwiseProduct(inverse);
    result.sd_error = (sd - result.sd).cwiseAbs().cwiseProduct(inverse);
    return result;
}

// In batches of nodes, so that memory does not grow with them; added up in order.
FieldMarginals FieldIntegral::coefficients() const {
    const Index size = model_->coefficient_count();
    const Index batch = std::clamp<Index>((Index{1} << 23) / std::max<Index>(1, size), 2, 256);
    Vector origin;
    struct Sums {
        Vector first;
        Vector second;
        Vector inside;
        double weight = 0.0;
    };
    Sums all{Vector::Zero(size), Vector::Zero(size), Vector::Zero(size)};
    Sums coarse = all;
    for (Index begin = 0; begin < nodes(); begin += batch) {
        const Index count = std::min(batch, nodes() - begin);
        Matrix means(size, count);
        Matrix variances(size, count);
        detail::in_parallel(kThreads, count, [&](Index i) {
            const std::unique_ptr<FieldConditional> conditional = model_->conditional(psi_.col(begin + i));
            means.col(i) = conditional->mean();
            variances.col(i) = conditional->variances();
        });
        if (begin == 0) origin = means.col(0);
        for (Index i = 0; i < count; ++i) {
            const double weight = weights_[begin + i];
            const Vector difference = means.col(i) - origin;
            for (Sums* sums : {&all, &coarse}) {
                if (sums == &coarse && !(lattice_ && coarse_[at(begin + i)])) continue;
                sums->first += weight * difference;
                sums->second += weight * difference.cwiseAbs2();
                sums->inside += weight * variances.col(i);
                sums->weight += weight;
            }
        }
    }
    const auto finish = [&](const Sums& sums, Vector& mean, Vector& sd) {
        const Vector first = sums.first / sums.weight;
        mean = origin + first;
        sd = (sums.inside / sums.weight + sums.second / sums.weight - first.cwiseAbs2()).cwiseSqrt();
    };
    FieldMarginals result;
    finish(all, result.mean, result.sd);
    if (!lattice_) {
        result.mean_error = Vector::Constant(size, 1.0 / std::sqrt(ess_));
        result.sd_error = Vector::Constant(size, 1.0 / std::sqrt(2.0 * ess_));
        return result;
    }
    Vector mean;
    Vector sd;
    finish(coarse, mean, sd);
    result.mean_error = (mean - result.mean).cwiseAbs().cwiseQuotient(result.sd);
    result.sd_error = (sd - result.sd).cwiseAbs().cwiseQuotient(result.sd);
    return result;
}

FieldMarginals FieldIntegral::marginals(const Functionals& functionals,
                                        const std::vector<double>& probabilities) const {
    const Parts own = parts(functionals);
    FieldMarginals result = summary(own.means, own.variances);
    if (probabilities.empty()) return result;
    const Functionals::Resolved resolved = functionals.resolve(model_->layout());
    const Index first = model_->variance_count();
    result.quantiles.resize(static_cast<Index>(probabilities.size()), result.mean.size());
    detail::in_parallel(kThreads, result.mean.size(), [&](Index c) {
        bool has_coefficients = false;
        for (SparseMatrix::InnerIterator entry(resolved.weights, c); entry; ++entry) {
            has_coefficients = has_coefficients || entry.row() >= first;
        }
        if (has_coefficients) {
            result.quantiles.col(c) =
                mixture_quantiles(weights_, own.means.row(c).transpose(), own.variances.row(c).transpose(),
                                  result.mean[c], result.sd[c], probabilities);
            return;
        }
        Vector values = Vector::Constant(fine_.cols(), resolved.constants[c]);
        Vector slope = Vector::Zero(first);
        for (SparseMatrix::InnerIterator entry(resolved.weights, c); entry; ++entry) {
            values += entry.value() * fine_.row(entry.row()).transpose();
            slope[entry.row()] = entry.value();
        }
        const double width = (cell_.transpose() * slope).norm();
        result.quantiles.col(c) =
            lattice_ ? spread_quantiles(fine_weights_, values, Vector::Constant(values.size(), width), probabilities)
                     : weighted_quantiles(fine_weights_, values, probabilities);
    });
    return result;
}

namespace {

Matrix values_at(const FieldIntegral::Function& function, const Matrix& psi, int threads) {
    const Vector first = function(psi.col(0));
    Matrix values(first.size(), psi.cols());
    detail::in_parallel(threads, psi.cols(), [&](Index k) { values.col(k) = function(psi.col(k)); });
    return values;
}

}  // namespace

FieldMarginals FieldIntegral::functions(const Function& function, const std::vector<double>& probabilities) const {
    const Matrix values = values_at(function, psi_, kThreads);
    FieldMarginals result = summary(values, Matrix::Zero(values.rows(), values.cols()));
    if (probabilities.empty()) return result;
    const Matrix fine = values_at(function, fine_, kThreads);
    // How far a function goes across a cell, from differences about its node.
    Matrix widths = Matrix::Zero(values.rows(), nodes());
    for (Index j = 0; j < cell_.cols() && lattice_; ++j) {
        const Matrix up = values_at(function, psi_.colwise() + 0.5 * cell_.col(j), kThreads);
        const Matrix down = values_at(function, psi_.colwise() - 0.5 * cell_.col(j), kThreads);
        widths += (up - down).cwiseAbs2();
    }
    const Index cells = fine_.cols() / nodes();
    result.quantiles.resize(static_cast<Index>(probabilities.size()), values.rows());
    for (Index c = 0; c < values.rows(); ++c) {
        const Vector own = fine.row(c);
        Vector width(own.size());
        for (Index i = 0; i < own.size(); ++i) width[i] = std::sqrt(widths(c, i / cells));
        result.quantiles.col(c) = lattice_ ? spread_quantiles(fine_weights_, own, width, probabilities)
                                           : weighted_quantiles(fine_weights_, own, probabilities);
    }
    return result;
}

FieldMarginals FieldIntegral::variances(const std::vector<double>& probabilities) const {
    return functions([&](const Vector& psi) { return model_->variance_values(psi); }, probabilities);
}

Matrix FieldIntegral::covariance(const Functionals& functionals, const Function& function) const {
    const Functionals::Resolved resolved = functionals.resolve(model_->layout());
    const Index first = model_->variance_count();
    const Index count = resolved.weights.cols();
    const SparseMatrix by_psi = resolved.weights.topRows(first);
    const SparseMatrix by_x = resolved.weights.bottomRows(model_->coefficient_count());
    const Matrix dense_x = by_x;
    const Matrix values = function ? values_at(function, psi_, kThreads) : Matrix(0, nodes());
    Matrix means(count + values.rows(), nodes());
    Matrix result = Matrix::Zero(means.rows(), means.rows());
    // A few nodes at a time, added in their order: all of them would be as many matrices.
    constexpr Index kAtOnce = 8;
    std::vector<Matrix> inside(at(kAtOnce));
    for (Index begin = 0; begin < nodes(); begin += kAtOnce) {
        const Index some = std::min(kAtOnce, nodes() - begin);
        detail::in_parallel(kThreads, some, [&](Index i) {
            const Index k = begin + i;
            const std::unique_ptr<FieldConditional> conditional = model_->conditional(psi_.col(k));
            means.col(k).head(count) =
                resolved.constants + by_psi.transpose() * psi_.col(k) + by_x.transpose() * conditional->mean();
            means.col(k).tail(values.rows()) = values.col(k);
            inside[at(i)] = by_x.transpose() * conditional->covariance_times(dense_x);
        });
        for (Index i = 0; i < some; ++i) {
            result.topLeftCorner(count, count) += weights_[begin + i] * inside[at(i)];
        }
    }
    const Vector mean = means * weights_;
    for (Index k = 0; k < nodes(); ++k) {
        const Vector difference = means.col(k) - mean;
        result += weights_[k] * difference * difference.transpose();
    }
    return 0.5 * (result + result.transpose());
}

// A cell of the finer lattice by its weight, a place in it, and the field there: what the interpolation missed is in
// the weights. The numbers of a draw are those of the stream with its number.
FieldDraws FieldIntegral::draw(Index count, std::uint64_t seed, Index each) const {
    detail::require_at_least("FieldIntegral::draw", "count", count, 1);
    detail::require_at_least("FieldIntegral::draw", "each", each, 1);
    Vector cumulated = fine_weights_;
    for (Index i = 1; i < cumulated.size(); ++i) cumulated[i] += cumulated[i - 1];
    const Index first = model_->variance_count();
    FieldDraws result{Matrix(model_->layout().size(), count), Vector(count)};
    const Index places = (count + each - 1) / each;
    detail::in_parallel(kThreads, places, [&](Index i) {
        Random random(seed, static_cast<std::uint64_t>(i));
        const double* begin = cumulated.data();
        const double* end = begin + cumulated.size();
        const double* found = std::upper_bound(
            begin, end, (static_cast<double>(i) + random.uniform()) / static_cast<double>(places) * *(end - 1));
        const Index cell = std::min<Index>(found - begin, cumulated.size() - 1);
        Vector psi = fine_.col(cell);
        for (Index j = 0; j < cell_.cols(); ++j) psi += (random.uniform() - 0.5) * cell_.col(j);
        const std::unique_ptr<FieldConditional> conditional = model_->conditional(psi);
        const double log_weight = lattice_ ? conditional->log_density() - std::log(fine_weights_[cell]) : 0.0;
        for (Index s = i * each; s < std::min(count, (i + 1) * each); ++s) {
            result.statistics.col(s).head(first) = psi;
            result.statistics.col(s).tail(model_->coefficient_count()) =
                conditional->mean() + conditional->root_times(standard_normals(model_->coefficient_count(), random));
            result.log_weights[s] = log_weight;
        }
    });
    const double largest = result.log_weights.maxCoeff();
    result.log_weights.array() -= largest + std::log((result.log_weights.array() - largest).exp().sum());
    return result;
}

}  // namespace lrvb
