#include "kind/mixture/rows.hpp"

#include "base/parallel.hpp"
#include "kind/mixture/block.hpp"
#include "kind/mixture/row_kernels.hpp"
#include "model/rows_at_once.hpp"

#include <algorithm>

namespace lrvb::detail {

namespace {

constexpr Index kTask = 16 * kBlock;
constexpr Index kChunk = 4 * kTask;
static_assert(kChunk == kAnsweredRows);

void copy_inputs(const RowFormat& format, const double* rows, Index begin, Index size, RowAnswers& answers) {
    for (Index i = 0; i < size; ++i) {
        const double* row = rows + i * format.width();
        for (Index p = 0; p < format.columns; ++p) answers.inputs(begin + i, p) = row[p];
        if (format.weighted) answers.weights[begin + i] = row[format.columns];
    }
}

class RowQuestion {
  public:
    RowQuestion(const RowFormat& format, const MixtureScores& scores, const std::vector<Matrix>& polynomials,
                RowChange change, int threads)
        : format_(format), scores_(scores), polynomials_(polynomials), change_(change), threads_(threads) {
        if (format.columns > 1) {
            for (const Matrix& squares : slopes_of(scores.squares)) score_slopes_.push_back(squares);
            return;
        }
        // Direction by direction, for the kernel.
        for (Index d = 0; d < directions(); ++d) {
            for (const Matrix& polynomial : polynomials) {
                packed_.insert(packed_.end(), polynomial.col(d).begin(), polynomial.col(d).end());
            }
        }
    }

    void ask(RowSource& source, Index rows, const RowVisitor& visit) {
        RowAnswers answers;
        for_each_chunk(source, format_.width(), rows, kChunk, [&](const double* first, Index count) {
            answers.inputs.resize(count, format_.columns);
            answers.weights = Vector::Ones(count);
            answers.answers.resize(count, directions() * (change_ == RowChange::value ? format_.columns : 1));
            in_parallel(threads_, (count + kTask - 1) / kTask, [&](Index t) {
                BlockWork work(format_);
                Block block(format_, components());
                const Index end = std::min(count, (t + 1) * kTask);
                for (Index begin = t * kTask; begin < end; begin += kBlock) {
                    const Index size = std::min(kBlock, end - begin);
                    const double* from = first + begin * format_.width();
                    copy_inputs(format_, from, begin, size, answers);
                    work.load(from, static_cast<std::size_t>(size), block);
                    work.score(scores_, static_cast<std::size_t>(size), block);
                    softmax(block.responsibilities.data(), nullptr, static_cast<std::size_t>(size), components());
                    answer(block, begin, size, answers);
                }
            });
            visit(answers);
            answers.first += count;
        });
    }

  private:
    Index directions() const { return polynomials_.front().cols(); }
    std::size_t components() const { return polynomials_.size(); }

    void answer(const Block& block, Index begin, Index size, RowAnswers& answers) const {
        if (format_.columns == 1) {
            univariate(block, begin, size, answers.answers);
        } else {
            multivariate(block, begin, size, answers.answers);
        }
        if (change_ == RowChange::weight) return;
        for (Index c = 0; c < answers.answers.cols(); ++c) {
            answers.answers.col(c).segment(begin, size).array() *=
                answers.weights.segment(begin, size).array() * format_.inverse_scale[c % format_.columns];
        }
    }

    void univariate(const Block& block, Index begin, Index size, Matrix& answers) const {
        std::vector<double> out(static_cast<std::size_t>(directions()) * kBlockRows);
        const UnivariateRows rows{block.x.data(), block.responsibilities.data(), static_cast<std::size_t>(size),
                                  components(),   scores_.origins.data(),        scores_.squares.data()};
        univariate_row_answers(rows, packed_.data(), static_cast<std::size_t>(directions()),
                               change_ == RowChange::value, out.data());
        answers.middleRows(begin, size) = Eigen::Map<const Matrix>(out.data(), kBlock, directions()).topRows(size);
    }

    void multivariate(const Block& block, Index begin, Index size, Matrix& answers) const {
        const Index columns = format_.columns;
        const Matrix x = Eigen::Map<const Matrix>(block.x.data(), kBlock, columns).topRows(size);
        const Matrix shares =
            Eigen::Map<const Matrix>(block.responsibilities.data(), kBlock, static_cast<Index>(components()))
                .topRows(size);
        // ∂ρ_k/∂x, and its mean over the components.
        std::vector<Matrix> slopes;
        Matrix mean_slope = Matrix::Zero(size, columns);
        for (Index k = 0; k < shares.cols() && change_ == RowChange::value; ++k) {
            const Matrix y = x.rowwise() - scores_.origins.col(k).transpose();
            slopes.push_back(y * score_slopes_[static_cast<std::size_t>(k)]);
            mean_slope += shares.col(k).asDiagonal() * slopes.back();
        }
        answers.middleRows(begin, size).setZero();
        for (Index k = 0; k < shares.cols(); ++k) {
            const Matrix y = x.rowwise() - scores_.origins.col(k).transpose();
            const Matrix& polynomial = polynomials_[static_cast<std::size_t>(k)];
            const Matrix value = features_of(y) * polynomial;
            if (change_ == RowChange::weight) {
                answers.middleRows(begin, size) += shares.col(k).asDiagonal() * value;
                continue;
            }
            const std::vector<Matrix> second = slopes_of(polynomial.bottomRows(polynomial.rows() - 1 - columns));
            for (Index d = 0; d < directions(); ++d) {
                Matrix own = y * second[static_cast<std::size_t>(d)];
                own.rowwise() += polynomial.col(d).segment(1, columns).transpose();
                own += value.col(d).asDiagonal() * (slopes[static_cast<std::size_t>(k)] - mean_slope);
                answers.block(begin, d * columns, size, columns) += shares.col(k).asDiagonal() * own;
            }
        }
    }

    Matrix features_of(const Matrix& y) const {
        const Index columns = format_.columns;
        Matrix features(y.rows(), format_.features());
        features.col(0).setOnes();
        features.middleCols(1, columns) = y;
        Index at = 1 + columns;
        for (Index p = 0; p < columns; ++p) {
            const Index last = format_.full ? columns : p + 1;
            for (Index q = p; q < last; ++q) features.col(at++) = y.col(p).cwiseProduct(y.col(q));
        }
        return features;
    }

    // The matrix M of each column of coefficients c with Σ_{p≤q} c_pq y_p y_q = ½ yᵀMy, whose gradient is My.
    std::vector<Matrix> slopes_of(const Matrix& coefficients) const {
        const Index columns = format_.columns;
        std::vector<Matrix> result;
        for (Index c = 0; c < coefficients.cols(); ++c) {
            Matrix slopes = Matrix::Zero(columns, columns);
            Index at = 0;
            for (Index p = 0; p < columns; ++p) {
                const Index last = format_.full ? columns : p + 1;
                for (Index q = p; q < last; ++q, ++at) {
                    slopes(p, q) += coefficients(at, c);
                    slopes(q, p) += coefficients(at, c);
                }
            }
            result.push_back(std::move(slopes));
        }
        return result;
    }

    const RowFormat& format_;
    const MixtureScores& scores_;
    const std::vector<Matrix>& polynomials_;
    RowChange change_;
    int threads_;
    std::vector<Matrix> score_slopes_;  // of several columns
    std::vector<double> packed_;        // of one column
};

}  // namespace

void ask_mixture_rows(RowSource& source, Index rows, const RowFormat& format, const MixtureScores& scores,
                      const std::vector<Matrix>& polynomials, RowChange change, int threads, const RowVisitor& visit) {
    RowQuestion(format, scores, polynomials, change, threads).ask(source, rows, visit);
}

void mixture_row_log_likelihoods(RowSource& source, Index rows, const RowFormat& format,
                                 const std::vector<MixtureScores>& scores, int threads, const RowVisitor& visit) {
    constexpr Index kSets = 64;  // a task
    const auto count = static_cast<Index>(scores.size());
    if (count == 0) return;
    const Index components = scores.front().constants.size();
    const double unit = format.inverse_scale.array().log().sum();
    RowAnswers answers;
    for_each_chunk(source, format.width(), rows, rows_at_once(count), [&](const double* first, Index size) {
        answers.inputs.resize(size, format.columns);
        answers.weights = Vector::Ones(size);
        answers.answers.resize(size, count);
        copy_inputs(format, first, 0, size, answers);
        in_parallel(threads, (count + kSets - 1) / kSets, [&](Index task) {
            BlockWork work(format);
            Block block(format, static_cast<std::size_t>(components));
            for (Index begin = 0; begin < size; begin += kBlock) {
                const Index block_rows = std::min(kBlock, size - begin);
                work.load(first + begin * format.width(), static_cast<std::size_t>(block_rows), block);
                for (Index i = task * kSets; i < std::min(count, (task + 1) * kSets); ++i) {
                    work.score(scores[static_cast<std::size_t>(i)], static_cast<std::size_t>(block_rows), block);
                    const Eigen::ArrayXXd own =
                        Eigen::Map<const Matrix>(block.responsibilities.data(), kBlock, components).topRows(block_rows);
                    const Eigen::ArrayXd largest = own.rowwise().maxCoeff();
                    answers.answers.col(i).segment(begin, block_rows) =
                        (largest + (own.colwise() - largest).exp().rowwise().sum().log() + unit).matrix();
                }
            }
        });
        visit(answers);
        answers.first += size;
    });
}

}  // namespace lrvb::detail
