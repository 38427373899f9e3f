#pragma once

#include "kind/mixture/kernels.hpp"
#include "kind/mixture/pass.hpp"

#include <algorithm>
#include <vector>

/// A block of rows that stays in cache, and what the components of a mixture make of it.
namespace lrvb::detail {

constexpr Index kBlock = static_cast<Index>(kBlockRows);
// A responsibility r = exp(−½ yᵀΛy + …) below this adds less than 1e-27 of a row to any sum, in the component's own
// units.
constexpr double kNoShare = 1e-30;

/// A block of rows, and what it becomes.
struct Block {
    Block(const RowFormat& format, std::size_t components)
        : x(static_cast<std::size_t>(format.columns) * kBlockRows),
          weights(format.weighted ? kBlockRows : 0),
          responsibilities(components * kBlockRows) {}

    const double* weights_or_null() const { return weights.empty() ? nullptr : weights.data(); }

    std::vector<double> x;  // standardised, column by column
    std::vector<double> weights;
    std::vector<double> responsibilities;  // scores, to begin with
};

/// What the components make of it.
class BlockWork {
  public:
    explicit BlockWork(const RowFormat& format)
        : format_(format),
          columns_(static_cast<std::size_t>(format.columns)),
          centred_((1 + columns_) * kBlockRows, 1.0),
          weighted_(centred_.size()) {}

    // Rows of a source to standardised columns.
    void load(const double* rows, std::size_t count, Block& block) const {
        const auto width = static_cast<std::size_t>(format_.width());
        if (format_.weighted) {
            for (std::size_t i = 0; i < count; ++i) block.weights[i] = rows[i * width + columns_];
            std::fill(block.weights.begin() + static_cast<std::ptrdiff_t>(count), block.weights.end(), 0.0);
        }
        for (std::size_t p = 0; p < columns_; ++p) {
            const double centre = format_.centre[static_cast<Index>(p)];
            const double scale = format_.inverse_scale[static_cast<Index>(p)];
            double* x = block.x.data() + p * kBlockRows;
            for (std::size_t i = 0; i < count; ++i) x[i] = (rows[i * width + p] - centre) * scale;
            std::fill(x + count, x + kBlockRows, 0.0);
            if (!format_.weighted) continue;
            for (std::size_t i = 0; i < count; ++i) {
                if (block.weights[i] == 0.0) x[i] = 0.0;  // whatever it holds, it is not there
            }
        }
    }

    void score(const MixtureScores& scores, std::size_t count, Block& block) {
        for (Index k = 0; k < scores.constants.size(); ++k) {
            double* out = block.responsibilities.data() + static_cast<std::size_t>(k) * kBlockRows;
            const double* origin = scores.origins.col(k).data();
            const double* squares = scores.squares.col(k).data();
            if (format_.full) {
                double* y = centred_.data() + kBlockRows;
                centre(block.x.data(), count, columns_, origin, y);
                full_scores(y, count, columns_, scores.constants[k], squares, out);
            } else {
                diagonal_scores(block.x.data(), count, columns_, origin, scores.constants[k], squares, out);
            }
        }
    }

    // Numbers a component that `add` adds to.
    std::size_t sums_size() const { return format_.full ? (columns_ + 1) * (columns_ + 1) : 1 + 2 * columns_; }

    void add(const Matrix& origins, std::size_t count, const Block& block, double* sums) {
        for (Index k = 0; k < origins.cols(); ++k, sums += sums_size()) {
            const double* r = block.responsibilities.data() + static_cast<std::size_t>(k) * kBlockRows;
            if (!format_.full) {
                add_diagonal_moments(r, block.weights_or_null(), block.x.data(), count, columns_, origins.col(k).data(),
                                     sums);
                continue;
            }
            // (1, y)(1, y)ᵀ has all of 1, y and yyᵀ.
            const std::size_t used = gather(block, r, count, origins.col(k).data());
            if (used == 0) continue;
            multiply(centred_.data() + kBlockRows, columns_, weighted_.data(), used, weighted_.data() + kBlockRows);
            add_products(weighted_.data(), centred_.data(), used, columns_ + 1, sums);
        }
    }

    // The sums of all components as features × components.
    Matrix unpacked(const double* sums, Index components) const {
        Matrix result(format_.features(), components);
        for (Index k = 0; k < components; ++k, sums += sums_size()) {
            if (!format_.full) {
                result.col(k) = Eigen::Map<const Vector>(sums, format_.features());
                continue;
            }
            Index feature = 0;
            for (std::size_t q = 0; q <= columns_; ++q) {
                for (std::size_t p = q; p <= columns_; ++p) result(feature++, k) = sums[q * (columns_ + 1) + p];
            }
        }
        return result;
    }

  private:
    // Weights w r and centred rows of a component, without the rows that it has no share in; how many are left.
    std::size_t gather(const Block& block, const double* responsibilities, std::size_t count, const double* origin) {
        const std::size_t used = count_above(responsibilities, count, kNoShare);
        const double* weights = block.weights_or_null();
        double* y = centred_.data() + kBlockRows;
        if (2 * used > count) {  // as well all of them
            if (weights == nullptr) {
                std::copy_n(responsibilities, count, weighted_.data());
            } else {
                multiply(responsibilities, 1, weights, count, weighted_.data());
            }
            std::fill(weighted_.data() + count, weighted_.data() + kBlockRows, 0.0);
            centre(block.x.data(), count, columns_, origin, y);
            return count;
        }
        select_shares(responsibilities, weights, block.x.data(), count, columns_, origin, kNoShare, weighted_.data(),
                      y);
        std::fill(weighted_.data() + used, weighted_.data() + kBlockRows, 0.0);
        return used;
    }

    const RowFormat& format_;
    std::size_t columns_;
    std::vector<double> centred_;  // a column of ones, then y
    std::vector<double> weighted_;
};

}  // namespace lrvb::detail
