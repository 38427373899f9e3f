#include "model/labelled/terms.hpp"

#include "base/parallel.hpp"

#include <algorithm>

namespace lrvb::detail {

namespace {

std::vector<Index> first_counts(const LabelledTerms::Parts& parts) {
    std::vector<Index> result{0};
    for (const auto& part : parts) result.push_back(result.back() + part->size());
    return result;
}

// The lower triangle of a symmetric block, where its rows stand.
void add_lower(const Matrix& block, const std::vector<Index>& where,
               std::vector<Eigen::Triplet<double, int>>& entries) {
    for (Index column = 0; column < block.cols(); ++column) {
        for (Index row = column; row < block.rows(); ++row) {
            entries.emplace_back(static_cast<int>(where[static_cast<std::size_t>(row)]),
                                 static_cast<int>(where[static_cast<std::size_t>(column)]),
                                 0.5 * (block(row, column) + block(column, row)));
        }
    }
}

}  // namespace

LabelledTerms::LabelledTerms(Index statistics, Parts parts, std::vector<Index> calls, const MonomialSum& coupling,
                             std::shared_ptr<const Polynomials> derivatives)
    : statistics_(statistics),
      parts_(std::move(parts)),
      calls_(std::move(calls)),
      first_counts_(first_counts(parts_)),
      scales_(parts_.size(), 1.0),
      touched_(parts_.size()),
      coupling_(coupling, statistics + first_counts_.back()),
      derivatives_(std::move(derivatives)) {
    // ∂²B/∂G∂m has the pattern of who depends on what.
    const SparseMatrix pattern = coupling_.expand(extended(Vector::Zero(statistics)), Order::hessian).hessian;
    for (Index s = 0; s < statistics_; ++s) {
        for (SparseMatrix::InnerIterator entry(pattern, s); entry; ++entry) {
            if (entry.row() < statistics_) continue;
            const auto after = std::ranges::upper_bound(first_counts_, entry.row() - statistics_);
            std::vector<Index>& own = touched_[static_cast<std::size_t>(after - first_counts_.begin()) - 1];
            if (own.empty() || own.back() != s) own.push_back(s);
        }
    }
}

bool LabelledTerms::has_chains() const {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->is_chain(); });
}

double LabelledTerms::work(const Vector& weights) const {
    double sum = 0.0;
    for (const auto& part : parts_) {
        const double rows = std::max(static_cast<double>(part->rows()), part->total_weight(weights));
        sum += rows * static_cast<double>(part->labels() * part->features().count());
    }
    return sum;
}

bool LabelledTerms::has_whole_weights(const Vector& weights) const {
    return std::ranges::all_of(parts_, [&](const auto& part) { return part->has_whole_weights(weights); });
}

Vector LabelledTerms::extended(const VectorView& mean) const {
    Vector result = Vector::Zero(statistics_ + first_counts_.back());
    result.head(statistics_) = mean;
    return result;
}

Vector LabelledTerms::coefficients(const Vector& extended) const {
    return coupling_.gradient(extended).tail(first_counts_.back());
}

void LabelledTerms::fill_counts(Vector& extended, const Vector& weights, int threads, Expansion& into) const {
    const Vector all = coefficients(extended);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const Vector own = all.segment(first_counts_[p], parts_[p]->size());
        const LabelSums sums = parts_[p]->sums({own, weights, threads});
        into.value += scales_[p] * sums.value;
        into.magnitude += scales_[p] * sums.magnitude;
        extended.segment(first_count(p), own.size()) = scales_[p] * sums.counts;
    }
}

LabelledTerms LabelledTerms::sampled(Index most, const Vector& weights, Random& random) const {
    LabelledTerms result = *this;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        result.parts_[p] = parts_[p]->sampled(most, random);
        result.scales_[p] = parts_[p]->total_weight(weights) / static_cast<double>(result.parts_[p]->rows());
    }
    return result;
}

void LabelledTerms::draw_counts(Vector& extended, const Vector& weights, Random& random) const {
    const Vector all = coefficients(extended);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const Vector own = all.segment(first_counts_[p], parts_[p]->size());
        extended.segment(first_count(p), own.size()) = parts_[p]->drawn({own, weights, 1}, random);
    }
}

void LabelledTerms::add_block_gradient(const Vector& extended, Index offset, Eigen::Ref<Vector> block) const {
    Vector own(block.size());
    coupling_.block_gradient(extended, offset, own);
    block += own;
}

// J of a part: how its coefficients move with the statistics that they depend on.
Matrix LabelledTerms::jacobian(const SparseMatrix& hessian, std::size_t part) const {
    const std::vector<Index>& own = touched_[part];
    Matrix result = Matrix::Zero(parts_[part]->size(), static_cast<Index>(own.size()));
    const Index begin = first_count(part);
    for (std::size_t u = 0; u < own.size(); ++u) {
        for (SparseMatrix::InnerIterator entry(hessian, own[u]); entry; ++entry) {
            const Index at = entry.row() - begin;
            if (at >= 0 && at < result.rows()) result(at, static_cast<Index>(u)) = entry.value();
        }
    }
    return result;
}

void LabelledTerms::add_expansion(const Vector& mean, Order order, const Vector& weights, int threads,
                                  Expansion& into) const {
    Vector point = extended(mean);
    Vector magnitudes = point;
    const Vector all = coefficients(point);
    const bool second = order >= Order::hessian;
    // J does not depend on the counts.
    const SparseMatrix before = second ? coupling_.expand(point, Order::hessian).hessian : SparseMatrix();
    std::vector<Eigen::Triplet<double, int>> entries;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const Vector own = all.segment(first_counts_[p], parts_[p]->size());
        const LabelPoint at{own, weights, threads};
        LabelSums sums;
        if (second) {
            const Matrix slopes = jacobian(before, p);
            Matrix along;
            sums = parts_[p]->sums_along(at, slopes, along);
            add_lower(slopes.transpose() * along, touched_[p], entries);
        } else {
            sums = parts_[p]->sums(at);
        }
        into.value += sums.value;
        into.magnitude += sums.magnitude;
        point.segment(first_count(p), own.size()) = sums.counts;
        magnitudes.segment(first_count(p), own.size()) = sums.magnitudes;
    }
    if (order == Order::value) return;
    into.gradient += coupling_.gradient(point).head(statistics_);
    into.gradient_magnitude += coupling_.gradient_magnitude(magnitudes).head(statistics_);
    if (!second) return;
    const SparseMatrix after = coupling_.expand(point, Order::hessian).hessian;
    for (Index s = 0; s < statistics_; ++s) {
        for (SparseMatrix::InnerIterator entry(after, s); entry; ++entry) {
            if (entry.row() >= statistics_) break;
            entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(s), entry.value());
        }
    }
    SparseMatrix own(statistics_, statistics_);
    own.setFromTriplets(entries.begin(), entries.end());
    const SparseMatrix sum = into.hessian + own;
    into.hessian = sum;
}

Vector LabelledTerms::values(const Matrix& statistics, const Vector& weights, int threads) const {
    Matrix all(first_counts_.back(), statistics.cols());
    const int own_threads = statistics.cols() < 64 ? 1 : threads;  // fewer are not worth waking a thread for
    in_parallel(own_threads, statistics.cols(),
                [&](Index i) { all.col(i) = coefficients(extended(statistics.col(i))); });
    Vector result = Vector::Zero(statistics.cols());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        result += parts_[p]->values(Matrix(all.middleRows(first_counts_[p], parts_[p]->size())), weights, threads);
    }
    return result;
}

void LabelledTerms::add_hyperparameter_gradient(const Vector& mean, Index hyperparameter, const Vector& weights,
                                                int threads, Vector& gradient) const {
    Vector point = extended(mean);
    Expansion unused;
    fill_counts(point, weights, threads, unused);
    Vector derivative = Vector::Zero(point.size());
    derivatives_->add_gradient(static_cast<std::size_t>(hyperparameter), point, derivative);
    gradient += derivative.head(statistics_);
    // What the hyperparameter does to the coefficients moves the labels.
    const Vector moved = derivative.tail(first_counts_.back());
    if (moved.isZero(0.0)) return;
    const SparseMatrix hessian = coupling_.expand(point, Order::hessian).hessian;
    const Vector all = coefficients(point);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const Matrix direction = moved.segment(first_counts_[p], parts_[p]->size());
        if (direction.isZero(0.0)) continue;
        const Vector own = all.segment(first_counts_[p], parts_[p]->size());
        Matrix along;
        parts_[p]->sums_along({own, weights, threads}, direction, along);
        const Vector pull = jacobian(hessian, p).transpose() * along;
        for (std::size_t u = 0; u < touched_[p].size(); ++u) gradient[touched_[p][u]] += pull[static_cast<Index>(u)];
    }
}

LabelledTerms LabelledTerms::stepped(Index hyperparameter, double step) const {
    LabelledTerms result = *this;
    MonomialSum change;
    std::vector<MonomialSum> none;
    derivatives_->add_to(change, none, static_cast<std::size_t>(hyperparameter), step);
    if (change.size() > 0) result.coupling_ = coupling_.changed(change);
    return result;
}

Matrix LabelledTerms::probabilities(const Vector& mean, Index call, const Vector& weights) const {
    std::size_t first = 0;
    for (Index c = 0; c < call; ++c) first += static_cast<std::size_t>(calls_[static_cast<std::size_t>(c)]);
    const std::size_t end = first + static_cast<std::size_t>(calls_[static_cast<std::size_t>(call)]);
    Index rows = 0;
    for (std::size_t p = first; p < end; ++p) rows += parts_[p]->rows();
    Matrix result = Matrix::Zero(rows, parts_[first]->labels());
    const Vector all = coefficients(extended(mean));
    for (std::size_t p = first; p < end; ++p) {
        const Vector own = all.segment(first_counts_[p], parts_[p]->size());
        parts_[p]->probabilities({own, weights, 1}, result);
    }
    return result;
}

}  // namespace lrvb::detail
