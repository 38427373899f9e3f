#include "base/validate.hpp"
#include "posterior/parts.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lrvb {

namespace {

class MixturePosterior {
  public:
    explicit MixturePosterior(const MixtureFit& fit)
        : model_(*fit.model), layout_(model_.layout()), state_(fit.optimum.state) {
        const std::vector<std::string> names = statistic_names();
        posterior_ = detail::posterior_of(model_, fit.optimum, names, model_.in_data_units(names));
        for (std::size_t i = 0; i < names.size(); ++i) position_[names[i]] = static_cast<Index>(i);
        if (model_.components() > 1) add_weights();
        for_each([&](Index k, Index p) { add_statistic(column_name("mu", k, p)); });
        if (model_.has_full_covariances()) {
            for (Index k = 0; k < model_.components(); ++k) add_matrices(k);
        } else {
            for_each([&](Index k, Index p) { add_column_precision(k, p); });
        }
        sort_by_name();
    }

    Posterior take() { return std::move(posterior_); }

  private:
    // Everything that people ask about: all statistics but the second moments of the means.
    std::vector<std::string> statistic_names() const {
        std::vector<std::string> names;
        for (const VariableInfo& variable : layout_) {
            const bool is_location = std::holds_alternative<family::Normal>(variable.family) ||
                                     std::holds_alternative<family::MvNormal>(variable.family);
            Index count = variable.size;
            if (is_location) count = model_.has_full_covariances() ? model_.columns() : 1;
            for (Index i = 0; i < count; ++i) names.push_back(layout_.statistic_name(variable.offset + i));
        }
        return names;
    }

    std::string column_name(const std::string& base, Index k, Index p) const {
        return model_.columns() == 1 ? detail::indexed(base, {k}) : detail::indexed(base, {k, p});
    }

    template <class Visit>
    void for_each(Visit visit) const {
        for (Index k = 0; k < model_.components(); ++k) {
            for (Index p = 0; p < model_.columns(); ++p) visit(k, p);
        }
    }

    void add_statistic(const std::string& name) {
        const Index at = position_.at(name);
        posterior_.variables.push_back(detail::unbounded_variable(name, posterior_.mean[at], {{at, 1.0}}));
    }

    // With p = exp E log π: the interval is that of logit π, whose derivative in log π is 1/(1 − p). E π_k = α_k/Σα has
    // the derivatives (δ_jk − E π_k)/Σα in α.
    void add_weights() {
        const Index components = model_.components();
        const Vector centre = layout_.segment(state_.mean, 0).array().exp();
        const Vector natural = layout_.segment(state_.natural, 0);
        const family::Dirichlet dirichlet(components);
        const bool clamped = state_.clamped[0];
        const Vector alpha = clamped ? centre : dirichlet.standard(natural);
        std::vector<PosteriorVariable> plain;
        for (Index k = 0; k < components; ++k) {
            const std::string name = detail::indexed("log_pi", {k});
            const Index at = position_.at(name);
            const double weight = alpha[k] / alpha.sum();
            Gradient gradient{{at, weight}};
            if (!clamped) {
                const Vector by_natural = (Vector::Unit(components, k).array() - weight) / alpha.sum();
                const Vector slopes = detail::by_means(dirichlet, natural, by_natural);
                gradient.clear();
                for (Index j = 0; j < components; ++j) {
                    gradient.emplace_back(position_.at(detail::indexed("log_pi", {j})), slopes[j]);
                }
            }
            const double rest = -std::expm1(posterior_.mean[at]);
            const Gradient slope{{at, 1.0 / rest}};
            const double logit = std::log(centre[k] / rest);
            posterior_.variables.push_back(
                {name, posterior_.mean[at], {{at, 1.0}}, {Transform::log_logistic, logit, slope}});
            plain.push_back({detail::indexed("pi", {k}), weight, gradient, {Transform::logistic, logit, slope}});
        }
        posterior_.variables.insert(posterior_.variables.end(), plain.begin(), plain.end());
    }

    void add_column_precision(Index k, Index p) {
        const std::array<std::string, 3> names{column_name("log_tau", k, p), column_name("tau", k, p),
                                               column_name("sigma", k, p)};
        detail::add_precision(posterior_, names, position_.at(names[1]), position_.at(names[0]), layout_, state_,
                              model_.precision(k, p).index());
    }

    void add_matrices(Index k) {
        const Index columns = model_.columns();
        Matrix precision(columns, columns);
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i; j < columns; ++j) {
                const Index at = entry(k, i, j);
                precision(i, j) = precision(j, i) = posterior_.mean[at];
                const std::string& name = posterior_.statistics[static_cast<std::size_t>(at)];
                posterior_.variables.push_back(
                    i == j ? detail::positive_variable(name, posterior_.mean[at], {{at, 1.0}})
                           : detail::unbounded_variable(name, posterior_.mean[at], {{at, 1.0}}));
            }
        }
        add_statistic(detail::indexed("log_det_Lambda", {k}));
        const Index variable = model_.precision(k, 0).index();
        const Vector natural = layout_.segment(state_.natural, variable);
        const double excess = 2.0 * natural[natural.size() - 1];  // ν − P − 1
        if (state_.clamped[static_cast<std::size_t>(variable)] || excess <= 0.0) {
            add_inverse(k, precision.llt().solve(Matrix::Identity(columns, columns)));
        } else {
            add_mean_inverse(k, natural, excess);
        }
    }

    Index entry(Index k, Index i, Index j) const {
        return position_.at(detail::indexed("Lambda", {k, std::min(i, j), std::max(i, j)}));
    }

    void add_covariance(Index k, Index i, Index j, double mean, const Gradient& gradient) {
        const std::string name = detail::indexed("Sigma", {k, i, j});
        posterior_.variables.push_back(i == j ? detail::positive_variable(name, mean, gradient)
                                              : detail::unbounded_variable(name, mean, gradient));
    }

    // Σ = Λ⁻¹ at a value, or where it has no mean: dΣ = −Σ dΛ Σ.
    void add_inverse(Index k, const Matrix& inverse) {
        const Index columns = model_.columns();
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i; j < columns; ++j) {
                Gradient gradient;
                for (Index a = 0; a < columns; ++a) {
                    for (Index b = a; b < columns; ++b) {
                        double slope = inverse(i, a) * inverse(b, j);
                        if (a != b) slope += inverse(i, b) * inverse(a, j);
                        gradient.emplace_back(entry(k, a, b), -slope);
                    }
                }
                add_covariance(k, i, j, inverse(i, j), gradient);
            }
        }
    }

    // E Σ = W⁻¹/(ν − P − 1), whose entry (i, j) is −(2 or 1) η_ij/(2 η_last) in the natural parameters: the first on
    // the diagonal. From the inner units to the data's Σ_ij is multiplied by s_i s_j, and Λ_ij divided by it.
    void add_mean_inverse(Index k, const Vector& natural, double excess) {
        const Index columns = model_.columns();
        const family::Wishart wishart(columns);
        const Index last = natural.size() - 1;
        const Vector scale = model_.scale();
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i; j < columns; ++j) {
                const Index at = half_index(i, j, columns);
                const double factor = (i == j ? -2.0 : -1.0) / excess;
                const double mean = factor * natural[at];
                Vector by_natural = Vector::Zero(natural.size());
                by_natural[at] = factor;
                by_natural[last] = -2.0 * mean / excess;
                const Vector slopes = detail::by_means(wishart, natural, by_natural);
                const double unit = scale[i] * scale[j];
                Gradient gradient;
                for (Index a = 0; a < columns; ++a) {
                    for (Index b = a; b < columns; ++b) {
                        const double slope = slopes[half_index(a, b, columns)];
                        gradient.emplace_back(entry(k, a, b), unit * scale[a] * scale[b] * slope);
                    }
                }
                gradient.emplace_back(position_.at(detail::indexed("log_det_Lambda", {k})), unit * slopes[last]);
                add_covariance(k, i, j, unit * mean, gradient);
            }
        }
    }

    // Component by component is how they are made; name by name is how they are read.
    void sort_by_name() {
        const std::vector<std::string> order{"log_pi",         "pi",   "mu", "log_tau", "tau", "sigma", "Lambda",
                                             "log_det_Lambda", "Sigma"};
        const auto rank = [&](const PosteriorVariable& variable) {
            const std::string base = variable.name.substr(0, variable.name.find('['));
            return std::find(order.begin(), order.end(), base) - order.begin();
        };
        std::stable_sort(posterior_.variables.begin(), posterior_.variables.end(),
                         [&](const PosteriorVariable& a, const PosteriorVariable& b) { return rank(a) < rank(b); });
    }

    const MixtureModel& model_;
    const Layout& layout_;
    const State& state_;
    Posterior posterior_;
    std::unordered_map<std::string, Index> position_;
};

}  // namespace

Posterior mixture_posterior(const MixtureFit& fit) {
    return MixturePosterior(fit).take();
}

}  // namespace lrvb
