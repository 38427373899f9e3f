#include "model/labelled/rows.hpp"

#include "linalg/block_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

LabelledRows::LabelledRows(Features features, Index first, std::vector<Index> order, Index labels,
                           std::vector<Index> possible, std::uint32_t polynomial)
    : features_(std::move(features)),
      first_(first),
      order_(std::move(order)),
      labels_(labels),
      possible_(std::move(possible)),
      polynomial_(polynomial),
      square_sums_(features_.square_sums()) {}

bool LabelledRows::load_weights(const Vector& weights, Index begin, std::size_t size, double* block) const {
    if (first_ < 0 || weights.size() == 0) return false;
    for (std::size_t i = 0; i < size; ++i) block[i] = weight_of(weights, begin + static_cast<Index>(i));
    std::fill(block + size, block + kBlockRows, 0.0);
    return true;
}

bool LabelledRows::has_whole_weights(const Vector& weights) const {
    for (Index i = 0; i < rows(); ++i) {
        const double weight = weight_of(weights, i);
        if (weight != std::floor(weight)) return false;
    }
    return true;
}

double LabelledRows::total_weight(const Vector& weights) const {
    double sum = 0.0;
    for (Index i = 0; i < rows(); ++i) sum += weight_of(weights, i);
    return sum;
}

double LabelledRows::log_base(const Vector& weights) const {
    double sum = 0.0;
    for (Index i = 0; i < features_.log_base().size(); ++i) sum += weight_of(weights, i) * features_.log_base()[i];
    return sum;
}

void LabelledRows::bound_magnitudes(LabelSums& sums) const {
    sums.magnitudes = sums.counts.cwiseAbs();
    const Index count = feature_count();
    for (std::size_t k = 0; k < possible_.size(); ++k) {
        const Index at = static_cast<Index>(k) * count;
        const double size = std::sqrt(std::max(0.0, sums.counts[at]));
        for (Index f = 1; f < count; ++f) {
            double& magnitude = sums.magnitudes[at + f];
            magnitude = std::max(magnitude, size * std::sqrt(square_sums_[f]));
        }
    }
}

std::pair<Index, Index> LabelledRows::rows_in(const RowAnswers& chunk) const {
    const Index begin = chunk.first - first_;
    const Index end = begin + chunk.weights.size();
    if (order_.empty()) return {std::clamp<Index>(begin, 0, rows()), std::clamp<Index>(end, 0, rows())};
    const auto position = [&](Index row) { return std::ranges::lower_bound(order_, row) - order_.begin(); };
    return {position(begin), position(end)};
}

// Dᵀ∇φ, and as a last column φ itself.
RowMajorMatrix LabelledRows::table(const RowQuestion& question) const {
    const Index directions = question.directions.cols();
    RowMajorMatrix result(size(), directions + 1);
    Eigen::RowVectorXd along(directions);
    for (Index g = 0; g < size(); ++g) {
        const std::size_t number = polynomial_ + static_cast<std::size_t>(g);
        question.polynomials.along(number, question.mean, question.directions, along);
        result.row(g).head(directions) = along;
        result(g, directions) = question.polynomials.values(number, question.mean)[0];
    }
    return result;
}

RowMajorMatrix LabelledRows::values(const Polynomials& polynomials, const Matrix& means) const {
    RowMajorMatrix result(size(), means.cols());
    for (Index g = 0; g < size(); ++g) {
        result.row(g) = polynomials.values(polynomial_ + static_cast<std::size_t>(g), means);
    }
    return result;
}

}  // namespace lrvb::detail
