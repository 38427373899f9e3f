#include "family/validate.hpp"
#include "io/posterior_parts.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/io/posterior.hpp>

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

    // With p = exp E log π: the interval is that of logit π, whose derivative in log π is 1/(1 − p).
    void add_weights() {
        Vector weights = layout_.segment(state_.mean, 0).array().exp();
        const Vector centre = weights;
        if (!state_.clamped[0]) {
            weights = family::Dirichlet(model_.components()).standard(layout_.segment(state_.natural, 0));
            weights /= weights.sum();
        }
        std::vector<PosteriorVariable> plain;
        for (Index k = 0; k < model_.components(); ++k) {
            const std::string name = detail::indexed("log_pi", {k});
            const Index at = position_.at(name);
            const double odds = centre[k] / -std::expm1(posterior_.mean[at]);
            const Gradient slope{{at, 1.0 / -std::expm1(posterior_.mean[at])}};
            posterior_.variables.push_back(
                {name, posterior_.mean[at], {{at, 1.0}}, {Transform::log_logistic, std::log(odds), slope}});
            plain.push_back({detail::indexed("pi", {k}),
                             weights[k],
                             {{at, weights[k]}},
                             {Transform::logistic, std::log(odds), slope}});
        }
        posterior_.variables.insert(posterior_.variables.end(), plain.begin(), plain.end());
    }

    void add_column_precision(Index k, Index p) {
        const std::array<std::string, 3> names{column_name("log_tau", k, p), column_name("tau", k, p),
                                               column_name("sigma", k, p)};
        detail::add_precision(posterior_, names, position_.at(names[1]), position_.at(names[0]), layout_, state_,
                              model_.precision(k, p).index());
    }

    // Σ = Λ⁻¹ has the mean W⁻¹/(ν − P − 1), (E Λ)⁻¹ times a factor f, and dΣ = −f S dΛ S with S = (E Λ)⁻¹.
    void add_matrices(Index k) {
        const Index columns = model_.columns();
        Matrix precision(columns, columns);
        const auto position = [&](Index i, Index j) {
            return position_.at(detail::indexed("Lambda", {k, std::min(i, j), std::max(i, j)}));
        };
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i; j < columns; ++j) {
                const Index at = position(i, j);
                precision(i, j) = precision(j, i) = posterior_.mean[at];
                const std::string& name = posterior_.statistics[static_cast<std::size_t>(at)];
                posterior_.variables.push_back(
                    i == j ? detail::positive_variable(name, posterior_.mean[at], {{at, 1.0}})
                           : detail::unbounded_variable(name, posterior_.mean[at], {{at, 1.0}}));
            }
        }
        add_statistic(detail::indexed("log_det_Lambda", {k}));
        const Matrix inverse = precision.llt().solve(Matrix::Identity(columns, columns));
        const double factor = inverse_mean_factor(k);
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i; j < columns; ++j) {
                Gradient gradient;
                for (Index a = 0; a < columns; ++a) {
                    for (Index b = a; b < columns; ++b) {
                        double slope = inverse(i, a) * inverse(b, j);
                        if (a != b) slope += inverse(i, b) * inverse(a, j);
                        gradient.emplace_back(position(a, b), -factor * slope);
                    }
                }
                const std::string name = detail::indexed("Sigma", {k, i, j});
                const double mean = factor * inverse(i, j);
                posterior_.variables.push_back(i == j ? detail::positive_variable(name, mean, gradient)
                                                      : detail::unbounded_variable(name, mean, gradient));
            }
        }
    }

    double inverse_mean_factor(Index k) const {
        const Index variable = model_.precision(k, 0).index();
        if (state_.clamped[static_cast<std::size_t>(variable)]) return 1.0;
        const Index columns = model_.columns();
        const double dof = family::Wishart(columns).standard(layout_.segment(state_.natural, variable))[0];
        const double left = dof - static_cast<double>(columns) - 1.0;
        return left > 0.0 ? dof / left : 1.0;
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
