#include "kind/regression/field/prediction.hpp"

#include "family/special.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace lrvb::detail {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kHermite = 21;

double normal_cdf(double z) {
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// For averages over a standard normal: nodes and weights that add up to one, by the eigenvalues of the recurrence.
struct Hermite {
    Vector nodes;
    Vector weights;
};

const Hermite& hermite() {
    static const Hermite rule = [] {
        Matrix jacobi = Matrix::Zero(kHermite, kHermite);
        for (Index i = 1; i < kHermite; ++i) {
            jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(static_cast<double>(i));
        }
        const Eigen::SelfAdjointEigenSolver<Matrix> solver(jacobi);
        return Hermite{solver.eigenvalues(), solver.eigenvectors().row(0).array().square()};
    }();
    return rule;
}

// Where an increasing function comes to p, between places that are found.
double root_of(const std::function<double(double)>& cdf, double p, double centre, double width) {
    double low = centre - width;
    double high = centre + width;
    while (cdf(low) > p) low -= 2.0 * (high - low);
    while (cdf(high) < p) high += 2.0 * (high - low);
    // False position, which halves what an end that stays misses by (Illinois).
    double at_low = cdf(low) - p;
    double at_high = cdf(high) - p;
    int stayed = 0;
    for (int i = 0; i < 200 && high - low > 1e-9 * std::max(width, 1e-6 * std::abs(centre)); ++i) {
        const double slope = at_high - at_low;
        double next = slope > 0.0 && i % 8 < 7 ? low - at_low * (high - low) / slope : 0.5 * (low + high);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        const double there = cdf(next) - p;
        if (std::abs(there) < 1e-12) return next;
        if (there < 0.0) {
            low = next;
            at_low = there;
            if (stayed < 0) at_high *= 0.5;
            stayed = -1;
        } else {
            high = next;
            at_high = there;
            if (stayed > 0) at_low *= 0.5;
            stayed = 1;
        }
    }
    return 0.5 * (low + high);
}

}  // namespace

TwoNormals two_normals(double skewness) {
    constexpr double kMostSkewed = 3.0;
    const double gamma = std::clamp(skewness, -kMostSkewed, kMostSkewed);
    if (gamma == 0.0) return {};
    double low = 0.0;
    double high = 2.0 / 3.0;  // where the left side is less than the right one for any γ
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (gamma * gamma * (1.0 / middle - 1.5) > 2.0 * middle * middle ? low : high) = middle;
    }
    const double between = 0.5 * (low + high);
    const double apart = gamma / between;  // a − b
    const double a = 0.5 * (apart + std::sqrt(apart * apart + 4.0 * between));
    const double b = a - apart;
    return {{b / (a + b), a / (a + b)}, {a, -b}, 1.0 - between};
}

/// Normals that count so much, each with the variance parameters of a node.
struct FieldPredictor::Mixture {
    double mean = 0.0;  // of all
    Vector means = {};
    Vector variances = {};
    Vector weights = {};
    std::vector<Index> node = {};

    Index node_of(Index i) const { return node[static_cast<std::size_t>(i)]; }
    double variance() const { return weights.dot(variances) + weights.dot((means.array() - mean).square().matrix()); }
    double cdf(double x) const {
        double sum = 0.0;
        for (Index i = 0; i < variances.size(); ++i) {
            sum += weights[i] * normal_cdf((x - means[i]) / std::sqrt(variances[i]));
        }
        return sum;
    }
    double quantile(double p) const {
        const double sd = std::sqrt(variance());
        if (!(sd > 0.0)) return mean;
        return root_of([&](double x) { return cdf(x); }, p, mean, 2.0 * sd);
    }
    /// E f(η, k).
    template <class Function>
    double average(Function f) const {
        double sum = 0.0;
        for (Index i = 0; i < variances.size(); ++i) {
            const double sd = std::sqrt(variances[i]);
            for (Index h = 0; h < kHermite; ++h) {
                sum += weights[i] * hermite().weights[h] * f(means[i] + sd * hermite().nodes[h], node_of(i));
            }
        }
        return sum;
    }
};

FieldPredictor::FieldPredictor(const FormulaShape& shape, const FieldVariables& variables, FieldNodes nodes)
    : shape_(shape), variables_(variables), nodes_(std::move(nodes)) {
    const Index count = nodes_.weights.size();
    sigma_ = Vector::Zero(count);
    nu_ = Vector::Constant(count, kInfinity);
    for (Index k = 0; k < count; ++k) {
        if (shape_.has_sigma()) sigma_[k] = variables_.sigma(nodes_.psi.col(k));
        if (shape_.has_nu()) nu_[k] = variables_.nu(nodes_.psi.col(k));
    }
}

// One node stands for all where nothing depends on the variance parameters.
FieldPredictor::Mixture FieldPredictor::predictor_of(const FieldRow& row, bool with_noise) const {
    const Index nodes = row.new_groups.empty() && !with_noise ? 1 : nodes_.weights.size();
    const TwoNormals shape = two_normals(row.skewness);
    const Index normals = row.skewness == 0.0 ? 1 : 2;
    const double sd = std::sqrt(row.variance);
    Mixture mixture{row.mean};
    for (Vector* own : {&mixture.means, &mixture.variances, &mixture.weights}) own->resize(nodes * normals);
    for (Index k = 0; k < nodes; ++k) {
        double of_groups = 0.0;
        for (const auto& [factor, z] : row.new_groups) {
            of_groups += z.dot(variables_.effect_covariance(factor, nodes_.psi.col(k)) * z);
        }
        for (Index j = 0; j < normals; ++j) {
            const Index at = k * normals + j;
            mixture.means[at] = row.mean + sd * shape.means[j];
            mixture.variances[at] = row.variance * shape.variance + of_groups;
            mixture.weights[at] = shape.shares[j] * (nodes == 1 ? 1.0 : nodes_.weights[k]);
            mixture.node.push_back(k);
        }
    }
    return mixture;
}

double FieldPredictor::response_at(double eta) const {
    switch (shape_.link) {
        case FieldLink::logit:
            return 1.0 / (1.0 + std::exp(-eta));
        case FieldLink::probit:
            return normal_cdf(eta);
        case FieldLink::cloglog:
            return -std::expm1(-std::exp(eta));
        case FieldLink::log:
            return std::exp(eta);
        case FieldLink::identity:
            break;
    }
    return eta;
}

FieldPrediction FieldPredictor::on_link(const Mixture& mixture, std::optional<double> level) const {
    FieldPrediction result;
    result.mean = mixture.mean;
    result.mean_sd = std::sqrt(mixture.variance());
    if (!level) return result;
    result.lower = mixture.quantile(0.5 * (1.0 - *level));
    result.upper = mixture.quantile(0.5 * (1.0 + *level));
    return result;
}

// Moments of exp(η) are sums over the nodes, of which each holds a small part where they exist.
FieldPrediction FieldPredictor::counts(const Mixture& predictor, std::optional<double> level) const {
    constexpr double kMostOfOne = 0.25;
    constexpr Index kManyNodes = 32;
    const bool is_mixed = predictor.node.back() + 1 >= kManyNodes;
    const auto moment = [&](double power) {
        Vector of_nodes = Vector::Zero(predictor.node.back() + 1);
        for (Index i = 0; i < predictor.weights.size(); ++i) {
            of_nodes[predictor.node_of(i)] +=
                predictor.weights[i] *
                std::exp(power * predictor.means[i] + 0.5 * power * power * predictor.variances[i]);
        }
        const double all = of_nodes.sum();
        return is_mixed && !(of_nodes.maxCoeff() <= kMostOfOne * all) ? kInfinity : all;
    };
    FieldPrediction result;
    result.mean = moment(1.0);
    const double square = moment(2.0);
    const double variance = std::isfinite(square) ? std::max(0.0, square - result.mean * result.mean) : kInfinity;
    result.mean_sd = std::sqrt(variance);
    result.sd = std::sqrt(variance + result.mean);
    if (!level) return result;
    // The smallest count that so much of the probability does not exceed.
    const auto quantile = [&](double p) {
        const auto cdf = [&](double count) {
            return predictor.average([&](double eta, Index) { return poisson_cdf(count, std::exp(eta)); });
        };
        double high = 1.0;
        while (cdf(high) < p && high < 1e15) high *= 2.0;
        double low = -1.0;
        while (high - low > 1.0) {
            const double middle = std::floor(0.5 * (low + high));
            (cdf(middle) < p ? low : high) = middle;
        }
        return high;
    };
    result.lower = quantile(0.5 * (1.0 - *level));
    result.upper = quantile(0.5 * (1.0 + *level));
    return result;
}

FieldPrediction FieldPredictor::predict(const FieldRow& row, bool link, std::optional<double> level) const {
    const Mixture predictor = predictor_of(row, !link && shape_.has_sigma());
    if (link) return on_link(predictor, level);
    if (shape_.family == FieldFamily::poisson) return counts(predictor, level);
    FieldPrediction result;
    if (shape_.family == FieldFamily::gaussian || shape_.family == FieldFamily::student) {
        result.mean = predictor.mean;
        result.mean_sd = std::sqrt(predictor.variance());
        Vector noise(sigma_.size());
        for (Index k = 0; k < noise.size(); ++k) {
            const double tails = std::isinf(nu_[k]) ? 1.0 : nu_[k] > 2.0 ? nu_[k] / (nu_[k] - 2.0) : kInfinity;
            noise[k] = sigma_[k] * sigma_[k] * tails;
        }
        result.sd = std::sqrt(predictor.variance() + nodes_.weights.dot(noise));
        if (!level) return result;
        const double p = 0.5 * (1.0 - *level);
        if (shape_.family == FieldFamily::gaussian) {
            Mixture response = predictor;
            for (Index i = 0; i < response.variances.size(); ++i) {
                response.variances[i] += std::pow(sigma_[response.node_of(i)], 2);
            }
            result.lower = response.quantile(p);
            result.upper = response.quantile(1.0 - p);
            return result;
        }
        const auto cdf = [&](double y) {
            return predictor.average([&](double eta, Index k) { return student_cdf(nu_[k], (y - eta) / sigma_[k]); });
        };
        const double width = 2.0 * std::sqrt(predictor.variance() + nodes_.weights.dot(sigma_.cwiseAbs2()));
        result.lower = root_of(cdf, p, predictor.mean, width);
        result.upper = root_of(cdf, 1.0 - p, predictor.mean, width);
        return result;
    }
    result.mean = predictor.average([&](double eta, Index) { return response_at(eta); });
    const double square = predictor.average([&](double eta, Index) { return std::pow(response_at(eta), 2); });
    result.mean_sd = std::sqrt(std::max(0.0, square - result.mean * result.mean));
    result.sd = std::sqrt(result.mean * (1.0 - result.mean));
    if (level) {
        result.lower = response_at(predictor.quantile(0.5 * (1.0 - *level)));
        result.upper = response_at(predictor.quantile(0.5 * (1.0 + *level)));
    }
    return result;
}

}  // namespace lrvb::detail
