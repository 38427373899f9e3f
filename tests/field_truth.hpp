#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/model/field.hpp>
#include <lrvb/sample/importance.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

/// Exact posteriors of fields with rows that are not normal, by nothing that the library knows of them: each u_g of a
/// single factor (1 | g) integrated by a trapezoid rule of 121 points, importance sampling over the fixed effects and
/// log sd. Without factors there is nothing to integrate.
namespace lrvb::test {

inline double log_likelihood(const FieldData& data, Index n, double eta) {
    const double y = data.y[n];
    if (data.likelihood->name() == "poisson") return y * eta - std::exp(eta) - (y > 1.0 ? std::lgamma(y + 1.0) : 0.0);
    const double t = data.trials.size() > 0 ? data.trials[n] : 1.0;
    const double ways = t > 1.0 ? std::lgamma(t + 1.0) - std::lgamma(y + 1.0) - std::lgamma(t - y + 1.0) : 0.0;
    double success = 0.0;
    double failure = 0.0;
    if (data.likelihood->link().name == "logit") {
        success = eta > 0.0 ? -std::log1p(std::exp(-eta)) : eta - std::log1p(std::exp(eta));
        failure = success - eta;
    } else if (data.likelihood->link().name == "probit") {
        success = std::log(std::max(1e-300, 0.5 * std::erfc(-eta / std::numbers::sqrt2)));
        failure = std::log(std::max(1e-300, 0.5 * std::erfc(eta / std::numbers::sqrt2)));
    } else {
        success = std::log(std::max(1e-300, -std::expm1(-std::exp(eta))));
        failure = -std::exp(eta);
    }
    return ways + y * success + (t - y) * failure;
}

/// log p(y, α, β, log sd) with the effects of the one factor integrated out, or log p(y, α, β) without one.
class NestedDensity final : public LogDensity {
  public:
    NestedDensity(const FieldData& data, const FieldPrior& prior) : data_(data), prior_(prior) {
        if (!data.factors.empty()) groups_.resize(data.factors[0].levels.size());
        for (Index n = 0; n < data.y.size(); ++n) {
            if (!groups_.empty())
                groups_[static_cast<std::size_t>(data.factors[0].level[static_cast<std::size_t>(n)])].push_back(n);
        }
    }
    Index dimension() const override { return 1 + data_.columns.cols() + (groups_.empty() ? 0 : 1); }
    Vector evaluate(const Matrix& points, int) const override {
        Vector result(points.cols());
        for (Index c = 0; c < points.cols(); ++c) result[c] = at(points.col(c));
        return result;
    }

  private:
    static double log_normal(double x, double mean, double sd) {
        const double z = (x - mean) / sd;
        return -0.5 * z * z - std::log(sd) - 0.5 * std::log(2.0 * std::numbers::pi);
    }
    double at(const Vector& point) const {
        const Index columns = data_.columns.cols();
        Vector eta = Vector::Constant(data_.y.size(), point[0]);
        eta += (data_.columns.rowwise() - prior_.centre->transpose()) * point.segment(1, columns);
        if (data_.offset.size() > 0) eta += data_.offset;
        double sum = log_normal(point[0], prior_.intercept_mean, prior_.intercept_sd);
        for (Index j = 0; j < columns; ++j) sum += log_normal(point[1 + j], prior_.mean[j], prior_.sd[j]);
        if (groups_.empty()) {
            for (Index n = 0; n < eta.size(); ++n) sum += log_likelihood(data_, n, eta[n]);
            return sum;
        }
        const double sd = std::exp(point[columns + 1]);
        const ScalePrior& scale = prior_.factors[0].sd[0];
        const double nu = scale.first;
        const double z = sd / scale.second;
        sum += std::log(2.0) + std::lgamma(0.5 * (nu + 1.0)) - std::lgamma(0.5 * nu) -
               0.5 * std::log(nu * std::numbers::pi) - std::log(scale.second) -
               0.5 * (nu + 1.0) * std::log1p(z * z / nu) + point[columns + 1];
        constexpr int kHalf = 60;
        constexpr double kStep = 0.125;
        for (const std::vector<Index>& rows : groups_) {
            double largest = -1e300;
            double terms[2 * kHalf + 1];
            for (int k = -kHalf; k <= kHalf; ++k) {
                const double t = kStep * k;
                double log_term = -0.5 * t * t;
                for (const Index n : rows) log_term += log_likelihood(data_, n, eta[n] + sd * t);
                terms[k + kHalf] = log_term;
                largest = std::max(largest, log_term);
            }
            double total = 0.0;
            for (const double term : terms) total += std::exp(term - largest);
            sum += largest + std::log(total * kStep / std::sqrt(2.0 * std::numbers::pi));
        }
        return sum;
    }

    const FieldData& data_;
    const FieldPrior& prior_;
    std::vector<std::vector<Index>> groups_;
};

struct Truth {
    Vector mean;
    Vector sd;
    double log_evidence = 0.0;
    double ess = 0.0;
};

/// About an approximation of (α, β, log sd).
inline Truth nested_truth(const FieldData& data, const FieldPrior& prior, const NormalApproximation& about,
                          Index draws) {
    const NestedDensity density(data, prior);
    ImportanceOptions options;
    options.draws = draws;
    options.dof = 4.0;
    options.rounds = 1;
    const ImportanceSample sample = importance_sample(density, about, options);
    const NormalApproximation moments = weighted_moments(sample.points, sample.log_weights);
    return {moments.mean, moments.covariance.diagonal().cwiseSqrt(), sample.log_integral, sample.ess};
}

/// Groups of rows with one column, drawn from the model.
struct Simulated {
    std::shared_ptr<const Likelihood> likelihood = Likelihood::named("binomial");
    int groups = 40;
    int rows = 2000;
    double intercept = -0.5;
    double slope = 0.8;
    double sd = 1.0;
    std::uint64_t seed = 1;
};

inline double drawn(const FieldData& data, double eta, Random& random) {
    if (data.likelihood->name() == "poisson") {
        double count = 0.0;
        for (double product = random.uniform(), least = std::exp(-std::exp(eta)); product > least;
             product *= random.uniform()) {
            count += 1.0;
        }
        return count;
    }
    double chance = 1.0 / (1.0 + std::exp(-eta));
    if (data.likelihood->link().name == "probit") chance = 0.5 * std::erfc(-eta / std::numbers::sqrt2);
    if (data.likelihood->link().name == "cloglog") chance = -std::expm1(-std::exp(eta));
    return random.uniform() < chance ? 1.0 : 0.0;
}

inline FieldFactor factor_of(std::string name, std::vector<int> level, int levels) {
    FieldFactor factor;
    factor.name = std::move(name);
    for (int g = 0; g < levels; ++g) factor.levels.push_back(std::to_string(g + 1));
    factor.effects = {"intercept"};
    factor.values = Matrix::Ones(static_cast<Index>(level.size()), 1);
    factor.level = std::move(level);
    return factor;
}

inline FieldData simulated(const Simulated& settings) {
    Random random(settings.seed);
    FieldData data;
    data.likelihood = settings.likelihood;
    data.names = {"x"};
    data.columns.resize(settings.rows, 1);
    data.y.resize(settings.rows);
    std::vector<int> level;
    const Vector u = settings.sd * standard_normals(std::max(1, settings.groups), random);
    for (int n = 0; n < settings.rows; ++n) {
        const double x = random.normal();
        data.columns(n, 0) = x;
        double eta = settings.intercept + settings.slope * x;
        if (settings.groups > 0) {
            // Uneven groups, each with a row.
            const int g = n < settings.groups ? n : static_cast<int>(random.uniform() * settings.groups);
            level.push_back(g);
            eta += u[g];
        }
        data.y[n] = drawn(data, eta, random);
    }
    if (settings.groups > 0) data.factors = {factor_of("g", std::move(level), settings.groups)};
    return data;
}

}  // namespace lrvb::test
