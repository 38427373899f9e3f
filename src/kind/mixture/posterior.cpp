#include "kind/mixture/statistics.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/kind/mixture/posterior.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lrvb {

namespace {

class MixturePosterior {
  public:
    MixturePosterior(const MixtureFit& fit, const std::vector<std::string>& columns)
        : model_(*fit.model),
          layout_(model_.layout()),
          state_(fit.optimum.state),
          at_(model_.components(), model_.columns(), model_.has_full_covariances(), columns) {
        posterior_ =
            posterior_of(model_, fit.optimum, at_.names(), model_.statistics_in_data_units(at_.stacked(layout_)));
        for (VariableMeaning& meaning : at_.meanings()) {
            std::string name = meaning.name();
            order_.emplace(name, order_.size());
            meanings_.emplace(std::move(name), std::move(meaning));
        }
        if (at_.has_weights()) {
            add_component_weights();
        } else {
            posterior_.variables.push_back(unbounded_variable(full(at_.of_component("pi", 0)), 1.0, {}));
        }
        for_each([&](Index k, Index p) { add_statistic(at_.of_column("mu", k, p), at_.location(k, p)); });
        if (at_.is_full()) {
            for (Index k = 0; k < model_.components(); ++k) add_matrices(k);
        } else {
            for_each([&](Index k, Index p) { add_column_precision(k, p); });
        }
        // Component by component is how they are made; group by group is how they are read.
        std::stable_sort(posterior_.variables.begin(), posterior_.variables.end(),
                         [&](const PosteriorVariable& a, const PosteriorVariable& b) {
                             return order_.at(a.name) < order_.at(b.name);
                         });
        keep_marginals(posterior_);
    }

    Posterior take() { return std::move(posterior_); }

  private:
    template <class Visit>
    void for_each(Visit visit) const {
        for (Index k = 0; k < model_.components(); ++k) {
            for (Index p = 0; p < model_.columns(); ++p) visit(k, p);
        }
    }

    /// With its panel.
    VariableMeaning full(const VariableMeaning& meaning) const { return meanings_.at(meaning.name()); }

    void add_statistic(const VariableMeaning& meaning, Index at) {
        posterior_.variables.push_back(unbounded_variable(full(meaning), posterior_.mean[at], {{at, 1.0}}));
    }

    void add_component_weights() {
        std::vector<VariableMeaning> logs;
        std::vector<VariableMeaning> plain;
        for (Index k = 0; k < model_.components(); ++k) {
            logs.push_back(full(at_.of_component("log_pi", k)));
            plain.push_back(full(at_.of_component("pi", k)));
        }
        add_weights(posterior_, std::move(logs), std::move(plain), at_.log_weight(0), layout_, state_, 0);
    }

    void add_column_precision(Index k, Index p) {
        add_precision(posterior_, full(at_.of_column("log_tau", k, p)), full(at_.of_column("tau", k, p)),
                      full(at_.of_column("sigma", k, p)), at_.precision(k, p), at_.log_precision(k, p), layout_, state_,
                      model_.precision(k, p).index());
    }

    void add_matrices(Index k) {
        const Index columns = model_.columns();
        Matrix precision(columns, columns);
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i; j < columns; ++j) {
                const Index at = at_.precision_entry(k, i, j);
                precision(i, j) = precision(j, i) = posterior_.mean[at];
                add_entry("Lambda", k, i, j, posterior_.mean[at], {{at, 1.0}});
            }
        }
        add_statistic(at_.of_component("log_det_Lambda", k), at_.log_determinant(k));
        const Index variable = model_.precision(k, 0).index();
        const Vector natural = layout_.segment(state_.natural, variable);
        const double excess = 2.0 * natural[natural.size() - 1];  // ν − P − 1
        if (state_.clamped[static_cast<std::size_t>(variable)] || excess <= 0.0) {
            add_inverse(k, detail::PositiveDefinite(precision).inverse());
        } else {
            add_mean_inverse(k, natural, excess);
        }
    }

    void add_entry(const std::string& group, Index k, Index i, Index j, double mean, const Gradient& gradient) {
        VariableMeaning meaning = full(at_.of_entry(group, k, i, j));
        posterior_.variables.push_back(i == j ? positive_variable(std::move(meaning), mean, gradient)
                                              : unbounded_variable(std::move(meaning), mean, gradient));
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
                        gradient.emplace_back(at_.precision_entry(k, a, b), -slope);
                    }
                }
                add_entry("Sigma", k, i, j, inverse(i, j), gradient);
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
                const Vector slopes = by_means(wishart, natural, by_natural);
                const double unit = scale[i] * scale[j];
                Gradient gradient;
                for (Index a = 0; a < columns; ++a) {
                    for (Index b = a; b < columns; ++b) {
                        const double slope = slopes[half_index(a, b, columns)];
                        gradient.emplace_back(at_.precision_entry(k, a, b), unit * scale[a] * scale[b] * slope);
                    }
                }
                gradient.emplace_back(at_.log_determinant(k), unit * slopes[last]);
                add_entry("Sigma", k, i, j, unit * mean, gradient);
            }
        }
    }

    const MixtureModel& model_;
    const Layout& layout_;
    const State& state_;
    detail::MixtureStatistics at_;
    std::map<std::string, std::size_t> order_;
    std::map<std::string, VariableMeaning> meanings_;
    Posterior posterior_;
};

}  // namespace

Posterior mixture_posterior(const MixtureFit& fit, const std::vector<std::string>& columns) {
    const std::vector<std::string> names = columns.empty() ? fit.model->inputs() : columns;
    if (static_cast<Index>(names.size()) != fit.model->columns()) {
        throw std::invalid_argument(fmt::format("mixture_posterior: columns has {} names, but the model {} columns",
                                                names.size(), fit.model->columns()));
    }
    return MixturePosterior(fit, names).take();
}

}  // namespace lrvb
