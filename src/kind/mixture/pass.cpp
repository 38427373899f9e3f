#include "kind/mixture/pass.hpp"

#include "base/parallel.hpp"
#include "kind/mixture/block.hpp"
#include "kind/mixture/pass_sums.hpp"
#include "kind/mixture/questions.hpp"

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

    /// Of rows first … first + rows − 1 of all.
    BlockTree<PassBlock> operator()(RowSource& source, Index first_row, Index rows) {
        row_ = first_row;
        block_ = zeros();
        // Of one task. One column is little work, and so is a pair beside what a task sets up for it; where a chunk's
        // rows are kept, they should stay in the cache.
        const Index blocks = format_.columns == 1 ? 64 : has_narrow_pairs() ? 16 : 4;
        static_assert(kSuperBlock % (64 * kBlock) == 0);
        for_each_chunk(source, format_.width(), rows, 16 * blocks * kBlock,
                       [&](const double* first, Index count) { chunk(first, count, blocks * kBlock); });
        if (row_ % kSuperBlock != 0) tree_.append((row_ - 1) / kSuperBlock, std::move(block_));
        return std::move(tree_);
    }

    PassSums finished(BlockTree<PassBlock> tree) {
        PassBlock total = tree.take();
        PassSums result;
        const std::vector<double>& numbers = total.parts[0];
        result.log_sum = numbers[0];
        result.magnitude = numbers[1];
        result.sums = work_.unpacked(numbers.data() + 2, scores_.constants.size());
        if (has_wide_pairs()) {
            for (const double skipped : total.parts[1]) result.skipped = std::max(result.skipped, skipped);
            const Index features = format_.features();
            for (std::size_t i = 2; i < total.parts.size(); ++i) {
                Matrix& pair = result.pairs.emplace_back();
                if (total.parts[i].empty()) continue;
                pair =
                    Eigen::Map<const Matrix>(total.parts[i].data(), features, features).selfadjointView<Eigen::Lower>();
                total.parts[i] = {};
            }
        }
        for (std::size_t at = 2 + components_ * work_.sums_size(); at < numbers.size(); at += 5) {
            Matrix pair(3, 3);
            for (Index i = 0; i < 3; ++i) {
                for (Index j = 0; j < 3; ++j) pair(i, j) = numbers[at + static_cast<std::size_t>(i + j)];
            }
            result.pairs.push_back(std::move(pair));
        }
        return result;
    }

  private:
    bool has_wide_pairs() const { return pair_origins_.cols() > 0 && format_.columns > 1; }

    // Where all pairs need little room (half a megabyte), every task sums them beside its rows; otherwise a chunk's
    // responsibilities are kept, and its pairs are summed one by one.
    bool has_narrow_pairs() const {
        constexpr Index kRoom = 65536;  // numbers
        return has_wide_pairs() && pair_origins_.cols() * Selection::size(format_) <= kRoom;
    }
    bool keeps_rows() const { return has_wide_pairs() && !has_narrow_pairs(); }

    // Two numbers of the bound, then the sums of each component, then five moments a pair where there is one column.
    std::size_t size() const {
        const std::size_t pairs = format_.columns == 1 ? static_cast<std::size_t>(pair_origins_.cols()) : 0;
        return 2 + components_ * work_.sums_size() + 5 * pairs;
    }

    void chunk(const double* rows, Index count, Index task_rows) {
        const Index tasks = (count + task_rows - 1) / task_rows;
        partial_.assign(static_cast<std::size_t>(tasks), PassBlock());
        if (keeps_rows()) {
            kept_.resize(static_cast<std::size_t>((count + kBlock - 1) / kBlock), Block(format_, components_));
        }
        in_parallel(options_.threads, tasks, [&](Index t) {
            const Index begin = t * task_rows;
            partial_[static_cast<std::size_t>(t)] =
                task(rows + begin * format_.width(), std::min(task_rows, count - begin), begin / kBlock);
        });
        // A chunk is some whole super-blocks, or a part of one; a task is always a part of one.
        for (Index t = 0; t < tasks; ++t) {
            block_.add(partial_[static_cast<std::size_t>(t)]);
            row_ += std::min(task_rows, count - t * task_rows);
            if (keeps_rows() && t + 1 == tasks) add_pairs();
            if (row_ % kSuperBlock == 0) {
                tree_.append((row_ - 1) / kSuperBlock, std::exchange(block_, zeros()));
            }
        }
    }

    // Numbers, then what was skipped of each pair, then the pairs, where rows are wide.
    PassBlock zeros() const {
        const std::size_t pairs = has_wide_pairs() ? static_cast<std::size_t>(pair_origins_.cols()) : 0;
        PassBlock block;
        block.parts.resize(pairs > 0 ? 2 + pairs : 1);
        block.parts[0].assign(size(), 0.0);
        if (pairs > 0) block.parts[1].assign(pairs, 0.0);
        return block;
    }

    PassBlock task(const double* rows, Index count, Index first_block) {
        PassBlock result = zeros();
        std::vector<double>& sums = result.parts[0];
        std::vector<Selection> selections;
        for (Index i = 0; has_narrow_pairs() && i < pair_origins_.cols(); ++i) {
            selections.push_back(selection(i, result));
        }
        BlockWork work(format_);
        Block own(format_, components_);
        for (Index begin = 0; begin < count; begin += kBlock, ++first_block) {
            const auto size = static_cast<std::size_t>(std::min(kBlock, count - begin));
            Block& block = keeps_rows() ? kept_[static_cast<std::size_t>(first_block)] : own;
            work.load(rows + begin * format_.width(), size, block);
            work.score(scores_, size, block);
            const double* weights = block.weights_or_null();
            const SoftmaxSums bound = softmax(block.responsibilities.data(), weights, size, components_);
            sums[0] += bound.log_sum;
            sums[1] += bound.magnitude;
            work.add(scores_.origins, size, block, sums.data() + 2);
            for (Selection& selection : selections) selection.add(block, options_.skip_below);
            if (format_.columns > 1 || pair_origins_.cols() == 0) continue;
            add_pair_moments(block.responsibilities.data(), weights, block.x.data(), size, components_,
                             pair_origins_.data(), sums.data() + 2 + components_ * work.sums_size());
        }
        for (Selection& selection : selections) selection.flush();
        return result;
    }

    // Pair by pair, so that each is summed by one thread in the order of the rows.
    void add_pairs() {
        in_parallel(options_.threads, pair_origins_.cols(), [&](Index i) {
            Selection own = selection(i, block_);
            for (const Block& block : kept_) own.add(block, options_.skip_below);
            own.flush();
        });
    }

    // Rows of one pair, gathered until they fill a block, which is then added to the pair's sum.
    class Selection {
      public:
        Selection(const RowFormat& format, std::size_t k, std::size_t l, const double* origin, double& skipped,
                  std::vector<double>& sum)
            : format_(format),
              k_(k),
              l_(l),
              origin_(origin),
              skipped_(skipped),
              sum_(sum),
              features_(static_cast<std::size_t>(format.features())),
              columns_(static_cast<std::size_t>(format.columns)) {}

        // How many numbers it keeps.
        static Index size(const RowFormat& format) { return (2 * (format.features() + 1) + format.columns) * kBlock; }

        // The rows of a block that are not skipped, and what those come to that are.
        void add(const Block& block, double skip_below) {
            if (selected_.empty()) selected_.resize((1 + columns_) * kBlockRows);
            double* products = selected_.data() + columns_ * kBlockRows;
            const PairRows rows = select_pair(
                block.responsibilities.data() + k_ * kBlockRows, block.responsibilities.data() + l_ * kBlockRows,
                block.weights_or_null(), block.x.data(), columns_, origin_, skip_below, products, selected_.data());
            for (std::size_t begin = 0; begin < rows.count;) begin += take(begin, rows.count);
            skipped_ += rows.skipped;
        }

        void flush() {
            if (count_ == 0) return;
            if (sum_.empty()) sum_.assign(features_ * features_, 0.0);
            std::fill(products_.begin() + static_cast<std::ptrdiff_t>(count_), products_.end(), 0.0);
            const double* y = block_.data() + kBlockRows;
            double* out = block_.data() + (1 + columns_) * kBlockRows;
            for (std::size_t p = 0; p < columns_; ++p) {
                const std::size_t last = format_.full ? columns_ : p + 1;
                multiply(y + p * kBlockRows, last - p, y + p * kBlockRows, count_, out);
                out += (last - p) * kBlockRows;
            }
            multiply(block_.data(), features_, products_.data(), count_, weighted_.data());
            add_products(weighted_.data(), block_.data(), count_, features_, sum_.data());
            count_ = 0;
        }

      private:
        // As many selected rows as there is room for; how many these were.
        std::size_t take(std::size_t begin, std::size_t end) {
            if (block_.empty()) {
                block_.assign(features_ * kBlockRows, 0.0);
                weighted_ = block_;
                products_.assign(kBlockRows, 0.0);
                std::fill_n(block_.begin(), kBlockRows, 1.0);
            }
            const std::size_t some = std::min(end - begin, kBlockRows - count_);
            for (std::size_t p = 0; p <= columns_; ++p) {
                double* to = p < columns_ ? block_.data() + (1 + p) * kBlockRows : products_.data();
                std::copy_n(selected_.data() + p * kBlockRows + begin, some, to + count_);
            }
            count_ += some;
            if (count_ == kBlockRows) flush();
            return some;
        }

        const RowFormat& format_;
        std::size_t k_;
        std::size_t l_;
        const double* origin_;
        double& skipped_;
        std::vector<double>& sum_;  // features × features, its lower half
        std::size_t features_;
        std::size_t columns_;
        std::vector<double> selected_;  // y of the selected rows of a block, then their products
        std::size_t count_ = 0;
        std::vector<double> block_;     // kBlockRows × features; rows beyond the count are left from before
        std::vector<double> weighted_;  // the same, times the products, which are zero beyond the count
        std::vector<double> products_;
    };

    // Into its sums in the block. Pairs are (0, 1), (0, 2) …, (1, 2) ….
    Selection selection(Index pair, PassBlock& block) const {
        const auto i = static_cast<std::size_t>(pair);
        std::size_t k = 0;
        std::size_t first = 0;  // pair of k
        for (; i >= first + components_ - 1 - k; ++k) first += components_ - 1 - k;
        return {format_, k, k + 1 + i - first, pair_origins_.col(pair).data(), block.parts[1][i], block.parts[2 + i]};
    }

    const RowFormat& format_;
    const MixtureScores& scores_;
    const Matrix& pair_origins_;
    const PassOptions& options_;
    BlockWork work_;  // for its sizes; every task has its own
    std::size_t components_;
    std::vector<PassBlock> partial_;
    std::vector<Block> kept_;
    Index row_ = 0;  // of all, the next
    PassBlock block_;
    BlockTree<PassBlock> tree_;
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
    Pass pass(format, scores, pair_origins, options);
    if (RowTeam* team = source.team()) {
        const std::string bytes = team->ask("mixture.sums", sums_question(format, scores, pair_origins, options));
        return pass.finished(MixtureSums::from_bytes(bytes).implementation().tree);
    }
    return pass.finished(pass(source, 0, rows));
}

MixtureSums share_sums(RowShare& share, const RowFormat& format, const MixtureScores& scores,
                       const Matrix& pair_origins, const PassOptions& options) {
    auto result = std::make_unique<MixtureSums::Implementation>();
    Pass pass(format, scores, pair_origins, options);
    result->tree = pass(share.source(), share.first(), share.rows());
    return MixtureSums(std::move(result));
}

BlockTree<PassBlock> block_log_sums(RowSource& source, Index first_row, Index rows, const RowFormat& format,
                                    const std::vector<MixtureScores>& scores, int threads) {
    constexpr Index kSets = 32;            // a task: enough to pay for loading its blocks
    constexpr Index kChunk = 64 * kBlock;  // rows
    static_assert(kSuperBlock % kChunk == 0);
    const Index count = static_cast<Index>(scores.size());
    const auto components = static_cast<std::size_t>(scores.front().constants.size());
    BlockTree<PassBlock> tree;
    std::vector<double> sums(static_cast<std::size_t>(count), 0.0);
    Index row = first_row;
    const auto end_block = [&] {
        PassBlock block;
        block.parts.push_back(std::exchange(sums, std::vector<double>(static_cast<std::size_t>(count), 0.0)));
        tree.append((row - 1) / kSuperBlock, std::move(block));
    };
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
                    sums[static_cast<std::size_t>(i)] +=
                        log_sum(block.responsibilities.data(), block.weights_or_null(), size, components);
                }
            }
        });
        row += chunk_rows;
        if (row % kSuperBlock == 0) end_block();
    });
    if (row % kSuperBlock != 0) end_block();
    return tree;
}

Vector log_sums(RowSource& source, Index rows, const RowFormat& format, const std::vector<MixtureScores>& scores,
                int threads) {
    const auto count = static_cast<Index>(scores.size());
    if (count == 0) return Vector::Zero(count);
    BlockTree<PassBlock> tree;
    if (RowTeam* team = source.team()) {
        const std::string bytes = team->ask("mixture.log_sums", log_sums_question(format, scores, threads));
        tree = MixtureSums::from_bytes(bytes).implementation().tree;
    } else {
        tree = block_log_sums(source, 0, rows, format, scores, threads);
    }
    const PassBlock total = tree.take();
    return Eigen::Map<const Vector>(total.parts[0].data(), count);
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
