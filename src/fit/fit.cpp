#include "family/validate.hpp"
#include "fit/curvature.hpp"

#include <lrvb/fit/fit.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFirstBurst = 4;      // sweeps before Newton is first tried
constexpr int kLongestBurst = 256;  // the burst doubles each time Newton has to give up
constexpr int kHalvings = 4;        // of a Newton step before it is given up
constexpr int kStallsAllowed = 3;   // Newton steps that neither F nor the decrement can tell from rounding

struct Bound {
    double value;
    double noise;  // what rounding can do to it
};

Bound bound_at(const Model& model, const State& state, double log_joint, double magnitude) {
    const Layout& layout = model.layout();
    double entropy = 0.0;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const double own = std::visit(
            [&](const auto& family) { return family.entropy(layout.segment(state.natural, j)); }, layout[j].family);
        entropy += own;
        magnitude += std::abs(own);
    }
    return {log_joint + entropy, 16.0 * std::numeric_limits<double>::epsilon() * magnitude};
}

Bound bound_at(const Model& model, const State& state) {
    const Expansion expansion = model.expand(state.mean, Order::value);
    return bound_at(model, state, expansion.value, expansion.magnitude);
}

// ∇F in the means: ∇L − η, and zero where clamped.
Vector bound_gradient(const Layout& layout, const State& state, const Vector& gradient) {
    Vector residual = gradient - state.natural;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) layout.segment(residual, j).setZero();
    }
    return residual;
}

// The state with these naturals, or nothing where they leave a family's domain.
std::optional<State> state_at(const Layout& layout, const State& from, const Vector& natural) {
    State state = from;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (from.clamped[static_cast<std::size_t>(j)]) continue;
        const VectorView own = natural.segment(layout[j].offset, layout[j].size);
        const bool inside = std::visit(
            [&](const auto& family) {
                if (!family.domain_error(own).empty()) return false;
                layout.segment(state.mean, j) = family.mean(own);
                return true;
            },
            layout[j].family);
        if (!inside) return std::nullopt;
        layout.segment(state.natural, j) = own;
    }
    return state;
}

// One start, from beginning to end.
class Run {
  public:
    Run(const Model& model, const FitOptions& options, int restart,
        std::shared_ptr<const detail::CurvatureStructure>& structure)
        : model_(model), options_(options), restart_(restart), structure_(structure) {}

    Optimum from(State start) {
        result_.state = std::move(start);
        try {
            optimise();
        } catch (const ImproperConditional& improper) {
            finish(Termination::improper, improper.what());
        }
        result_.bound = bound_.value;
        result_.structure = structure_;
        return std::move(result_);
    }

  private:
    void optimise() {
        // The start's own bound is not in the trace: its means need not belong to one another.
        bound_ = {-kInfinity, 0.0};
        for (int burst = kFirstBurst; !done_; burst = std::min(2 * burst, kLongestBurst)) {
            for (int i = 0; i < burst && !done_; ++i) ascend();
            while (!done_ && newton()) {
            }
        }
    }

    void ascend() {
        model_.sweep(result_.state);
        const Bound after = bound_at(model_, result_.state);
        if (after.value < bound_.value - std::max(after.noise, bound_.noise)) {
            throw std::logic_error(
                fmt::format("the bound fell from {:.17g} to {:.17g} in sweep {} of coordinate ascent: the model's "
                            "sweep does not match its "
                            "log joint, which is a bug in the model",
                            bound_.value, after.value, result_.sweeps + 1));
        }
        ++result_.sweeps;
        record(after, "ascent");
    }

    // One Newton step. False where ascent has to go on: no factorisation, or no step that keeps the bound.
    bool newton() {
        const Layout& layout = model_.layout();
        const Expansion expansion = model_.expand(result_.state.mean, Order::hessian);
        if (!structure_) {
            structure_ =
                std::make_shared<const detail::CurvatureStructure>(layout, result_.state.clamped, expansion.hessian);
        }
        const detail::Curvature curvature(structure_, layout, result_.state.natural, expansion.hessian);
        const Vector gradient = bound_gradient(layout, result_.state, expansion.gradient);
        if (curvature.failed_variable()) {
            result_.step = kInfinity;
            if (curvature.largest_whitened(gradient) <= options_.tolerance) {
                finish(Termination::not_a_maximum,
                       fmt::format(
                           "the fixed point is not a maximum of the bound: it is flat or a saddle in variable '{}'; "
                           "try other starts, or give that variable a stronger prior",
                           layout[*curvature.failed_variable()].name));
            }
            return false;
        }
        const Vector mean_step = curvature.respond(gradient);
        const Vector natural_step = gradient + expansion.hessian.selfadjointView<Eigen::Lower>() * mean_step;
        const double previous_step = result_.step;
        result_.step = std::sqrt(std::max(0.0, gradient.dot(mean_step)));

        const bool converged = result_.step <= options_.tolerance;
        const bool accepted = take_step(natural_step, converged);
        if (converged) {
            finish(Termination::converged,
                   fmt::format("converged: the last step was {:.1e} posterior sds", result_.step));
            return true;
        }
        if (!accepted) return false;
        // Where even the predicted gain λ²/2 drowns in rounding, only a falling λ shows progress.
        const bool below_noise = 0.5 * result_.step * result_.step <= bound_.noise;
        stalls_ = below_noise && result_.step > 0.5 * previous_step ? stalls_ + 1 : 0;
        if (!done_ && stalls_ > kStallsAllowed) {
            finish(Termination::stalled,
                   fmt::format(
                       "stalled: rounding keeps the step at {:.1e} posterior sds; centre and scale the data, or raise "
                       "the tolerance",
                       result_.step));
        }
        return true;
    }

    bool take_step(const Vector& natural_step, bool full_only) {
        double fraction = 1.0;
        for (int i = 0; i < (full_only ? 1 : kHalvings); ++i, fraction *= 0.5) {
            std::optional<State> candidate =
                state_at(model_.layout(), result_.state, result_.state.natural + fraction * natural_step);
            if (!candidate) continue;
            const Bound after = bound_at(model_, *candidate);
            if (!(after.value >= bound_.value - std::max(after.noise, bound_.noise))) continue;
            result_.state = std::move(*candidate);
            ++result_.newton_steps;
            record(after, "newton");
            return true;
        }
        return false;
    }

    void record(const Bound& bound, std::string_view stage) {
        bound_ = bound;
        result_.trace.push_back(bound.value);
        const int iterations = result_.sweeps + result_.newton_steps;
        if (!std::isfinite(bound.value)) {
            finish(Termination::improper,
                   "the bound is not finite: check the data and priors for values that are too large");
        } else if (options_.progress && !options_.progress({restart_, stage, iterations, bound.value, result_.step})) {
            finish(Termination::cancelled, fmt::format("cancelled after {} iterations", iterations));
        } else if (iterations >= options_.max_iterations) {
            finish(Termination::iteration_limit,
                   fmt::format("not converged in {} iterations (last step: {:.1e} posterior sds); raise max_iterations",
                               iterations, result_.step));
        }
    }

    void finish(Termination termination, std::string message) {
        result_.termination = termination;
        result_.message = std::move(message);
        done_ = true;
    }

    const Model& model_;
    const FitOptions& options_;
    int restart_;
    std::shared_ptr<const detail::CurvatureStructure>& structure_;
    Optimum result_ = [] {
        Optimum fresh;
        fresh.step = kInfinity;
        return fresh;
    }();
    Bound bound_{-kInfinity, 0.0};
    int stalls_ = 0;
    bool done_ = false;
};

void require_own(const Layout& layout, const AnyVariable& variable, std::string_view who) {
    const bool own = layout.model() == 0 || variable.model() == 0 || variable.model() == layout.model();
    if (own && variable.index() >= 0 && variable.index() < layout.variable_count()) return;
    throw std::invalid_argument(
        fmt::format("{}: variable {} is not one of this model's {}; use the handles of the builder that built it", who,
                    variable.index(), layout.variable_count()));
}

void check_initial(const Layout& layout, const State& initial) {
    detail::require_size("fit", "initial means", initial.mean.size(), layout.size());
    detail::require_size("fit", "initial naturals", initial.natural.size(), layout.size());
    detail::require_size("fit", "initial clamps", static_cast<Index>(initial.clamped.size()), layout.variable_count());
    detail::require_finite("fit", "initial means", initial.mean);
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (initial.clamped[static_cast<std::size_t>(j)]) continue;
        const std::string error =
            std::visit([&](const auto& family) { return family.domain_error(layout.segment(initial.natural, j)); },
                       layout[j].family);
        if (error.empty()) continue;
        throw std::invalid_argument(fmt::format("fit: initial state of variable '{}': {}", layout[j].name, error));
    }
}

void check(const Layout& layout, const FitOptions& options) {
    detail::require_positive("fit", "tolerance", options.tolerance);
    detail::require_at_least("fit", "max_iterations", options.max_iterations, 1);
    detail::require_at_least("fit", "restarts", options.restarts, 1);
    if (options.initial) check_initial(layout, *options.initial);
    for (const auto& [variable, value] : options.clamped) require_own(layout, variable, "clamp");
    for (const auto& [variable, standard] : options.starts) require_own(layout, variable, "start");
}

// What the family makes of a value that the caller gave for a variable; its complaint, with the variable's name.
template <class Function>
Vector given_for(const VariableInfo& variable, std::string_view option, Function function) {
    try {
        return std::visit(function, variable.family);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(fmt::format("{} of variable '{}': {}", option, variable.name, error.what()));
    }
}

State start_of(const Model& model, const FitOptions& options, int restart) {
    const Layout& layout = model.layout();
    Random random(options.seed, static_cast<std::uint64_t>(restart));
    State state = options.initial ? *options.initial : model.start(random);
    for (const auto& [variable, standard] : options.starts) {
        const VariableInfo& info = layout[variable.index()];
        const Vector natural = given_for(
            info, "start", [&given = standard](const auto& family) { return family.natural_from_standard(given); });
        layout.segment(state.natural, variable.index()) = natural;
        layout.segment(state.mean, variable.index()) =
            std::visit([&](const auto& family) { return family.mean(natural); }, info.family);
    }
    for (const auto& [variable, value] : options.clamped) {
        layout.segment(state.mean, variable.index()) =
            given_for(layout[variable.index()], "clamp",
                      [&given = value](const auto& family) { return family.statistic(given); });
        layout.segment(state.natural, variable.index()).setZero();
        state.clamped[static_cast<std::size_t>(variable.index())] = true;
    }
    return state;
}

bool better(const Optimum& a, const Optimum& b) {
    if (a.converged() != b.converged()) return a.converged();
    return a.bound > b.bound;
}

}  // namespace

std::string_view to_string(Termination termination) {
    switch (termination) {
        case Termination::converged:
            return "converged";
        case Termination::iteration_limit:
            return "iteration limit";
        case Termination::stalled:
            return "stalled";
        case Termination::not_a_maximum:
            return "not a maximum";
        case Termination::improper:
            return "improper";
        case Termination::cancelled:
            return "cancelled";
    }
    return "unknown";
}

FitOptions& FitOptions::clamp(const AnyVariable& variable, const Vector& value) {
    clamped.emplace_back(variable, value);
    return *this;
}

FitOptions& FitOptions::clamp(const AnyVariable& variable, double value) {
    return clamp(variable, Vector::Constant(1, value));
}

FitOptions& FitOptions::start(const AnyVariable& variable, const Vector& standard) {
    starts.emplace_back(variable, standard);
    return *this;
}

Vector Optimum::standard(const Model& model, const AnyVariable& variable) const {
    require_own(model.layout(), variable, "standard");
    if (state.clamped[static_cast<std::size_t>(variable.index())]) return {};
    const Layout& layout = model.layout();
    return std::visit(
        [&](const auto& family) { return family.standard(layout.segment(state.natural, variable.index())); },
        layout[variable.index()].family);
}

Optimum fit(const Model& model, const FitOptions& options) {
    check(model.layout(), options);
    std::shared_ptr<const detail::CurvatureStructure> structure;
    Optimum best;
    std::vector<double> bounds;
    std::vector<Termination> terminations;
    for (int restart = 0; restart < options.restarts; ++restart) {
        Optimum candidate = Run(model, options, restart, structure).from(start_of(model, options, restart));
        bounds.push_back(candidate.bound);
        terminations.push_back(candidate.termination);
        const bool cancelled = candidate.termination == Termination::cancelled;
        if (restart == 0 || better(candidate, best)) best = std::move(candidate);
        if (cancelled) break;
    }
    best.restart_bounds = std::move(bounds);
    best.restart_terminations = std::move(terminations);
    return best;
}

}  // namespace lrvb
