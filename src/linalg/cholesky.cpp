#include "linalg/cholesky.hpp"

#include "linalg/dense_cholesky.hpp"
#include "linalg/sparse_cholesky.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unistd.h>

namespace lrvb {

namespace {

std::atomic<std::uint64_t> limit_set{0};

std::uint64_t three_quarters_of_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(pages) / 4 * 3 * static_cast<std::uint64_t>(page);
}

}  // namespace

std::uint64_t factor_memory_limit() {
    const std::uint64_t set = limit_set;
    return set > 0 ? set : three_quarters_of_memory();
}

void set_factor_memory_limit(std::uint64_t bytes) {
    limit_set = bytes;
}

}  // namespace lrvb

namespace lrvb::detail {

namespace {

constexpr Index kDenseFrom = 64;
constexpr double kDenseSpeed = 8.0;  // of dense arithmetic over sparse

// Connected components of the pattern's graph, by a search from each position that has not been reached.
std::vector<Part> connected_parts(const SparseMatrix& lower_pattern) {
    const auto n = static_cast<std::size_t>(lower_pattern.rows());
    const SparseMatrix upper_pattern = lower_pattern.transpose();
    std::vector<int> part_of(n, -1);
    std::vector<int> waiting;
    int count = 0;
    for (std::size_t first = 0; first < n; ++first) {
        if (part_of[first] >= 0) continue;
        const auto reach = [&](int position) {
            int& of = part_of[static_cast<std::size_t>(position)];
            if (of >= 0) return;
            of = count;
            waiting.push_back(position);
        };
        reach(static_cast<int>(first));
        while (!waiting.empty()) {
            const int position = waiting.back();
            waiting.pop_back();
            for (SparseMatrix::InnerIterator entry(lower_pattern, position); entry; ++entry) {
                reach(static_cast<int>(entry.row()));
            }
            for (SparseMatrix::InnerIterator entry(upper_pattern, position); entry; ++entry) {
                reach(static_cast<int>(entry.row()));
            }
        }
        ++count;
    }
    std::vector<Part> parts(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < n; ++i) parts[static_cast<std::size_t>(part_of[i])].push_back(static_cast<int>(i));
    return parts;
}

bool parts_are_nearly_full(const std::vector<Part>& parts, const SparseMatrix& lower_pattern) {
    Index possible = 0;
    for (const Part& part : parts) possible += static_cast<Index>(part.size() * (part.size() + 1) / 2);
    return 2 * lower_pattern.nonZeros() >= possible;
}

bool dense_is_faster(const std::vector<Part>& parts, const SparsePlan& sparse) {
    double work = 0.0;
    for (const Part& part : parts) work += std::pow(static_cast<double>(part.size()), 3.0) / 3.0;
    return kDenseSpeed * sparse.work() > work;
}

}  // namespace

bool is_safely_positive(double pivot, double diagonal) {
    const double noise = 16.0 * std::numeric_limits<double>::epsilon() * std::max(1.0, std::abs(diagonal));
    return pivot > noise && std::isfinite(pivot);
}

CholeskyPlan plan_cholesky(const SparseMatrix& lower_pattern) {
    const std::uint64_t limit = factor_memory_limit();
    std::vector<Part> parts = connected_parts(lower_pattern);
    const bool parts_are_few = lower_pattern.rows() >= kDenseFrom * static_cast<Index>(parts.size()) && !parts.empty();
    const std::uint64_t dense_size = dense_bytes(parts);
    const bool dense_fits = parts_are_few && dense_size <= limit;
    const auto dense = [&]() -> CholeskyPlan {
        auto plan = std::make_shared<const DensePlan>(std::move(parts), lower_pattern);
        return [plan] { return std::make_unique<DenseCholesky>(plan); };
    };
    if (dense_fits && parts_are_nearly_full(parts, lower_pattern)) return dense();
    auto sparse = std::make_shared<const SparsePlan>(lower_pattern);
    const bool sparse_fits = sparse->bytes() <= limit;
    if (dense_fits && (!sparse_fits || dense_is_faster(parts, *sparse))) return dense();
    if (!sparse_fits) {
        const std::uint64_t smaller = parts_are_few ? std::min(sparse->bytes(), dense_size) : sparse->bytes();
        throw FactorTooLarge(
            fmt::format("the factor of the curvature, of {} coordinates, would take {:.3g} GB, but may take no more "
                        "than {:.3g} GB: use fewer crossed factors, or a smaller model",
                        lower_pattern.rows(), static_cast<double>(smaller) / 1e9, static_cast<double>(limit) / 1e9));
    }
    return [sparse] { return std::make_unique<SparseCholesky>(sparse); };
}

}  // namespace lrvb::detail
