#include "check/target.hpp"

#include <lrvb/kind/declared.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace lrvb {

namespace {

// Whether the posterior of all optima, each with its share, has another mean or sd of a variable than this one's. Where
// it does, what is said; empty otherwise.
std::string elsewhere(const CheckedVariable& variable, const std::vector<OtherOptimum>& others) {
    double mean = 0.0;  // from the mean here
    double variance = own_share(others) * variable.sd_lrvb * variable.sd_lrvb;
    for (const OtherOptimum& other : others) {
        const OtherOptimum::Value* there = other.find(variable.name);
        if (there == nullptr) return "another optimum";
        const double off = there->mean - variable.mean_lrvb;
        mean += other.share * off;
        variance += other.share * (there->sd * there->sd + off * off);
    }
    const double sd = std::sqrt(std::max(0.0, variance - mean * mean));
    if (std::abs(mean) <= kCheckTolerance * sd && std::abs(variable.sd_lrvb / sd - 1.0) <= kCheckTolerance) return {};
    return fmt::format("another optimum: {:.4g}", others.front().find(variable.name)->mean);
}

constexpr std::string_view kSaysNothing[] = {"ok", "seems ok", "not checked"};  // of what is wrong
constexpr double kLeastWeight = 0.1;  // of a draw that counts, beside the mean of all

// Whether draws go to where another optimum is, as far as each variable can tell.
bool reaches(const Check& check, const Posterior& posterior, const OtherOptimum& other) {
    const Vector weights = weights_of(check.log_weights);
    const double least = kLeastWeight / static_cast<double>(weights.size());
    for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
        const OtherOptimum::Value* there = other.find(posterior.variables[v].name);
        if (there == nullptr || !detail::is_telling(posterior.variables[v].meaning)) continue;
        double lowest = std::numeric_limits<double>::infinity();
        double highest = -lowest;
        for (Index i = 0; i < weights.size(); ++i) {
            if (!(weights[i] > least)) continue;
            lowest = std::min(lowest, check.values(static_cast<Index>(v), i));
            highest = std::max(highest, check.values(static_cast<Index>(v), i));
        }
        if (!(there->mean >= lowest && there->mean <= highest)) return false;
    }
    return true;
}

// Draws about one optimum may not reach the others, or not in their shares: unless these are other labels, which were
// all added up, and the few coordinates that are left go there.
void doubt(const FittedModel& fitted, const Posterior& posterior, Check& check) {
    const std::vector<OtherOptimum>& others = fitted.file().other_optima;
    if (others.empty()) return;
    const bool adds_up_labels = check.method == CheckMethod::importance && check.reliable &&
                                density_evaluations(fitted.model(), fitted.optimum().state) > 1.0;
    if (adds_up_labels &&
        std::ranges::all_of(others, [&](const OtherOptimum& one) { return reaches(check, posterior, one); })) {
        return;
    }
    const std::string text = other_optima_text(posterior, others);
    check.reliable = false;
    if (check.verdict == CheckVerdict::ok) check.verdict = CheckVerdict::doubtful;
    check.trust += "; but they may have kept to this optimum: " + text;
    check.message = fmt::format("{}; by the draws, {}", text, check.message);
    for (CheckedVariable& variable : check.variables) {
        if (variable.verdict == "fixed") continue;
        const std::string there = elsewhere(variable, others);
        if (there.empty()) continue;
        const bool says_nothing = std::ranges::count(kSaysNothing, variable.verdict) > 0;
        variable.verdict = says_nothing ? there : fmt::format("{}, {}", variable.verdict, there);
    }
}

// Beyond this many coordinates there is no dense covariance to draw about, and the no-U-turn sampler is all there is.
bool is_large(Index dimension) {
    return dimension > kDenseStatistics;
}

void require_nuts(const Model& model, Index dimension, const CheckOptions& options) {
    if (!is_large(dimension)) return;
    if (options.method && *options.method != CheckMethod::nuts) {
        throw std::invalid_argument(fmt::format(
            "the model has {} free parameters, and only the no-U-turn sampler draws more than {}: leave out "
            "--method, or check a smaller model of the same kind",
            dimension, kDenseStatistics));
    }
    if (model.exchangeable().blocks.empty()) return;
    throw std::invalid_argument(fmt::format(
        "the model has {} free parameters and components that can be exchanged, whose draws are made for {} "
        "at most: check a smaller model of the same kind",
        dimension, kDenseStatistics));
}

// In the units of FittedModel::work_of_a_draw, as `make bench` has them (samplers).
constexpr double kWorkOfAGradient = 2.0;  // of a draw's
constexpr double kWorkOfACall = 3000.0;
constexpr double kWorkOfACoordinate = 10.0;
constexpr double kWorkOfAPair = 0.2;  // of coordinates, in a dense product
constexpr double kWorkOfASparseCoordinate = 100.0;
constexpr Index kMostDraws = 1000000;
constexpr Index kFewestGradients = 12000;  // chains need most of these before they keep a draw
constexpr double kMoreChains = 4.0;        // draws, where chains do not agree
constexpr double kShareOfMoreDraws = 0.5;  // of the time left, where an sd is not known well enough

// A draw, or a gradient, and the coordinates that it is carried to.
double work_at(Index dimension, double evaluation) {
    const auto size = static_cast<double>(dimension);
    const double of_coordinate =
        is_large(dimension) ? kWorkOfASparseCoordinate : kWorkOfACoordinate + kWorkOfAPair * size;
    return kWorkOfACall + evaluation + size * of_coordinate;
}

bool decides(const Check& check) {
    return check.reliable && check.resolved == static_cast<Index>(check.variables.size());
}

int rank(const Check& check) {
    if (decides(check)) return 3;
    if (check.reliable) return 2;
    return check.verdict == CheckVerdict::unchecked ? 0 : 1;
}

// More time, rounded up to one digit.
std::string more_time(double seconds, double factor) {
    const double needed = 1.5 * std::max(seconds, 1.0) * (std::isfinite(factor) ? std::max(factor, 2.0) : kMoreChains);
    if (needed <= CheckOptions().seconds) return "'lrvb check FIT DATA' may tell";
    const double digit = std::pow(10.0, std::floor(std::log10(needed)));
    return fmt::format("'lrvb check FIT DATA --seconds {:.0f}' may tell", digit * std::ceil(needed / digit));
}

// Makes checks of a target, and counts what they cost.
class Checker {
  public:
    Checker(const detail::Target& target, const CheckOptions& options, double work_of_a_draw)
        : target_(target),
          options_(options),
          draw_work_(work_at(target.density.dimension(), work_of_a_draw)),
          gradient_work_(work_at(target.density.dimension(), kWorkOfAGradient * work_of_a_draw)),
          left_(options.seconds * detail::kWorkOfASecond) {}

    Check by(CheckMethod method) {
        Check check = make(method, options_.draws, gradients_left());
        if (check.draws > 0) return check;
        throw std::invalid_argument(fmt::format(
            "the no-U-turn sampler comes to no draws in {:g} seconds: give it more (--seconds)", options_.seconds));
    }

    /// Importance sampling, with more draws where that is all that lacks; and the no-U-turn sampler where it is not, as
    /// long as there is time.
    Check by_choice() {
        if (is_large(target_.density.dimension())) return by(CheckMethod::nuts);
        Check best = make(CheckMethod::importance, options_.draws, 0);
        left_ -= draw_work_ * static_cast<double>(best.draws);
        if (decides(best)) return best;
        const double needed = 1.2 * best.more * static_cast<double>(best.draws);
        const bool is_short = !best.reliable && best.more > 1.0 && best.unseen.empty() &&
                              best.k_hat < pareto_threshold(best.draws) && best.ess >= kCheckEss;
        const double allowed = best.reliable ? left_ : is_short ? kShareOfMoreDraws * left_ : 0.0;
        if (needed <= static_cast<double>(kMostDraws) && needed * draw_work_ <= allowed) {
            Check next = make(CheckMethod::importance, static_cast<Index>(needed), 0);
            left_ -= draw_work_ * needed;
            if (rank(next) >= rank(best)) best = std::move(next);
            if (decides(best)) return best;
        }
        double draws = static_cast<double>(options_.draws);
        while (draws <= static_cast<double>(kMostDraws)) {
            if (gradients_left() < kFewestGradients) break;
            Check next = make(CheckMethod::nuts, static_cast<Index>(draws), gradients_left());
            left_ -= gradient_work_ * static_cast<double>(next.gradients);
            if (next.draws == 0) break;
            const double factor = next.reliable ? 1.2 * next.more : kMoreChains;
            // What chains cannot reach, longer ones of the same kind will not: but they tell more of where they are.
            const bool is_told = next.resolved == variables() && !next.unseen.empty();
            const bool ends = next.draws < static_cast<Index>(draws) || is_told;
            draws = std::max(factor, 1.5) * static_cast<double>(next.draws);
            if (rank(next) > rank(best) || (rank(next) == rank(best) && next.ess > best.ess)) best = std::move(next);
            if (decides(best) || ends) break;
        }
        return best;
    }

  private:
    Check make(CheckMethod method, Index draws, Index gradients) {
        Check check;
        check.method = method;
        check.draws = draws;
        check.seed = options_.seed;
        const auto progress = [&](double done) {
            return !options_.progress || options_.progress({method, draws, done, resolved_, variables()});
        };
        progress(0.0);
        detail::draw(target_, options_.threads, gradients, progress, check);
        if (check.draws == 0) return check;
        const auto advice = [&](const Check& of, double factor) {
            // Fewer draws than were asked for: the time was up.
            const bool wants_draws = options_.method && of.draws >= draws;
            return wants_draws ? detail::more_draws(of, factor) : more_time(options_.seconds, factor);
        };
        detail::compare(target_.posterior, advice, check);
        resolved_ = std::max(resolved_, check.reliable ? check.resolved : 0);
        return check;
    }

    Index gradients_left() const { return static_cast<Index>(std::clamp(left_ / gradient_work_, 0.0, 1e15)); }
    Index variables() const { return static_cast<Index>(target_.posterior.variables.size()); }

    const detail::Target& target_;
    const CheckOptions& options_;
    double draw_work_;
    double gradient_work_;
    double left_;
    Index resolved_ = 0;
};

// Functionals of statistics, a column a draw.
Matrix values_of(const Functionals::Resolved& functionals, const Matrix& statistics) {
    Matrix values(functionals.weights.cols(), statistics.cols());
    for (Index i = 0; i < values.cols(); ++i) {
        for (Index c = 0; c < values.rows(); ++c) {
            double sum = 0.0;
            for (SparseMatrix::InnerIterator entry(functionals.weights, c); entry; ++entry) {
                sum += entry.value() * statistics(entry.row(), i);
            }
            values(c, i) = sum + functionals.constants[c];
        }
    }
    return values;
}

Check check_by_work(const Model& model, const Optimum& optimum, const Posterior& posterior,
                    const Functionals& statistics, const CheckOptions& options, double work_of_a_draw) {
    const LinearResponse response(model, optimum);
    const ModelDensity density(model, optimum.state);
    require_nuts(model, density.dimension(), options);
    const bool large = is_large(density.dimension());
    const Whitening whitening =
        large ? density.whitening(optimum.state) : Whitening::of_covariance(density.chart().approximation(response));
    const NormalApproximation approximation =
        large ? NormalApproximation{whitening.centre(), {}} : density.chart().approximation(response);
    const detail::LabelledDensity labelled(model, optimum.state, density, approximation);
    const Functionals::Resolved resolved = statistics.resolve(model.layout());
    const auto values_of_statistics = [&](const Matrix& stacked) {
        return posterior.values_at(values_of(resolved, stacked));
    };
    const auto values_at = [&](const Matrix& points) {
        return values_of_statistics(density.statistics(points, options.threads, options.seed));
    };
    std::vector<Index> watched;
    for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
        if (detail::is_telling(posterior.variables[v].meaning)) watched.push_back(static_cast<Index>(v));
    }
    detail::Target target{model,         optimum,   density,   labelled,
                          approximation, whitening, values_at, values_of_statistics,
                          posterior,     watched};
    constexpr double kShareOfRidges = 0.2;  // of the time
    const double gradient_work = work_at(density.dimension(), kWorkOfAGradient * work_of_a_draw);
    const double gradients = kShareOfRidges * options.seconds * detail::kWorkOfASecond / gradient_work;
    if (!large) detail::find_ridges(target, static_cast<Index>(std::min(gradients, 1e7)), options.threads);
    Checker checker(target, options, work_of_a_draw);
    return options.method ? checker.by(*options.method) : checker.by_choice();
}

bool is_corrected(const Posterior& posterior) {
    return std::any_of(posterior.variables.begin(), posterior.variables.end(),
                       [](const PosteriorVariable& variable) { return variable.quantiles.size() > 0; });
}

Check by_integration(const FittedModel& fitted, const Posterior& posterior, const CheckOptions& options) {
    if (!fitted.work_of_integration()) {
        throw std::invalid_argument(
            fmt::format("the posterior of a {} is not found by integration: leave out --method integration",
                        fitted.file().model->kind()));
    }
    constexpr Index kMoreDraws = 4;  // of what checks an integral, which has the error of its own draws too
    const bool is_second = is_corrected(posterior);
    IntegrationOptions request{
        (is_second ? kMoreDraws : 1) * options.draws, options.seed, options.threads, is_second, {}};
    const auto variables = static_cast<Index>(posterior.variables.size());
    if (options.progress) {
        request.progress = [&](double done) {
            return options.progress({CheckMethod::integration, options.draws, done, 0, variables});
        };
    }
    Check check;
    check.method = CheckMethod::integration;
    check.seed = options.seed;
    check.integrated = fitted.integrate(request);
    IntegratedPosterior& integrated = *check.integrated;
    check.draws = integrated.nodes;
    const Vector weights = weights_of(integrated.log_weights);
    check.ess = weights.size() > 0 ? std::pow(weights.sum(), 2) / weights.squaredNorm() : 0.0;
    const ModelDensity density(fitted.model(), fitted.optimum().state);
    check.points.resize(density.dimension(), integrated.draws.cols());
    for (Index s = 0; s < integrated.draws.cols(); ++s) {
        check.points.col(s) = density.chart().point(integrated.draws.col(s));
    }
    const Functionals::Resolved resolved = fitted.statistics().resolve(fitted.model().layout());
    check.values = posterior.values_at(values_of(resolved, integrated.draws));
    check.log_density = integrated.log_density;
    check.log_weights = integrated.log_weights;
    detail::compare(
        posterior, [](const Check&, double) { return std::string("'lrvb check --method nuts' may tell"); }, check);
    doubt(fitted, posterior, check);
    return check;
}

}  // namespace

Check check_posterior(const Model& model, const Optimum& optimum, const Posterior& posterior,
                      const Functionals& statistics, const CheckOptions& options) {
    const auto size = static_cast<double>(model.layout().size());
    return check_by_work(model, optimum, posterior, statistics, options, model.gibbs_work().value_or(size * size));
}

Check check(const MultilinearModel& model, const Optimum& optimum, const std::vector<DerivedQuantity>& derived,
            const CheckOptions& options) {
    const std::unique_ptr<FittedModel> fitted = fitted_model(std::make_shared<const MultilinearModel>(model), optimum);
    return check(*fitted, declared_posterior(model, optimum, derived), options);
}

Check check(const FittedModel& fitted, const CheckOptions& options) {
    return check(fitted, fitted.posterior(), options);
}

Check check(const FittedModel& fitted, const Posterior& posterior, const CheckOptions& options) {
    const bool is_integrated =
        options.method ? *options.method == CheckMethod::integration : fitted.work_of_integration().has_value();
    if (is_integrated) {
        Check result = by_integration(fitted, posterior, options);
        // What was integrated is checked by other nodes; chains, which miss sds near zero, only where that says
        // nothing.
        const bool is_enough = result.reliable && result.integrated->is_confirmed;
        if (options.method || is_enough || !is_corrected(posterior)) return result;
    }
    Check check = check_by_work(fitted.model(), fitted.optimum(), posterior, fitted.statistics(), options,
                                fitted.work_of_a_draw());
    doubt(fitted, posterior, check);
    return check;
}

}  // namespace lrvb
