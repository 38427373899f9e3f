#include "likelihood/row_likelihood.hpp"

#include <lrvb/likelihood/likelihood.hpp>
#include <lrvb/lrvb.hpp>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// What every likelihood promises, for all that the registry has and each of their links. Expectations are compared with
// adaptive quadrature, derivatives with differences, draws with the distribution function.
namespace lrvb {
namespace {

using detail::LikelihoodTerms;
using detail::RowLikelihood;

/// A likelihood, responses that it can have, and two values of its parameters.
struct Case {
    std::shared_ptr<const Likelihood> likelihood;
    LikelihoodRows rows;
    std::vector<Vector> thetas;

    std::string name() const { return std::string(likelihood->name()) + " " + std::string(likelihood->link().name); }
};

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const std::string& name : Likelihood::names()) {
        for (const std::string_view link : Likelihood::named(name)->links()) {
            Case one{Likelihood::named(name, link), {}, {}};
            const Likelihood& likelihood = *one.likelihood;
            one.rows.y = Vector{{0.0, 1.0, 1.0, 0.0}};
            if (likelihood.has_trials() && !likelihood.has_one_trial()) {
                one.rows.y = Vector{{0.0, 2.0, 5.0, 3.0}};
                one.rows.trials = Vector{{4.0, 7.0, 5.0, 3.0}};
            } else if (likelihood.is_discrete() && !likelihood.has_trials()) {
                one.rows.y = Vector{{0.0, 1.0, 7.0, 40.0}};
            } else if (likelihood.has_sigma()) {
                one.rows.y = Vector{{-1.2, 0.1, 3.0, 9.0}};
                one.rows.precisions = Vector{{1.0, 2.5, 0.4, 1.0}};
            }
            one.rows.offset = Vector{{0.0, 0.3, -0.5, 1.0}};
            one.rows.weights = Vector{{1.0, 2.0, 1.0, 0.5}};
            for (const double size : {0.4, 1.7}) {
                Vector theta = Vector::Constant(likelihood.parameter_count(), size);
                const Index first = likelihood.has_sigma() ? 1 : 0;
                for (std::size_t i = 0; i < likelihood.parameters().size(); ++i) {
                    theta[first + static_cast<Index>(i)] += likelihood.parameters()[i].lower;
                }
                one.thetas.push_back(theta);
            }
            cases.push_back(std::move(one));
        }
    }
    return cases;
}

const Vector kMeans{{-0.8, 0.4, 1.1, 0.2}};
const Vector kVariances{{0.05, 0.6, 2.0, 0.0}};

double log_likelihood(const RowLikelihood& rows, Index row, double predictor, const Vector& theta) {
    return rows.log_likelihoods(row, Vector{{predictor}}, theta)[0];
}

// By pieces of one sd, from −10 to 10 sds.
double expectation(const std::function<double(double)>& function, double mean, double variance) {
    if (variance == 0.0) return function(mean);
    const double sd = std::sqrt(variance);
    double sum = 0.0;
    for (int piece = -10; piece < 10; ++piece) {
        sum += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(
            [&](double z) {
                return function(mean + sd * z) * std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
            },
            piece, piece + 1, 5, 1e-14);
    }
    return sum;
}

double difference(const std::function<double(double)>& function, double step) {
    return (8.0 * (function(step) - function(-step)) - (function(2.0 * step) - function(-2.0 * step))) / (12.0 * step);
}

TEST(Likelihood, ExpectationsAreThoseOfTheLogLikelihood) {
    for (const Case& one : all_cases()) {
        const std::shared_ptr<const RowLikelihood> rows = one.likelihood->rows(one.rows);
        for (const Vector& theta : one.thetas) {
            LikelihoodTerms terms;
            rows->terms(kMeans, kVariances, theta, 1, terms);
            for (Index n = 0; n < 4; ++n) {
                const double expected =
                    one.rows.weights[n] * expectation([&](double eta) { return log_likelihood(*rows, n, eta, theta); },
                                                      kMeans[n], kVariances[n]);
                EXPECT_NEAR(terms.value[n], expected, 1e-9 * (1.0 + std::abs(expected))) << one.name() << " row " << n;
            }
        }
    }
}

TEST(Likelihood, DerivativesOfExpectationsAreDifferencesOfThem) {
    for (const Case& one : all_cases()) {
        const std::shared_ptr<const RowLikelihood> rows = one.likelihood->rows(one.rows);
        for (const Vector& theta : one.thetas) {
            const auto at = [&](double by_mean, double by_variance) {
                LikelihoodTerms terms;
                rows->terms(kMeans.array() + by_mean, kVariances.array() + 0.1 + by_variance, theta, 1, terms);
                return terms;
            };
            const LikelihoodTerms here = at(0.0, 0.0);
            const auto slope = [&](Vector LikelihoodTerms::*order, bool by_mean, Index n) {
                return difference(
                    [&](double step) { return (at(by_mean ? step : 0.0, by_mean ? 0.0 : step).*order)[n]; }, 1e-3);
            };
            for (Index n = 0; n < 4; ++n) {
                const auto near = [&](double found, double expected) {
                    EXPECT_NEAR(found, expected, 1e-7 * (1.0 + std::abs(expected))) << one.name() << " row " << n;
                };
                near(here.first[n], slope(&LikelihoodTerms::value, true, n));
                near(here.second[n], slope(&LikelihoodTerms::first, true, n));
                near(here.third[n], slope(&LikelihoodTerms::second, true, n));
                near(here.fourth[n], slope(&LikelihoodTerms::third, true, n));
                near(0.5 * here.second[n], slope(&LikelihoodTerms::value, false, n));
                if (one.likelihood->is_log_concave()) {
                    EXPECT_LE(here.second[n], 0.0) << one.name();
                }
            }
        }
    }
}

// In log σ, and in the other parameters themselves.
TEST(Likelihood, GradientsInParametersAreDifferences) {
    for (const Case& one : all_cases()) {
        const std::shared_ptr<const RowLikelihood> rows = one.likelihood->rows(one.rows);
        for (const Vector& theta : one.thetas) {
            const auto total = [&](const Vector& at) {
                LikelihoodTerms terms;
                rows->terms(kMeans, kVariances, at, 1, terms);
                return terms.value.sum();
            };
            LikelihoodTerms terms;
            rows->terms(kMeans, kVariances, theta, 1, terms);
            const Vector gradient = rows->parameter_gradient(kMeans, kVariances, theta, terms);
            ASSERT_EQ(gradient.size(), theta.size());
            for (Index j = 0; j < theta.size(); ++j) {
                const bool is_sigma = j == 0 && one.likelihood->has_sigma();
                const double slope = difference(
                    [&](double step) {
                        Vector moved = theta;
                        moved[j] = is_sigma ? theta[j] * std::exp(step) : theta[j] + step;
                        return total(moved);
                    },
                    1e-3);
                EXPECT_NEAR(gradient[j], slope, 1e-7 * (1.0 + std::abs(slope))) << one.name() << " parameter " << j;
            }
        }
    }
}

// Probabilities of counts add up to the distribution function, and its slope is the density of other responses.
TEST(Likelihood, TheDistributionFunctionIsThatOfTheLogLikelihood) {
    for (const Case& one : all_cases()) {
        for (const Vector& theta : one.thetas) {
            for (const double eta : {-1.0, 0.3, 2.0}) {
                const auto density = [&](double y) {
                    LikelihoodRows single;
                    single.y = Vector{{y}};
                    return std::exp(one.likelihood->rows(single)->log_likelihoods(0, Vector{{eta}}, theta)[0]);
                };
                if (one.likelihood->is_discrete()) {
                    const int most = one.likelihood->has_trials() ? 1 : 12;
                    double sum = 0.0;
                    for (int y = 0; y <= most; ++y) {
                        sum += density(y);
                        EXPECT_NEAR(one.likelihood->cdf(y, eta, theta), sum, 1e-12) << one.name() << " " << y;
                    }
                    EXPECT_EQ(one.likelihood->cdf(-1.0, eta, theta), 0.0) << one.name();
                } else {
                    for (const double y : {0.2, 1.4, 6.0}) {
                        const double slope =
                            difference([&](double step) { return one.likelihood->cdf(y + step, eta, theta); }, 1e-3);
                        EXPECT_NEAR(density(y), slope, 1e-8) << one.name() << " " << y;
                    }
                }
            }
        }
    }
}

// Of 40,000 draws, with five Monte Carlo errors.
TEST(Likelihood, DrawsHaveItsMeanVarianceAndDistribution) {
    constexpr int kDraws = 40000;
    for (const Case& one : all_cases()) {
        const Likelihood& likelihood = *one.likelihood;
        const Vector& theta = one.thetas.front();
        LikelihoodRows single;
        single.y = Vector{{1.0}};
        const std::shared_ptr<const RowLikelihood> rows = likelihood.rows(single);
        const double eta = 0.7;
        const double mean = likelihood.mean(eta);
        const double variance = likelihood.variance(theta).at(mean);
        Random random(5);
        double sum = 0.0;
        double squares = 0.0;
        double fourth = 0.0;
        double below = 0.0;
        const double middle = std::floor(mean);
        for (int i = 0; i < kDraws; ++i) {
            const double y = rows->draw(0, eta, theta, random);
            sum += y - mean;
            squares += std::pow(y - mean, 2);
            fourth += std::pow(y - mean, 4);
            below += y <= middle ? 1.0 : 0.0;
        }
        const double share = likelihood.cdf(middle, eta, theta);
        EXPECT_NEAR(below / kDraws, share, 5.0 * std::sqrt(0.25 / kDraws)) << one.name();
        if (!std::isfinite(variance)) continue;
        EXPECT_NEAR(sum / kDraws, 0.0, 5.0 * std::sqrt(variance / kDraws)) << one.name();
        const double of_squares = fourth / kDraws - std::pow(squares / kDraws, 2);
        EXPECT_NEAR(squares / kDraws, variance, 5.0 * std::sqrt(of_squares / kDraws)) << one.name();
    }
}

TEST(Likelihood, ChangesWithTheResponseAreDerivativesInThePredictor) {
    for (const Case& one : all_cases()) {
        const std::shared_ptr<const RowLikelihood> rows = one.likelihood->rows(one.rows);
        const Vector& theta = one.thetas.front();
        const Vector variances = kVariances.array() + 0.1;
        const auto at = [&](double step) { return rows->by_response(kMeans.array() + step, variances, theta, 1); };
        const RowLikelihood::RowSlopes here = at(0.0);
        for (Index n = 0; n < 4; ++n) {
            const auto value = [&](double step) { return at(step).value[n]; };
            const auto by_mean = [&](double step) { return at(step).by_mean[n]; };
            EXPECT_NEAR(here.by_mean[n], difference(value, 1e-3), 1e-7) << one.name();
            EXPECT_NEAR(2.0 * here.by_variance[n], difference(by_mean, 1e-3), 1e-7) << one.name();
        }
    }
}

// As 1/sqrt(phi) goes to zero, with Poisson's as the limit.
TEST(Likelihood, ANegativeBinomialWithoutOverdispersionIsPoisson) {
    LikelihoodRows rows;
    rows.y = Vector{{0.0, 3.0, 25.0, 300.0}};
    const Vector means{{0.2, 1.0, 3.0, 5.7}};
    const Vector variances{{0.3, 0.1, 0.0, 0.001}};
    LikelihoodTerms poisson;
    LikelihoodTerms negative_binomial;
    Likelihood::named("poisson")->rows(rows)->terms(means, variances, {}, 1, poisson);
    const std::shared_ptr<const RowLikelihood> counts = Likelihood::named("negative_binomial")->rows(rows);
    for (const double kappa : {1e-6, 1e-9, 1e-200}) {
        counts->terms(means, variances, Vector{{kappa}}, 1, negative_binomial);
        for (Index n = 0; n < 4; ++n) {
            EXPECT_NEAR(negative_binomial.value[n], poisson.value[n], 1e-7 * (1.0 + std::abs(poisson.value[n])));
            EXPECT_NEAR(negative_binomial.first[n], poisson.first[n], 1e-6 * (1.0 + std::abs(poisson.first[n])));
        }
        EXPECT_TRUE(counts->parameter_gradient(means, variances, Vector{{kappa}}, negative_binomial).allFinite());
    }
}

TEST(Likelihood, WhatThereIsNotIsRefusedWithWhatThereIs) {
    const auto message = [](const std::function<void()>& call) {
        try {
            call();
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string family = message([] { Likelihood::named("poison"); });
    EXPECT_NE(family.find("'poison'"), std::string::npos) << family;
    EXPECT_NE(family.find("negative_binomial"), std::string::npos) << family;
    const std::string link = message([] { Likelihood::named("poisson", "logit"); });
    EXPECT_NE(link.find("'logit'"), std::string::npos) << link;
    for (const double y : {-1.0, 0.5}) {
        for (const char* name : {"poisson", "negative_binomial"}) {
            EXPECT_TRUE(Likelihood::named(name)->refusal(y, std::nullopt)) << name;
            LikelihoodRows rows;
            rows.y = Vector{{3.0, y}};
            EXPECT_NE(message([&] { Likelihood::named(name)->rows(rows); }).find("row 2"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace lrvb
