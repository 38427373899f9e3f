#include "base/validate.hpp"
#include "fit/curvature.hpp"
#include "fit/entropy.hpp"
#include "fit/places.hpp"
#include "fit/state_at.hpp"

#include <lrvb/fit/fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace lrvb {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kLongestBurst = 256;         // the burst doubles each time Newton has to give up
constexpr int kCandidates = 4;             // for a step, each nearer than the one before, until it is given up
constexpr double kRoundingAllowed = 1e-3;  // posterior sds that rounding may hide in a converged fit
constexpr double kRoundedSteps = 4.0;      // a step of so many roundings of the gradient is none
constexpr int kStallsAllowed = 3;          // Newton steps that neither F nor the decrement can tell from rounding
constexpr double kSmallestShift = 1e-3;    // of an indefinite curvature, whose mean-field part is the identity
constexpr double kLargestShift = 64.0;     // beyond it, ascent moves further
constexpr double kShiftGrowth = 4.0;
constexpr double kPoorGain = 0.25;   // of a shifted step, over what was foretold: the next is shorter
constexpr double kGoodGain = 0.75;   // and here it is longer by more
constexpr double kSmallGain = 1e-3;  // of a sweep, in nats: ascent crawls
constexpr double kSaddleStep = 0.1;  // away from a saddle, in sds of the factors
constexpr std::uint64_t kSaddleStream = 0x5add1e;

struct Bound {
    double value = -kInfinity;
    double noise = 0.0;  // what rounding can do to it

    bool fell_to(const Bound& after) const { return !(after.value >= value - std::max(noise, after.noise)); }
    bool rose_to(const Bound& after) const { return after.value > value + std::max(noise, after.noise); }
    // By more than any rounding: a hundred thousand times the noise.
    bool fell_far_to(const Bound& after) const { return !(after.value >= value - 1e5 * std::max(noise, after.noise)); }
};

Bound bound_of(const Expansion& expansion, const detail::Entropy& entropy) {
    const double magnitude = expansion.magnitude + entropy.magnitude;
    return {expansion.value + entropy.value, 16.0 * std::numeric_limits<double>::epsilon() * magnitude};
}

// ∇F in the means: ∇L − η, and zero where clamped.
Vector bound_gradient(const Layout& layout, const State& state, const Vector& gradient) {
    Vector residual = gradient - state.natural;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) layout.segment(residual, j).setZero();
    }
    return residual;
}

// One start, from beginning to end.
class Run {
  public:
    Run(const Model& model, const FitOptions& options, int restart,
        std::shared_ptr<const detail::CurvatureStructure>& structure)
        : model_(model), layout_(model.layout()), options_(options), restart_(restart), structure_(structure) {
        result_.step = kInfinity;
    }

    Optimum from(State start) {
        result_.state = std::move(start);
        try {
            for (int burst = options_.first_sweeps; !done_; burst = std::clamp(2 * burst, 4, kLongestBurst)) {
                for (int i = 0; i < burst && !done_; ++i) ascend();
                while (!done_ && newton()) {
                }
            }
        } catch (const ImproperConditional& improper) {
            finish(Termination::improper, improper.what());
        }
        if (!is_evaluated_) evaluate(model_.expand_at(result_.state, Order::value), entropy());
        result_.bound = bound_.value;
        return std::move(result_);
    }

  private:
    detail::Entropy entropy() const { return detail::entropy_of(layout_, result_.state); }

    void ascend() {
        const detail::Entropy entropy_before = entropy();
        const State before = result_.state;
        Expansion entry;
        try {
            entry = model_.sweep(result_.state);
        } catch (const ImproperConditional&) {
            result_.state = before;
            throw;
        }
        if (!is_evaluated_) evaluate(entry, entropy_before);
        expansion_.reset();
        is_evaluated_ = false;
        ++result_.sweeps;
        stage_ = "ascent";
        check_limit();
    }

    // One Newton step, shifted where the curvature is indefinite. False where ascent has to go on: no step that keeps
    // the bound.
    bool newton() {
        if (!expansion_) {
            expansion_ = model_.expand_at(result_.state, Order::hessian);
            if (!is_evaluated_) evaluate(*expansion_, entropy());
            if (done_) return true;
        }
        if (!structure_ || !structure_->describes(expansion_->hessian)) {
            structure_ =
                std::make_shared<const detail::CurvatureStructure>(layout_, result_.state.clamped, expansion_->hessian);
        }
        auto curvature =
            std::make_shared<const detail::Curvature>(structure_, layout_, result_.state.natural, expansion_->hessian);
        const Vector gradient = bound_gradient(layout_, result_.state, expansion_->gradient);
        failed_variable_ = curvature->failed_variable();
        if (failed_variable_) {
            result_.step = kInfinity;
            if (curvature->largest_whitened(gradient) <= options_.tolerance) {
                if (leave_saddle()) return false;
                finish(Termination::not_a_maximum,
                       fmt::format(
                           "the fixed point is not a maximum of the bound: it is flat or a saddle in variable '{}'; "
                           "try other starts, or give that variable a stronger prior",
                           layout_[*failed_variable_].name));
                return true;
            }
            if (ascent_gains() || !take_shifted_step(gradient)) return false;
            check_limit();
            return true;
        }
        const Vector mean_step = curvature->respond(gradient);
        const Vector natural_step = gradient + times_hessian(mean_step);
        const double previous_step = std::exchange(result_.step, std::sqrt(std::max(0.0, gradient.dot(mean_step))));
        if (result_.step <= options_.tolerance) {
            converge(std::move(curvature), natural_step);
            return true;
        }
        if (!take_step(natural_step) && !take_shifted_step(gradient)) {
            if (result_.step > kRoundedSteps * rounding(*curvature)) return false;
            converge(std::move(curvature), natural_step);  // rounding is all that the gradient is
            return true;
        }
        check_stall(previous_step);
        check_limit();
        return true;
    }

    // Symmetric data and a symmetric start end between two optima, where no gradient says so: a random step, once, and
    // ascent goes on. A place that is flat is found again. Who says where to start is told what is there.
    bool leave_saddle() {
        const bool was_told = options_.initial || !options_.starts.empty();
        if (was_told || std::exchange(has_left_saddle_, true)) return false;
        Random random(kSaddleStream + options_.seed, static_cast<std::uint64_t>(restart_));
        Vector natural = result_.state.natural;
        for (Index j = 0; j < layout_.variable_count(); ++j) {
            if (result_.state.clamped[static_cast<std::size_t>(j)]) continue;
            Vector step(layout_[j].size);
            for (double& entry : step) entry = kSaddleStep * random.normal();
            const Matrix factor = std::visit(
                [&](const auto& family) { return Matrix(family.covariance_factor(layout_.segment(natural, j))); },
                layout_[j].family);
            if (factor.cols() != step.size()) continue;
            factor.transpose().triangularView<Eigen::Upper>().solveInPlace(step);
            layout_.segment(natural, j) += step;
        }
        std::optional<State> beside = detail::state_at(layout_, result_.state, natural);
        if (!beside) return false;
        result_.state = std::move(*beside);
        expansion_.reset();
        stage_ = "newton";
        evaluate(model_.expand_at(result_.state, Order::value), entropy());
        return !done_;
    }

    // Whether the last sweep got anywhere. While it does, ascent is left to choose among the optima: it goes further
    // than the nearest. A start that is already near has chosen: along a ridge ascent would gain a little for ever.
    bool ascent_gains() const {
        if (options_.first_sweeps == 0) return false;
        const std::vector<double>& trace = result_.trace;
        return stage_ == "ascent" && trace.size() > 1 && trace.back() - trace[trace.size() - 2] > kSmallGain;
    }

    Vector times_hessian(const Vector& mean_step) const {
        return expansion_->hessian.selfadjointView<Eigen::Lower>() * mean_step;
    }

    // What rounding of the gradient may move a mean by, in posterior sds; zero where the model does not say.
    double rounding(const detail::Curvature& curvature) const {
        const Vector& magnitude = expansion_->gradient_magnitude;
        if (magnitude.size() == 0) return 0.0;
        return std::numeric_limits<double>::epsilon() * curvature.largest_whitened_bound(magnitude);
    }

    // The step that remains is not taken: bound and curvature there would cost another look at the data. But a gradient
    // that is a small difference of large sums is no evidence of an optimum.
    void converge(std::shared_ptr<const detail::Curvature> curvature, const Vector& natural_step) {
        const double hidden = rounding(*curvature);
        if (hidden > kRoundingAllowed) {
            finish(Termination::stalled,
                   fmt::format(
                       "stalled: rounding in the data's sums may move a mean by {:.1e} posterior sds; centre and scale "
                       "the data",
                       hidden));
            return;
        }
        std::optional<State> next = detail::state_at(layout_, result_.state, result_.state.natural + natural_step);
        result_.next = next ? std::move(*next) : result_.state;
        result_.curvature = std::move(curvature);
        result_.model_identity = model_.identity();
        finish(Termination::converged, fmt::format("converged: the last step was {:.1e} posterior sds", result_.step));
    }

    bool take_step(const Vector& natural_step) {
        double fraction = 1.0;
        bool is_first = true;
        for (int i = 0; i < kCandidates; ++i, fraction *= 0.5) {
            std::optional<State> candidate =
                detail::state_at(layout_, result_.state, result_.state.natural + fraction * natural_step);
            if (!candidate) continue;
            const auto keeps = [&](const Bound& after) { return !bound_.fell_to(after); };
            if (go_to(std::move(*candidate), std::exchange(is_first, false), keeps)) return true;
        }
        return false;
    }

    // ((1 + s)V⁻¹ − H) Δm = g, with s as large as a positive definite matrix and a rise of the bound need: between
    // Newton's step and a short one along the natural gradient, Δη = (g + HΔm)/(1 + s).
    bool take_shifted_step(const Vector& gradient) {
        int candidates = 0;
        for (double shift = first_shift_; shift <= kLargestShift && candidates < kCandidates; shift *= kShiftGrowth) {
            const detail::Curvature shifted(structure_, layout_, result_.state.natural, expansion_->hessian, shift);
            if (shifted.failed_variable()) continue;
            const Vector mean_step = shifted.respond(gradient);
            const Vector natural_step = (gradient + times_hessian(mean_step)) / (1.0 + shift);
            std::optional<State> candidate =
                detail::state_at(layout_, result_.state, result_.state.natural + natural_step);
            if (!candidate) continue;
            const auto rises = [&](const Bound& after) { return bound_.rose_to(after); };
            const double before = bound_.value;
            if (!go_to(std::move(*candidate), candidates++ == 0, rises)) continue;
            // Where the bound rose as its second derivative foretold, the next step may be longer.
            const double foretold = 0.5 * (gradient.dot(mean_step) + shift * mean_step.dot(natural_step));
            const double kept = (bound_.value - before) / foretold;
            const double growth =
                kept < kPoorGain ? kShiftGrowth : 1.0 / (kept < kGoodGain ? kShiftGrowth : kShiftGrowth * kShiftGrowth);
            first_shift_ = std::max(kSmallestShift, shift * growth);
            return true;
        }
        first_shift_ = kSmallestShift;
        return false;
    }

    // Goes there if the bound allows it. The first candidate, which most often is the last, is looked at once for all;
    // of others the bound is asked first.
    template <class Allows>
    bool go_to(State candidate, bool is_first, Allows allows) {
        Expansion expansion = model_.expand_at(candidate, is_first ? Order::hessian : Order::value);
        const detail::Entropy candidate_entropy = detail::entropy_of(layout_, candidate);
        if (!allows(bound_of(expansion, candidate_entropy))) return false;
        if (!is_first) expansion = model_.expand_at(candidate, Order::hessian);
        result_.state = std::move(candidate);
        ++result_.newton_steps;
        stage_ = "newton";
        evaluate(expansion, candidate_entropy);
        expansion_ = std::move(expansion);
        return true;
    }

    // Takes note of the bound at the state of the last iteration.
    void evaluate(const Expansion& expansion, const detail::Entropy& entropy) {
        const Bound after = bound_of(expansion, entropy);
        if (std::isfinite(after.value) && stage_ == "ascent" && bound_.fell_far_to(after)) {
            throw std::logic_error(fmt::format(
                "the bound fell from {:.17g} to {:.17g} in sweep {} of coordinate ascent: the model's sweep does "
                "not match its log joint, which is a bug in the model",
                bound_.value, after.value, result_.sweeps));
        }
        bound_ = after;
        is_evaluated_ = true;
        result_.trace.push_back(after.value);
        if (done_) return;
        const Progress progress{restart_, stage_, iterations(), after.value, result_.step, 0, 0};
        if (!std::isfinite(after.value)) {
            finish(Termination::improper,
                   "the bound is not finite: check the data and priors for values that are too large");
        } else if (options_.progress && !options_.progress(progress)) {
            finish(Termination::cancelled, fmt::format("cancelled after {} iterations", iterations()));
        }
    }

    // Where even the predicted gain λ²/2 drowns in rounding, only a falling λ shows progress.
    void check_stall(double previous_step) {
        const bool below_noise = 0.5 * result_.step * result_.step <= bound_.noise;
        stalls_ = below_noise && result_.step > 0.5 * previous_step ? stalls_ + 1 : 0;
        if (done_ || stalls_ <= kStallsAllowed) return;
        finish(Termination::stalled,
               fmt::format(
                   "stalled: rounding keeps the step at {:.1e} posterior sds; centre and scale the data, or raise the "
                   "tolerance",
                   result_.step));
    }

    void check_limit() {
        if (done_ || iterations() < options_.max_iterations) return;
        finish(
            Termination::iteration_limit,
            failed_variable_
                ? fmt::format(
                      "not converged in {} iterations: the bound is nearly flat, or not concave, in variable '{}'; "
                      "try other starts, or give that variable a stronger prior",
                      iterations(), layout_[*failed_variable_].name)
                : fmt::format("not converged in {} iterations (last step: {:.1e} posterior sds); raise max_iterations "
                              "(--max-iterations)",
                              iterations(), result_.step));
    }

    int iterations() const { return result_.sweeps + result_.newton_steps; }

    void finish(Termination termination, std::string message) {
        result_.termination = termination;
        result_.message = std::move(message);
        done_ = true;
    }

    const Model& model_;
    const Layout& layout_;
    const FitOptions& options_;
    int restart_;
    std::shared_ptr<const detail::CurvatureStructure>& structure_;  // of all starts
    Optimum result_;
    Bound bound_;                           // at the last state that was evaluated
    bool is_evaluated_ = false;             // whether that is the present one
    std::optional<Expansion> expansion_;    // at the present state, to second order
    std::optional<Index> failed_variable_;  // of the last factorisation
    double first_shift_ = kSmallestShift;   // to try where the curvature is indefinite
    std::string_view stage_ = "start";
    int stalls_ = 0;
    bool has_left_saddle_ = false;
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
    detail::require_at_least("fit", "first_sweeps", options.first_sweeps, 0);
    if (options.initial) {
        check_initial(layout, *options.initial);
        if (options.restarts > 1) {
            throw std::invalid_argument(
                "fit: restarts from one initial state are all the same; leave out one or the other");
        }
    }
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

// The means of variables that are not clamped follow from their naturals.
State consistent(const Layout& layout, State state) {
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        layout.segment(state.mean, j) = std::visit(
            [&](const auto& family) { return family.mean(layout.segment(state.natural, j)); }, layout[j].family);
    }
    return state;
}

State start_of(const Model& model, const FitOptions& options, int restart) {
    const Layout& layout = model.layout();
    Random random(options.seed, static_cast<std::uint64_t>(restart));
    State state = options.initial ? consistent(layout, *options.initial) : model.start(random);
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

// What is kept of a start that may have ended elsewhere.
Optimum without_curvature(const Optimum& optimum) {
    Optimum kept;
    kept.state = optimum.state;
    kept.bound = optimum.bound;
    kept.step = optimum.step;
    kept.termination = optimum.termination;
    kept.message = optimum.message;
    kept.model_identity = optimum.model_identity;
    return kept;
}

bool better(const Optimum& a, const Optimum& b) {
    if (a.converged() != b.converged()) return a.converged();
    return a.bound > b.bound || std::isnan(b.bound);
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
    detail::require_size("standard", "state", state.natural.size(), model.layout().size());
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
    std::vector<Optimum> found;
    for (int restart = 0; restart < options.restarts; ++restart) {
        Optimum candidate = Run(model, options, restart, structure).from(start_of(model, options, restart));
        bounds.push_back(candidate.bound);
        terminations.push_back(candidate.termination);
        const bool cancelled = candidate.termination == Termination::cancelled;
        if (options.restarts > 1 && candidate.converged()) found.push_back(without_curvature(candidate));
        if (restart == 0 || better(candidate, best)) best = std::move(candidate);
        if (cancelled) break;
    }
    best.restart_bounds = std::move(bounds);
    best.restart_terminations = std::move(terminations);
    if (best.converged()) best.others = detail::other_places(model, best, std::move(found));
    return best;
}

}  // namespace lrvb
