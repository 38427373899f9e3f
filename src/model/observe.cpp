#include "base/validate.hpp"
#include "model/builder_implementation.hpp"
#include "model/distribution_node.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/model/builder.hpp>

#include <cmath>
#include <numbers>

namespace lrvb {

namespace {

std::string subject_of(std::string_view family) {
    return fmt::format("an observation ~ {}", family);
}

// Constants of an observed expression must be numbers: a missing value is an error of the data, not of the model.
void require_observed(const Expression& value, const detail::Lowering& lowering) {
    for (const Expression::Term& term : value.terms()) {
        if (!std::isfinite(term.coefficient.value())) {
            lowering.refuse(fmt::format("the value is {}, but must be a finite number", term.coefficient.value()));
        }
    }
}

void require_finite_design(Index row, Index column, double value) {
    if (std::isfinite(value)) return;
    throw std::invalid_argument(
        fmt::format("observe_linear: design({}, {}) is {}, but must be a finite number", row + 1, column + 1, value));
}

}  // namespace

void ModelBuilder::observe(const Expression& value, const Distribution<family::Normal>& distribution) {
    const detail::Lowering lowering = implementation().lowering(subject_of(family::Normal::name));
    require_observed(value, lowering);
    const detail::ConditionalForm form = distribution.node().lower(lowering);
    const Expression log_density = form.natural[0] * value + form.natural[1] * value * value + form.log_normaliser;
    implementation().accumulate(lowering.lower(log_density), lowering);
}

void ModelBuilder::observe(const VectorParameter& value, const Distribution<family::MvNormal>& distribution) {
    const detail::Lowering lowering = implementation().lowering(subject_of(family::MvNormal::name));
    const Index dimension = distribution.family().dimension();
    if (value.size() != dimension) {
        lowering.refuse(fmt::format("the value has {} entries, but the distribution has {}", value.size(), dimension));
    }
    for (const Expression& entry : value.entries()) require_observed(entry, lowering);

    const detail::ConditionalForm form = distribution.node().lower(lowering);
    Expression log_density = form.log_normaliser;
    for (Index i = 0; i < dimension; ++i) {
        const Expression& left = value.entries()[static_cast<std::size_t>(i)];
        log_density += form.natural[static_cast<std::size_t>(i)] * left;
        for (Index j = i; j < dimension; ++j) {
            const Expression& right = value.entries()[static_cast<std::size_t>(j)];
            const Index second = dimension + half_index(i, j, dimension);
            log_density += form.natural[static_cast<std::size_t>(second)] * left * right;
        }
    }
    implementation().accumulate(lowering.lower(log_density), lowering);
}

void ModelBuilder::observe_statistics(std::string_view family, const Vector& statistics, double log_base, double count,
                                      const detail::DistributionNode& node) {
    const detail::Lowering lowering = implementation().lowering(subject_of(family));
    const detail::ConditionalForm form = node.lower(lowering);
    Expression log_density = log_base + count * form.log_normaliser;
    for (Index s = 0; s < statistics.size(); ++s) {
        log_density += statistics[s] * form.natural[static_cast<std::size_t>(s)];
    }
    implementation().accumulate(lowering.lower(log_density), lowering);
}

void ModelBuilder::observe_counts(const Vector& counts, const Vector& exposures, const Expression& rate) {
    detail::require_size("observe_counts", "exposures", exposures.size(), counts.size());
    const likelihood::Poisson family;
    double total = 0.0;
    double base = 0.0;
    for (Index n = 0; n < counts.size(); ++n) {
        detail::require_positive("observe_counts", fmt::format("exposure of row {}", n + 1), exposures[n]);
        const Vector count = counts.segment(n, 1);
        try {
            total += family.statistic(count)[0];
        } catch (const std::invalid_argument& error) {
            refuse_row(n, error.what());
        }
        base += family.log_base(count) + count[0] * std::log(exposures[n]);
    }
    // Σ [y log(λe) − λe − log y!]: one Poisson with the exposures' sum, but for the constants above.
    const detail::Lowering lowering = implementation().lowering(subject_of(family.name));
    const Expression log_rate = lowering.log_of(rate, "rate");
    const Expression log_density = total * log_rate - exposures.sum() * rate + base;
    implementation().accumulate(lowering.lower(log_density), lowering);
}

void ModelBuilder::observe_linear(const Vector& y, const Matrix& design, const VectorParameter& coefficients,
                                  const Expression& precision) {
    detail::require_size("observe_linear", "y", y.size(), design.rows());
    for (Index j = 0; j < design.cols(); ++j) {
        for (Index i = 0; i < design.rows(); ++i) require_finite_design(i, j, design(i, j));
    }
    Matrix gram = Matrix::Zero(design.cols(), design.cols());
    gram.selfadjointView<Eigen::Lower>().rankUpdate(design.transpose());
    const SparseMatrix lower = gram.triangularView<Eigen::Lower>().toDenseMatrix().sparseView();
    observe_gram(y, lower, design.transpose() * y, coefficients, precision);
}

void ModelBuilder::observe_linear(const Vector& y, const SparseMatrix& design, const VectorParameter& coefficients,
                                  const Expression& precision) {
    detail::require_size("observe_linear", "y", y.size(), design.rows());
    for (Index j = 0; j < design.cols(); ++j) {
        for (SparseMatrix::InnerIterator entry(design, j); entry; ++entry) {
            require_finite_design(entry.row(), j, entry.value());
        }
    }
    const SparseMatrix gram = SparseMatrix(design.transpose()) * design;
    const SparseMatrix lower = gram.triangularView<Eigen::Lower>();
    observe_gram(y, lower, design.transpose() * y, coefficients, precision);
}

// −½τ [yᵀy − 2 (Xᵀy)ᵀβ + βᵀXᵀXβ] + (N/2)(log τ − log 2π), from the lower triangle of XᵀX.
void ModelBuilder::observe_gram(const Vector& y, const SparseMatrix& gram, const Vector& projection,
                                const VectorParameter& coefficients, const Expression& precision) {
    detail::require_finite("observe_linear", "y", y);
    detail::require_size("observe_linear", "coefficients", coefficients.size(), gram.cols());
    const detail::Lowering lowering = implementation().lowering(subject_of(family::Normal::name));
    const double rows = static_cast<double>(y.size());
    const Expression log_precision = lowering.log_of(precision, "precision");
    const Expression minus_half_precision = -0.5 * precision;

    Expression log_density = 0.5 * rows * (log_precision - std::log(2.0 * std::numbers::pi));
    log_density += y.squaredNorm() * minus_half_precision;
    for (Index j = 0; j < gram.cols(); ++j) {
        const Expression& column = coefficients.entries()[static_cast<std::size_t>(j)];
        const Expression weighted = minus_half_precision * column;
        log_density += -2.0 * projection[j] * weighted;
        for (SparseMatrix::InnerIterator entry(gram, j); entry; ++entry) {
            const Expression& row = coefficients.entries()[static_cast<std::size_t>(entry.row())];
            log_density += (entry.row() == j ? 1.0 : 2.0) * entry.value() * weighted * row;
        }
    }
    implementation().accumulate(lowering.lower(log_density), lowering);
}

void ModelBuilder::refuse_row(Index row, const std::string& reason) {
    throw std::invalid_argument(fmt::format("row {}: {}", row + 1, reason));
}

}  // namespace lrvb
