#include "model/mixture_pass.hpp"

#include "model/mixture_kernels.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kBlock = static_cast<Index>(kBlockRows);
constexpr Index kTaskRows = 64 * kBlock;       // one task of a univariate pass
constexpr Index kChunkRows = 16 * kTaskRows;   // read at once
constexpr Index kWideChunkRows = 16 * kBlock;  // the same where features are many

template <class Body>
void in_parallel(int threads, Index count, Body body) {
    if (threads == 1 || count == 1) {
        for (Index i = 0; i < count; ++i) body(i);
        return;
    }
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] { oneapi::tbb::parallel_for(Index{0}, count, body); });
}

// One column: quadratic scores and power moments, all in vector registers.
class UnivariatePass {
  public:
    UnivariatePass(const RowFormat& format, const Matrix& theta, const PassOptions& options)
        : format_(format), theta_(theta), options_(options), components_(static_cast<std::size_t>(theta.cols())) {}

    PassSums operator()(RowSource& source, Index rows) {
        total_.assign(size(), 0.0);
        for_each_chunk(source, format_.width(), rows, kChunkRows, [&](const double* first, Index count) {
            const Index tasks = (count + kTaskRows - 1) / kTaskRows;
            partial_.assign(static_cast<std::size_t>(tasks), std::vector<double>());
            in_parallel(options_.threads, tasks, [&](Index t) {
                const Index begin = t * kTaskRows;
                partial_[static_cast<std::size_t>(t)] =
                    task(first + begin * format_.width(), std::min(kTaskRows, count - begin));
            });
            for (const std::vector<double>& part : partial_) {
                for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += part[i];
            }
        });
        return unpacked();
    }

  private:
    // Two numbers of the bound, three moments a component, five a pair.
    std::size_t size() const {
        const std::size_t pairs = options_.pairs ? components_ * (components_ - 1) / 2 : 0;
        return 2 + 3 * components_ + 5 * pairs;
    }

    std::vector<double> task(const double* rows, Index count) const {
        std::vector<double> sums(size(), 0.0);
        std::vector<double> scores(components_ * kBlockRows);
        alignas(64) double x[kBlockRows];
        alignas(64) double w[kBlockRows];
        for (Index begin = 0; begin < count; begin += kBlock) {
            const auto block = static_cast<std::size_t>(std::min(kBlock, count - begin));
            load(rows + begin * format_.width(), block, x, w);
            const double* weights = format_.weighted ? w : nullptr;
            quadratic_scores(x, block, components_, theta_.data(), scores.data());
            const SoftmaxSums bound = softmax(scores.data(), weights, block, components_);
            sums[0] += bound.log_sum;
            sums[1] += bound.magnitude;
            add_moments(scores.data(), weights, x, block, components_, sums.data() + 2);
            if (options_.pairs) {
                add_pair_moments(scores.data(), weights, x, block, components_, sums.data() + 2 + 3 * components_);
            }
        }
        return sums;
    }

    void load(const double* rows, std::size_t count, double* x, double* w) const {
        const double centre = format_.centre[0];
        const double scale = format_.inverse_scale[0];
        const std::size_t width = static_cast<std::size_t>(format_.width());
        for (std::size_t i = 0; i < count; ++i) x[i] = (rows[i * width] - centre) * scale;
        std::fill(x + count, x + kBlockRows, 0.0);
        if (!format_.weighted) return;
        for (std::size_t i = 0; i < count; ++i) {
            w[i] = rows[i * width + 1];
            if (w[i] == 0.0) x[i] = 0.0;  // whatever it holds, it is not there
        }
        std::fill(w + count, w + kBlockRows, 0.0);
    }

    PassSums unpacked() const {
        PassSums result;
        result.log_sum = total_[0];
        result.magnitude = total_[1];
        result.sums = Eigen::Map<const Matrix>(total_.data() + 2, 3, theta_.cols());
        for (std::size_t at = 2 + 3 * components_; at < total_.size(); at += 5) {
            const double* moment = total_.data() + at;
            Matrix pair(3, 3);
            for (Index i = 0; i < 3; ++i) {
                for (Index j = 0; j < 3; ++j) pair(i, j) = moment[i + j];
            }
            result.pairs.push_back(pair);
        }
        return result;
    }

    const RowFormat& format_;
    const Matrix& theta_;
    const PassOptions& options_;
    std::size_t components_;
    std::vector<double> total_;
    std::vector<std::vector<double>> partial_;
};

// Several columns: scores, sums and pairs are matrix products over blocks.
class MultivariatePass {
  public:
    MultivariatePass(const RowFormat& format, const Matrix& theta, const PassOptions& options)
        : format_(format), theta_(theta), options_(options) {}

    PassSums operator()(RowSource& source, Index rows) {
        const Index components = theta_.cols();
        result_.sums = Matrix::Zero(format_.features(), components);
        if (options_.pairs) {
            const auto pairs = static_cast<std::size_t>(components * (components - 1) / 2);
            result_.pairs.assign(pairs, Matrix::Zero(format_.features(), format_.features()));
            skipped_.assign(pairs, 0.0);
        }
        for_each_chunk(source, format_.width(), rows, kWideChunkRows,
                       [&](const double* first, Index count) { chunk(first, count); });
        for (Matrix& pair : result_.pairs) pair = Matrix(pair.selfadjointView<Eigen::Lower>());
        for (const double skipped : skipped_) result_.skipped = std::max(result_.skipped, skipped);
        return std::move(result_);
    }

  private:
    struct Block {
        Matrix features;          // kBlock × features; rows beyond the block are zero
        Matrix responsibilities;  // kBlock × components
        Vector weights;
        SoftmaxSums bound;
        Matrix sums;
    };

    void chunk(const double* rows, Index count) {
        const Index blocks = (count + kBlock - 1) / kBlock;
        blocks_.resize(static_cast<std::size_t>(blocks));
        in_parallel(options_.threads, blocks, [&](Index b) {
            const Index begin = b * kBlock;
            fill(rows + begin * format_.width(), std::min(kBlock, count - begin), blocks_[static_cast<std::size_t>(b)]);
        });
        for (const Block& block : blocks_) {
            result_.log_sum += block.bound.log_sum;
            result_.magnitude += block.bound.magnitude;
            result_.sums += block.sums;
        }
        if (options_.pairs) add_pairs();
    }

    void fill(const double* rows, Index count, Block& block) const {
        const Index columns = format_.columns;
        Matrix standardised = Matrix::Zero(kBlock, columns);
        block.weights = Vector::Ones(kBlock);
        for (Index i = 0; i < count; ++i) {
            const double* row = rows + i * format_.width();
            if (format_.weighted) block.weights[i] = row[columns];
            if (block.weights[i] == 0.0) continue;  // whatever it holds, it is not there
            for (Index p = 0; p < columns; ++p) {
                standardised(i, p) = (row[p] - format_.centre[p]) * format_.inverse_scale[p];
            }
        }
        block.features = features_of(standardised, format_);
        block.responsibilities.noalias() = block.features * theta_;
        block.bound = softmax(block.responsibilities.data(), block.weights.data(), static_cast<std::size_t>(count),
                              static_cast<std::size_t>(theta_.cols()));
        const Matrix weighted = block.weights.asDiagonal() * block.responsibilities;
        block.sums.noalias() = block.features.transpose() * weighted;
    }

    // Pair by pair, so that each is summed by one thread in the order of the rows.
    void add_pairs() {
        std::vector<std::pair<Index, Index>> pairs;
        for (Index k = 0; k < theta_.cols(); ++k) {
            for (Index l = k + 1; l < theta_.cols(); ++l) pairs.emplace_back(k, l);
        }
        in_parallel(options_.threads, static_cast<Index>(pairs.size()), [&](Index i) {
            const auto [k, l] = pairs[static_cast<std::size_t>(i)];
            Matrix selected(format_.features(), kBlock);
            for (const Block& block : blocks_) {
                Index count = 0;
                for (Index n = 0; n < kBlock; ++n) {
                    const double product =
                        block.weights[n] * block.responsibilities(n, k) * block.responsibilities(n, l);
                    if (product == 0.0) continue;
                    if (product < options_.skip_below) {
                        const double largest = block.features.row(n).cwiseAbs().maxCoeff();
                        skipped_[static_cast<std::size_t>(i)] += product * largest * largest;
                        continue;
                    }
                    selected.col(count++) = std::sqrt(product) * block.features.row(n).transpose();
                }
                if (count == 0) continue;
                result_.pairs[static_cast<std::size_t>(i)].selfadjointView<Eigen::Lower>().rankUpdate(
                    selected.leftCols(count));
            }
        });
    }

    const RowFormat& format_;
    const Matrix& theta_;
    const PassOptions& options_;
    PassSums result_;
    std::vector<double> skipped_;
    std::vector<Block> blocks_;
};

}  // namespace

Matrix features_of(const Matrix& standardised, const RowFormat& format) {
    const Index columns = format.columns;
    Matrix features(standardised.rows(), format.features());
    features.col(0).setOnes();
    features.middleCols(1, columns) = standardised;
    if (!format.full) {
        features.rightCols(columns) = standardised.cwiseAbs2();
        return features;
    }
    Index at = 1 + columns;
    for (Index i = 0; i < columns; ++i) {
        for (Index j = i; j < columns; ++j) {
            features.col(at++) = standardised.col(i).cwiseProduct(standardised.col(j));
        }
    }
    return features;
}

PassSums mixture_pass(RowSource& source, Index rows, const RowFormat& format, const Matrix& theta,
                      const PassOptions& options) {
    // So that more threads than cores are what the caller gets, as asked.
    using oneapi::tbb::global_control;
    const global_control allowed(global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
    if (format.columns == 1) return UnivariatePass(format, theta, options)(source, rows);
    return MultivariatePass(format, theta, options)(source, rows);
}

}  // namespace lrvb::detail
