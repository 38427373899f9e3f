#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/expression.hpp>
#include <lrvb/model/likelihood.hpp>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

/// The distributions that variables and observations can have. Each is written by its standard parameters, which are
/// numbers, hyperparameters, or expressions in variables declared before:
///
///     normal(mean, precision)        mean: any polynomial; precision: positive constant × Gamma variables
///     mv_normal(mean, precision)     precision: scale × (constant matrix or Wishart variable)
///     truncated_normal(mean, precision, lower, upper)   all constant; either bound may be infinite
///     uniform(lower, upper)          of a location: constant and finite
///     gamma(shape, rate)             shape: constant; rate: positive constant × Gamma variables
///     precision(half_cauchy(scale))  a precision whose sd τ^(−1/2) has the prior: half_cauchy(scale), half_t(df,
///                                    scale), half_normal(scale), exponential_sd(rate), uniform_sd(lower, upper);
///                                    constants. precision_of_variance(…): the variance 1/τ has it; positive(…): the
///                                    variable itself
///     exponential(rate)
///     wishart(dof, inverse_scale)    dof: constant; inverse scale: as a precision matrix; E X = dof · inverse_scale⁻¹
///     dirichlet(alpha), beta(a, b)   constants
///     bernoulli(p), binomial(n, p)   p: a constant or a Beta variable
///     categorical(p), multinomial(p) p: constants or a Dirichlet variable
///     poisson(rate, exposure)        rate: positive constant × Gamma variables
///     mixture(choice, {…})           one of several distributions of one kind, chosen by a Categorical variable, or
///                                    one of two by a Bernoulli variable: the first where it is 0
///     flat(family)                   no prior: density one; its conditional must be made proper by other terms
///
/// Where a Gamma variable may stand, so may one that was declared by precision(…) or positive(…); where a Normal
/// variable, so may a truncated one.
///
/// Whether the whole is conditionally conjugate is checked when a variable or an observation is added to a builder.
namespace lrvb {

namespace detail {
class DistributionNode;
}

template <class F>
class Distribution {
  public:
    Distribution(F family, std::shared_ptr<const detail::DistributionNode> node)
        : family_(std::move(family)), node_(std::move(node)) {}

    const F& family() const { return family_; }
    const detail::DistributionNode& node() const { return *node_; }
    const std::shared_ptr<const detail::DistributionNode>& shared_node() const { return node_; }

  private:
    F family_;
    std::shared_ptr<const detail::DistributionNode> node_;
};

LRVB_EXPORT Distribution<family::Normal> normal(const Expression& mean, const Expression& precision);
LRVB_EXPORT Distribution<family::MvNormal> mv_normal(const VectorParameter& mean, const MatrixParameter& precision);
LRVB_EXPORT Distribution<family::Gamma> gamma(const Expression& shape, const Expression& rate);
LRVB_EXPORT Distribution<family::Gamma> exponential(const Expression& rate);
LRVB_EXPORT Distribution<family::TruncatedNormal> truncated_normal(const Expression& mean, const Expression& precision,
                                                                   const Expression& lower, const Expression& upper);
LRVB_EXPORT Distribution<family::TruncatedNormal> uniform(const Expression& lower, const Expression& upper);

/// The prior of a positive number, of an sd most of all: constants, which may be hyperparameters.
struct PositivePrior {
    ScalePrior::Kind kind = ScalePrior::Kind::half_t;
    Expression first;
    Expression second;
};
LRVB_EXPORT PositivePrior half_cauchy(const Expression& scale);
LRVB_EXPORT PositivePrior half_t(const Expression& degrees_of_freedom, const Expression& scale);
LRVB_EXPORT PositivePrior half_normal(const Expression& scale);
LRVB_EXPORT PositivePrior exponential_sd(const Expression& rate);
LRVB_EXPORT PositivePrior uniform_sd(const Expression& lower, const Expression& upper);

/// A precision whose sd has the prior; whose variance has it; a positive variable that has it.
LRVB_EXPORT Distribution<family::Scale> precision(const PositivePrior& of_the_sd);
LRVB_EXPORT Distribution<family::Scale> precision_of_variance(const PositivePrior& of_the_variance);
LRVB_EXPORT Distribution<family::Scale> positive(const PositivePrior& of_the_value);
LRVB_EXPORT Distribution<family::Wishart> wishart(const Expression& degrees_of_freedom,
                                                  const MatrixParameter& inverse_scale);
LRVB_EXPORT Distribution<family::Dirichlet> dirichlet(const VectorParameter& alpha);
LRVB_EXPORT Distribution<family::Beta> beta(const Expression& a, const Expression& b);
LRVB_EXPORT Distribution<family::Bernoulli> bernoulli(const Expression& p);
LRVB_EXPORT Distribution<family::Categorical> categorical(const SimplexParameter& p);
LRVB_EXPORT Distribution<likelihood::Poisson> poisson(const Expression& rate, double exposure = 1.0);
LRVB_EXPORT Distribution<likelihood::Binomial> binomial(Index trials, const Expression& p);
LRVB_EXPORT Distribution<likelihood::Multinomial> multinomial(const SimplexParameter& p);

namespace detail {
LRVB_EXPORT std::shared_ptr<const DistributionNode> flat_node(Index size);
LRVB_EXPORT std::shared_ptr<const DistributionNode> mixture_node(
    const Variable<family::Categorical>& choice, std::vector<std::shared_ptr<const DistributionNode>> components);
LRVB_EXPORT std::shared_ptr<const DistributionNode> mixture_node(
    const Variable<family::Bernoulli>& choice, std::vector<std::shared_ptr<const DistributionNode>> components);
[[noreturn]] LRVB_EXPORT void refuse_unlike_components();
[[noreturn]] LRVB_EXPORT void refuse_no_components();
}  // namespace detail

template <Family F>
Distribution<F> flat(F family) {
    const Index size = family.size();
    return {std::move(family), detail::flat_node(size)};
}

template <class F, class Choice>
requires std::is_same_v<Choice, family::Categorical> || std::is_same_v<Choice, family::Bernoulli> Distribution<F>
mixture(const Variable<Choice>& choice, const std::vector<Distribution<F>>& components) {
    std::vector<std::shared_ptr<const detail::DistributionNode>> nodes;
    for (const Distribution<F>& component : components) {
        if (!(component.family() == components.front().family())) detail::refuse_unlike_components();
        nodes.push_back(component.shared_node());
    }
    std::shared_ptr<const detail::DistributionNode> node = detail::mixture_node(choice, std::move(nodes));
    return {components.front().family(), std::move(node)};
}

template <class F, class Choice>
Distribution<F> mixture(const Variable<Choice>& choice, std::initializer_list<Distribution<F>> components) {
    return mixture(choice, std::vector<Distribution<F>>(components));
}

}  // namespace lrvb
