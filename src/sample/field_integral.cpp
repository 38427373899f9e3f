#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "family/special.hpp"
#include "sample/node_quantiles.hpp"

#include <lrvb/sample/field_integral.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/pareto.hpp>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

double automatic_step(const FieldModel& model) {
    const Index dimension = model.variance_count();
    if (dimension <= 1) return 0.5;
    if (dimension == 2) return model.has_corrections() ? 0.85 : 0.6;
    return dimension <= 4 && !model.has_corrections() ? 1.0 : 1.25;
}

/// Long tails, such as that of the log of an sd towards zero, fall by a nat for each of its units: cutting them costs
/// variances of logs most. They are cheap where dimensions are few and rows are normal.
double automatic_drop(const FieldModel& model) {
    const Index dimension = model.variance_count();
    if (model.has_corrections() && dimension > 1) return dimension == 2 ? 10.0 : 9.0;
    if (dimension <= 2) return 13.0;
    return dimension == 3 ? 11.0 : 9.5;
}

/// Of a lattice: in a ball of the radius at which a normal has dropped as far, and its shell; posteriors of sds are
/// skewed.
double expected_nodes(const FieldModel& model, const FieldIntegralOptions& options) {
    if (model.variance_count() > options.lattice_dimensions) return static_cast<double>(options.draws);
    const double dimension = static_cast<double>(model.variance_count());
    const double step = options.step > 0.0 ? options.step : automatic_step(model);
    const double drop = options.drop > 0.0 ? options.drop : automatic_drop(model);
    const double radius = std::sqrt(2.0 * drop) / step + 0.7;
    return std::pow(std::numbers::pi, 0.5 * dimension) / std::exp(detail::log_gamma(0.5 * dimension + 1.0)) *
           std::pow(radius, dimension);
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

}  // namespace

FieldIntegral::FieldIntegral(const FieldModel& model, const FieldIntegralOptions& options)
    : model_(&model), options_(options) {
    detail::require_at_least("FieldIntegral", "threads", options.threads, 1);
    const Index dimension = model.variance_count();
    if (!(options.step > 0.0)) options_.step = automatic_step(model);
    if (!(options.drop > 0.0)) options_.drop = automatic_drop(model);
    constexpr double kCloser = 0.85;
    if (options.other_nodes) options_.step *= kCloser;
    if (dimension == 0) {
        // Nothing to add up over.
        psi_ = fine_ = Matrix(0, 1);
        weights_ = fine_weights_ = Vector::Ones(1);
        coarse_ = {true};
        cells_ = {Matrix(0, 0)};
        first_nodes_ = {0};
        shares_ = {1.0};
        k_hat_ = kNone;
        ess_ = 1.0;
        log_evidence_ = model.corrected_log_density(Vector());
        return;
    }
    const std::vector<FieldMode>& modes = model.modes(options.threads);
    if (dimension <= options.lattice_dimensions && fill_lattices()) {
        refine();
        return;
    }
    sample(modes.front().psi, modes.front().axes);
    reliable_ = reliable_ && modes.size() == 1;
}

double FieldIntegral::work(const FieldModel& model, const FieldIntegralOptions& options) {
    const double nodes = expected_nodes(model, options);
    return (2.0 * nodes + 15.0 + 4.0 * static_cast<double>(model.variance_count())) *
           (model.work() + 20.0 * static_cast<double>(model.coefficient_count()));
}

bool FieldIntegral::keeps_conditionals() const {
    constexpr double kMostNumbers = 2e7;
    if (!model_->has_corrections()) return false;
    // A factor has no more numbers than it took multiplications.
    const double each = model_->work() + 2.0 * static_cast<double>(model_->coefficient_count()) +
                        static_cast<double>(model_->data().y.size());
    return expected_nodes(*model_, options_) * each <= kMostNumbers;
}

std::shared_ptr<const FieldConditional> FieldIntegral::conditional(Index node) const {
    if (!conditionals_.empty()) return conditionals_[at(node)];
    return model_->conditional(psi_.col(node));
}

void FieldIntegral::sample(const Vector& top, const Matrix& axes) {
    lattice_ = false;
    coarse_.clear();
    ImportanceOptions options;
    options.draws = options_.draws;
    options.seed = options_.seed;
    options.threads = options_.threads;
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
    cells_ = {Matrix::Zero(top.size(), top.size())};
    first_nodes_ = {0};
    tops_ = {top};
    shares_ = {1.0};
}

// Where sds and correlations show an error, ridges that bend within a step say, by shorter steps, as far as they are
// affordable.
void FieldIntegral::refine() {
    constexpr double kShorter = 0.7;
    constexpr double kMeanError = 0.01;  // sds
    constexpr double kSdError = 0.005;
    constexpr Index kMostRows = 1000;  // nodes, where each is a search
    constexpr Index kMostToCheck = 3000;
    constexpr Index kFewRows = 200;
    for (int round = 0; round < 2; ++round) {
        const double more = std::pow(1.0 / kShorter, static_cast<double>(psi_.rows()));
        const bool is_thorough = options_.other_nodes && model_->data().y.size() <= kFewRows;
        const Index most_rows = is_thorough ? kMostToCheck : kMostRows;
        const auto most = static_cast<double>(model_->has_corrections() ? most_rows : options_.most_nodes);
        if (more * static_cast<double>(nodes()) > most) return;
        const FieldMarginals found = variances();
        if (found.mean_error.maxCoeff() <= kMeanError && found.sd_error.maxCoeff() <= kSdError) return;
        options_.step *= kShorter;
        if (!fill_lattices()) {
            options_.step /= kShorter;
            fill_lattices();
            return;
        }
    }
}

Index FieldIntegral::piece_of_node(Index node) const {
    const auto after = std::upper_bound(first_nodes_.begin(), first_nodes_.end(), node);
    return static_cast<Index>(after - first_nodes_.begin()) - 1;
}

Vector FieldIntegral::fine_place(Index cell, Random& random) const {
    const Matrix& sides = cells_[at(piece_of_node(node_of_cell(cell)))];
    Vector psi = fine_.col(cell);
    for (Index j = 0; j < sides.cols(); ++j) psi += (random.uniform() - 0.5) * sides.col(j);
    return psi;
}

/// Means and variances of functionals given ψ, a column a node.
struct FieldIntegral::Parts {
    Matrix means;
    Matrix variances;
};

FieldIntegral::Parts FieldIntegral::parts(const Functionals::Resolved& resolved) const {
    const Index first = model_->variance_count();
    const Index count = resolved.weights.cols();
    const SparseMatrix by_psi = resolved.weights.topRows(first);
    const SparseMatrix by_x = resolved.weights.bottomRows(model_->coefficient_count());
    // Variances of single coefficients, and of those of one level, are in the selected inverse; the others take a solve
    // each, and so do a few.
    constexpr Index kFewSolves = 4;
    Parts result{Matrix(count, nodes()), Matrix::Zero(count, nodes())};
    detail::in_parallel(options_.threads, nodes(), [&](Index k) {
        const std::shared_ptr<const FieldConditional> given = conditional(k);
        result.means.col(k) = resolved.constants + by_psi.transpose() * psi_.col(k) + by_x.transpose() * given->mean();
        if (count > kFewSolves) {
            result.variances.col(k) = given->variances(by_x);
            return;
        }
        for (Index c = 0; c < count; ++c) {
            if (by_x.outerIndexPtr()[c + 1] == by_x.outerIndexPtr()[c]) continue;
            const Vector column = by_x.col(c);
            result.variances(c, k) = column.dot(given->covariance_times(column).col(0));
        }
    });
    return result;
}

namespace {

// By nodes of these weights, that come to one.
void moments(const Matrix& means, const Matrix& variances, const Vector& weights, Vector& mean, Vector& sd) {
    mean = means * weights;
    Vector square = variances * weights;
    for (Index k = 0; k < means.cols(); ++k) square += weights[k] * (means.col(k) - mean).cwiseAbs2();
    sd = square.cwiseSqrt();
}

// The error of a lattice by that of every other of its nodes, both small: such errors fall as the exponential of the
// square of the shortest vectors of the dual lattice, of which there are 2n, and 2ⁿ with half of the nodes.
double finer_error(double coarse, Index dimension) {
    const auto n = static_cast<double>(dimension);
    return std::min(1.0, 2.0 * n * std::exp2(-n)) * std::pow(std::min(coarse, 1.0), std::max(4.0 / n, 1.0));
}

}  // namespace

FieldMarginals FieldIntegral::summary(const Parts& own, const Matrix* fresh) const {
    FieldMarginals result;
    moments(own.means, own.variances, weights_, result.mean, result.sd);
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
    moments(own.means, own.variances, coarse, mean, sd);
    result.mean_error = (mean - result.mean).cwiseAbs().cwiseProduct(inverse);
    result.sd_error = (sd - result.sd).cwiseAbs().cwiseProduct(inverse);
    const Index dimension = psi_.rows();
    for (Vector* error : {&result.mean_error, &result.sd_error}) {
        for (double& one : *error) one = finer_error(one, dimension);
    }
    if (fresh == nullptr) return result;
    moments(*fresh, Matrix::Zero(fresh->rows(), fresh->cols()), fresh_weights_, mean, sd);
    result.mean_error = result.mean_error.cwiseMax((mean - result.mean).cwiseAbs().cwiseProduct(inverse));
    result.sd_error = result.sd_error.cwiseMax((sd - result.sd).cwiseAbs().cwiseProduct(inverse));
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
        detail::in_parallel(options_.threads, count, [&](Index i) {
            const std::shared_ptr<const FieldConditional> given = conditional(begin + i);
            means.col(i) = given->mean();
            variances.col(i) = given->variances();
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
    for (Index i = 0; i < size; ++i) {
        mean[i] = finer_error(std::abs(mean[i] - result.mean[i]) / result.sd[i], psi_.rows());
        sd[i] = finer_error(std::abs(sd[i] - result.sd[i]) / result.sd[i], psi_.rows());
    }
    result.mean_error = mean;
    result.sd_error = sd;
    return result;
}

FieldMarginals FieldIntegral::marginals(const Functionals& functionals,
                                        const std::vector<double>& probabilities) const {
    const Functionals::Resolved resolved = functionals.resolve(model_->layout());
    const Parts own = parts(resolved);
    FieldMarginals result = summary(own);
    if (probabilities.empty()) return result;
    const Index first = model_->variance_count();
    result.quantiles.resize(static_cast<Index>(probabilities.size()), result.mean.size());
    detail::in_parallel(options_.threads, result.mean.size(), [&](Index c) {
        bool has_coefficients = false;
        for (SparseMatrix::InnerIterator entry(resolved.weights, c); entry; ++entry) {
            has_coefficients = has_coefficients || entry.row() >= first;
        }
        if (has_coefficients) {
            result.quantiles.col(c) =
                detail::mixture_quantiles(weights_, own.means.row(c).transpose(), own.variances.row(c).transpose(),
                                          result.mean[c], result.sd[c], probabilities);
            return;
        }
        Vector values = Vector::Constant(fine_.cols(), resolved.constants[c]);
        Vector slope = Vector::Zero(first);
        for (SparseMatrix::InnerIterator entry(resolved.weights, c); entry; ++entry) {
            values += entry.value() * fine_.row(entry.row()).transpose();
            slope[entry.row()] = entry.value();
        }
        Vector widths(values.size());
        for (Index i = 0; i < widths.size(); ++i) {
            widths[i] = (cells_[at(piece_of_node(node_of_cell(i)))].transpose() * slope).norm();
        }
        result.quantiles.col(c) = lattice_ ? detail::spread_quantiles(fine_weights_, values, widths, probabilities)
                                           : detail::weighted_quantiles(fine_weights_, values, probabilities);
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

// Of the nodes that are next to be left out.
void FieldIntegral::add_outer_shares(const Matrix& values, FieldMarginals& result) const {
    constexpr double kOutermost = 2.5;  // nats
    result.outer_first = result.outer_second = Vector::Zero(values.rows());
    if (!lattice_ || nodes() < 2) return;
    const double least = weights_.maxCoeff() * std::exp(kOutermost - options_.drop);
    Vector first = Vector::Zero(values.rows());
    Vector second = first;
    for (Index k = 0; k < nodes(); ++k) {
        const Vector away = (values.col(k) - result.mean).cwiseAbs();
        first += weights_[k] * away;
        second += weights_[k] * away.cwiseAbs2();
        if (weights_[k] >= least) continue;
        result.outer_first += weights_[k] * away;
        result.outer_second += weights_[k] * away.cwiseAbs2();
    }
    result.outer_first = (first.array() > 0.0).select(result.outer_first.cwiseQuotient(first), 0.0);
    result.outer_second = (second.array() > 0.0).select(result.outer_second.cwiseQuotient(second), 0.0);
}

FieldMarginals FieldIntegral::functions(const Function& function, const std::vector<double>& probabilities) const {
    const Matrix values = values_at(function, psi_, options_.threads);
    const Matrix fresh = lattice_ && psi_.rows() > 0 ? values_at(function, fresh_psi_, options_.threads) : Matrix();
    const FieldIntegral::Parts own_parts{values, Matrix::Zero(values.rows(), values.cols())};
    FieldMarginals result = summary(own_parts, fresh.size() > 0 ? &fresh : nullptr);
    add_outer_shares(values, result);
    if (probabilities.empty()) return result;
    const Matrix fine = values_at(function, fine_, options_.threads);
    // How far a function goes across a cell, from differences about its node.
    Matrix widths = Matrix::Zero(values.rows(), nodes());
    for (Index j = 0; j < psi_.rows() && lattice_; ++j) {
        Matrix half(psi_.rows(), nodes());
        for (Index k = 0; k < nodes(); ++k) half.col(k) = 0.5 * cells_[at(piece_of_node(k))].col(j);
        const Matrix up = values_at(function, psi_ + half, options_.threads);
        const Matrix down = values_at(function, psi_ - half, options_.threads);
        widths += (up - down).cwiseAbs2();
    }
    const Index cells = fine_.cols() / nodes();
    const double finer = std::pow(static_cast<double>(cells), 1.0 / std::max(1.0, static_cast<double>(psi_.rows())));
    result.quantiles.resize(static_cast<Index>(probabilities.size()), values.rows());
    result.quantile_error = Vector::Zero(values.rows());
    for (Index c = 0; c < values.rows(); ++c) {
        const Vector own = fine.row(c);
        Vector width(own.size());
        for (Index i = 0; i < own.size(); ++i) width[i] = std::sqrt(widths(c, i / cells));
        result.quantiles.col(c) = lattice_ ? detail::spread_quantiles(fine_weights_, own, width, probabilities)
                                           : detail::weighted_quantiles(fine_weights_, own, probabilities);
        // A quantile is off by what its probability is, over the density there, about that of a normal: by the nodes
        // between, as they weigh and as they were expected to, each spread over a step.
        constexpr double kFarthestQuantile = 0.04;
        for (Index q = 0; q < result.quantiles.rows() && fresh.size() > 0; ++q) {
            const double p = probabilities[at(q)];
            if (p < kFarthestQuantile || p > 1.0 - kFarthestQuantile) continue;
            double missed = 0.0;
            for (Index k = 0; k < fresh.cols(); ++k) {
                const double step = finer * std::sqrt(widths(c, k));
                const double away = result.quantiles(q, c) - fresh(c, k);
                const double below = step > 0.0 ? std::clamp(away / step + 0.5, 0.0, 1.0) : away >= 0.0 ? 1.0 : 0.0;
                missed += (fresh_weights_[k] - fresh_expected_[k]) * below;
            }
            const double z = detail::normal_quantile(p);
            const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
            result.quantile_error[c] = std::max(result.quantile_error[c], std::abs(missed) / density);
        }
        result.mean_error[c] = std::max(result.mean_error[c], result.quantile_error[c]);
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
    const Matrix values = function ? values_at(function, psi_, options_.threads) : Matrix(0, nodes());
    Matrix means(count + values.rows(), nodes());
    Matrix result = Matrix::Zero(means.rows(), means.rows());
    // A few nodes at a time, added in their order: all of them would be as many matrices.
    constexpr Index kAtOnce = 8;
    std::vector<Matrix> inside(at(kAtOnce));
    for (Index begin = 0; begin < nodes(); begin += kAtOnce) {
        const Index some = std::min(kAtOnce, nodes() - begin);
        detail::in_parallel(options_.threads, some, [&](Index i) {
            const Index k = begin + i;
            const std::shared_ptr<const FieldConditional> given = conditional(k);
            means.col(k).head(count) =
                resolved.constants + by_psi.transpose() * psi_.col(k) + by_x.transpose() * given->mean();
            means.col(k).tail(values.rows()) = values.col(k);
            inside[at(i)] = by_x.transpose() * given->covariance_times(dense_x);
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

namespace {

/// Standard normals, and in some of the draws Student's t in place of all of them, or of the fixed effects' alone,
/// which are the last to be eliminated: so that what has longer tails than a normal can be reached, and weighed against
/// it.
class LongTailed {
  public:
    LongTailed(Index fixed, Index all, bool is_long) : all_(all) {
        if (is_long) parts_ = {part(fixed, 0.25, 5.0, 1.3), part(all, 0.15, 7.0, 1.0)};
    }

    Vector draw(Random& random) const {
        Vector z = standard_normals(all_, random);
        double place = parts_.empty() ? 1.0 : random.uniform();
        for (const Part& own : parts_) {
            if (place < own.share) {
                const double chi_square = 2.0 * std::exp(random.log_gamma(0.5 * own.dof));
                z.head(own.size) *= own.width * std::sqrt(own.dof / chi_square);
                break;
            }
            place -= own.share;
        }
        return z;
    }
    double log_normal(const Vector& z) const {
        return -0.5 * (static_cast<double>(all_) * std::log(2.0 * std::numbers::pi) + z.squaredNorm());
    }
    /// How much more of a normal there is than of what was drawn from.
    double log_weight(const Vector& z) const {
        double normal = 1.0;
        std::vector<double> terms;  // of its density, over the normal's
        for (const Part& own : parts_) {
            const double square = z.head(own.size).squaredNorm();
            const double power = 0.5 * (own.dof + static_cast<double>(own.size));
            terms.push_back(std::log(own.share) + own.constant + 0.5 * square -
                            power * std::log1p(square / (own.width * own.width * own.dof)));
            normal -= own.share;
        }
        terms.push_back(std::log(normal));
        const double largest = *std::max_element(terms.begin(), terms.end());
        double sum = 0.0;
        for (const double term : terms) sum += std::exp(term - largest);
        return -largest - std::log(sum);
    }

  private:
    struct Part {
        Index size;
        double share;
        double dof;
        double width;
        double constant;  // of its density over the normal's
    };
    static Part part(Index size, double share, double dof, double width) {
        const auto d = static_cast<double>(size);
        const double constant = detail::log_gamma(0.5 * (dof + d)) - detail::log_gamma(0.5 * dof) -
                                d * std::log(width) + 0.5 * d * std::log(2.0 / dof);
        return {size, share, dof, width, constant};
    }

    Index all_;
    std::vector<Part> parts_;
};

}  // namespace

// A cell of the finer lattice by its weight, a place in it, and the field there: what the interpolation missed is in
// the weights. The numbers of a draw are those of the stream with its number.
FieldDraws FieldIntegral::draw(Index count, std::uint64_t seed, Index each) const {
    detail::require_at_least("FieldIntegral::draw", "count", count, 1);
    detail::require_at_least("FieldIntegral::draw", "each", each, 1);
    Vector cumulated = fine_weights_;
    for (Index i = 1; i < cumulated.size(); ++i) cumulated[i] += cumulated[i - 1];
    const Index first = model_->variance_count();
    const Index fixed = model_->data().slopes() + (model_->data().intercept ? 1 : 0);
    const LongTailed normals(fixed, model_->coefficient_count(), model_->has_corrections());
    FieldDraws result{Matrix(model_->layout().size(), count), Vector(count), Vector(count)};
    const Index places = (count + each - 1) / each;
    detail::in_parallel(options_.threads, places, [&](Index i) {
        Random random(seed, static_cast<std::uint64_t>(i));
        const double* begin = cumulated.data();
        const double* end = begin + cumulated.size();
        const double* found = std::upper_bound(
            begin, end, (static_cast<double>(i) + random.uniform()) / static_cast<double>(places) * *(end - 1));
        const Index cell = std::min<Index>(found - begin, cumulated.size() - 1);
        const Vector psi = fine_place(cell, random);
        // A node's field is near.
        const FieldConditional* near = conditionals_.empty() ? nullptr : conditionals_[at(node_of_cell(cell))].get();
        const std::unique_ptr<FieldConditional> given = model_->conditional(psi, near);
        const Matrix& sides = cells_[at(piece_of_node(node_of_cell(cell)))];
        const double log_weight =
            lattice_ ? given->log_density() - std::log(fine_weights_[cell] / std::abs(sides.determinant())) : 0.0;
        Vector z;
        for (Index s = i * each; s < std::min(count, (i + 1) * each); ++s) {
            // Two by two they are mirrored: what is linear in the coefficients has no noise then.
            z = (s - i * each) % 2 == 0 ? normals.draw(random) : Vector(-z);
            result.statistics.col(s).head(first) = psi;
            result.statistics.col(s).tail(model_->coefficient_count()) = given->mean() + given->root_times(z);
            result.log_weights[s] = log_weight + normals.log_weight(z);
            result.log_density[s] = given->log_density() + normals.log_normal(z) + 0.5 * given->log_determinant();
        }
    });
    const double largest = result.log_weights.maxCoeff();
    result.log_weights.array() -= largest + std::log((result.log_weights.array() - largest).exp().sum());
    return result;
}

}  // namespace lrvb
