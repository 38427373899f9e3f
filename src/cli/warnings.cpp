#include "cli/warnings.hpp"

#include "kind/mixture/means.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <cmath>

namespace lrvb::cli {

namespace {

constexpr double kFlat = 0.01;         // smallest eigenvalue of I − LᵀHL
constexpr double kFewRows = 5.0;       // for each column and one more
constexpr double kOverlap = 3.0;       // sds between two components
constexpr Index kLargestSystem = 400;  // beyond, eigenvalues cost more than the warning is worth

// The eigenvalues of (I − LᵀHL)⁻¹ are those of the linear-response covariance in the metric of the mean-field one: how
// many times the variance is what mean field says, along each direction. The largest is near a flat direction.
void add_flat_direction(FitFile& fit) {
    const Posterior& posterior = fit.posterior;
    std::vector<Index> free;
    for (Index i = 0; i < posterior.mean.size(); ++i) {
        if (posterior.mean_field_covariance(i, i) > 0.0) free.push_back(i);
    }
    const Index size = static_cast<Index>(free.size());
    if (size == 0 || size > kLargestSystem) return;
    Matrix response(size, size);
    Matrix mean_field(size, size);
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < size; ++j) {
            const Index a = free[static_cast<std::size_t>(i)];
            const Index b = free[static_cast<std::size_t>(j)];
            const double unit =
                std::sqrt(posterior.mean_field_covariance(a, a) * posterior.mean_field_covariance(b, b));
            response(i, j) = posterior.covariance(a, b) / unit;
            mean_field(i, j) = posterior.mean_field_covariance(a, b) / unit;
        }
    }
    const Eigen::LLT<Matrix> cholesky(mean_field);
    if (cholesky.info() != Eigen::Success) return;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(response, mean_field);
    if (solver.info() != Eigen::Success) return;
    const double largest = solver.eigenvalues()[size - 1];
    if (!(largest > 1.0 / kFlat)) return;
    Index at = 0;
    (mean_field * solver.eigenvectors().col(size - 1)).cwiseAbs().maxCoeff(&at);
    fit.warnings.push_back(
        fmt::format("the bound is nearly flat along a direction that moves {} (smallest eigenvalue of I - L'HL "
                    "{:.1e}): the data say "
                    "little about it; use fewer components or columns, or a stronger prior",
                    posterior.statistics[static_cast<std::size_t>(free[static_cast<std::size_t>(at)])], 1.0 / largest));
}

void add_few_rows(FitFile& fit, const MixtureRecord& mixture, const detail::MixtureMeans& means) {
    if (mixture.components == 1) return;
    const double few = kFewRows * static_cast<double>(mixture.centre.size() + 1);
    for (Index k = 1; k <= mixture.components; ++k) {
        // What the weights' Dirichlet counts beyond its prior; of weights that are held, their share.
        const ParameterRecord& weights = fit.parameters.front();
        const double rows = weights.clamped ? means.weights[k - 1] * fit.data.total_weight
                                            : weights.natural[k - 1] + 1.0 - mixture.prior.alpha;
        if (rows >= few) continue;
        fit.warnings.push_back(fmt::format(
            "component {} has about {:.1f} rows, so pi[{}] and what belongs to it lean on the prior: use fewer "
            "components, or look at these rows",
            k, rows, k));
    }
}

// How many sds, of the two components' mean covariance, lie between their means.
void add_overlap(FitFile& fit, const MixtureRecord& mixture, const detail::MixtureMeans& means) {
    for (Index k = 1; k <= mixture.components; ++k) {
        for (Index l = k + 1; l <= mixture.components; ++l) {
            const Matrix between = 0.5 * (means.covariances[static_cast<std::size_t>(k - 1)] +
                                          means.covariances[static_cast<std::size_t>(l - 1)]);
            const Vector off = means.locations.row(k - 1) - means.locations.row(l - 1);
            const double distance = std::sqrt(off.dot(between.llt().solve(off)));
            if (distance >= kOverlap) continue;
            fit.warnings.push_back(fmt::format(
                "components {} and {} overlap strongly (their means, such as mu[{}], are {:.1f} sds apart): sds "
                "may be too small, sometimes by half or more when components nearly coincide; compare with the exact "
                "posterior by 'lrvb check', or use fewer components",
                k, l, mixture.centre.size() == 1 ? fmt::format("{}", k) : fmt::format("{},1", k), distance));
        }
    }
}

}  // namespace

void add_warnings(FitFile& fit) {
    if (!fit.converged()) return;
    add_flat_direction(fit);
    const auto* mixture = std::get_if<MixtureRecord>(&fit.model);
    if (mixture == nullptr) return;
    const detail::MixtureMeans means = detail::mixture_means(fit);
    add_few_rows(fit, *mixture, means);
    add_overlap(fit, *mixture, means);
}

}  // namespace lrvb::cli
