#pragma once

#include <lrvb/fit/fit.hpp>
#include <lrvb/model/builder.hpp>
#include <lrvb/model/joint_model.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

/// Models whose normal variables can be joined, as people declare them.
namespace lrvb::test {

inline std::string indexed_name(const std::string& name, Index i) {
    return name + "[" + std::to_string(i + 1) + "]";
}

/// y_ij ~ N(mu + u_i, 1/tau), u_i ~ N(0, 1/tau_u), numbers of the prior as hyperparameters.
struct OneWay {
    Index groups = 8;
    Index size = 4;
    Vector y;       // groups × size, group by group
    Vector column;  // of a slope; empty: none
    Vector prior;   // mean and precision of mu; shape and rate of tau; of tau_u

    explicit OneWay(std::uint64_t seed, Index group_count = 8, Index group_size = 4, double sd_u = 1.5)
        : groups(group_count), size(group_size), y(groups * size), prior(6) {
        Random random(seed);
        for (Index g = 0; g < groups; ++g) {
            const double u = sd_u * random.normal();
            for (Index i = 0; i < size; ++i) y[g * size + i] = 3.0 + u + random.normal();
        }
        prior << 0.0, 0.01, 2.0, 1.0, 2.0, 1.5;
    }

    MultilinearModel base() const { return base(prior); }
    MultilinearModel base(const Vector& alpha) const {
        ModelBuilder builder;
        const auto number = [&](const char* name, Index i) { return builder.hyperparameter(name, alpha[i]); };
        const auto mean = number("mu: mean", 0);
        const auto precision = number("mu: precision", 1);
        const auto shape = number("tau: shape", 2);
        const auto rate = number("tau: rate", 3);
        const auto shape_u = number("tau_u: shape", 4);
        const auto rate_u = number("tau_u: rate", 5);
        const auto mu = builder.add("mu", normal(mean, precision));
        const auto tau = builder.add("tau", gamma(shape, rate));
        const auto tau_u = builder.add("tau_u", gamma(shape_u, rate_u));
        std::vector<Expression> slope;
        if (column.size() > 0) slope.push_back(builder.add("beta", normal(0.0, 0.25)));
        const Rows rows = builder.rows("rows", y.size());
        for (Index g = 0; g < groups; ++g) {
            const auto u = builder.add(indexed_name("u", g), normal(0.0, tau_u));
            for (Index i = 0; i < size; ++i) {
                const Index n = g * size + i;
                Expression predictor = Expression(mu) + u;
                if (!slope.empty()) predictor += column[n] * slope.front();
                builder.observe(y[n], normal(predictor, tau), rows[n]);
            }
        }
        return builder.build();
    }
};

/// Growth curves with separate precisions, as BUGS' "rats": y_ij ~ N(alpha_i + beta_i x_j, 1/tau_c), alpha_i ~
/// N(alpha_c, 1/tau_alpha), beta_i ~ N(beta_c, 1/tau_beta).
struct GrowthCurves {
    Index groups = 30;
    Vector times = Vector::LinSpaced(5, -14.0, 14.0);
    Matrix y;

    explicit GrowthCurves(std::uint64_t seed, Index group_count = 30) : groups(group_count), y(groups, 5) {
        Random random(seed);
        for (Index g = 0; g < groups; ++g) {
            const double alpha = 242.0 + 14.0 * random.normal();
            const double beta = 6.2 + 0.5 * random.normal();
            for (Index j = 0; j < 5; ++j) y(g, j) = alpha + beta * times[j] + 6.0 * random.normal();
        }
    }

    MultilinearModel base(double shape = 0.001) const {
        ModelBuilder builder;
        const auto alpha_c = builder.add("alpha_c", normal(0.0, 1e-6));
        const auto beta_c = builder.add("beta_c", normal(0.0, 1e-6));
        const auto tau_c = builder.add("tau_c", gamma(shape, shape));
        const auto tau_alpha = builder.add("tau_alpha", gamma(shape, shape));
        const auto tau_beta = builder.add("tau_beta", gamma(shape, shape));
        const Rows rows = builder.rows("rows", y.size());
        for (Index g = 0; g < groups; ++g) {
            const auto alpha = builder.add(indexed_name("alpha", g), normal(alpha_c, tau_alpha));
            const auto beta = builder.add(indexed_name("beta", g), normal(beta_c, tau_beta));
            for (Index j = 0; j < 5; ++j) {
                builder.observe(y(g, j), normal(alpha + times[j] * beta, tau_c), rows[g * 5 + j]);
            }
        }
        return builder.build();
    }
};

/// The same with half-t priors on the two sds, their scales as hyperparameters.
inline MultilinearModel one_way_with_scales(const OneWay& data, const Vector& scales) {
    ModelBuilder builder;
    const auto own = builder.hyperparameter("sigma: scale", scales[0]);
    const auto between = builder.hyperparameter("sigma_u: scale", scales[1]);
    const auto mu = builder.add("mu", normal(0.0, 0.01));
    const auto tau = builder.add("tau", precision(half_t(3.0, own)));
    const auto tau_u = builder.add("tau_u", precision(half_t(3.0, between)));
    const Rows rows = builder.rows("rows", data.y.size());
    for (Index g = 0; g < data.groups; ++g) {
        const auto u = builder.add(indexed_name("u", g), normal(0.0, tau_u));
        for (Index i = 0; i < data.size; ++i) {
            const Index n = g * data.size + i;
            builder.observe(data.y[n], normal(mu + u, tau), rows[n]);
        }
    }
    return builder.build();
}

/// Two crossed factors.
inline MultilinearModel crossed_base(std::uint64_t seed) {
    Random random(seed);
    const Index first = 5;
    const Index second = 4;
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.01));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const auto tau_a = builder.add("tau_a", gamma(2.0, 2.0));
    const auto tau_b = builder.add("tau_b", gamma(2.0, 2.0));
    std::vector<Variable<family::Normal>> a;
    std::vector<Variable<family::Normal>> b;
    for (Index i = 0; i < first; ++i) a.push_back(builder.add(indexed_name("a", i), normal(0.0, tau_a)));
    for (Index i = 0; i < second; ++i) b.push_back(builder.add(indexed_name("b", i), normal(0.0, tau_b)));
    const Rows rows = builder.rows("rows", 2 * first * second);
    Index n = 0;
    for (const auto& row : a) {
        for (const auto& column : b) {
            for (int twice = 0; twice < 2; ++twice, ++n) {
                builder.observe(2.0 + 1.3 * random.normal(), normal(mu + row + column, tau), rows[n]);
            }
        }
    }
    return builder.build();
}

/// Intercepts and slopes of groups with a Wishart precision about a mean vector.
inline MultilinearModel wishart_base(std::uint64_t seed, Index groups = 7) {
    Random random(seed);
    ModelBuilder builder;
    const auto mu = builder.add("mu", mv_normal(Vector::Zero(2), 0.01 * Matrix::Identity(2, 2)));
    const auto lambda = builder.add("lambda", wishart(4.0, Matrix::Identity(2, 2)));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const Rows rows = builder.rows("rows", groups * 4);
    for (Index g = 0; g < groups; ++g) {
        const auto b = builder.add(indexed_name("b", g), mv_normal(mu, lambda));
        const double own = random.normal();
        const double slope = 0.5 + 0.7 * random.normal();
        for (Index i = 0; i < 4; ++i) {
            const double x = static_cast<double>(i) - 1.5;
            builder.observe(own + slope * x + 0.8 * random.normal(), normal(b[0] + x * b[1], tau), rows[g * 4 + i]);
        }
    }
    return builder.build();
}

/// A regression with Student errors, as weights of rows: y_n ~ N(a + b x_n, 1/(tau w_n)), w_n ~ Gamma(2, 2).
inline MultilinearModel student_base(std::uint64_t seed, Index count = 25) {
    Random random(seed);
    ModelBuilder builder;
    const auto a = builder.add("a", normal(0.0, 0.01));
    const auto b = builder.add("b", normal(0.0, 0.01));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const Rows rows = builder.rows("rows", count);
    for (Index n = 0; n < count; ++n) {
        const auto w = builder.add(indexed_name("w", n), gamma(2.0, 2.0));
        const double x = random.normal();
        const double wild = n % 9 == 0 ? 4.0 : 0.7;
        builder.observe(1.0 + 0.5 * x + wild * random.normal(), normal(a + x * b, tau * w), rows[n]);
    }
    return builder.build();
}

/// Rows under a link with a random effect a group: η_n = a + b x_n + u_g, u_g ~ N(0, 1/tau).
struct Grouped {
    std::shared_ptr<const Likelihood> likelihood;
    Index groups = 8;
    Index size = 4;
    double trials = 1.0;
    Vector y, x;

    /// By the name of a link: of binomial rows, or the logarithm of Poisson ones.
    Grouped(const std::string& link, std::uint64_t seed, Index group_count = 8, Index group_size = 4,
            double trial_count = 1.0, double sd = 1.0)
        : likelihood(Likelihood::named(link == "log" ? "poisson" : "binomial", link)),
          groups(group_count),
          size(group_size),
          trials(trial_count),
          y(groups * size),
          x(groups * size) {
        Random random(seed);
        for (Index g = 0; g < groups; ++g) {
            const double u = sd * random.normal();
            for (Index i = 0; i < size; ++i) {
                const Index n = g * size + i;
                x[n] = random.normal();
                const double eta = 0.3 + 0.8 * x[n] + u;
                y[n] = 0.0;
                if (link == "log") {
                    // Arrivals within one unit of time.
                    for (double time = -std::log(random.uniform()); time < std::exp(eta);
                         time -= std::log(random.uniform())) {
                        y[n] += 1.0;
                    }
                    continue;
                }
                double p = 1.0 / (1.0 + std::exp(-eta));
                if (link == "probit") p = 0.5 * std::erfc(-eta / std::numbers::sqrt2);
                if (link == "cloglog") p = 1.0 - std::exp(-std::exp(eta));
                for (double trial = 0.0; trial < trials; trial += 1.0) y[n] += random.uniform() < p ? 1.0 : 0.0;
            }
        }
    }

    JointModel model() const { return model(Vector{{2.0, 1.0, 0.1}}); }
    /// Shape and rate of tau, precision of a.
    JointModel model(const Vector& prior) const {
        ModelBuilder builder;
        const auto shape = builder.hyperparameter("tau: shape", prior[0]);
        const auto rate = builder.hyperparameter("tau: rate", prior[1]);
        const auto precision = builder.hyperparameter("a: precision", prior[2]);
        const auto tau = builder.add("tau", gamma(shape, rate));
        const auto a = builder.add("a", normal(0.5, precision));
        const auto b = builder.add("b", normal(0.0, 0.25));
        const Rows rows = builder.rows("rows", y.size());
        PredictorRows under;
        under.likelihood = likelihood;
        under.y = y;
        if (trials != 1.0) under.trials = Vector::Constant(y.size(), trials);
        under.rows = rows;
        for (Index g = 0; g < groups; ++g) {
            const auto u = builder.add(indexed_name("u", g), normal(0.0, tau));
            for (Index i = 0; i < size; ++i) under.predictors.push_back(a + x[g * size + i] * b + u);
        }
        return JointModel(builder.build(), {under});
    }
};

}  // namespace lrvb::test
