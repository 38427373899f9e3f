#pragma once

#include <lrvb/kind/mixture/model.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// A Gibbs sampler for normal mixtures of one column that shares no line with the library: indicators, weights, means
/// and precisions are drawn in turn, in the units of the data, from several starts.
///
/// Its draws keep labels as a check does: of the K! ways to name the components of a draw, those count where no
/// exchange of two brings the point nearer to a centre, in given sds, on the scale (log(π_k/π_K), μ_k, log τ_k).
namespace lrvb::test {

struct GibbsAnswer {
    double mean = 0.0;
    double sd = 0.0;
    /// Monte Carlo standard errors, from the spread over batches.
    double mean_se = 0.0;
    double log_sd_se = 0.0;
};

/// Where labels are kept to, in the data's units; a component a column.
struct Labelling {
    Vector ratio_centre;  // log(π_k/π_K), k < K
    Vector ratio_sd;
    Matrix centre;  // rows: μ, log τ
    Matrix sd;
};

class GibbsMixture {
  public:
    GibbsMixture(Vector x, Index components, MixturePrior prior, Labelling labelling)
        : x_(std::move(x)), components_(components), prior_(std::move(prior)), labelling_(std::move(labelling)) {}

    /// Of log_pi, pi (two components or more), mu, log_tau, tau, sigma.
    std::map<std::string, GibbsAnswer> run(Index sweeps, int chains, std::uint64_t seed) {
        constexpr int batches = 10;  // of a chain
        std::vector<Sums> all;
        std::vector<double> heights;  // the mean log joint density of each chain
        for (int chain = 0; chain < chains; ++chain) {
            random_.seed(seed + static_cast<std::uint64_t>(chain));
            start(chain);
            for (Index i = 0; i < sweeps; ++i) sweep();  // an emptied start may last long
            heights.push_back(0.0);
            for (int batch = 0; batch < batches; ++batch) {
                Sums sums;
                for (Index i = 0; i < sweeps / batches; ++i) {
                    sweep();
                    keep(sums);
                    if (i % 10 == 0) heights.back() += log_joint() / static_cast<double>(sweeps / 10);
                }
                all.push_back(std::move(sums));
            }
        }
        // A chain that stays far below the highest is stuck at a mode of little mass.
        constexpr double stuck = 10.0;
        const double highest = *std::max_element(heights.begin(), heights.end());
        std::vector<Sums> kept;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (heights[i / batches] > highest - stuck) kept.push_back(std::move(all[i]));
        }
        return answers(kept);
    }

  private:
    struct Sums {
        double count = 0.0;
        Vector values;
        Vector first;
        Vector second;
    };

    double gamma(double shape) { return std::gamma_distribution<double>(shape, 1.0)(random_); }
    double normal() { return std::normal_distribution<double>()(random_); }
    double uniform() { return std::uniform_real_distribution<double>()(random_); }

    // By turns: groups in the order of the values, labels at random, and all rows in one component.
    void start(int chain) {
        const Index n = x_.size();
        labels_.assign(static_cast<std::size_t>(n), 0);
        std::vector<Index> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x_[a] < x_[b]; });
        for (Index i = 0; i < n && chain % 3 != 2; ++i) {
            labels_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] =
                chain % 3 == 0 ? i * components_ / n : static_cast<Index>(uniform() * static_cast<double>(components_));
        }
        mu_ = Vector::Constant(components_, prior_.mean[0]);
        tau_ = Vector::Constant(components_, prior_.shape / prior_.rate[0]);
        log_pi_ = Vector::Zero(components_);
        draw_parameters();
    }

    void draw_parameters() {
        Vector count = Vector::Zero(components_);
        Vector sum = Vector::Zero(components_);
        for (Index n = 0; n < x_.size(); ++n) {
            const Index k = labels_[static_cast<std::size_t>(n)];
            count[k] += 1.0;
            sum[k] += x_[n];
        }
        for (Index k = 0; k < components_; ++k) {
            // Gamma(a) = Gamma(a + 1) U^(1/a), which does not underflow as a logarithm.
            const double shape = prior_.alpha + count[k];
            log_pi_[k] = std::log(gamma(shape + 1.0)) + std::log(uniform()) / shape;
            const double precision = 1.0 / prior_.variance(0, 0) + count[k] * tau_[k];
            const double mean = (prior_.mean[0] / prior_.variance(0, 0) + tau_[k] * sum[k]) / precision;
            mu_[k] = mean + normal() / std::sqrt(precision);
        }
        log_pi_.array() -= log_pi_.maxCoeff();
        log_pi_.array() -= std::log(log_pi_.array().exp().sum());
        Vector squares = Vector::Zero(components_);
        for (Index n = 0; n < x_.size(); ++n) {
            const Index k = labels_[static_cast<std::size_t>(n)];
            squares[k] += (x_[n] - mu_[k]) * (x_[n] - mu_[k]);
        }
        for (Index k = 0; k < components_; ++k) {
            tau_[k] = gamma(prior_.shape + 0.5 * count[k]) / (prior_.rate[0] + 0.5 * squares[k]);
        }
    }

    void sweep() {
        std::vector<double> p(static_cast<std::size_t>(components_));
        const Vector constant = log_pi_.array() + 0.5 * tau_.array().log();
        for (Index n = 0; n < x_.size(); ++n) {
            double largest = -std::numeric_limits<double>::infinity();
            for (Index k = 0; k < components_; ++k) {
                const double off = x_[n] - mu_[k];
                p[static_cast<std::size_t>(k)] = constant[k] - 0.5 * tau_[k] * off * off;
                largest = std::max(largest, p[static_cast<std::size_t>(k)]);
            }
            double sum = 0.0;
            for (double& value : p) sum += value = std::exp(value - largest);
            double left = uniform() * sum;
            Index k = 0;
            while (k + 1 < components_ && left >= p[static_cast<std::size_t>(k)])
                left -= p[static_cast<std::size_t>(k++)];
            labels_[static_cast<std::size_t>(n)] = k;
        }
        draw_parameters();
    }

    // log p(x, θ) on the unbounded scale, but for a constant.
    double log_joint() const {
        double sum = 0.0;
        for (Index k = 0; k < components_; ++k) {
            const double off = mu_[k] - prior_.mean[0];
            sum += prior_.alpha * log_pi_[k] - 0.5 * off * off / prior_.variance(0, 0) +
                   prior_.shape * std::log(tau_[k]) - prior_.rate[0] * tau_[k];
        }
        for (Index n = 0; n < x_.size(); ++n) {
            double density = 0.0;
            for (Index k = 0; k < components_; ++k) {
                const double off = x_[n] - mu_[k];
                density += std::exp(log_pi_[k] + 0.5 * std::log(tau_[k]) - 0.5 * tau_[k] * off * off);
            }
            sum += std::log(density);
        }
        return sum;
    }

    double distance(const std::vector<Index>& order) const {
        const auto at = [&](Index k) { return order[static_cast<std::size_t>(k)]; };
        double sum = 0.0;
        const auto add = [&](double value, double centre, double sd) {
            sum += (value - centre) * (value - centre) / (sd * sd);
        };
        for (Index k = 0; k < components_; ++k) {
            add(mu_[at(k)], labelling_.centre(0, k), labelling_.sd(0, k));
            add(std::log(tau_[at(k)]), labelling_.centre(1, k), labelling_.sd(1, k));
            if (k + 1 == components_) continue;
            add(log_pi_[at(k)] - log_pi_[at(components_ - 1)], labelling_.ratio_centre[k], labelling_.ratio_sd[k]);
        }
        return sum;
    }

    void keep(Sums& sums) {
        std::vector<Index> order(static_cast<std::size_t>(components_));
        std::iota(order.begin(), order.end(), 0);
        do {
            const double here = distance(order);
            bool nearest = true;
            for (std::size_t a = 0; a < order.size() && nearest; ++a) {
                for (std::size_t b = a + 1; b < order.size() && nearest; ++b) {
                    std::vector<Index> other = order;
                    std::swap(other[a], other[b]);
                    nearest = !(distance(other) < here);
                }
            }
            if (nearest) add(order, sums);
        } while (std::next_permutation(order.begin(), order.end()));
    }

    void add(const std::vector<Index>& order, Sums& sums) const {
        if (sums.values.size() == 0) {
            sums.values = sums.first = sums.second = Vector::Zero(6 * components_);
        }
        Index at = 0;
        for (const Index k : order) sums.values[at++] = log_pi_[k];
        for (const Index k : order) sums.values[at++] = std::exp(log_pi_[k]);
        for (const Index k : order) sums.values[at++] = mu_[k];
        for (const Index k : order) sums.values[at++] = std::log(tau_[k]);
        for (const Index k : order) sums.values[at++] = tau_[k];
        for (const Index k : order) sums.values[at++] = 1.0 / std::sqrt(tau_[k]);
        sums.count += 1.0;
        sums.first += sums.values;
        sums.second += sums.values.cwiseAbs2();
    }

    std::map<std::string, GibbsAnswer> answers(const std::vector<Sums>& all) const {
        std::map<std::string, GibbsAnswer> result;
        const std::vector<std::string> groups{"log_pi", "pi", "mu", "log_tau", "tau", "sigma"};
        for (Index v = 0; v < 6 * components_; ++v) {
            double count = 0.0;
            double first = 0.0;
            double second = 0.0;
            for (const Sums& sums : all) {
                if (sums.count == 0.0) continue;
                count += sums.count;
                first += sums.first[v];
                second += sums.second[v];
            }
            GibbsAnswer answer;
            answer.mean = first / count;
            const double variance = second / count - answer.mean * answer.mean;
            answer.sd = std::sqrt(variance);
            double mean_error = 0.0;
            double variance_error = 0.0;
            for (const Sums& sums : all) {
                if (sums.count == 0.0) continue;
                const double share = sums.count / count;
                const double own = sums.first[v] / sums.count - answer.mean;
                const double about = sums.second[v] / sums.count - 2.0 * answer.mean * sums.first[v] / sums.count +
                                     answer.mean * answer.mean - variance;
                mean_error += share * share * own * own;
                variance_error += share * share * about * about;
            }
            answer.mean_se = std::sqrt(mean_error);
            answer.log_sd_se = 0.5 * std::sqrt(variance_error) / variance;
            result[groups[static_cast<std::size_t>(v / components_)] + "[" + std::to_string(v % components_ + 1) +
                   "]"] = answer;
        }
        return result;
    }

    Vector x_;
    Index components_;
    MixturePrior prior_;
    Labelling labelling_;
    std::mt19937_64 random_;
    std::vector<Index> labels_;
    Vector mu_;
    Vector tau_;
    Vector log_pi_;
};

/// The centre and the sds of a fit's linear response, in its chart and inner units, as a labelling in the data's units.
inline Labelling labelling_of(const MixtureModel& model, const Vector& centre, const Vector& sd) {
    const Index components = model.components();
    const Index ratios = components - 1;
    Labelling result{centre.head(ratios), sd.head(ratios), Matrix(2, components), Matrix(2, components)};
    const double scale = model.scale()[0];
    for (Index k = 0; k < components; ++k) {
        const Index at = ratios + 2 * k;
        result.centre.col(k) << model.centre()[0] + scale * centre[at], centre[at + 1] - 2.0 * std::log(scale);
        result.sd.col(k) << scale * sd[at], sd[at + 1];
    }
    return result;
}

}  // namespace lrvb::test
