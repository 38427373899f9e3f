#include "base/validate.hpp"
#include "response/queries.hpp"

#include <lrvb/response/covariance.hpp>

#include <mutex>
#include <utility>

namespace lrvb {

namespace {

constexpr const char* kWho = "covariance";

void check(const Layout& layout, const State& state, const SparseMatrix& hessian) {
    detail::require_size(kWho, "the state's naturals", state.natural.size(), layout.size());
    detail::require_size(kWho, "the state's means", state.mean.size(), layout.size());
    detail::require_size(kWho, "the state's clamps", static_cast<Index>(state.clamped.size()), layout.variable_count());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const std::string error =
            std::visit([&](const auto& family) { return family.domain_error(layout.segment(state.natural, j)); },
                       layout[j].family);
        if (error.empty()) continue;
        throw std::invalid_argument(fmt::format("{}: state of variable '{}': {}", kWho, layout[j].name, error));
    }
    detail::require_size(kWho, "the Hessian's columns", hessian.cols(), layout.size());
    detail::require_size(kWho, "the Hessian's rows", hessian.rows(), layout.size());
    for (Index column = 0; column < hessian.cols(); ++column) {
        for (SparseMatrix::InnerIterator entry(hessian, column); entry; ++entry) {
            detail::require_finite(kWho, "an entry of the Hessian", entry.value());
            if (entry.row() >= column) continue;
            throw std::invalid_argument(
                fmt::format("{}: the Hessian has an entry at ({}, {}), above its diagonal; give its lower triangle",
                            kWho, entry.row() + 1, column + 1));
        }
    }
}

SparseMatrix compressed(const SparseMatrix& matrix) {
    SparseMatrix result = matrix;
    result.makeCompressed();
    return result;
}

}  // namespace

class FactoredCovariance::Implementation {
  public:
    Implementation(Layout layout_in, State state_in, const SparseMatrix& hessian_in)
        : layout(std::move(layout_in)), state(std::move(state_in)), hessian(compressed(hessian_in)) {
        check(layout, state, hessian);
    }

    const detail::Curvature& curvature() {
        std::call_once(is_factored_, [&] {
            auto structure = std::make_shared<const detail::CurvatureStructure>(layout, state.clamped, hessian);
            auto factored = std::make_unique<const detail::Curvature>(structure, layout, state.natural, hessian);
            detail::require_maximum(layout, *factored);
            curvature_ = std::move(factored);
        });
        return *curvature_;
    }

    const detail::Curvature& asked(const SparseMatrix& weights) {
        detail::require_size(kWho, "a column of weights", weights.rows(), layout.size());
        for (Index column = 0; column < weights.cols(); ++column) {
            for (SparseMatrix::InnerIterator entry(weights, column); entry; ++entry) {
                detail::require_finite(kWho, "a weight", entry.value());
            }
        }
        return curvature();
    }

    const Layout layout;
    const State state;
    const SparseMatrix hessian;

  private:
    std::once_flag is_factored_;
    std::unique_ptr<const detail::Curvature> curvature_;
};

FactoredCovariance::FactoredCovariance(Layout layout, State state, const SparseMatrix& hessian)
    : implementation_(std::make_shared<Implementation>(std::move(layout), std::move(state), hessian)) {}

const Layout& FactoredCovariance::layout() const {
    return implementation_->layout;
}

const State& FactoredCovariance::state() const {
    return implementation_->state;
}

const SparseMatrix& FactoredCovariance::hessian() const {
    return implementation_->hessian;
}

Matrix FactoredCovariance::covariance(const SparseMatrix& left, const SparseMatrix& right) const {
    implementation_->asked(left);
    return detail::covariance(implementation_->asked(right), left, right);
}

Matrix FactoredCovariance::covariance(const SparseMatrix& weights) const {
    return detail::covariance(implementation_->asked(weights), weights);
}

Vector FactoredCovariance::variances(const SparseMatrix& weights) const {
    return detail::variances(implementation_->asked(weights), weights);
}

Matrix FactoredCovariance::mean_field_covariance(const SparseMatrix& weights) const {
    return detail::mean_field_covariance(implementation_->asked(weights), weights);
}

Vector FactoredCovariance::mean_field_variances(const SparseMatrix& weights) const {
    return detail::mean_field_variances(implementation_->asked(weights), weights);
}

Vector FactoredCovariance::respond(const Vector& gradient_change) const {
    detail::require_size("respond", "gradient_change", gradient_change.size(), layout().size());
    return implementation_->curvature().respond(gradient_change);
}

std::vector<Matrix> FactoredCovariance::marginal_covariances() const {
    return implementation_->curvature().marginal_blocks();
}

FlatDirection FactoredCovariance::flattest_direction() const {
    return detail::flattest_direction(implementation_->curvature());
}

double FactoredCovariance::smallest_pivot() const {
    return implementation_->curvature().smallest_pivot();
}

}  // namespace lrvb
