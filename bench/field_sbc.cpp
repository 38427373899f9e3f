// Simulation-based calibration of the integral over variance parameters (Talts et al. 2018; sbc.cpp has the method):
// for y ~ x + (1 | g) with normal, binomial and Poisson rows, parameters are drawn from the prior and data from these,
// and the true values are ranked among draws of the posterior that `lrvb fit --exact` reports. The prior is the default
// one at s = 1 (that itself looks at the data, which no calibration can follow): sds ~ half_t(2, 1), of counts
// half_t(2, 0.3). Its tail still makes counts that a fit refuses, beyond 1e12: such data are drawn again, which keeps
// ranks uniform, as they are so given the data.
//
// usage: field_sbc [REPLICATES [SEED]]      (default 200 1)
//
// Fails where a p-value, times the number of tests in the table (Bonferroni), is below 0.001.

#include "ranks.hpp"
#include "sample/resampling.hpp"

#include <lrvb/lrvb.hpp>
#include <lrvb/sample/field_integral.hpp>
#include <lrvb/sample/pareto.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace lrvb;

constexpr int kGroups = 10;
constexpr int kRowsAGroup = 4;
constexpr Index kDraws = 400;
constexpr double kLargestCount = 1e12;
constexpr std::uint64_t kNextTry = 1000000;  // numbers apart

double half_t2(double scale, Random& random) {
    // t with two degrees of freedom: a normal over the root of an exponential's.
    return scale * std::abs(random.normal()) / std::sqrt(-std::log(random.uniform()));
}

double poisson_draw(double mean, Random& random) {
    if (mean > 1e4) return std::max(0.0, std::round(mean + std::sqrt(mean) * random.normal()));
    double count = 0.0;
    for (double time = -std::log(random.uniform()); time < mean; time -= std::log(random.uniform())) count += 1.0;
    return count;
}

struct Study {
    std::string name;  // of the family
    double scale;
};

/// The ranks of intercept, slope, sd, the first effect and, of normal rows, σ.
std::vector<Index> replicate(const Study& study, std::uint64_t seed, std::uint64_t number) {
    Random random(seed, number);
    FieldPrior prior;
    prior.intercept_mean = 0.0;
    prior.intercept_sd = study.name == "poisson" ? 1.0 : 2.5;
    prior.mean = Vector::Zero(1);
    prior.sd = Vector::Constant(1, study.name == "poisson" ? 0.5 : 2.5);
    prior.sigma = ScalePrior::half_t(2.0, 1.0);
    prior.factors = {{{ScalePrior::half_t(2.0, study.scale)}, true}};
    prior.centre = Vector::Zero(1);
    const double intercept = prior.intercept_mean + prior.intercept_sd * random.normal();
    const double slope = prior.sd[0] * random.normal();
    const double sd = half_t2(study.scale, random);
    const double sigma = half_t2(1.0, random);

    FieldData data;
    data.likelihood = Likelihood::named(study.name);
    data.names = {"x"};
    const Index rows = kGroups * kRowsAGroup;
    data.columns.resize(rows, 1);
    data.y.resize(rows);
    if (study.name == "binomial") data.trials = Vector::Constant(rows, 3.0);
    FieldFactor factor{"g", {}, {"intercept"}, {}, Matrix::Ones(rows, 1)};
    Vector u(kGroups);
    for (int g = 0; g < kGroups; ++g) {
        factor.levels.push_back(fmt::format("{}", g + 1));
        u[g] = sd * random.normal();
    }
    for (Index n = 0; n < rows; ++n) {
        const int g = static_cast<int>(n) / kRowsAGroup;
        factor.level.push_back(g);
        const double x = random.normal();
        data.columns(n, 0) = x;
        const double eta = intercept + slope * x + u[g];
        if (study.name == "gaussian") data.y[n] = eta + sigma * random.normal();
        if (study.name == "poisson") data.y[n] = poisson_draw(std::exp(eta), random);
        if (study.name == "binomial") {
            data.y[n] = 0.0;
            for (int t = 0; t < 3; ++t) data.y[n] += random.uniform() < 1.0 / (1.0 + std::exp(-eta)) ? 1.0 : 0.0;
        }
    }
    if (study.name == "poisson" && data.y.maxCoeff() > kLargestCount) {
        return replicate(study, seed, number + kNextTry);
    }
    data.factors.push_back(std::move(factor));
    const FieldModel model(data, prior);
    const FieldIntegral integral(model);
    const FieldDraws draws = integral.draw(kDraws, seed + number);
    std::vector<std::string> names{"intercept", "beta[x]", "log_sd[g,intercept]", "u[g,1,intercept]"};
    Vector truth{{intercept, slope, std::log(sd), u[0]}};
    if (study.name == "gaussian") {
        names.emplace_back("log_sigma");
        truth.conservativeResize(5);
        truth[4] = std::log(sigma);
    }
    const Functionals::Resolved resolved = model.in_data_units(names).resolve(model.layout());
    Matrix values = resolved.weights.transpose() * draws.statistics;
    values.colwise() += resolved.constants;
    // Places of draws go along ψ, so that some of them are taken at random.
    std::vector<Index> chosen = detail::resampled(weights_of(draws.log_weights), kDraws, random.uniform());
    for (std::size_t i = chosen.size(); i-- > 1;) {
        std::swap(chosen[i], chosen[static_cast<std::size_t>(random.uniform() * static_cast<double>(i + 1))]);
    }
    std::vector<Index> ranks(names.size(), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(bench::kRanked); ++i) {
        for (std::size_t q = 0; q < ranks.size(); ++q) {
            const auto at = static_cast<Index>(q);
            ranks[q] += values(at, chosen[i]) < truth[at] ? 1 : 0;
        }
    }
    return ranks;
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const std::vector<Study> studies{{"gaussian", 1.0}, {"binomial", 1.0}, {"poisson", 0.3}};
    std::vector<bench::RankTest> tests;
    for (const Study& study : studies) {
        std::vector<std::vector<Index>> ranks;
        for (std::size_t i = 1; i <= count; ++i) ranks.push_back(replicate(study, seed, i));
        const std::vector<std::string> quantities{"intercept", "beta[x]", "sd[g]", "u[g,1]", "sigma"};
        for (std::size_t q = 0; q < ranks.front().size(); ++q) {
            std::vector<Index> own;
            for (const std::vector<Index>& one : ranks) own.push_back(one[q]);
            tests.push_back(bench::tested(study.name, quantities[q], own));
        }
        std::fflush(stdout);
    }
    return bench::judged(tests) ? EXIT_SUCCESS : EXIT_FAILURE;
}
