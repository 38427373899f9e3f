#pragma once

#include <lrvb/fit/fit.hpp>
#include <lrvb/model/model.hpp>
#include <lrvb/testing/report.hpp>

#include <cmath>
#include <string>

/// The battery for models: that what a model says of its expected log joint L(m) is true of it, at the means of a given
/// state.
///
///   gradient   ∂L/∂m_i against central differences of L, fourth order
///   Hessian    ∂²L/∂m_i∂m_j against central differences of the gradient; its lower triangle, one pattern
///   sweep      with all other variables clamped, a sweep gives variable j the natural parameter ∇_j L(m); and the
///   bound
///              F(m) = L(m) + Σ S_j does not fall when all are swept
///
/// Differences step each mean by `step` times the sd of its statistic under q. A mean on its own need not belong to any
/// distribution: L is a polynomial (or a smooth function) of the means, defined beyond them.
///
///     testing::Report report = testing::check_model(model, optimum.state);
///     EXPECT_TRUE(report.passed()) << report.text();
namespace lrvb::testing {

struct ModelCheckOptions {
    double step = 1e-3;
    double tolerance = 1e-6;
};

namespace detail {

inline Vector mean_field_sds(const Layout& layout, const State& state) {
    Vector sds = Vector::Zero(layout.size());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        layout.segment(sds, j) = std::visit(
            [&](const auto& family) {
                return Vector(family.covariance(layout.segment(state.natural, j)).diagonal().cwiseSqrt());
            },
            layout[j].family);
    }
    return sds;
}

inline double bound(const Model& model, const State& state) {
    const Layout& layout = model.layout();
    double sum = model.expand(state.mean, Order::value).value;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        sum += std::visit([&](const auto& family) { return family.entropy(layout.segment(state.natural, j)); },
                          layout[j].family);
    }
    return sum;
}

/// Fourth-order central difference of a function of the means in the direction of one of them.
template <class Function>
auto difference(const Vector& mean, Index i, double step, Function function) {
    const auto central = [&](double h) {
        Vector up = mean;
        Vector down = mean;
        up[i] += h;
        down[i] -= h;
        using Value = std::remove_cvref_t<decltype(function(up))>;
        return Value((function(up) - function(down)) / (up[i] - down[i]));
    };
    using Value = decltype(central(step));
    return Value((4.0 * central(step) - central(2.0 * step)) / 3.0);
}

}  // namespace detail

inline Report check_model(const Model& model, const State& state, const ModelCheckOptions& options = {}) {
    Report report("model");
    const Layout& layout = model.layout();
    const Vector sds = detail::mean_field_sds(layout, state);
    const Expansion expansion = model.expand(state.mean, Order::hessian);
    const Matrix hessian = SparseMatrix(expansion.hessian.selfadjointView<Eigen::Lower>());
    const double noise = 1e-13 * expansion.magnitude / options.step;

    for (Index i = 0; i < layout.size(); ++i) {
        if (!(sds[i] > 0.0)) continue;
        const double step = options.step * sds[i];
        const double slope = detail::difference(
            state.mean, i, step, [&](const Vector& mean) { return model.expand(mean, Order::value).value; });
        // In units of the statistics' sds all entries are comparable.
        const double size = std::abs(slope) * sds[i];
        report.expect_near("gradient", layout.statistic_name(i), expansion.gradient[i], slope,
                           (options.tolerance * (1.0 + size) + noise) / sds[i]);
        const Vector column = detail::difference(
            state.mean, i, step, [&](const Vector& mean) { return model.expand(mean, Order::gradient).gradient; });
        for (Index j = 0; j < layout.size(); ++j) {
            const double scale = sds[i] * sds[j];
            const double gradient_noise = 1e-13 * std::abs(expansion.gradient[j]) * sds[j] / options.step;
            const double allowed = options.tolerance * (1.0 + std::abs(column[j]) * scale) + gradient_noise;
            if (!(scale > 0.0)) continue;
            report.expect_near("Hessian", layout.statistic_name(i) + " and " + layout.statistic_name(j), hessian(i, j),
                               column[j], allowed / scale);
        }
    }

    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        State alone = state;
        alone.clamped.assign(alone.clamped.size(), true);
        alone.clamped[static_cast<std::size_t>(j)] = false;
        model.sweep(alone);
        const Vector update = layout.segment(alone.natural, j) - layout.segment(expansion.gradient, j);
        report.expect_near("sweep", "distance of the natural parameter of " + layout[j].name + " from the gradient",
                           update.norm(), 0.0,
                           options.tolerance * (1.0 + layout.segment(expansion.gradient, j).norm()));
    }
    State swept = state;
    model.sweep(swept);
    const double before = detail::bound(model, state);
    const double after = detail::bound(model, swept);
    if (!(after >= before - 1e-12 * (std::abs(before) + expansion.magnitude))) {
        report.fail("sweep", "the bound falls from " + std::to_string(before) + " to " + std::to_string(after));
    }
    return report;
}

}  // namespace lrvb::testing
