#include "kind/mixture/pass.hpp"

#include "base/parallel.hpp"
#include "kind/mixture/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

class Pass {
  public:
    Pass(const RowFormat& format, const MixtureScores& scores, const Matrix& pair_origins, const PassOptions& options)
        : format_(format),
          scores_(scores),
          pair_origins_(pair_origins),
          options_(options),
          work_(format),
          components_(static_cast<std::size_t>(scores.constants.size())) {}

    PassSums operator()(RowSource& source, Index rows) {
        total_.assign(size(), 0.0);
        if (has_wide_pairs()) {
            result_.pairs.resize(static_cast<std::size_t>(pair_origins_.cols()));
            skipped_.assign(result_.pairs.size(), 0.0);
        }
        // Where rows are wide, a chunk's responsibilities are kept for its pairs.
        const Index blocks = format_.columns == 1 ? 64 : 4;
        for_each_chunk(source, format_.width(), rows, 16 * blocks * kBlock,
                       [&](const double* first, Index count) { chunk(first, count, blocks * kBlock); });
        return finished();
    }

  private:
    bool has_wide_pairs() const { return pair_origins_.cols() > 0 && format_.columns > 1; }

    // Two numbers of the bound, then the sums of each component, then five moments a pair where there is one column.
    std::size_t size() const {
        const std::size_t pairs = format_.columns == 1 ? static_cast<std::size_t>(pair_origins_.cols()) : 0;
        return 2 + components_ * work_.sums_size() + 5 * pairs;
    }

    void chunk(const double* rows, Index count, Index task_rows) {
        const Index tasks = (count + task_rows - 1) / task_rows;
        partial_.assign(static_cast<std::size_t>(tasks), std::vector<double>());
        if (has_wide_pairs()) {
            kept_.resize(static_cast<std::size_t>((count + kBlock - 1) / kBlock), Block(format_, components_));
        }
        in_parallel(options_.threads, tasks, [&](Index t) {
            const Index begin = t * task_rows;
            partial_[static_cast<std::size_t>(t)] =
                task(rows + begin * format_.width(), std::min(task_rows, count - begin), begin / kBlock);
        });
        for (const std::vector<double>& part : partial_) {
            for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += part[i];
        }
        if (has_wide_pairs()) add_pairs();
    }

    std::vector<double> task(const double* rows, Index count, Index first_block) {
        std::vector<double> sums(size(), 0.0);
        BlockWork work(format_);
        Block own(format_, components_);
        for (Index begin = 0; begin < count; begin += kBlock, ++first_block) {
            const auto size = static_cast<std::size_t>(std::min(kBlock, count - begin));
            Block& block = has_wide_pairs() ? kept_[static_cast<std::size_t>(first_block)] : own;
            work.load(rows + begin * format_.width(), size, block);
            work.score(scores_, size, block);
            const double* weights = block.weights_or_null();
            const SoftmaxSums bound = softmax(block.responsibilities.data(), weights, size, components_);
            sums[0] += bound.log_sum;
            sums[1] += bound.magnitude;
            work.add(scores_.origins, size, block, sums.data() + 2);
            if (format_.columns > 1 || pair_origins_.cols() == 0) continue;
            add_pair_moments(block.responsibilities.data(), weights, block.x.data(), size, components_,
                             pair_origins_.data(), sums.data() + 2 + components_ * work.sums_size());
        }
        return sums;
    }

    // Pair by pair, so that each is summed by one thread in the order of the rows.
    void add_pairs() {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (std::size_t k = 0; k < components_; ++k) {
            for (std::size_t l = k + 1; l < components_; ++l) pairs.emplace_back(k, l);
        }
        in_parallel(options_.threads, static_cast<Index>(pairs.size()), [&](Index i) {
            const auto [k, l] = pairs[static_cast<std::size_t>(i)];
            Selection selection(format_, pair_origins_.col(i), result_.pairs[static_cast<std::size_t>(i)]);
            for (const Block& block : kept_) {
                const double* left = block.responsibilities.data() + k * kBlockRows;
                const double* right = block.responsibilities.data() + l * kBlockRows;
                for (std::size_t n = 0; n < kBlockRows; ++n) {
                    const double weight = format_.weighted ? block.weights[n] : 1.0;
                    const double product = weight * left[n] * right[n];
                    if (product == 0.0) continue;
                    if (product < options_.skip_below) {
                        skipped_[static_cast<std::size_t>(i)] += product * selection.largest_square(block.x, n);
                        continue;
                    }
                    selection.add(block.x, n, product);
                }
            }
            selection.flush();
        });
    }

    // Rows of one pair, gathered until they fill a block, which is then added to the pair's sum.
    class Selection {
      public:
        Selection(const RowFormat& format, const Vector& origin, Matrix& sum)
            : format_(format), origin_(origin), sum_(sum), features_(static_cast<std::size_t>(format.features())) {}

        double largest_square(const std::vector<double>& x, std::size_t row) const {
            double largest = 1.0;
            for (Index p = 0; p < format_.columns; ++p) {
                const double y = x[static_cast<std::size_t>(p) * kBlockRows + row] - origin_[p];
                largest = std::max({largest, std::abs(y), y * y});
            }
            return largest * largest;
        }

        void add(const std::vector<double>& x, std::size_t row, double product) {
            if (block_.empty()) {
                block_.assign(features_ * kBlockRows, 0.0);
                weighted_ = block_;
                products_.assign(kBlockRows, 0.0);
            }
            const auto columns = static_cast<std::size_t>(format_.columns);
            block_[count_] = 1.0;
            for (std::size_t p = 0; p < columns; ++p) {
                block_[(1 + p) * kBlockRows + count_] = x[p * kBlockRows + row] - origin_[static_cast<Index>(p)];
            }
            products_[count_++] = product;
            if (count_ == kBlockRows) flush();
        }

        void flush() {
            if (count_ == 0) return;
            if (sum_.size() == 0) sum_ = Matrix::Zero(format_.features(), format_.features());
            std::fill(products_.begin() + static_cast<std::ptrdiff_t>(count_), products_.end(), 0.0);
            const auto columns = static_cast<std::size_t>(format_.columns);
            const double* y = block_.data() + kBlockRows;
            double* out = block_.data() + (1 + columns) * kBlockRows;
            for (std::size_t p = 0; p < columns; ++p) {
                const std::size_t last = format_.full ? columns : p + 1;
                multiply(y + p * kBlockRows, last - p, y + p * kBlockRows, count_, out);
                out += (last - p) * kBlockRows;
            }
            multiply(block_.data(), features_, products_.data(), count_, weighted_.data());
            add_products(weighted_.data(), block_.data(), count_, features_, sum_.data());
            count_ = 0;
        }

      private:
        const RowFormat& format_;
        Vector origin_;
        Matrix& sum_;
        std::size_t features_;
        std::size_t count_ = 0;
        std::vector<double> block_;     // kBlockRows × features; rows beyond the count are left from before
        std::vector<double> weighted_;  // the same, times the products, which are zero beyond the count
        std::vector<double> products_;
    };

    PassSums finished() {
        result_.log_sum = total_[0];
        result_.magnitude = total_[1];
        result_.sums = work_.unpacked(total_.data() + 2, scores_.constants.size());
        for (Matrix& pair : result_.pairs) {
            if (pair.size() > 0) pair = Matrix(pair.selfadjointView<Eigen::Lower>());
        }
        for (const double skipped : skipped_) result_.skipped = std::max(result_.skipped, skipped);
        for (std::size_t at = 2 + components_ * work_.sums_size(); at < total_.size(); at += 5) {
            Matrix pair(3, 3);
            for (Index i = 0; i < 3; ++i) {
                for (Index j = 0; j < 3; ++j) pair(i, j) = total_[at + static_cast<std::size_t>(i + j)];
            }
            result_.pairs.push_back(std::move(pair));
        }
        return std::move(result_);
    }

    const RowFormat& format_;
    const MixtureScores& scores_;
    const Matrix& pair_origins_;
    const PassOptions& options_;
    BlockWork work_;  // for its sizes; every task has its own
    std::size_t components_;
    std::vector<double> total_;
    std::vector<std::vector<double>> partial_;
    std::vector<Block> kept_;
    std::vector<double> skipped_;
    PassSums result_;
};

// Standardised rows, in blocks.
template <class Visit>
void for_each_block(const Matrix& standardised, Block& block, Visit visit) {
    for (Index begin = 0; begin < standardised.rows(); begin += kBlock) {
        const Index count = std::min(kBlock, standardised.rows() - begin);
        std::fill(block.x.begin(), block.x.end(), 0.0);
        Eigen::Map<Matrix>(block.x.data(), kBlock, standardised.cols()).topRows(count) =
            standardised.middleRows(begin, count);
        visit(begin, count);
    }
}

}  // namespace

PassSums mixture_pass(RowSource& source, Index rows, const RowFormat& format, const MixtureScores& scores,
                      const Matrix& pair_origins, const PassOptions& options) {
    return Pass(format, scores, pair_origins, options)(source, rows);
}

Vector log_sums(RowSource& source, Index rows, const RowFormat& format, const std::vector<MixtureScores>& scores,
                int threads) {
    constexpr Index kSets = 32;            // a task: enough to pay for loading its blocks
    constexpr Index kChunk = 64 * kBlock;  // rows
    const Index count = static_cast<Index>(scores.size());
    Vector sums = Vector::Zero(count);
    if (count == 0) return sums;
    const auto components = static_cast<std::size_t>(scores.front().constants.size());
    for_each_chunk(source, format.width(), rows, kChunk, [&](const double* first, Index chunk_rows) {
        in_parallel(threads, (count + kSets - 1) / kSets, [&](Index task) {
            BlockWork work(format);
            Block block(format, components);
            const Index end = std::min(count, (task + 1) * kSets);
            for (Index begin = 0; begin < chunk_rows; begin += kBlock) {
                const auto size = static_cast<std::size_t>(std::min(kBlock, chunk_rows - begin));
                work.load(first + begin * format.width(), size, block);
                for (Index i = task * kSets; i < end; ++i) {
                    work.score(scores[static_cast<std::size_t>(i)], size, block);
                    sums[i] += log_sum(block.responsibilities.data(), block.weights_or_null(), size, components);
                }
            }
        });
    });
    return sums;
}

Matrix scores_of(const Matrix& standardised, const RowFormat& format, const MixtureScores& scores) {
    const Index components = scores.constants.size();
    Matrix result(standardised.rows(), components);
    BlockWork work(format);
    Block block(format, static_cast<std::size_t>(components));
    for_each_block(standardised, block, [&](Index begin, Index count) {
        work.score(scores, static_cast<std::size_t>(count), block);
        result.middleRows(begin, count) =
            Eigen::Map<const Matrix>(block.responsibilities.data(), kBlock, components).topRows(count);
    });
    return result;
}

Matrix sums_of(const Matrix& standardised, const RowFormat& format, const Matrix& responsibilities,
               const Matrix& origins) {
    RowFormat plain = format;
    plain.weighted = false;
    const Index components = responsibilities.cols();
    BlockWork work(plain);
    Block block(plain, static_cast<std::size_t>(components));
    std::vector<double> sums(static_cast<std::size_t>(components) * work.sums_size(), 0.0);
    for_each_block(standardised, block, [&](Index begin, Index count) {
        Eigen::Map<Matrix> r(block.responsibilities.data(), kBlock, components);
        r.setZero();
        r.topRows(count) = responsibilities.middleRows(begin, count);
        work.add(origins, static_cast<std::size_t>(count), block, sums.data());
    });
    return work.unpacked(sums.data(), components);
}

void refuse_changed(const RowSource& source, Index rows, bool has_fewer) {
    throw std::runtime_error(
        fmt::format("{}: has {} rows than the {} that it had at first: let nothing change it while it is read",
                    source.name(), has_fewer ? "fewer" : "more", rows));
}

}  // namespace lrvb::detail
