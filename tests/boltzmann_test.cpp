// A Boltzmann machine of 10 units, against full enumeration of its 1,024 states: the error of the linear-response
// covariance falls at a higher order in the coupling strength than that of mean field (Kappen & Rodríguez 1998).

#include "support.hpp"

#include <lrvb/testing/response_battery.hpp>

#include <fmt/format.h>

namespace lrvb {
namespace {

constexpr Index kUnits = 10;

struct Machine {
    Vector bias;
    Matrix coupling;  // symmetric, zero diagonal, at strength one
};

Machine random_machine(std::uint64_t seed) {
    Random random(seed);
    Matrix coupling = test::random_matrix(kUnits, kUnits, random);
    coupling = Matrix(0.5 * (coupling + coupling.transpose()));
    coupling.diagonal().setZero();
    return {test::random_matrix(kUnits, 1, random), coupling};
}

MultilinearModel machine_model(const Machine& machine, double strength) {
    ModelBuilder builder;
    const Hyperparameter scale = builder.hyperparameter("strength", strength);
    std::vector<Variable<family::Bernoulli>> units;
    for (Index i = 0; i < kUnits; ++i)
        units.push_back(builder.add(fmt::format("s[{}]", i + 1), flat(family::Bernoulli{})));
    for (Index i = 0; i < kUnits; ++i) {
        const auto row = static_cast<std::size_t>(i);
        builder.add_term(machine.bias[i] * Expression(units[row]));
        for (Index j = 0; j < i; ++j) {
            builder.add_term(machine.coupling(i, j) * Expression(scale) * units[row] *
                             units[static_cast<std::size_t>(j)]);
        }
    }
    return builder.build();
}

Matrix exact_covariance(const Machine& machine, double strength) {
    double mass = 0.0;
    Vector first = Vector::Zero(kUnits);
    Matrix second = Matrix::Zero(kUnits, kUnits);
    for (unsigned state = 0; state < (1U << kUnits); ++state) {
        Vector s(kUnits);
        for (Index i = 0; i < kUnits; ++i) s[i] = (state >> static_cast<unsigned>(i)) & 1U;
        const double weight = std::exp(machine.bias.dot(s) + 0.5 * strength * s.dot(machine.coupling * s));
        mass += weight;
        first += weight * s;
        second += weight * s * s.transpose();
    }
    first /= mass;
    return second / mass - first * first.transpose();
}

// Least-squares slope of log error on log strength.
double slope(const std::vector<double>& strengths, const std::vector<double>& errors) {
    const Index n = static_cast<Index>(strengths.size());
    const Vector x = Eigen::Map<const Vector>(strengths.data(), n).array().log();
    const Vector y = Eigen::Map<const Vector>(errors.data(), n).array().log();
    const Vector centred = x.array() - x.mean();
    return centred.dot(y) / centred.squaredNorm();
}

TEST(Boltzmann, CovarianceErrorFallsAtAHigherOrderThanMeanField) {
    const std::vector<double> strengths{0.005, 0.01, 0.02, 0.04, 0.08};
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Machine machine = random_machine(seed);
        std::vector<double> mean_field_errors;
        std::vector<double> response_errors;
        for (const double strength : strengths) {
            const MultilinearModel model = machine_model(machine, strength);
            const Optimum optimum = fit(model);
            ASSERT_TRUE(optimum.converged()) << optimum.message;
            const LinearResponse response(model, optimum);
            std::vector<Index> all;
            for (Index s = 0; s < kUnits; ++s) all.push_back(s);
            const Matrix exact = exact_covariance(machine, strength);
            mean_field_errors.push_back((response.mean_field_covariance(all) - exact).norm());
            response_errors.push_back((response.covariance(all) - exact).norm());
        }
        const double mean_field_slope = slope(strengths, mean_field_errors);
        const double response_slope = slope(strengths, response_errors);
        fmt::print(
            "machine {}: order of the error in the coupling: mean field {:.3f}, linear response {:.3f}; at strength "
            "{}: {:.2e} and {:.2e}\n",
            seed, mean_field_slope, response_slope, strengths.back(), mean_field_errors.back(), response_errors.back());
        EXPECT_NEAR(mean_field_slope, 1.0, 0.1);
        EXPECT_GT(response_slope, 1.8);
    }
}

TEST(Boltzmann, ResponseEqualsRefit) {
    const Machine machine = random_machine(4);
    std::vector<Index> all;
    for (Index s = 0; s < kUnits; ++s) all.push_back(s);
    const testing::Report covariance = testing::check_covariance(machine_model(machine, 0.3), all);
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    const testing::Report sensitivity = testing::check_sensitivity(
        [&](const Vector& alpha) { return machine_model(machine, alpha[0]); }, Vector{{0.3}});
    EXPECT_TRUE(sensitivity.passed()) << sensitivity.text();
}

}  // namespace
}  // namespace lrvb
