#include "model/labelled/chain.hpp"

#include "base/parallel.hpp"
#include "model/labelled/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr Index kTaskRows = 4096;
constexpr Index kDirections = 16;  // at a time: what is kept of a sequence grows with them
constexpr Index kTasksAtOnce = 16;
constexpr Index kLongSample = 5;  // times the rows that a sample should have, where one sequence has more

std::vector<Index> all_of(Index count) {
    std::vector<Index> result(static_cast<std::size_t>(count));
    std::iota(result.begin(), result.end(), Index{0});
    return result;
}

}  // namespace

// exp of the log weights, less the largest of the steps; impossible ones are zero.
struct ChainRows::Chances {
    Vector first;
    Matrix steps;              // from × to
    double largest_first = 0;  // taken out of each
    double largest_step = 0;
};

struct ChainRows::Sequence {
    Index begin = 0;
    Index length = 0;
    Matrix features;   // rows × features
    Matrix emissions;  // labels × rows, exp(e − largest)
    Matrix forward;    // labels × rows, each adds up to one
    Matrix backward;   // such that forward · backward are the probabilities of the labels
    Vector scales;     // what the forward sums were before they were scaled
    double value = 0.0;
    double magnitude = 0.0;
};

struct ChainRows::Partial {
    double value = 0.0;
    double magnitude = 0.0;
    Vector counts;
    Matrix along;
};

ChainRows::ChainRows(Features features, Index first, Index labels, std::vector<Index> lengths, Steps steps,
                     std::uint32_t polynomial)
    : LabelledRows(std::move(features), first, {}, labels, all_of(labels), polynomial),
      lengths_(std::move(lengths)),
      steps_(std::move(steps)) {
    Index begin = 0;
    Index rows_of_task = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        begins_.push_back(begin);
        begin += lengths_[i];
        rows_of_task += lengths_[i];
        if (rows_of_task < kTaskRows && i + 1 < lengths_.size()) continue;
        tasks_.emplace_back(from, i + 1);
        from = i + 1;
        rows_of_task = 0;
    }
}

ChainRows::Chances ChainRows::chances(const VectorView& coefficients) const {
    Chances result{Vector::Zero(labels_), Matrix::Zero(labels_, labels_)};
    const Index begin = labels_ * feature_count();
    const auto firsts = static_cast<Index>(steps_.first.size());
    const auto steps = static_cast<Index>(steps_.steps.size());
    result.largest_first = coefficients.segment(begin, firsts).maxCoeff();
    for (Index i = 0; i < firsts; ++i) {
        result.first[steps_.first[static_cast<std::size_t>(i)]] =
            std::exp(coefficients[begin + i] - result.largest_first);
    }
    if (steps == 0) return result;
    result.largest_step = coefficients.segment(begin + firsts, steps).maxCoeff();
    for (Index i = 0; i < steps; ++i) {
        const auto [from, to] = steps_.steps[static_cast<std::size_t>(i)];
        result.steps(from, to) = std::exp(coefficients[begin + firsts + i] - result.largest_step);
    }
    return result;
}

double ChainRows::emissions(const VectorView& coefficients, const Vector& weights, const Matrix& features, Index begin,
                            Matrix& chances) const {
    const Eigen::Map<const Matrix> own(coefficients.data(), feature_count(), labels_);
    chances.noalias() = own.transpose() * features.transpose();
    double taken = 0.0;
    for (Index t = 0; t < chances.cols(); ++t) {
        chances.col(t) *= weight_of(weights, begin + t);
        const double largest = chances.col(t).maxCoeff();
        taken += largest;
        chances.col(t) = (chances.col(t).array() - largest).exp().eval();
    }
    return taken;
}

ChainRows::Sequence ChainRows::forward(const LabelPoint& point, const Chances& chances, std::size_t number) const {
    Sequence sequence;
    sequence.begin = begins_[number];
    sequence.length = lengths_[number];
    sequence.features = features_.block(sequence.begin, sequence.length);
    const double taken =
        emissions(point.coefficients, point.weights, sequence.features, sequence.begin, sequence.emissions);
    sequence.forward.resize(labels_, sequence.length);
    sequence.scales.resize(sequence.length);
    double logs = 0.0;
    for (Index t = 0; t < sequence.length; ++t) {
        const Vector before = t == 0 ? chances.first : Vector(chances.steps.transpose() * sequence.forward.col(t - 1));
        sequence.forward.col(t) = before.cwiseProduct(sequence.emissions.col(t));
        sequence.scales[t] = sequence.forward.col(t).sum();
        sequence.forward.col(t) /= sequence.scales[t];
        logs += std::log(sequence.scales[t]);
    }
    const double steps = chances.largest_first + chances.largest_step * static_cast<double>(sequence.length - 1);
    sequence.value = taken + logs + steps;
    sequence.magnitude = std::abs(taken) + std::abs(logs) + std::abs(steps);
    return sequence;
}

void ChainRows::backward(const Chances& chances, Sequence& sequence) const {
    sequence.backward.resize(labels_, sequence.length);
    sequence.backward.col(sequence.length - 1).setOnes();
    for (Index t = sequence.length - 1; t > 0; --t) {
        sequence.backward.col(t - 1) =
            chances.steps * sequence.emissions.col(t).cwiseProduct(sequence.backward.col(t)) / sequence.scales[t];
    }
}

void ChainRows::add_counts(const LabelPoint& point, const Chances& chances, const Sequence& sequence,
                           Partial& partial) const {
    const Index count = feature_count();
    Matrix probabilities = sequence.forward.cwiseProduct(sequence.backward);
    Index at = labels_ * count;
    for (const Index k : steps_.first) partial.counts[at++] += probabilities(k, 0);
    Matrix steps = Matrix::Zero(labels_, labels_);
    for (Index t = 1; t < sequence.length; ++t) {
        const Vector ahead = sequence.emissions.col(t).cwiseProduct(sequence.backward.col(t)) / sequence.scales[t];
        steps.noalias() += sequence.forward.col(t - 1) * ahead.transpose();
    }
    steps = steps.cwiseProduct(chances.steps).eval();
    for (const auto& [from, to] : steps_.steps) partial.counts[at++] += steps(from, to);
    for (Index t = 0; t < sequence.length; ++t) probabilities.col(t) *= weight_of(point.weights, sequence.begin + t);
    Eigen::Map<Matrix>(partial.counts.data(), count, labels_).noalias() +=
        sequence.features.transpose() * probabilities.transpose();
    partial.value += sequence.value;
    partial.magnitude += sequence.magnitude;
}

// Numbers of a label and a direction stand label by label, directions running fastest; a row's after those of the row
// before it.
void ChainRows::add_along(const LabelPoint& point, const Chances& chances, const Sequence& sequence,
                          const Eigen::Ref<const Matrix>& directions, Eigen::Ref<Matrix> along,
                          std::vector<Matrix>* moved) const {
    const Index count = feature_count();
    const Index columns = directions.cols();
    const Index size_of_row = labels_ * columns;
    const Index first_at = labels_ * count;
    const Index step_at = first_at + static_cast<Index>(steps_.first.size());
    const RowMajorMatrix by_rows = directions;
    const Index length = sequence.length;

    // How the emissions move.
    std::vector<double> emission(static_cast<std::size_t>(length * size_of_row));
    for (Index k = 0; k < labels_; ++k) {
        const RowMajorMatrix own = sequence.features * by_rows.middleRows(k * count, count);
        for (Index t = 0; t < length; ++t) {
            const double weight = weight_of(point.weights, sequence.begin + t);
            double* to = emission.data() + t * size_of_row + k * columns;
            for (Index d = 0; d < columns; ++d) to[d] = weight * own(t, d);
        }
    }

    std::vector<double> forward_along(emission.size());
    RowMajorMatrix scale_along = RowMajorMatrix::Zero(length, columns);  // of the logarithms of the scales
    for (Index t = 0; t < length; ++t) {
        double* change = forward_along.data() + t * size_of_row;
        if (t == 0) {
            for (std::size_t i = 0; i < steps_.first.size(); ++i) {
                const Index k = steps_.first[i];
                const double* own = by_rows.row(first_at + static_cast<Index>(i)).data();
                for (Index d = 0; d < columns; ++d) change[k * columns + d] = chances.first[k] * own[d];
            }
        } else {
            const double* behind = change - size_of_row;
            for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
                const auto [from, to] = steps_.steps[i];
                const double chance = chances.steps(from, to);
                const double share = sequence.forward(from, t - 1);
                const double* own = by_rows.row(step_at + static_cast<Index>(i)).data();
                const double* before = behind + from * columns;
                double* sum = change + to * columns;
                for (Index d = 0; d < columns; ++d) sum[d] += chance * (before[d] + share * own[d]);
            }
        }
        const double* moves = emission.data() + t * size_of_row;
        double* scale = scale_along.row(t).data();
        for (Index k = 0; k < labels_; ++k) {
            const double factor = sequence.emissions(k, t) / sequence.scales[t];
            const double share = sequence.forward(k, t);
            for (Index d = 0; d < columns; ++d) {
                double& own = change[k * columns + d];
                own = factor * own + share * moves[k * columns + d];
                scale[d] += own;
            }
        }
        for (Index k = 0; k < labels_; ++k) {
            const double share = sequence.forward(k, t);
            for (Index d = 0; d < columns; ++d) change[k * columns + d] -= share * scale[d];
        }
    }

    // Probabilities of labels and steps, from the last row on. What forward_along holds becomes those of the labels.
    RowMajorMatrix step_sums = RowMajorMatrix::Zero(static_cast<Index>(steps_.steps.size()), columns);
    std::vector<double> backward_along(static_cast<std::size_t>(size_of_row), 0.0);
    std::vector<double> next(backward_along.size());
    std::vector<double> ahead_along(backward_along.size());
    for (Index t = length - 1; t >= 0; --t) {
        double* own_forward = forward_along.data() + t * size_of_row;
        if (t > 0) {
            // What comes after a step, b β/s, and how it moves.
            const Vector ahead = sequence.emissions.col(t).cwiseProduct(sequence.backward.col(t)) / sequence.scales[t];
            const double* moves = emission.data() + t * size_of_row;
            const double* scale = scale_along.row(t).data();
            for (Index k = 0; k < labels_; ++k) {
                const double factor = sequence.emissions(k, t) / sequence.scales[t];
                for (Index d = 0; d < columns; ++d) {
                    const auto at = static_cast<std::size_t>(k * columns + d);
                    ahead_along[at] = ahead[k] * (moves[at] - scale[d]) + factor * backward_along[at];
                }
            }
            std::fill(next.begin(), next.end(), 0.0);
            const double* behind = own_forward - size_of_row;
            for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
                const auto [from, to] = steps_.steps[i];
                const double chance = chances.steps(from, to);
                const double share = sequence.forward(from, t - 1);
                const double* own = by_rows.row(step_at + static_cast<Index>(i)).data();
                const double* after = ahead_along.data() + to * columns;
                const double* before = behind + from * columns;
                double* sum = next.data() + from * columns;
                double* step = step_sums.row(static_cast<Index>(i)).data();
                for (Index d = 0; d < columns; ++d) {
                    const double moved_ahead = after[d] + ahead[to] * own[d];
                    sum[d] += chance * moved_ahead;
                    step[d] += chance * (before[d] * ahead[to] + share * moved_ahead);
                }
            }
        }
        for (Index k = 0; k < labels_; ++k) {
            for (Index d = 0; d < columns; ++d) {
                const auto at = static_cast<std::size_t>(k * columns + d);
                own_forward[at] =
                    sequence.backward(k, t) * own_forward[at] + sequence.forward(k, t) * backward_along[at];
            }
        }
        std::swap(backward_along, next);
    }

    for (std::size_t i = 0; i < steps_.first.size(); ++i) {
        const double* own = forward_along.data() + steps_.first[i] * columns;
        for (Index d = 0; d < columns; ++d) along(first_at + static_cast<Index>(i), d) += own[d];
    }
    along.bottomRows(step_sums.rows()) += step_sums;
    for (Index k = 0; k < labels_; ++k) {
        RowMajorMatrix own(length, columns);
        for (Index t = 0; t < length; ++t) {
            const double weight = weight_of(point.weights, sequence.begin + t);
            const double* from = forward_along.data() + t * size_of_row + k * columns;
            for (Index d = 0; d < columns; ++d) own(t, d) = weight * from[d];
        }
        along.middleRows(k * count, count).noalias() += sequence.features.transpose() * own;
    }
    if (moved == nullptr) return;
    for (Index t = 0; t < length; ++t) {
        (*moved)[static_cast<std::size_t>(sequence.begin + t)] =
            Eigen::Map<const RowMajorMatrix>(forward_along.data() + t * size_of_row, labels_, columns);
    }
}

LabelSums ChainRows::sums(const LabelPoint& point) const {
    Matrix none(size(), 0);
    return sums_along(point, none, none);
}

// A few tasks at a time; their sums are added up in the order of the sequences.
LabelSums ChainRows::sums_along(const LabelPoint& point, const Matrix& directions, Matrix& along) const {
    const Chances own = chances(point.coefficients);
    Partial total{0.0, 0.0, Vector::Zero(size()), Matrix::Zero(size(), directions.cols())};
    std::vector<Partial> partial(static_cast<std::size_t>(kTasksAtOnce));
    const auto tasks = static_cast<Index>(tasks_.size());
    for (Index first = 0; first < tasks; first += kTasksAtOnce) {
        const Index now = std::min(kTasksAtOnce, tasks - first);
        in_parallel(point.threads, now, [&](Index t) {
            Partial& part = partial[static_cast<std::size_t>(t)];
            part = {0.0, 0.0, Vector::Zero(size()), Matrix::Zero(size(), directions.cols())};
            const auto [from, to] = tasks_[static_cast<std::size_t>(first + t)];
            for (std::size_t i = from; i < to; ++i) {
                Sequence sequence = forward(point, own, i);
                backward(own, sequence);
                add_counts(point, own, sequence, part);
                for (Index d = 0; d < directions.cols(); d += kDirections) {
                    const Index some = std::min(kDirections, directions.cols() - d);
                    add_along(point, own, sequence, directions.middleCols(d, some), part.along.middleCols(d, some),
                              nullptr);
                }
            }
        });
        for (Index t = 0; t < now; ++t) {
            const Partial& part = partial[static_cast<std::size_t>(t)];
            total.value += part.value;
            total.magnitude += part.magnitude;
            total.counts += part.counts;
            total.along += part.along;
        }
    }
    LabelSums result;
    const double base = log_base(point.weights);
    result.value = total.value + base;
    result.counts = std::move(total.counts);
    bound_magnitudes(result);
    result.magnitude = total.magnitude + std::abs(base) + point.coefficients.cwiseAbs().dot(result.magnitudes);
    along = std::move(total.along);
    return result;
}

Vector ChainRows::values(const Matrix& coefficients, const Vector& weights, int threads) const {
    Vector result(coefficients.cols());
    const double base = log_base(weights);
    in_parallel(threads, coefficients.cols(), [&](Index c) {
        const Vector own = coefficients.col(c);
        const Chances at = chances(own);
        double sum = base;
        for (std::size_t i = 0; i < lengths_.size(); ++i) sum += forward({own, weights, 1}, at, i).value;
        result[c] = sum;
    });
    return result;
}

// Forward sums, then labels from the last row to the first.
Vector ChainRows::drawn(const LabelPoint& point, Random& random) const {
    const Chances own = chances(point.coefficients);
    std::vector<Index> labels(static_cast<std::size_t>(rows()));
    Vector weights(rows());
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        const Sequence sequence = forward(point, own, i);
        Vector chance = sequence.forward.col(sequence.length - 1);
        for (Index t = sequence.length - 1; t >= 0; --t) {
            const auto of = [&](std::size_t k) { return chance[static_cast<Index>(k)]; };
            const auto label = static_cast<Index>(drawn_label(static_cast<std::size_t>(labels_), of, random));
            labels[static_cast<std::size_t>(sequence.begin + t)] = label;
            if (t == 0) break;
            chance = sequence.forward.col(t - 1).cwiseProduct(own.steps.col(label));
            chance /= chance.sum();
        }
    }
    for (Index n = 0; n < rows(); ++n) weights[n] = weight_of(point.weights, n);
    return counts_with(labels, weights, 1.0);
}

void ChainRows::probabilities(const LabelPoint& point, Matrix& into) const {
    const Chances own = chances(point.coefficients);
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        Sequence sequence = forward(point, own, i);
        backward(own, sequence);
        into.middleRows(sequence.begin, sequence.length) = sequence.forward.cwiseProduct(sequence.backward).transpose();
    }
}

Vector ChainRows::counts_of(const std::vector<Index>& labels, double weight) const {
    return counts_with(labels, Vector::Ones(rows()), weight);
}

Vector ChainRows::counts_with(const std::vector<Index>& labels, const Vector& weights, double factor) const {
    const Index count = feature_count();
    Vector counts = Vector::Zero(size());
    Vector firsts = Vector::Zero(labels_);
    Matrix steps = Matrix::Zero(labels_, labels_);
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        const Matrix features = features_.block(begins_[i], lengths_[i]);
        for (Index t = 0; t < lengths_[i]; ++t) {
            const Index label = labels[static_cast<std::size_t>(begins_[i] + t)];
            counts.segment(label * count, count) += weights[begins_[i] + t] * features.row(t).transpose();
            if (t == 0) {
                firsts[label] += 1.0;
            } else {
                steps(labels[static_cast<std::size_t>(begins_[i] + t - 1)], label) += 1.0;
            }
        }
    }
    Index at = labels_ * count;
    for (const Index k : steps_.first) counts[at++] = firsts[k];
    for (const auto& [from, to] : steps_.steps) counts[at++] = steps(from, to);
    return factor * counts;
}

Index ChainRows::owner(Index coefficient) const {
    const Index emissions = labels_ * feature_count();
    if (coefficient < emissions) return coefficient / feature_count();
    const Index step = coefficient - emissions - static_cast<Index>(steps_.first.size());
    return step < 0 ? -1 : steps_.steps[static_cast<std::size_t>(step)].first;
}

Index ChainRows::part(Index coefficient) const {
    const Index first = coefficient - labels_ * feature_count();
    if (first < 0) return -1;
    const Index step = first - static_cast<Index>(steps_.first.size());
    return step < 0 ? steps_.first[static_cast<std::size_t>(first)]
                    : steps_.steps[static_cast<std::size_t>(step)].second;
}

// Where all labels and steps can occur, steps stand row by row.
std::vector<Index> ChainRows::exchanged(Index one, Index other) const {
    const auto to = [&](Index label) { return label == one ? other : label == other ? one : label; };
    std::vector<Index> result;
    for (Index g = 0; g < labels_ * feature_count(); ++g) {
        result.push_back(to(g / feature_count()) * feature_count() + g % feature_count());
    }
    const Index first = labels_ * feature_count();
    for (const Index k : steps_.first) result.push_back(first + to(k));
    for (const auto& [from, next] : steps_.steps) result.push_back(first + labels_ + to(from) * labels_ + to(next));
    return result;
}

std::shared_ptr<const LabelledRows> ChainRows::sampled(Index most, Random& random) const {
    // Sequences from a random one on, as long as they are needed; a very long one is cut short.
    std::vector<Index> chosen;
    std::vector<Index> lengths;
    const auto start = std::min(lengths_.size() - 1,
                                static_cast<std::size_t>(random.uniform() * static_cast<double>(lengths_.size())));
    for (std::size_t i = 0; i < lengths_.size() && static_cast<Index>(chosen.size()) < most; ++i) {
        const std::size_t number = (start + i) % lengths_.size();
        const Index length = std::min(lengths_[number], kLongSample * most);
        for (Index t = 0; t < length; ++t) chosen.push_back(begins_[number] + t);
        lengths.push_back(length);
    }
    return std::make_shared<const ChainRows>(features_.selected(chosen), Index{-1}, labels_, std::move(lengths), steps_,
                                             polynomial_);
}

RowMajorMatrix ChainRows::table(const RowQuestion& question) const {
    const RowMajorMatrix shared = LabelledRows::table(question);
    const Index directions = shared.cols() - 1;
    RowMajorMatrix result(shared.rows() + rows() * labels_, shared.cols());
    result.topRows(shared.rows()) = shared;
    const Vector coefficients = shared.col(directions);
    const Matrix along = shared.leftCols(directions);
    const LabelPoint point{coefficients, question.weights, 1};
    const Chances own = chances(coefficients);
    Matrix unused(size(), kDirections);
    std::vector<Matrix> moved(static_cast<std::size_t>(rows()));
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        Sequence sequence = forward(point, own, i);
        backward(own, sequence);
        const auto place = [&](Index t) { return shared.rows() + (sequence.begin + t) * labels_; };
        for (Index t = 0; t < sequence.length; ++t) {
            result.block(place(t), directions, labels_, 1) =
                sequence.forward.col(t).cwiseProduct(sequence.backward.col(t));
        }
        for (Index d = 0; d < directions; d += kDirections) {
            const Index some = std::min(kDirections, directions - d);
            add_along(point, own, sequence, along.middleCols(d, some), unused.leftCols(some), &moved);
            for (Index t = 0; t < sequence.length; ++t) {
                result.block(place(t), d, labels_, some) = moved[static_cast<std::size_t>(sequence.begin + t)];
            }
        }
    }
    return result;
}

void ChainRows::answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const {
    const auto [begin, end] = rows_in(chunk);
    const Index count = feature_count();
    const Index directions = table.cols() - 1;
    const Index inputs = chunk.inputs.cols();
    for (Index n = begin; n < end; ++n) {
        const Index at = place_in(chunk, n);
        features_.copy_inputs(n, at, chunk);
        const Index place = size() + n * labels_;
        const auto add = [&](Index k, const Eigen::RowVectorXd& slope, double value, Index stride, Index input) {
            // The probability of the label times what it says of the row: both move.
            for (Index d = 0; d < directions; ++d) {
                chunk.answers(at, d * stride + input) +=
                    table(place + k, directions) * slope[d] + table(place + k, d) * value;
            }
        };
        if (question.change == RowChange::weight) {
            const Eigen::RowVectorXd features = features_.block(n, 1);
            for (Index k = 0; k < labels_; ++k) {
                const Eigen::RowVectorXd said = features * table.middleRows(k * count, count);
                add(k, said.head(directions), said[directions], 1, 0);
            }
            continue;
        }
        features_.visit_derivatives(n, [&](Index input, Index feature, double derivative) {
            for (Index k = 0; k < labels_; ++k) {
                const Eigen::RowVectorXd said = derivative * table.row(k * count + feature);
                add(k, said.head(directions), said[directions], inputs, input);
            }
        });
    }
}

}  // namespace lrvb::detail
