#include "kind/model/node_values.hpp"

#include "family/special.hpp"

#include <lrvb/family/random.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>

namespace lrvb::detail {

namespace {

constexpr Index kDraws = 4000;
constexpr Index kNodes = 400;

void set_label(const NodeLabel& label, Index state, Vector& statistics) {
    for (const auto& [slot, own] : label.slots) statistics[slot] = own == state ? 1.0 : 0.0;
}

}  // namespace

NodeValues node_values(const NodeFunction& function, const Vector& at, const std::vector<NodeLabel>& labels,
                       const Matrix& covariance) {
    NodeValues result;
    result.along = Vector::Zero(at.size());
    Index of_labels = 0;
    for (const NodeLabel& label : labels) of_labels += static_cast<Index>(label.slots.size());
    Vector statistics = at;
    const auto add = [&](double weight) {
        const double value = function.value(statistics);
        if (!std::isfinite(value)) return;
        result.values.emplace_back(value, weight);
        result.along += weight * value * (statistics - at);
    };
    if (labels.size() == 1 && of_labels == at.size()) {
        for (Index state = 0; state < labels[0].probabilities.size(); ++state) {
            set_label(labels[0], state, statistics);
            if (labels[0].probabilities[state] > 0.0) add(labels[0].probabilities[state]);
        }
    } else {
        std::vector<bool> is_label(static_cast<std::size_t>(at.size()), false);
        for (const NodeLabel& label : labels) {
            for (const auto& [slot, state] : label.slots) is_label[static_cast<std::size_t>(slot)] = true;
        }
        std::vector<Index> others;
        for (Index s = 0; s < at.size(); ++s) {
            if (!is_label[static_cast<std::size_t>(s)]) others.push_back(s);
        }
        const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance(others, others));
        const Matrix root = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
        Random random(kDraws, at.size());
        Vector whitened(static_cast<Index>(others.size()));
        for (Index draw = 0; draw < kDraws; ++draw) {
            for (double& z : whitened) z = random.normal();
            statistics(others) = at(others) + root * whitened;
            for (const NodeLabel& label : labels) {
                double left = random.uniform();
                Index state = 0;
                while (state + 1 < label.probabilities.size() && left >= label.probabilities[state]) {
                    left -= label.probabilities[state++];
                }
                set_label(label, state, statistics);
            }
            add(1.0 / static_cast<double>(kDraws));
        }
    }
    // Of what is no number somewhere, the rest; of what never is, zero, which a check does not let pass.
    double total = 0.0;
    for (const auto& [value, weight] : result.values) total += weight;
    if (result.values.empty()) result.values.emplace_back(0.0, total = 1.0);
    for (auto& [value, weight] : result.values) weight /= total;
    result.along /= total;
    std::sort(result.values.begin(), result.values.end());
    return result;
}

NodeValues beta_node_values(const NodeFunction& function, const std::vector<Index>& entries, double a, double b,
                            double stretch) {
    NodeValues result;
    const double middle = digamma(a) - digamma(b);
    Vector statistics(static_cast<Index>(entries.size()));
    for (Index i = 0; i < kNodes; ++i) {
        const double probability = (static_cast<double>(i) + 0.5) / static_cast<double>(kNodes);
        const double logit = std::log(beta_quantile(a, b, probability) / beta_quantile(b, a, 1.0 - probability));
        const double moved = middle + stretch * (logit - middle);
        for (std::size_t s = 0; s < entries.size(); ++s) {
            statistics[static_cast<Index>(s)] = -softplus(entries[s] == 0 ? -moved : moved);
        }
        result.values.emplace_back(function.value(statistics), 1.0 / static_cast<double>(kNodes));
    }
    std::sort(result.values.begin(), result.values.end());
    return result;
}

}  // namespace lrvb::detail
