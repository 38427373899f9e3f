#pragma once

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <vector>

namespace lrvb::test {

/// Crossed random effects with unknown precisions: y_ij = a_i + b_j + noise.
inline MultilinearModel crossed_model(Index rows, Index columns) {
    Random random(17);
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.01));
    const auto tau_a = builder.add("tau_a", gamma(2.0, 1.0));
    const auto tau_b = builder.add("tau_b", gamma(2.0, 1.0));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    std::vector<Variable<family::Normal>> a;
    std::vector<Variable<family::Normal>> b;
    for (Index i = 0; i < rows; ++i) a.push_back(builder.add(fmt::format("a[{}]", i + 1), normal(mu, tau_a)));
    for (Index j = 0; j < columns; ++j) b.push_back(builder.add(fmt::format("b[{}]", j + 1), normal(0.0, tau_b)));
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
            if (random.uniform() < 0.4) continue;
            const double y =
                2.0 + 0.5 * static_cast<double>(i % 3) - 0.3 * static_cast<double>(j % 4) + random.normal();
            builder.observe(y, normal(a[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)], tau));
        }
    }
    return builder.build();
}

}  // namespace lrvb::test
