#include "base/parallel.hpp"
#include "model/field/core.hpp"
#include "model/field/row_field.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

// The tops of e(ψ) = log p(y | ψ) + log p(ψ), from several starts: groups that vary little and much, slopes that do not
// vary, one factor in place of another, light and heavy tails.
namespace lrvb::detail {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kLittle = -2.5;      // of a log sd
constexpr double kSame = 0.5;         // sds between tops that are one
constexpr double kLongestStep = 1.0;  // of ψ: logs of sds and the like turn within it
constexpr double kLeastMass = 1e-4;   // of a mode that matters, beside the best

// Columns are one sd along each axis of the curvature; flat and rising ones as far as ψ may go at once.
Matrix axes_of(const Matrix& curvature) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(curvature);
    Matrix axes = eigen.eigenvectors();
    for (Index j = 0; j < axes.cols(); ++j) {
        const double value = eigen.eigenvalues()[j];
        const double longest = kLongestStep / axes.col(j).cwiseAbs().maxCoeff();
        axes.col(j) *= value > 0.0 ? std::min(1.0 / std::sqrt(value), longest) : longest;
        // The sign of an eigenvector is anybody's.
        Index largest = 0;
        axes.col(j).cwiseAbs().maxCoeff(&largest);
        if (axes(largest, j) < 0.0) axes.col(j) *= -1.0;
    }
    return axes;
}

}  // namespace

std::vector<Vector> FieldCore::starts() const {
    std::vector<Vector> result{guess_};
    if (variance_count_ < 2) return result;
    const std::size_t factors = shape().factors.size();
    const std::size_t scales = shape().parts();
    const auto move = [&](Vector& psi, std::size_t part, Index effect, double by) {
        if (parts[part].prior().sd[static_cast<std::size_t>(effect)].kind == ScalePrior::Kind::uniform) by *= 0.5;
        psi[part_offset_[part] + effect] += by;
    };
    const auto move_all = [&](Vector& psi, std::size_t part, double by) {
        for (Index e = 0; e < parts[part].effects(); ++e) move(psi, part, e, by);
    };
    if (scales > 0) {
        Vector little = guess_;
        for (std::size_t f = 0; f < scales; ++f) move_all(little, f, kLittle);
        result.push_back(std::move(little));
    }
    for (std::size_t f = 0; f < scales && scales > 1; ++f) {
        Vector other = guess_;
        for (std::size_t g = 0; g < scales; ++g) move_all(other, g, g == f ? kLittle : 0.5);
        result.push_back(std::move(other));
    }
    for (std::size_t f = 0; f < factors; ++f) {
        const Index q = parts[f].effects();
        if (q < 2) continue;
        const Index first = std::max<Index>(design->data().factors[f].intercept, 0);
        Vector flat = guess_;
        Vector steep = guess_;
        for (Index e = 0; e < q; ++e) move(e == first ? steep : flat, f, e, kLittle);
        result.push_back(std::move(flat));
        result.push_back(std::move(steep));
        if (parts[f].psi_at_means() || !design->units().is_centred(f)) continue;
        // Where sds are those at zero, far from the data: slopes so small that lines hardly part there.
        Vector sds = Vector::Constant(q, 0.35);
        for (Index e = 0; e < q; ++e) {
            if (e != first) sds[e] /= std::max(1.0, 1.4 * std::abs(parts[f].to_zero()(first, e)));
        }
        Vector near_zero = guess_;
        near_zero.segment(part_offset_[f], parts[f].size()) = parts[f].from_sds(sds);
        result.push_back(std::move(near_zero));
    }
    for (std::size_t i = 0; i < likelihood().parameters().size(); ++i) {
        const LikelihoodParameter& parameter = likelihood().parameters()[i];
        for (const auto& [value, log_sigma] : parameter.starts) {
            Vector other = guess_;
            other[parameter_offset(i)] = parameter.psi(value);
            if (has_sigma) move(other, sigma_part(), 0, log_sigma);
            result.push_back(std::move(other));
        }
    }
    return result;
}

FieldMode FieldCore::mode_at(const Vector& psi, double value, int threads) const {
    constexpr double kStep = 1e-3;
    const Index size = variance_count_;
    Matrix gradients(size, 2 * size);
    in_parallel(threads, 2 * size, [&](Index i) {
        Vector moved = psi;
        moved[i / 2] += i % 2 == 0 ? kStep : -kStep;
        const Evidence there = evidence(moved, true);
        gradients.col(i) = there.value != kNone ? there.gradient : Vector(Vector::Zero(size));
    });
    Matrix curvature(size, size);
    for (Index j = 0; j < size; ++j) {
        curvature.col(j) = (gradients.col(2 * j + 1) - gradients.col(2 * j)) / (2.0 * kStep);
    }
    FieldMode mode{psi, axes_of(0.5 * (curvature + curvature.transpose())), 0.0};
    mode.log_mass = value + std::log(std::abs(mode.axes.determinant()));
    return mode;
}

// Counted in multiplications, about: of rows that are not normal each step is a search.
bool FieldCore::has_cheap_modes() const {
    constexpr double kSteps = 15.0;
    constexpr double kMost = 2e9;
    const double each = plan->work() + (row_field ? 2000.0 * rows : 0.0);
    return kSteps * each * static_cast<double>(starts().size()) <= kMost;
}

const std::vector<FieldMode>& FieldCore::modes(int threads) const {
    std::call_once(modes_found_, [&] {
        std::vector<FieldMode> found;
        for (const Vector& start : starts()) {
            Evidence at_top;
            Vector psi;
            try {
                psi = top(start, &at_top);
            } catch (const std::domain_error&) {
                if (found.empty()) throw;
                continue;
            }
            if (at_top.value == kNone || !psi.allFinite()) continue;
            const bool is_known = std::any_of(found.begin(), found.end(), [&](const FieldMode& mode) {
                return mode.axes.fullPivLu().solve(psi - mode.psi).norm() < kSame;
            });
            if (!is_known) found.push_back(mode_at(psi, at_top.value, threads));
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const FieldMode& one, const FieldMode& other) { return one.log_mass > other.log_mass; });
        while (found.size() > 1 && found.back().log_mass < found.front().log_mass + std::log(kLeastMass)) {
            found.pop_back();
        }
        modes_ = std::move(found);
    });
    return modes_;
}

}  // namespace lrvb::detail
