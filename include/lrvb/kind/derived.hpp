#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/expression.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Quantities that depend smoothly on the variables of a declared model: an sd, a correlation, a difference, a
/// probability.
///
///     const std::vector<DerivedQuantity> derived{
///         sd_of("sigma", tau),
///         derived_quantity("difference", mu[0] - mu[1]),
///         derived_quantity("ratio", {mu[0], mu[1]}, [](const Vector& x) { return x[0] / x[1]; })};
///     const Posterior posterior = declared_posterior(model, optimum, derived);
///     const Check checked = check(model, optimum, derived);
///
/// Means and sds are by the delta method: with x the expressions at the posterior means m (a positive variable enters
/// by the mean of its logarithm, a probability likewise), g the gradient of f and C the covariance by linear response,
/// the mean is f + ½ tr(f″C), the variance gᵀCg, and the interval is that of a normal on the scale of the transform.
/// The sd of a precision that is a variable by itself has its exact mean under q. A check takes f at every draw, so
/// that what it says is exact.
namespace lrvb {

struct DerivedQuantity {
    std::string name;
    /// What the function takes: any expressions in the model's variables, products included.
    std::vector<Expression> of;
    std::function<double(const Vector&)> function;
    Role role = Role::other;
    /// Of the scale on which its interval is taken.
    Transform transform = Transform::identity;
    /// The variable whose sd τ^(−1/2) it is, where it is that.
    std::optional<Index> sd_of_variable = {};
};

/// An expression as it is.
LRVB_EXPORT DerivedQuantity derived_quantity(const std::string& name, const Expression& expression);
LRVB_EXPORT DerivedQuantity derived_quantity(const std::string& name, std::vector<Expression> of,
                                             std::function<double(const Vector&)> function,
                                             const Transform& transform = Transform::identity);

/// τ^(−1/2) of a precision: a variable, or an expression that is positive.
LRVB_EXPORT DerivedQuantity sd_of(const std::string& name, const Variable<family::Gamma>& precision);
LRVB_EXPORT DerivedQuantity sd_of(const std::string& name, const Variable<family::Scale>& precision);
LRVB_EXPORT DerivedQuantity sd_of(const std::string& name, const Expression& precision);

/// Of a precision matrix: the sds √(Λ⁻¹)_ii, named "sd[1]" …, then the correlations, "cor[1,2]" …
LRVB_EXPORT std::vector<DerivedQuantity> sds_and_correlations(const Variable<family::Wishart>& precision,
                                                              const std::string& sd_name = "sd",
                                                              const std::string& correlation_name = "cor");

/// A probability of a Beta variable, or of a part of a Dirichlet one: "p".
LRVB_EXPORT DerivedQuantity probability(const std::string& name, const Expression& p);

/// The posterior of a declared model with derived quantities after its variables.
LRVB_EXPORT Posterior declared_posterior(const MultilinearModel& model, const Optimum& optimum,
                                         const std::vector<DerivedQuantity>& derived);

}  // namespace lrvb
