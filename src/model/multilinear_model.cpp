#include "base/validate.hpp"
#include "model/multilinear_form.hpp"
#include "model/polynomials.hpp"

#include <lrvb/model/multilinear_model.hpp>

#include <atomic>

namespace lrvb {

namespace {

// Labels get probabilities uniform on the simplex and locations move by a draw of their starting q, which breaks the
// symmetries that labels and products have; the rest starts at its prior.
Vector random_start(const AnyFamily& any, const Vector& natural, Random& random) {
    if (const auto* categorical = std::get_if<family::Categorical>(&any)) {
        return family::Dirichlet(categorical->size()).sample(Vector::Zero(categorical->size()), random);
    }
    if (const auto* bernoulli = std::get_if<family::Bernoulli>(&any)) {
        return bernoulli->natural_from_standard(Vector::Constant(1, random.uniform()));
    }
    if (const auto* normal = std::get_if<family::Normal>(&any)) {
        Vector standard = normal->standard(natural);
        standard[0] = normal->sample(natural, random)[0];
        return normal->natural_from_standard(standard);
    }
    if (const auto* normal = std::get_if<family::MvNormal>(&any)) {
        Vector standard = normal->standard(natural);
        const Index dimension = normal->dimension();
        standard.head(dimension) = normal->sample(natural, random).head(dimension);
        return normal->natural_from_standard(standard);
    }
    return natural;
}

}  // namespace

std::uint64_t next_model_identity() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

ImproperConditional::ImproperConditional(const std::string& variable, const std::string& reason)
    : std::domain_error(fmt::format(
          "the conditional of variable '{}' is improper: {}; give it a proper prior or more data", variable, reason)) {}

MultilinearModel::MultilinearModel(std::shared_ptr<const Layout> layout,
                                   std::shared_ptr<const detail::MultilinearForm> form, Vector start_natural,
                                   std::vector<std::string> hyperparameters,
                                   std::shared_ptr<const detail::Polynomials> hyperparameter_derivatives)
    : layout_(std::move(layout)),
      form_(std::move(form)),
      start_natural_(std::move(start_natural)),
      hyperparameters_(std::move(hyperparameters)),
      hyperparameter_derivatives_(std::move(hyperparameter_derivatives)) {}

State MultilinearModel::start(Random& random) const {
    State state{start_natural_, Vector(layout_->size()),
                std::vector<bool>(static_cast<std::size_t>(layout_->variable_count()), false)};
    for (const VariableInfo& variable : *layout_) {
        const Vector natural =
            random_start(variable.family, start_natural_.segment(variable.offset, variable.size), random);
        state.natural.segment(variable.offset, variable.size) = natural;
        state.mean.segment(variable.offset, variable.size) =
            std::visit([&](const auto& family) { return family.mean(natural); }, variable.family);
    }
    return state;
}

Expansion MultilinearModel::sweep(State& state) const {
    const Expansion entry = expand(state.mean, Order::value);
    Vector natural;
    for (Index j = 0; j < layout_->variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = (*layout_)[j];
        natural.resize(variable.size);
        form_->block_gradient(state.mean, variable.offset, natural);
        std::visit(
            [&](const auto& family) {
                const std::string error = family.domain_error(natural);
                if (!error.empty())
                    throw ImproperConditional(variable.name, error + cancellation(j, natural, state.mean));
                state.mean.segment(variable.offset, variable.size) = family.mean(natural);
            },
            variable.family);
        state.natural.segment(variable.offset, variable.size) = natural;
    }
    return entry;
}

// A note for the message where the terms of a natural parameter cancel to rounding.
std::string MultilinearModel::cancellation(Index variable, const Vector& natural, const Vector& mean) const {
    const Vector magnitude = layout_->segment(form_->expand(mean, Order::gradient).gradient_magnitude, variable);
    const double rounding = 1e-13;
    const bool cancels = (natural.cwiseAbs().array() < rounding * magnitude.array()).any();
    return cancels ? " (its terms cancel to rounding: centre and scale the data)" : "";
}

Expansion MultilinearModel::expand(const Vector& mean, Order order) const {
    detail::require_size("expand", "mean", mean.size(), layout_->size());
    return form_->expand(mean, order);
}

Vector MultilinearModel::hyperparameter_gradient(const Vector& mean, Index hyperparameter) const {
    detail::require_size("hyperparameter_gradient", "mean", mean.size(), layout_->size());
    if (hyperparameter < 0 || hyperparameter >= static_cast<Index>(hyperparameters_.size())) {
        throw std::invalid_argument(
            fmt::format("hyperparameter {} is not one of the model's {}", hyperparameter, hyperparameters_.size()));
    }
    Vector gradient = Vector::Zero(layout_->size());
    hyperparameter_derivatives_->add_gradient(static_cast<std::size_t>(hyperparameter), mean, gradient);
    return gradient;
}

MultilinearModel MultilinearModel::tilted(const Vector& tilt) const {
    detail::require_size("tilted", "tilt", tilt.size(), layout_->size());
    detail::require_finite("tilted", "tilt", tilt);
    MultilinearModel result = *this;
    result.identity_ = next_model_identity();
    result.form_ = std::make_shared<const detail::MultilinearForm>(form_->tilted(tilt));
    return result;
}

std::size_t MultilinearModel::term_count() const {
    return form_->term_count();
}

}  // namespace lrvb
