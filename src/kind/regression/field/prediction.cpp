#include "kind/regression/field/prediction.hpp"

#include "family/special.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace lrvb::detail {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kHermite = 21;
constexpr Index kFewHermite = 5;  // of many narrow normals

double normal_cdf(double z) {
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// For averages over a standard normal: nodes and weights that add up to one, by the eigenvalues of the recurrence.
struct Hermite {
    Vector nodes;
    Vector weights;
};

Hermite hermite_of(Index count) {
    Matrix jacobi = Matrix::Zero(count, count);
    for (Index i = 1; i < count; ++i) jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(static_cast<double>(i));
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(jacobi);
    return {solver.eigenvalues(), solver.eigenvectors().row(0).array().square()};
}

const Hermite& hermite(bool are_narrow) {
    static const Hermite rule = hermite_of(kHermite);
    static const Hermite small = hermite_of(kFewHermite);
    return are_narrow ? small : rule;
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

// Hosking's rational approximations of the shape of a Gamma by its L-skewness (1997, appendix A.9).
double shape_of(double l_skewness) {
    const double t = std::abs(l_skewness);
    if (t < 1.0 / 3.0) {
        const double z = 3.0 * std::numbers::pi * t * t;
        return (1.0 + 0.2906 * z) / (z * (1.0 + z * (0.1882 + z * 0.0442)));
    }
    const double z = 1.0 - t;
    return z * (0.36067 + z * (-0.59567 + z * 0.25361)) / (1.0 + z * (-2.78861 + z * (2.56096 - z * 0.77045)));
}

}  // namespace

StandardShape gamma_shape(double l_skewness) {
    constexpr double kMost = 0.5;
    constexpr double kFarthest = 4.0;
    constexpr double kStep = 0.5;
    constexpr double kWidth = 0.6;  // of what lies between two
    const double skewness = std::clamp(l_skewness, -kMost, kMost);
    if (skewness == 0.0) return {Vector::Ones(1), Vector::Zero(1), Vector::Ones(1)};
    const double k = shape_of(skewness);
    const auto at = [&](double z) {
        const double x = (gamma_quantile(k, normal_cdf(z)) - k) / std::sqrt(k);
        return skewness > 0.0 ? x : -x;
    };
    const auto count = static_cast<Index>(2.0 * kFarthest / kStep) + 1;
    StandardShape shape{Vector(count), Vector(count), Vector(count)};
    for (Index j = 0; j < count; ++j) {
        const double z = -kFarthest + kStep * static_cast<double>(j);
        shape.shares[j] = std::exp(-0.5 * z * z);
        shape.means[j] = at(z);
        const double apart = 0.5 * (at(z + kStep) - at(z - kStep));
        shape.variances[j] = std::pow(kWidth * apart, 2);
    }
    shape.shares /= shape.shares.sum();
    shape.means.array() -= shape.shares.dot(shape.means);
    const double variance = shape.shares.dot(shape.means.cwiseAbs2() + shape.variances);
    shape.means /= std::sqrt(variance);
    shape.variances /= variance;
    return shape;
}

/// Normals that count so much, each with the variance parameters of a node.
struct FieldPredictor::Mixture {
    double mean = 0.0;       // of all
    bool is_shaped = false;  // of several normals each node, narrow ones
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
        const Hermite& rule = hermite(is_shaped);
        double sum = 0.0;
        for (Index i = 0; i < variances.size(); ++i) {
            const double sd = std::sqrt(variances[i]);
            for (Index h = 0; h < rule.nodes.size(); ++h) {
                sum += weights[i] * rule.weights[h] * f(means[i] + sd * rule.nodes[h], node_of(i));
            }
        }
        return sum;
    }
};

FieldPredictor::FieldPredictor(const FormulaShape& shape, const FieldVariables& variables, FieldNodes nodes)
    : shape_(shape), variables_(variables), nodes_(std::move(nodes)) {
    const Index count = nodes_.weights.size();
    theta_.reserve(static_cast<std::size_t>(count));
    for (Index k = 0; k < count; ++k) theta_.push_back(variables_.theta(nodes_.psi.col(k)));
    standard_psi_ = nodes_.psi.colwise() - Vector(nodes_.psi * nodes_.weights);
    for (Index i = 0; i < standard_psi_.rows(); ++i) {
        const double sd = std::sqrt(standard_psi_.row(i).cwiseAbs2().dot(nodes_.weights));
        if (sd > 0.0) standard_psi_.row(i) /= sd;
    }
}

// One node stands for all where nothing depends on the variance parameters.
FieldPredictor::Mixture FieldPredictor::predictor_of(const FieldRow& row, bool with_noise) const {
    constexpr double kLeast = 0.02;  // of the variance that is left given ψ
    const bool follows = row.shape.mean_slopes.size() > 0;
    const Index nodes =
        row.new_groups.empty() && row.beyond.empty() && !with_noise && !follows ? 1 : nodes_.weights.size();
    const Vector node_weights = nodes == 1 ? Vector(Vector::Ones(1)) : nodes_.weights;
    // In units of the predictor's sd.
    Vector node_means = Vector::Zero(nodes);
    Vector node_variances = Vector::Ones(nodes);
    if (follows) {
        node_means = standard_psi_.transpose() * row.shape.mean_slopes;
        node_means.array() -= node_means.dot(node_weights);
        double explained = node_means.cwiseAbs2().dot(node_weights);
        if (explained > 1.0 - kLeast) {
            node_means *= std::sqrt((1.0 - kLeast) / explained);
            explained = 1.0 - kLeast;
        }
        const Vector logs = standard_psi_.transpose() * row.shape.log_variance_slopes;
        node_variances = (logs.array() - logs.maxCoeff()).exp();
        node_variances *= (1.0 - explained) / node_variances.dot(node_weights);
    }
    const StandardShape shape = gamma_shape(row.shape.l_skewness);
    const Index normals = shape.shares.size();
    const double sd = std::sqrt(row.variance);
    Mixture mixture{row.mean, normals > 1};
    for (Vector* own : {&mixture.means, &mixture.variances, &mixture.weights}) own->resize(nodes * normals);
    for (Index k = 0; k < nodes; ++k) {
        double of_groups = 0.0;
        for (const auto& [factor, z] : row.new_groups) {
            of_groups += z.dot(variables_.effect_covariance(factor, nodes_.psi.col(k)) * z);
        }
        for (const auto& [term, variance] : row.beyond) {
            of_groups += variance * std::pow(variables_.term_sd(static_cast<std::size_t>(term), nodes_.psi.col(k)), 2);
        }
        for (Index j = 0; j < normals; ++j) {
            const Index at = k * normals + j;
            mixture.means[at] = row.mean + sd * (node_means[k] + std::sqrt(node_variances[k]) * shape.means[j]);
            mixture.variances[at] = row.variance * node_variances[k] * shape.variances[j] + of_groups;
            mixture.weights[at] = shape.shares[j] * node_weights[k];
            mixture.node.push_back(k);
        }
    }
    return mixture;
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

// With the variance function V(m) = a + b m + c m² of θ, Var y = Var m + E V(m), m the mean of a response. Moments of
// exp(η) are sums over the nodes, of which each holds a small part where they exist.
void FieldPredictor::add_moments(const Mixture& predictor, FieldPrediction& result) const {
    constexpr double kMostOfOne = 0.25;
    constexpr Index kManyNodes = 32;
    const Likelihood& likelihood = *shape_.likelihood;
    const Link& link = likelihood.link();
    const Index nodes = predictor.node.back() + 1;
    const auto functions = [&](Index node) { return likelihood.variance(theta_[static_cast<std::size_t>(node)]); };
    // E m^power times a number of each node.
    const auto moment = [&](int power, double VarianceFunction::*factor) {
        const auto factor_of = [&](Index node) { return factor != nullptr ? functions(node).*factor : 1.0; };
        if (!link.is_log) {
            return predictor.average([&](double eta, Index node) {
                return factor_of(node) * (power == 1 ? link.mean(eta) : std::pow(link.mean(eta), 2));
            });
        }
        Vector of_nodes = Vector::Zero(nodes);
        for (Index i = 0; i < predictor.weights.size(); ++i) {
            of_nodes[predictor.node_of(i)] +=
                predictor.weights[i] * factor_of(predictor.node_of(i)) *
                std::exp(power * predictor.means[i] + 0.5 * power * power * predictor.variances[i]);
        }
        const double all = of_nodes.sum();
        if (nodes >= kManyNodes && !(of_nodes.maxCoeff() <= kMostOfOne * all) && all > 0.0) return kInfinity;
        return all;
    };
    if (link.is_identity) {
        result.mean = predictor.mean;
        result.mean_sd = std::sqrt(predictor.variance());
    } else {
        result.mean = moment(1, nullptr);
        const double square = moment(2, nullptr);
        double variance = kInfinity;
        if (std::isfinite(square)) variance = std::max(0.0, square - result.mean * result.mean);
        result.mean_sd = std::sqrt(variance);
    }
    double noise = 0.0;
    bool is_linear = false;
    bool is_quadratic = false;
    for (std::size_t k = 0; k < theta_.size(); ++k) {
        const VarianceFunction own = likelihood.variance(theta_[k]);
        noise += nodes_.weights[static_cast<Index>(k)] * own.constant;
        is_linear = is_linear || own.linear != 0.0;
        is_quadratic = is_quadratic || own.quadratic != 0.0;
    }
    if (is_linear) noise += moment(1, &VarianceFunction::linear);
    if (is_quadratic) noise += moment(2, &VarianceFunction::quadratic);
    result.sd = std::sqrt(result.mean_sd * result.mean_sd + noise);
}

double FieldPredictor::response_quantile(const Mixture& predictor, double p) const {
    const Likelihood& likelihood = *shape_.likelihood;
    const auto cdf = [&](double y) {
        return predictor.average(
            [&](double eta, Index node) { return likelihood.cdf(y, eta, theta_[static_cast<std::size_t>(node)]); });
    };
    if (!likelihood.is_discrete()) {
        double width = 0.0;
        for (std::size_t k = 0; k < theta_.size(); ++k) {
            width += nodes_.weights[static_cast<Index>(k)] * theta_[k][0] * theta_[k][0];
        }
        return root_of(cdf, p, predictor.mean, 2.0 * std::sqrt(predictor.variance() + width));
    }
    // The smallest count that so much of the probability does not exceed.
    double high = 1.0;
    while (cdf(high) < p && high < 1e15) high *= 2.0;
    if (cdf(high) < p) return kInfinity;
    double low = -1.0;
    while (high - low > 1.0) {
        const double middle = std::floor(0.5 * (low + high));
        (cdf(middle) < p ? low : high) = middle;
    }
    return high;
}

FieldPrediction FieldPredictor::predict(const FieldRow& row, bool link, std::optional<double> level) const {
    const Likelihood& likelihood = *shape_.likelihood;
    const Mixture predictor = predictor_of(row, !link && likelihood.parameter_count() > 0);
    if (link) return on_link(predictor, level);
    FieldPrediction result;
    add_moments(predictor, result);
    if (!level) return result;
    const double p = 0.5 * (1.0 - *level);
    if (likelihood.predicts_means()) {
        result.lower = likelihood.mean(predictor.quantile(p));
        result.upper = likelihood.mean(predictor.quantile(1.0 - p));
        return result;
    }
    if (likelihood.is_normal()) {
        Mixture response = predictor;
        for (Index i = 0; i < response.variances.size(); ++i) {
            response.variances[i] += std::pow(theta_[static_cast<std::size_t>(response.node_of(i))][0], 2);
        }
        result.lower = response.quantile(p);
        result.upper = response.quantile(1.0 - p);
        return result;
    }
    result.lower = response_quantile(predictor, p);
    result.upper = response_quantile(predictor, 1.0 - p);
    return result;
}

}  // namespace lrvb::detail
