#include "base/validate.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/sample/whitening.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace lrvb {

namespace {

constexpr Index kDrawsAtOnce = 64;
constexpr double kDoubt = 5.0;  // draws, that the factor is as it was

}  // namespace

/// L.
class Whitening::Factor {
  public:
    virtual ~Factor() = default;
    virtual Matrix times(const Matrix& z) const = 0;
    virtual Matrix transposed_times(const Matrix& gradients) const = 0;
    virtual std::shared_ptr<const Factor> refined(const Matrix& draws, const Vector& mean, double worth) const = 0;
};

class Whitening::DenseFactor final : public Factor {
  public:
    explicit DenseFactor(Matrix lower) : lower_(std::move(lower)) {}

    Matrix times(const Matrix& z) const override { return lower_.triangularView<Eigen::Lower>() * z; }
    Matrix transposed_times(const Matrix& gradients) const override {
        return lower_.transpose().triangularView<Eigen::Upper>() * gradients;
    }

    std::shared_ptr<const Factor> refined(const Matrix& draws, const Vector& mean, double worth) const override {
        Matrix z = draws.colwise() - mean;
        lower_.triangularView<Eigen::Lower>().solveInPlace(z);
        const double trusted = worth / (worth + kDoubt + static_cast<double>(z.rows()));
        Matrix covariance = (trusted / static_cast<double>(z.cols())) * (z * z.transpose());
        covariance.diagonal().array() += 1.0 - trusted;
        const detail::PositiveDefinite cholesky(covariance);
        if (!cholesky.succeeded()) return nullptr;
        return std::make_shared<DenseFactor>(lower_.triangularView<Eigen::Lower>() * cholesky.factor());
    }

  private:
    Matrix lower_;
};

/// P = S RᵀR S with S the root of its diagonal, and L = S⁻¹ R⁻¹ D, D the diagonal that draws have found.
class Whitening::SparseFactor final : public Factor {
  public:
    SparseFactor(Vector sd, std::shared_ptr<const detail::Cholesky> cholesky, Vector stretch)
        : sd_(std::move(sd)), cholesky_(std::move(cholesky)), stretch_(std::move(stretch)) {}

    Matrix times(const Matrix& z) const override {
        return sd_.asDiagonal() * cholesky_->root_solve(stretch_.asDiagonal() * z);
    }
    Matrix transposed_times(const Matrix& gradients) const override {
        return stretch_.asDiagonal() * cholesky_->root_transposed_solve(sd_.asDiagonal() * gradients);
    }

    std::shared_ptr<const Factor> refined(const Matrix& draws, const Vector& mean, double worth) const override {
        Vector variances = Vector::Zero(sd_.size());
        for (Index first = 0; first < draws.cols(); first += kDrawsAtOnce) {
            const Index count = std::min(kDrawsAtOnce, draws.cols() - first);
            Matrix whitened = draws.middleCols(first, count).colwise() - mean;
            whitened = cholesky_->root_times(sd_.cwiseInverse().asDiagonal() * whitened);
            variances += whitened.rowwise().squaredNorm();
        }
        variances = variances.cwiseQuotient(stretch_.cwiseAbs2()) / static_cast<double>(draws.cols());
        const double trusted = worth / (worth + kDoubt);
        const Vector drawn_in = (trusted * variances).array() + (1.0 - trusted);
        return std::make_shared<SparseFactor>(sd_, cholesky_, stretch_.cwiseProduct(drawn_in.cwiseSqrt()));
    }

  private:
    Vector sd_;  // of each coordinate given the others
    std::shared_ptr<const detail::Cholesky> cholesky_;
    Vector stretch_;
};

Whitening::Whitening(Vector centre, std::shared_ptr<const Factor> factor)
    : centre_(std::move(centre)), factor_(std::move(factor)) {}

Whitening Whitening::of_covariance(const NormalApproximation& approximation) {
    detail::require_size("of_covariance", "covariance", approximation.covariance.rows(), approximation.mean.size());
    const detail::PositiveDefinite cholesky(approximation.covariance);
    if (!cholesky.succeeded()) {
        throw std::invalid_argument("of_covariance: the covariance of the approximation is not positive definite");
    }
    return {approximation.mean, std::make_shared<DenseFactor>(cholesky.factor())};
}

Whitening Whitening::of_precision(Vector centre, const SparseMatrix& precision) {
    detail::require_size("of_precision", "precision", precision.rows(), centre.size());
    const auto refuse = [](Index coordinate) {
        throw std::invalid_argument(
            fmt::format("of_precision: the precision is not positive definite, by coordinate {}", coordinate + 1));
    };
    const Vector diagonal = precision.diagonal();
    for (Index i = 0; i < diagonal.size(); ++i) {
        if (!(std::isfinite(diagonal[i]) && diagonal[i] > 0.0)) refuse(i);
    }
    const Vector sd = diagonal.cwiseSqrt().cwiseInverse();
    const SparseMatrix lower = precision.triangularView<Eigen::Lower>();
    const SparseMatrix scaled = sd.asDiagonal() * lower * sd.asDiagonal();
    std::shared_ptr<detail::Cholesky> cholesky = detail::plan_cholesky(scaled)();
    const std::vector<double> values(scaled.valuePtr(), scaled.valuePtr() + scaled.nonZeros());
    if (const std::optional<Index> failed = cholesky->factorise(values)) refuse(*failed);
    return {std::move(centre), std::make_shared<SparseFactor>(sd, cholesky, Vector::Ones(sd.size()))};
}

Matrix Whitening::points(const Matrix& z) const {
    Matrix result = factor_->times(z);
    result.colwise() += centre_;
    return result;
}

Matrix Whitening::gradients(const Matrix& at_points) const {
    return factor_->transposed_times(at_points);
}

std::optional<Whitening> Whitening::refined(const Matrix& draws, double worth) const {
    detail::require_size("refined", "a draw", draws.rows(), dimension());
    Vector mean = draws.rowwise().mean();
    if (!mean.allFinite()) return std::nullopt;
    std::shared_ptr<const Factor> factor = factor_->refined(draws, mean, worth);
    if (!factor) return std::nullopt;
    return Whitening(std::move(mean), std::move(factor));
}

}  // namespace lrvb
