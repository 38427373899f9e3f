#include "kind/regression/field/functions.hpp"

#include "family/special.hpp"

#include <Eigen/Eigenvalues>

#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kPairs = 256;

// The fractional parts of n√p, p the primes, as normals: one column a place.
Matrix places_of(Index dimension) {
    Matrix places(dimension, kPairs);
    Index prime = 1;
    for (Index d = 0; d < dimension; ++d) {
        const auto is_prime = [](Index number) {
            for (Index divisor = 2; divisor * divisor <= number; ++divisor) {
                if (number % divisor == 0) return false;
            }
            return true;
        };
        do ++prime;
        while (!is_prime(prime));
        const double step = std::sqrt(static_cast<double>(prime));
        for (Index n = 0; n < kPairs; ++n) {
            const double place = (static_cast<double>(n) + 0.5) * step;
            places(d, n) = normal_quantile(std::clamp(place - std::floor(place), 1e-9, 1.0 - 1e-9));
        }
    }
    return places;
}

}  // namespace

FunctionMoments function_moments(const std::function<double(const Vector&)>& function, const Vector& mean,
                                 const Matrix& covariance, const Transform& transform) {
    const Eigen::SelfAdjointEigenSolver<Matrix> parts(covariance);
    // The widest directions first, where the sequence is most even.
    const Vector spread = parts.eigenvalues().cwiseMax(0.0).cwiseSqrt().reverse();
    const Matrix directions = parts.eigenvectors().rowwise().reverse();
    const Matrix places = places_of(mean.size());
    Vector values(2 * kPairs);
    for (Index n = 0; n < kPairs; ++n) {
        const Vector step = directions * spread.cwiseProduct(places.col(n));
        values[2 * n] = function(mean + step);
        values[2 * n + 1] = function(mean - step);
    }
    const Vector unbounded = unbounded_values(transform, values);
    const auto sd_of = [](const Vector& of) {
        return std::sqrt((of.array() - of.mean()).square().sum() / static_cast<double>(of.size() - 1));
    };
    return {values.mean(), sd_of(values), unbounded.mean(), sd_of(unbounded)};
}

}  // namespace lrvb::detail
