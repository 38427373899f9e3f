#include "linalg/dense_cholesky.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

// Highway compiles this file once for every instruction set, and picks one at run time. The order of these lines
// matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linalg/dense_cholesky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef LRVB_CHOLESKY_SIZES
#define LRVB_CHOLESKY_SIZES
namespace lrvb::detail {
constexpr std::size_t kStrip = 8;    // rows of a tile
constexpr std::size_t kColumns = 4;  // and its columns
}  // namespace lrvb::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace lrvb::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<double, kStrip / 2>;
using Batch = hn::Vec<Lanes>;

// tile = (rows of strip a) · (four rows of strip b, transposed), by columns; strips hold their rows side by side.
void Tile(const double* a, const double* b, std::size_t depth, double* tile) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t row = 0; row < kStrip; row += 2 * lanes) {
        Batch s00 = hn::Zero(d);
        Batch s10 = s00;
        Batch s01 = s00;
        Batch s11 = s00;
        Batch s02 = s00;
        Batch s12 = s00;
        Batch s03 = s00;
        Batch s13 = s00;
        for (std::size_t k = 0; k < depth; ++k) {
            const Batch top = hn::LoadU(d, a + k * kStrip + row);
            const Batch bottom = hn::LoadU(d, a + k * kStrip + row + lanes);
            const double* right = b + k * kStrip;
            const Batch b0 = hn::Set(d, right[0]);
            const Batch b1 = hn::Set(d, right[1]);
            const Batch b2 = hn::Set(d, right[2]);
            const Batch b3 = hn::Set(d, right[3]);
            s00 = hn::MulAdd(top, b0, s00);
            s10 = hn::MulAdd(bottom, b0, s10);
            s01 = hn::MulAdd(top, b1, s01);
            s11 = hn::MulAdd(bottom, b1, s11);
            s02 = hn::MulAdd(top, b2, s02);
            s12 = hn::MulAdd(bottom, b2, s12);
            s03 = hn::MulAdd(top, b3, s03);
            s13 = hn::MulAdd(bottom, b3, s13);
        }
        hn::StoreU(s00, d, tile + row);
        hn::StoreU(s10, d, tile + row + lanes);
        hn::StoreU(s01, d, tile + kStrip + row);
        hn::StoreU(s11, d, tile + kStrip + row + lanes);
        hn::StoreU(s02, d, tile + 2 * kStrip + row);
        hn::StoreU(s12, d, tile + 2 * kStrip + row + lanes);
        hn::StoreU(s03, d, tile + 3 * kStrip + row);
        hn::StoreU(s13, d, tile + 3 * kStrip + row + lanes);
    }
}

// Lower triangle of C −= AAᵀ, A packed in strips.
void SubtractProducts(const double* packed, std::size_t rows, std::size_t depth, double* c, std::size_t stride) {
    std::array<double, kStrip * kColumns> tile{};
    for (std::size_t column = 0; column < rows; column += kColumns) {
        const std::size_t strip = column / kStrip * kStrip;
        const double* right = packed + strip * depth + (column - strip);
        for (std::size_t row = strip; row < rows; row += kStrip) {
            Tile(packed + row * depth, right, depth, tile.data());
            const std::size_t last_row = std::min(rows, row + kStrip);
            const std::size_t last_column = std::min(rows, column + kColumns);
            for (std::size_t j = column; j < last_column; ++j) {
                double* out = c + j * stride;
                const double* from = tile.data() + (j - column) * kStrip;
                for (std::size_t i = std::max(row, j); i < last_row; ++i) out[i] -= from[i - row];
            }
        }
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrvb::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace lrvb::detail {

HWY_EXPORT(SubtractProducts);

namespace {

constexpr Index kPanel = 128;

// Strips of kStrip rows, each column by column; rows beyond the last are zero.
std::vector<double> packed_strips(const Matrix& panel) {
    const auto strip = static_cast<Index>(kStrip);
    const Index strips = (panel.rows() + strip - 1) / strip;
    std::vector<double> packed(static_cast<std::size_t>(strips * strip * panel.cols()), 0.0);
    double* out = packed.data();
    for (Index row = 0; row < panel.rows(); row += strip) {
        const Index count = std::min(strip, panel.rows() - row);
        for (Index column = 0; column < panel.cols(); ++column, out += strip) {
            std::copy_n(panel.col(column).data() + row, count, out);
        }
    }
    return packed;
}

}  // namespace

// Right-looking: a panel of columns is factored, then taken off all that is to the right of it.
std::optional<Index> cholesky_in_place(Matrix& a) {
    const Index size = a.rows();
    for (Index begin = 0; begin < size; begin += kPanel) {
        const Index width = std::min(kPanel, size - begin);
        const Index below = size - begin - width;
        Matrix corner = a.block(begin, begin, width, width);
        // The function behind Eigen::LLT, which also says where it failed.
        const Index failed = Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(corner);
        if (failed >= 0) return begin + failed;
        a.block(begin, begin, width, width).triangularView<Eigen::Lower>() = corner;
        if (below == 0) break;
        Matrix panel = a.block(begin + width, begin, below, width);
        corner.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(panel);
        a.block(begin + width, begin, below, width) = panel;
        const std::vector<double> packed = packed_strips(panel);
        HWY_DYNAMIC_DISPATCH(SubtractProducts)
        (packed.data(), static_cast<std::size_t>(below), static_cast<std::size_t>(width),
         a.data() + (begin + width) * (size + 1), static_cast<std::size_t>(size));
    }
    return std::nullopt;
}

}  // namespace lrvb::detail

#endif
