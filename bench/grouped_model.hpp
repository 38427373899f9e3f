#pragma once

#include <lrvb/lrvb.hpp>

#include <cmath>
#include <string>
#include <vector>

/// A one-way layout, y = group effect + noise, of any size: for the benchmark and the test of scale.
namespace lrvb::bench {

struct GroupedData {
    Vector y;
    SparseMatrix design;  // one 1 a row, in the column of its group
};

/// Group effects from Normal(1, precision 4), noise of precision 1, equally many rows in each group.
inline GroupedData simulate_groups(Index groups, Index rows_per_group, std::uint64_t seed) {
    Random random(seed);
    const Index rows = groups * rows_per_group;
    GroupedData data{Vector(rows), SparseMatrix(rows, groups)};
    data.design.reserve(Eigen::VectorXi::Constant(groups, static_cast<int>(rows_per_group)));
    for (Index g = 0; g < groups; ++g) {
        const double effect = 1.0 + 0.5 * random.normal();
        for (Index i = 0; i < rows_per_group; ++i) {
            const Index n = g * rows_per_group + i;
            data.y[n] = effect + random.normal();
            data.design.insert(n, g) = 1.0;
        }
    }
    data.design.makeCompressed();
    return data;
}

struct Grouped {
    MultilinearModel model;
    Variable<family::Normal> mu;
    Variable<family::Gamma> tau_group;
    Variable<family::Gamma> tau;
    Index first_group;
};

inline Grouped grouped_model(const GroupedData& data) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.01));
    const auto tau_group = builder.add("tau_group", gamma(2.0, 1.0));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    std::vector<Variable<family::Normal>> effects;
    for (Index g = 0; g < data.design.cols(); ++g) {
        effects.push_back(builder.add("effect[" + std::to_string(g + 1) + "]", normal(mu, tau_group)));
    }
    builder.observe_linear(data.y, data.design, effects, tau);
    return {builder.build(), mu, tau_group, tau, effects.front().index()};
}

}  // namespace lrvb::bench
