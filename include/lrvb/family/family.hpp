#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/types.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

/// What an exponential family is, to this library.
///
/// A family has densities q(θ) = exp(ηᵀT(θ) − A(η)) with respect to Lebesgue measure (counting measure for discrete θ).
/// Three charts, never mixed:
///   *natural*   η
///   *mean*      m = E T(θ) = ∇A(η)
///   *standard*  what people write: shape and rate, mean and variance, …
///
/// Families are stateless values: at most their dimension. All functions take a natural parameter inside the domain;
/// `domain_error` says whether it is. A caller's mistake in a standard parameter, a mean or a value throws
/// std::invalid_argument with the argument's name, its value and the remedy.
namespace lrvb {

/// What the product of two statistics of one variable is: a third statistic of the same variable (x · x = x²), zero
/// (two different indicators of one categorical variable), or nothing that the family's conditional can hold.
struct StatisticProduct {
    enum class Kind { statistic, zero, none };
    Kind kind = Kind::none;
    Index statistic = 0;

    static constexpr StatisticProduct of(Index index) { return {Kind::statistic, index}; }
    static constexpr StatisticProduct zero() { return {Kind::zero, 0}; }
    static constexpr StatisticProduct none() { return {Kind::none, 0}; }
};

// clang-format off
template <class F>
concept Family = requires(const F family, const Vector& parameter, Random& random, const std::string& variable, Index i) {
    /// "Gamma": for messages.
    { F::name } -> std::convertible_to<std::string_view>;
    /// Number of statistics: the length of natural and mean parameters.
    { family.size() } -> std::same_as<Index>;
    /// Columns of the covariance factor: size(), or less where the statistics are tied (Categorical).
    { family.rank() } -> std::same_as<Index>;
    /// Names of T_1 … T_size for a variable of this name: "log_tau[2]" for "tau[2]".
    { family.statistic_names(variable) } -> std::same_as<std::vector<std::string>>;
    { family.standard_names() } -> std::same_as<std::vector<std::string>>;
    /// Empty inside the natural domain, otherwise why not.
    { family.domain_error(parameter) } -> std::same_as<std::string>;

    { family.mean(parameter) } -> std::same_as<Vector>;                   // η → m
    { family.natural_from_mean(parameter) } -> std::same_as<Vector>;      // m → η
    { family.natural_from_standard(parameter) } -> std::same_as<Vector>;  // standard → η
    { family.standard(parameter) } -> std::same_as<Vector>;               // η → standard

    { family.log_partition(parameter) } -> std::same_as<double>;          // A(η)
    { family.entropy(parameter) } -> std::same_as<double>;                // A(η) − ηᵀm, without its cancellation
    { family.covariance(parameter) } -> std::same_as<Matrix>;             // V = ∇²A(η)
    /// The Cholesky factor of V in closed form: lower trapezoidal, size × rank, V = LLᵀ.
    { family.covariance_factor(parameter) } -> std::same_as<Matrix>;

    /// T(θ) of one draw θ ~ q.
    { family.sample(parameter, random) } -> std::same_as<Vector>;
    /// T(θ) of a given value θ (a vector; symmetric matrices as half-vectors).
    { family.statistic(parameter) } -> std::same_as<Vector>;
    { family.product(i, i) } -> std::same_as<StatisticProduct>;
    /// Where a fit starts a variable that has no prior of its own.
    { family.reference_natural() } -> std::same_as<Vector>;
};
// clang-format on

}  // namespace lrvb
