#pragma once

#include "support.hpp"

#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/model_density.hpp>

#include <functional>
#include <memory>
#include <utility>

/// Targets that several tests sample.
namespace lrvb::test {

/// Any function as a density.
class FunctionDensity final : public LogDensity {
  public:
    FunctionDensity(Index dimension, std::function<double(const Vector&)> function)
        : dimension_(dimension), function_(std::move(function)) {}

    Index dimension() const override { return dimension_; }
    Vector evaluate(const Matrix& points, int) const override {
        Vector values(points.cols());
        for (Index i = 0; i < points.cols(); ++i) values[i] = function_(points.col(i));
        return values;
    }

  private:
    Index dimension_;
    std::function<double(const Vector&)> function_;
};

/// Any function with its gradient as a density.
class SmoothFunction final : public SmoothDensity {
  public:
    using Function = std::function<double(const Vector&, Vector& gradient)>;

    SmoothFunction(Index dimension, Function function) : dimension_(dimension), function_(std::move(function)) {}

    Index dimension() const override { return dimension_; }
    Vector evaluate(const Matrix& points, int threads) const override {
        return evaluate_gradients(points, threads).values;
    }
    DensityGradients evaluate_gradients(const Matrix& points, int) const override {
        DensityGradients result{Vector(points.cols()), Matrix(dimension_, points.cols())};
        Vector gradient(dimension_);
        for (Index i = 0; i < points.cols(); ++i) {
            result.values[i] = function_(points.col(i), gradient);
            result.gradients.col(i) = gradient;
        }
        return result;
    }

  private:
    Index dimension_;
    Function function_;
};

/// A fitted mixture, its exact posterior and its linear response in the same chart.
struct FittedMixture {
    FittedMixture(const Matrix& rows, const MixtureSpecification& specification, const MixtureFitOptions& options = {})
        : fit(fit_mixture(std::make_shared<TableSource>(rows), specification, options)),
          response(*fit.model, fit.optimum),
          density(*fit.model, fit.optimum.state),
          approximation(density.chart().approximation(response)) {}

    MixtureFit fit;
    LinearResponse response;
    ModelDensity density;
    NormalApproximation approximation;
};

/// A mixture of one bundled column under the paper's prior.
inline FittedMixture bundled_mixture(const std::string& file, const std::string& column, Index components) {
    MixtureSpecification specification;
    specification.components = components;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    return FittedMixture(read_column(file, column), specification);
}

/// Old Faithful in both columns, with full or diagonal covariances.
inline FittedMixture old_faithful_pairs(MixtureCovariance covariance = MixtureCovariance::full) {
    Matrix rows(272, 2);
    rows << read_column("old_faithful.csv", "eruptions"), read_column("old_faithful.csv", "waiting");
    MixtureSpecification specification;
    specification.components = 2;
    specification.covariance = covariance;
    return FittedMixture(rows, specification);
}

}  // namespace lrvb::test
