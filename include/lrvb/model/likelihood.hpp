#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/any_family.hpp>
#include <lrvb/types.hpp>

#include <string_view>
#include <variant>

/// Kinds of data that are not kinds of variable: densities h(y) exp(ηᵀT(y) − A) of an observed y only.
namespace lrvb::likelihood {

/// Counts: T = (y), h = 1/y!.
struct LRVB_EXPORT Poisson {
    static constexpr std::string_view name = "Poisson";
    Index size() const { return 1; }
    Vector statistic(const VectorView& value) const;
    double log_base(const VectorView& value) const;
    bool operator==(const Poisson&) const = default;
};

/// Successes in a number of trials: T = (y), h = C(trials, y).
struct LRVB_EXPORT Binomial {
    static constexpr std::string_view name = "Binomial";
    Index trials = 1;
    Index size() const { return 1; }
    Vector statistic(const VectorView& value) const;
    double log_base(const VectorView& value) const;
    bool operator==(const Binomial&) const = default;
};

/// Counts of labels: T = (y_1, …, y_K), h = (Σy)!/Πy_k!.
struct LRVB_EXPORT Multinomial {
    static constexpr std::string_view name = "Multinomial";
    Index labels = 2;
    Index size() const { return labels; }
    Vector statistic(const VectorView& value) const;
    double log_base(const VectorView& value) const;
    bool operator==(const Multinomial&) const = default;
};

/// Counts with exposures, as rows (y, e): T = (y, −e), h = e^y/y!.
struct LRVB_EXPORT ExposedPoisson {
    static constexpr std::string_view name = "Poisson";
    Index size() const { return 2; }
    Vector statistic(const VectorView& value) const;
    double log_base(const VectorView& value) const;
    bool operator==(const ExposedPoisson&) const = default;
};

}  // namespace lrvb::likelihood

namespace lrvb {

namespace detail {
template <class Families, class... More>
struct Joined;
template <class... F, class... More>
struct Joined<std::variant<F...>, More...> {
    using type = std::variant<F..., More...>;
};
}  // namespace detail

/// The kinds of data: the families of variables, and the likelihoods.
using AnyObserved = detail::Joined<AnyFamily, likelihood::Poisson, likelihood::Binomial, likelihood::Multinomial,
                                   likelihood::ExposedPoisson>::type;

}  // namespace lrvb
