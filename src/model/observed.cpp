#include "model/observed.hpp"

#include "base/validate.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/family/symmetric.hpp>

namespace lrvb::detail {

namespace {

// One overload for each kind that can move; the rest have none.

Matrix derivative_of(const family::Normal&, const VectorView& x) {
    return Matrix{{1.0}, {2.0 * x[0]}};
}

Matrix derivative_of(const family::Gamma&, const VectorView& x) {
    return Matrix{{1.0}, {1.0 / x[0]}};
}

Matrix derivative_of(const family::Beta&, const VectorView& x) {
    return Matrix{{1.0 / x[0]}, {-1.0 / (1.0 - x[0])}};
}

Matrix derivative_of(const family::MvNormal& family, const VectorView& x) {
    const Index dimension = family.dimension();
    Matrix result = Matrix::Zero(family.size(), dimension);
    for (Index i = 0; i < dimension; ++i) {
        result(i, i) = 1.0;
        for (Index j = i; j < dimension; ++j) {
            const Index product = dimension + half_index(i, j, dimension);
            result(product, i) += x[j];
            result(product, j) += x[i];
        }
    }
    return result;
}

// ∂ log det X = tr(X⁻¹ ∂X); an entry off the diagonal stands for two.
Matrix derivative_of(const family::Wishart& family, const VectorView& half) {
    const Index dimension = family.dimension();
    const Matrix inverse = PositiveDefinite(symmetric_from_half(half, dimension)).inverse();
    Matrix result(family.size(), half.size());
    result << Matrix::Identity(half.size(), half.size()), trace_coefficients(inverse).transpose();
    return result;
}

template <class F>
constexpr bool kCanMove = requires(const F& kind, const VectorView& value) {
    derivative_of(kind, value);
};

}  // namespace

bool can_move(const AnyObserved& kind) {
    return std::visit([](const auto& own) { return kCanMove<std::remove_cvref_t<decltype(own)>>; }, kind);
}

std::vector<std::string> input_names(const AnyObserved& kind, const std::string& base) {
    std::vector<std::string> names;
    if (const auto* normal = std::get_if<family::MvNormal>(&kind)) {
        for (Index i = 0; i < normal->dimension(); ++i) names.push_back(indexed(base, {i}));
    } else if (const auto* wishart = std::get_if<family::Wishart>(&kind)) {
        for (Index i = 0; i < wishart->dimension(); ++i) {
            for (Index j = i; j < wishart->dimension(); ++j) names.push_back(indexed(base, {i, j}));
        }
    } else {
        names.push_back(base);
    }
    return names;
}

Index statistic_count(const AnyObserved& kind) {
    return std::visit([](const auto& own) { return own.size(); }, kind);
}

Vector statistic(const AnyObserved& kind, const VectorView& value) {
    return std::visit([&](const auto& own) { return own.statistic(value); }, kind);
}

double log_base(const AnyObserved& kind, const VectorView& value) {
    return std::visit(
        [&](const auto& own) {
            if constexpr (requires { own.log_base(value); }) return own.log_base(value);
            return 0.0;
        },
        kind);
}

Matrix statistic_derivative(const AnyObserved& kind, const VectorView& value) {
    return std::visit(
        [&](const auto& own) -> Matrix {
            if constexpr (kCanMove<std::remove_cvref_t<decltype(own)>>) return derivative_of(own, value);
            throw std::logic_error("a kind of data that cannot move was asked how it does");
        },
        kind);
}

}  // namespace lrvb::detail
