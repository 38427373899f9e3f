#include "model/labelled/mixture.hpp"

#include "base/parallel.hpp"
#include "linalg/block_kernels.hpp"
#include "model/labelled/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kBlock = static_cast<Index>(kBlockRows);
// w r_k r_l of a row below which it is left out of the pair's sum: it would add less than rounding does.
constexpr double kNoPair = 1e-18;
constexpr Index kTasksAtOnce = 16;
constexpr double kMostPairs = 1 << 22;    // numbers that are kept of pairs of labels
constexpr double kTaskNumbers = 1 << 16;  // features × labels × rows of a task, at least

}  // namespace

struct MixtureRows::Work {
    Work(Index feature_count, Index labels)
        : features_count(static_cast<std::size_t>(feature_count)),
          labels_count(static_cast<std::size_t>(labels)),
          features(features_count * kBlockRows),
          scores(labels_count * kBlockRows),
          weights(kBlockRows),
          products(kBlockRows),
          weighted(features_count * kBlockRows) {}

    const double* weights_or_null() const { return is_weighted ? weights.data() : nullptr; }

    std::size_t features_count;
    std::size_t labels_count;
    std::vector<double> features;
    std::vector<double> scores;  // then responsibilities
    std::vector<double> weights;
    bool is_weighted = false;
    std::vector<double> products;
    std::vector<double> weighted;
    std::vector<double> gathered;
};

void MixtureRows::score(const Vector& coefficients, const Vector& weights, Index begin, std::size_t size,
                        Work& work) const {
    features_.load(begin, size, work.features.data());
    work.is_weighted = load_weights(weights, begin, size, work.weights.data());
    for (std::size_t k = 0; k < work.labels_count; ++k) {
        linear_scores(work.features.data(), size, work.features_count, coefficients.data() + k * work.features_count,
                      work.scores.data() + k * kBlockRows);
    }
}

void MixtureRows::add_pairs(std::size_t size, Work& work, double* sums) const {
    const std::size_t count = work.features_count;
    for (std::size_t k = 0; k < work.labels_count; ++k) {
        const double* left = work.scores.data() + k * kBlockRows;
        for (std::size_t l = k + 1; l < work.labels_count; ++l, sums += count * count) {
            const double* right = work.scores.data() + l * kBlockRows;
            std::size_t used = 0;
            for (std::size_t i = 0; i < kBlockRows; ++i) {
                const double product = left[i] * right[i] * (work.is_weighted ? work.weights[i] : 1.0);
                work.products[i] = product;
                used += product > kNoPair ? 1 : 0;
            }
            if (used == 0) continue;
            if (count <= 4 || 2 * used > size) {
                multiply(work.features.data(), count, work.products.data(), size, work.weighted.data());
                add_products(work.weighted.data(), work.features.data(), size, count, sums);
                continue;
            }
            work.gathered.assign(count * kBlockRows, 0.0);
            std::size_t at = 0;
            for (std::size_t i = 0; i < size; ++i) {
                if (!(work.products[i] > kNoPair)) continue;
                for (std::size_t f = 0; f < count; ++f) {
                    work.gathered[f * kBlockRows + at] = work.features[f * kBlockRows + i];
                }
                work.products[at++] = work.products[i];
            }
            std::fill(work.products.begin() + static_cast<std::ptrdiff_t>(at), work.products.end(), 0.0);
            multiply(work.gathered.data(), count, work.products.data(), at, work.weighted.data());
            add_products(work.weighted.data(), work.gathered.data(), at, count, sums);
        }
    }
}

std::vector<double> MixtureRows::pass(const LabelPoint& point, bool with_pairs) const {
    const Index labels = components();
    const Index count = feature_count();
    const auto counts = static_cast<std::size_t>(size());
    const std::size_t pairs = with_pairs ? static_cast<std::size_t>(labels * (labels - 1) / 2 * count * count) : 0;
    std::vector<double> total(2 + counts + pairs, 0.0);
    const Index blocks_a_task = std::clamp<Index>(static_cast<Index>(kTaskNumbers) / (count * labels * 4), 4, 64);
    const Index task_rows = blocks_a_task * kBlock;
    const Index tasks = (rows() + task_rows - 1) / task_rows;
    std::vector<std::vector<double>> partial(static_cast<std::size_t>(std::min(kTasksAtOnce, tasks)));
    for (Index first = 0; first < tasks; first += kTasksAtOnce) {
        const Index now = std::min(kTasksAtOnce, tasks - first);
        in_parallel(point.threads, now, [&](Index t) {
            std::vector<double>& sums = partial[static_cast<std::size_t>(t)];
            sums.assign(total.size(), 0.0);
            Work work(count, labels);
            const Index end = std::min(rows(), (first + t + 1) * task_rows);
            for (Index begin = (first + t) * task_rows; begin < end; begin += kBlock) {
                const auto size = static_cast<std::size_t>(std::min(kBlock, end - begin));
                score(point.coefficients, point.weights, begin, size, work);
                const SoftmaxSums bound = softmax(work.scores.data(), work.weights_or_null(), size, work.labels_count);
                sums[0] += bound.log_sum;
                sums[1] += bound.magnitude;
                for (std::size_t k = 0; k < work.labels_count; ++k) {
                    add_weighted_sums(work.scores.data() + k * kBlockRows, work.weights_or_null(), work.features.data(),
                                      size, work.features_count, sums.data() + 2 + k * work.features_count);
                }
                if (with_pairs) add_pairs(size, work, sums.data() + 2 + counts);
            }
        });
        for (Index t = 0; t < now; ++t) {
            const std::vector<double>& part = partial[static_cast<std::size_t>(t)];
            for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
        }
    }
    return total;
}

LabelSums MixtureRows::finished(const LabelPoint& point, const std::vector<double>& sums) const {
    LabelSums result;
    const double base = log_base(point.weights);
    result.value = sums[0] + base;
    result.counts = Eigen::Map<const Vector>(sums.data() + 2, size());
    bound_magnitudes(result);
    result.magnitude = sums[1] + std::abs(base) + point.coefficients.cwiseAbs().dot(result.magnitudes);
    return result;
}

LabelSums MixtureRows::sums(const LabelPoint& point) const {
    return finished(point, pass(point, false));
}

LabelSums MixtureRows::sums_along(const LabelPoint& point, const Matrix& directions, Matrix& along) const {
    const Index count = feature_count();
    if (!is_better_by_pairs(directions.cols())) {
        along = along_by_rows(point, directions);
        return finished(point, pass(point, false));
    }
    const std::vector<double> sums = pass(point, true);
    along = Matrix::Zero(size(), directions.cols());
    const double* pair = sums.data() + 2 + size();
    for (Index k = 0; k < components(); ++k) {
        for (Index l = k + 1; l < components(); ++l, pair += count * count) {
            const Eigen::Map<const Matrix> lower(pair, count, count);
            const Matrix difference = directions.middleRows(k * count, count) - directions.middleRows(l * count, count);
            const Matrix moved = lower.selfadjointView<Eigen::Lower>() * difference;
            along.middleRows(k * count, count) += moved;
            along.middleRows(l * count, count) -= moved;
        }
    }
    return finished(point, sums);
}

bool MixtureRows::is_better_by_pairs(Index directions) const {
    const auto labels = static_cast<double>(components());
    const auto count = static_cast<double>(feature_count());
    const auto all = static_cast<double>(rows());
    const double kept = 0.5 * labels * (labels - 1.0) * count * count;
    const double by_pairs =
        all * 0.25 * labels * (labels - 1.0) * count * count + kept * static_cast<double>(directions);
    const double by_rows = 2.0 * all * labels * count * static_cast<double>(directions);
    return kept <= kMostPairs && by_pairs <= 4.0 * by_rows;  // pairs are added up by vectorised loops
}

// r_k (p_k − Σ_l r_l p_l), p_k how the score of k moves: the derivative of a row's responsibilities.
Matrix MixtureRows::along_by_rows(const LabelPoint& point, const Matrix& directions) const {
    const Index count = feature_count();
    const Index tasks = (rows() + kBlock - 1) / kBlock;
    Matrix total = Matrix::Zero(size(), directions.cols());
    std::vector<Matrix> partial(static_cast<std::size_t>(std::min(kTasksAtOnce, tasks)));
    for (Index first = 0; first < tasks; first += kTasksAtOnce) {
        const Index now = std::min(kTasksAtOnce, tasks - first);
        in_parallel(point.threads, now, [&](Index t) {
            const Index begin = (first + t) * kBlock;
            const Index some = std::min(kBlock, rows() - begin);
            Work work(count, components());
            score(point.coefficients, point.weights, begin, static_cast<std::size_t>(some), work);
            softmax(work.scores.data(), work.weights_or_null(), static_cast<std::size_t>(some), work.labels_count);
            const Eigen::Map<const Matrix> features(work.features.data(), kBlock, count);
            const Eigen::Map<const Matrix> shares(work.scores.data(), kBlock, components());
            std::vector<Matrix> moved;
            Matrix mean = Matrix::Zero(some, directions.cols());
            for (Index k = 0; k < components(); ++k) {
                moved.emplace_back(features.topRows(some) * directions.middleRows(k * count, count));
                mean += shares.col(k).head(some).asDiagonal() * moved.back();
            }
            Matrix& sum = partial[static_cast<std::size_t>(t)];
            sum.resize(size(), directions.cols());
            for (Index k = 0; k < components(); ++k) {
                Vector weight = shares.col(k).head(some);
                if (work.is_weighted) weight.array() *= Eigen::Map<const Vector>(work.weights.data(), some).array();
                const Matrix change = weight.asDiagonal() * (moved[static_cast<std::size_t>(k)] - mean);
                sum.middleRows(k * count, count).noalias() = features.topRows(some).transpose() * change;
            }
        });
        for (Index t = 0; t < now; ++t) total += partial[static_cast<std::size_t>(t)];
    }
    return total;
}

Vector MixtureRows::values(const Matrix& coefficients, const Vector& weights, int threads) const {
    constexpr Index kColumns = 32;  // of a task: enough to pay for loading its blocks
    constexpr Index kTaskRows = 64 * kBlock;
    const Index columns = coefficients.cols();
    const Index row_tasks = (rows() + kTaskRows - 1) / kTaskRows;
    const Index column_tasks = (columns + kColumns - 1) / kColumns;
    Matrix partial = Matrix::Zero(row_tasks, columns);
    in_parallel(threads, row_tasks * column_tasks, [&](Index task) {
        const Index part = task / column_tasks;
        const Index first = task % column_tasks * kColumns;
        const Index last = std::min(columns, first + kColumns);
        Work work(feature_count(), components());
        const Index end = std::min(rows(), (part + 1) * kTaskRows);
        for (Index begin = part * kTaskRows; begin < end; begin += kBlock) {
            const auto size = static_cast<std::size_t>(std::min(kBlock, end - begin));
            features_.load(begin, size, work.features.data());
            work.is_weighted = load_weights(weights, begin, size, work.weights.data());
            for (Index c = first; c < last; ++c) {
                for (std::size_t k = 0; k < work.labels_count; ++k) {
                    linear_scores(work.features.data(), size, work.features_count,
                                  coefficients.col(c).data() + k * work.features_count,
                                  work.scores.data() + k * kBlockRows);
                }
                partial(part, c) += log_sum(work.scores.data(), work.weights_or_null(), size, work.labels_count);
            }
        }
    });
    Vector result = Vector::Constant(columns, log_base(weights));
    for (Index part = 0; part < row_tasks; ++part) result += partial.row(part).transpose();
    return result;
}

Vector MixtureRows::drawn(const LabelPoint& point, Random& random) const {
    Vector counts = Vector::Zero(size());
    Work work(feature_count(), components());
    std::vector<double> shares(kBlockRows);
    for (Index begin = 0; begin < rows(); begin += kBlock) {
        const auto size = static_cast<std::size_t>(std::min(kBlock, rows() - begin));
        score(point.coefficients, point.weights, begin, size, work);
        softmax(work.scores.data(), work.weights_or_null(), size, work.labels_count);
        for (std::size_t i = 0; i < size; ++i) {
            const auto at = [&](std::size_t k) -> double& { return work.scores[k * kBlockRows + i]; };
            shares.assign(work.labels_count, 0.0);
            const double copies = work.is_weighted ? work.weights[i] : 1.0;
            for (double copy = 0.0; copy < copies; copy += 1.0) {
                shares[drawn_label(work.labels_count, at, random)] += 1.0;
            }
            for (std::size_t k = 0; k < work.labels_count; ++k) at(k) = shares[k];
        }
        for (std::size_t k = 0; k < work.labels_count; ++k) {
            add_weighted_sums(work.scores.data() + k * kBlockRows, nullptr, work.features.data(), size,
                              work.features_count, counts.data() + k * work.features_count);
        }
    }
    return counts;
}

void MixtureRows::probabilities(const LabelPoint& point, Matrix& into) const {
    Work work(feature_count(), components());
    for (Index begin = 0; begin < rows(); begin += kBlock) {
        const auto size = static_cast<std::size_t>(std::min(kBlock, rows() - begin));
        score(point.coefficients, Vector(), begin, size, work);
        softmax(work.scores.data(), nullptr, size, work.labels_count);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t k = 0; k < work.labels_count; ++k) {
                into(row_of(begin + static_cast<Index>(i)), possible_[k]) = work.scores[k * kBlockRows + i];
            }
        }
    }
}

Vector MixtureRows::counts_of(const std::vector<Index>& labels, double weight) const {
    Vector counts = Vector::Zero(size());
    const Matrix all = features_.block(0, rows());
    for (Index n = 0; n < rows(); ++n) {
        counts.segment(labels[static_cast<std::size_t>(n)] * feature_count(), feature_count()) +=
            weight * all.row(n).transpose();
    }
    return counts;
}

std::vector<Index> MixtureRows::exchanged(Index one, Index other) const {
    std::vector<Index> result(static_cast<std::size_t>(size()));
    for (Index g = 0; g < size(); ++g) {
        const Index label = g / feature_count();
        const Index to = label == one ? other : label == other ? one : label;
        result[static_cast<std::size_t>(g)] = to * feature_count() + g % feature_count();
    }
    return result;
}

std::shared_ptr<const LabelledRows> MixtureRows::sampled(Index most, Random& random) const {
    const std::vector<Index> chosen = some_of(rows(), most, random);
    return std::make_shared<const MixtureRows>(features_.selected(chosen), Index{-1}, std::vector<Index>(), labels_,
                                               possible_, polynomial_);
}

void MixtureRows::answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const {
    const auto [begin, end] = rows_in(chunk);
    if (begin >= end) return;
    const Index count = feature_count();
    const Index directions = table.cols() - 1;
    const Index inputs = chunk.inputs.cols();
    const Matrix features = features_.block(begin, end - begin);
    Matrix shares(end - begin, components());
    for (Index k = 0; k < components(); ++k) {
        shares.col(k).noalias() = features * table.col(directions).segment(k * count, count);
    }
    for (Index i = 0; i < shares.rows(); ++i) {
        shares.row(i) = (shares.row(i).array() - shares.row(i).maxCoeff()).exp().eval();
        shares.row(i) /= shares.row(i).sum();
    }
    std::vector<Matrix> pulls;  // of each label: f · Dᵀ∇φ, one row a row
    for (Index k = 0; k < components(); ++k) {
        pulls.emplace_back(features * table.block(k * count, 0, count, directions));
    }
    Matrix slope(components(), inputs);               // of the scores in the inputs
    Matrix moved(components(), inputs * directions);  // and of the pulls
    for (Index i = 0; i < end - begin; ++i) {
        const Index at = place_in(chunk, begin + i);
        features_.copy_inputs(begin + i, at, chunk);
        if (question.change == RowChange::weight) {
            for (Index k = 0; k < components(); ++k) {
                chunk.answers.row(at) += shares(i, k) * pulls[static_cast<std::size_t>(k)].row(i);
            }
            continue;
        }
        slope.setZero();
        moved.setZero();
        features_.visit_derivatives(begin + i, [&](Index input, Index feature, double derivative) {
            for (Index k = 0; k < components(); ++k) {
                slope(k, input) += derivative * table(k * count + feature, directions);
                for (Index d = 0; d < directions; ++d) {
                    moved(k, d * inputs + input) += derivative * table(k * count + feature, d);
                }
            }
        });
        const Eigen::RowVectorXd mean_slope = shares.row(i) * slope;
        for (Index k = 0; k < components(); ++k) {
            for (Index d = 0; d < directions; ++d) {
                for (Index p = 0; p < inputs; ++p) {
                    chunk.answers(at, d * inputs + p) +=
                        shares(i, k) * (moved(k, d * inputs + p) +
                                        (slope(k, p) - mean_slope[p]) * pulls[static_cast<std::size_t>(k)](i, d));
                }
            }
        }
    }
}

void MixtureRows::evaluate(const Polynomials&, const Matrix&, const RowMajorMatrix& values, RowAnswers& chunk) const {
    const auto [begin, end] = rows_in(chunk);
    if (begin >= end) return;
    const Index count = feature_count();
    const Matrix features = features_.block(begin, end - begin);
    Matrix largest = Matrix::Constant(end - begin, values.cols(), -std::numeric_limits<double>::infinity());
    std::vector<Matrix> scores;
    for (Index k = 0; k < components(); ++k) {
        scores.emplace_back(features * values.middleRows(k * count, count));
        largest = largest.cwiseMax(scores.back());
    }
    Matrix sums = Matrix::Zero(largest.rows(), largest.cols());
    for (const Matrix& score : scores) sums.array() += (score - largest).array().exp();
    for (Index i = 0; i < end - begin; ++i) {
        const Index at = place_in(chunk, begin + i);
        features_.copy_inputs(begin + i, at, chunk);
        chunk.answers.row(at) += largest.row(i) + Eigen::RowVectorXd(sums.row(i).array().log());
        if (features_.log_base().size() > 0) chunk.answers.row(at).array() += features_.log_base()[begin + i];
    }
}

}  // namespace lrvb::detail
