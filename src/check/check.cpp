#include "base/validate.hpp"
#include "check/explore.hpp"
#include "check/labels.hpp"
#include "family/special.hpp"
#include "sample/parts.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/mode.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lrvb {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestKHat = 1.0;
constexpr double kReliableRHat = 1.05;
constexpr double kDoubtfulRHat = 1.1;
constexpr double kManyExchanged = 0.01;
constexpr double kSdError = 0.07;  // largest standard error of an sd that is relied on, as a share of it

// Where the smallest component has fewer rows, it may lose them all, which only chains can tell.
constexpr double kFewRows = 20.0;
constexpr int kTurns = 3;  // of exploring
// The share of a variance that one draw at an uncovered place would make up.
constexpr double kLimit = 0.02;
// Where the weights have something of a tail, it is looked at more closely at first.
constexpr double kFirstLimit = 0.002;
constexpr double kTail = 0.25;
constexpr double kFewUncovered = 0.002;  // of the points of the chains: as good as none
constexpr double kDifference = 0.15;     // that parts make to a mean, in sds, or to an sd: their places matter
constexpr double kFewUnseen = 0.01;      // of them that may be wide open
constexpr Index kMostParts = 12;
constexpr Index kMostCoordinates = 40;  // for parts to be fitted to so many points
constexpr Index kMostPoints = 1500;     // that parts are fitted to

// What a check is made of.
struct Target {
    const Model& model;
    const Optimum& optimum;
    const ModelDensity& density;
    const detail::LabelledDensity& labelled;
    const NormalApproximation& approximation;
    detail::ValuesAt values_at;
    const Posterior& posterior;
};

// Among components that can lose their rows the fewest that one has, as its weight says; +∞ where there are none.
double fewest_rows(const Target& target) {
    const std::optional<Index> weights = target.model.exchangeable().weights;
    if (!weights || target.optimum.state.clamped[static_cast<std::size_t>(*weights)]) {
        return std::numeric_limits<double>::infinity();
    }
    return target.model.layout().segment(target.optimum.state.natural, *weights).minCoeff() + 1.0;
}

std::string name_at(const Target& target, Index variable) {
    return target.posterior.variables[static_cast<std::size_t>(variable)].name;
}

// The largest change of a mean, in sds, or of the logarithm of an sd from one sample to another.
double difference(const Target& target, const ImportanceSample& before, const ImportanceSample& after) {
    const auto moments = [&](const ImportanceSample& sample) {
        const Eigen::ArrayXd weights = sample.log_weights.array().exp();
        Matrix values = target.values_at(sample.points);
        for (Index i = 0; i < values.cols(); ++i) {
            if (!(weights[i] > 0.0)) values.col(i).setZero();
        }
        const Vector mean = values * weights.matrix();
        const Vector variance = (values.colwise() - mean).cwiseAbs2() * weights.matrix();
        return std::pair<Vector, Vector>(mean, variance.cwiseSqrt());
    };
    const auto [mean, sd] = moments(before);
    const auto [next_mean, next_sd] = moments(after);
    double largest = 0.0;
    for (Index v = 0; v < mean.size(); ++v) {
        if (!(next_sd[v] > 1e-12 * std::abs(next_mean[v]))) continue;  // held
        largest =
            std::max({largest, std::abs(mean[v] - next_mean[v]) / next_sd[v], std::abs(std::log(sd[v] / next_sd[v]))});
    }
    return largest;
}

// k̂ of weights times squared distances of a variable from its mean.
double variance_k_hat(const Vector& log_ratios, const Eigen::ArrayXd& z) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Vector ratios = log_ratios + 2.0 * z.abs().log().matrix();
    for (double& ratio : ratios) {
        if (!(ratio < infinity)) ratio = -infinity;
    }
    return ratios.maxCoeff() == -infinity ? infinity : pareto_smooth(ratios).k_hat;
}

// Where a few draws make up the variance of a variable, a part goes to where most of that is.
void strengthen(const Target& target, const ImportanceOptions& options, int stream, ImportanceSample& sample) {
    const Eigen::ArrayXd weights = sample.log_weights.array().exp();
    const Matrix values = target.values_at(sample.points);
    double worst = pareto_threshold(sample.points.cols());
    Vector tilted;
    for (Index v = 0; v < values.rows(); ++v) {
        const Eigen::ArrayXd counted = (weights > 0.0).select(values.row(v).transpose().array(), 0.0);
        const double mean = (weights * counted).sum();
        const double sd = std::sqrt((weights * (counted - mean).square()).sum());
        if (!(sd > 1e-12 * std::abs(mean))) continue;  // held
        const Eigen::ArrayXd z = (weights > 0.0).select((counted - mean) / sd, 0.0);
        const double k_hat = variance_k_hat(sample.log_density - sample.log_proposal, z);
        if (!(k_hat >= worst)) continue;
        worst = k_hat;
        tilted = weights * z.square();
    }
    if (tilted.size() == 0) return;
    tilted /= tilted.sum();
    const double ess = 1.0 / tilted.squaredNorm();
    const double trusted = ess / (ess + 5.0 * static_cast<double>(sample.points.rows()));
    NormalApproximation there = weighted_moments(sample.points, tilted.array().log());
    const NormalApproximation all = weighted_moments(sample.points, sample.log_weights);
    there.covariance = 1.5 * trusted * there.covariance + (1.0 - trusted) * 4.0 * all.covariance;
    std::vector<ProposalPart> proposal = sample.proposal;
    constexpr double share = 0.3;
    for (ProposalPart& part : proposal) part.share *= 1.0 - share;
    proposal.push_back({share, std::move(there)});
    ImportanceOptions more = options;
    more.enough = 0.3;
    more.functions = target.values_at;
    ImportanceSample next = importance_sample(target.labelled, std::move(proposal), more, stream);
    if (next.reliable()) sample = std::move(next);
}

// Adds parts to the proposal, where chains find places that it does not cover, until they find none.
// Returns the next stream of random numbers.
int explore(const Target& target, const ImportanceOptions& options, ImportanceSample& sample, Check& check) {
    int stream = options.rounds;
    const detail::Explorer explorer(target.model, target.optimum.state, target.density, target.labelled,
                                    target.values_at, options.seed, options.threads);
    if (!explorer.can_explore() || target.density.dimension() > kMostCoordinates) {
        if (fewest_rows(target) < kFewRows) {
            check.unseen = "a component has few rows, and no Gibbs chains could be run to see whether it loses them";
        }
        return stream;
    }
    for (int turn = 0; turn < kTurns; ++turn) {
        const double limit = turn == 0 && sample.k_hat > kTail ? kFirstLimit : kLimit;
        const detail::Explored explored = explorer.explore(sample, options.dof, limit, turn);
        check.unseen.clear();
        if (explored.drifting >= 0) {
            check.unseen = fmt::format("Gibbs chains that start at the draws drift away from them, as {} shows",
                                       name_at(target, explored.drifting));
        }
        const Index count = static_cast<Index>(explored.uncovered.size());
        if (static_cast<double>(count) <= kFewUncovered * static_cast<double>(explored.points.cols())) return stream;
        Matrix points(explored.points.rows(), std::min(count, kMostPoints));
        for (Index i = 0; i < points.cols(); ++i) {
            const Index at = i * count / points.cols();
            points.col(i) = explored.points.col(explored.uncovered[static_cast<std::size_t>(at)]);
        }
        Random random(options.seed, static_cast<std::uint64_t>(turn));
        std::vector<ProposalPart> proposal = sample.proposal;
        for (ProposalPart& part : proposal) part.share *= 0.5;
        for (ProposalPart& part : detail::parts_at(points, kMostParts, options.dof, random)) {
            part.share *= 0.5;
            proposal.push_back(std::move(part));
        }
        ImportanceOptions more = options;
        more.enough = 0.3;
        more.functions = target.values_at;
        ImportanceSample next = importance_sample(target.labelled, std::move(proposal), more, stream);
        stream += more.rounds;
        const bool helps = next.reliable() || next.k_hat < sample.k_hat;
        const double change = helps ? difference(target, sample, next) : std::numeric_limits<double>::infinity();
        if (helps) sample = std::move(next);
        // What was found, and is now covered, may not have been the last of its kind: unless it made no difference.
        if (change > kDifference && explored.wide_open > kFewUnseen * static_cast<double>(explored.points.cols())) {
            check.unseen =
                fmt::format("Gibbs chains go where the draws do not, as {} shows", name_at(target, explored.variable));
        }
        if (!helps) return stream;
    }
    return stream;
}

// Draws of the density, as a check keeps them; returns the points.
Matrix draw_importance(const Target& target, int threads, Check& check) {
    ImportanceOptions options;
    options.draws = check.draws;
    options.seed = check.seed;
    options.threads = threads;
    ImportanceSample sample = importance_sample(target.labelled, target.approximation, options);
    const int stream = explore(target, options, sample, check);
    if (sample.reliable()) strengthen(target, options, stream, sample);
    check.ess = sample.ess;
    check.k_hat = sample.k_hat;
    check.rounds = sample.rounds;
    check.parts = static_cast<int>(sample.proposal.size());
    check.acceptance = check.r_hat = kNothing;
    check.log_density = std::move(sample.log_density);
    check.log_proposal = std::move(sample.log_proposal);
    check.log_weights = std::move(sample.log_weights);
    return std::move(sample.points);
}

Matrix draw_metropolis(const Target& target, int threads, Check& check) {
    ModeOptions mode_options;
    mode_options.threads = threads;
    Mode mode = find_mode(target.density, target.approximation, mode_options);
    // Uphill there may be other labels.
    if (target.labelled.evaluate(mode.point, 1)[0] == -std::numeric_limits<double>::infinity())
        mode.point = target.approximation.mean;
    MetropolisOptions options;
    options.draws = check.draws;
    options.seed = check.seed;
    options.threads = threads;
    MetropolisSample sample =
        metropolis_hastings(target.labelled, {mode.point, target.approximation.covariance}, options);
    check.draws = sample.points.cols();  // a multiple of the chains
    check.chains = sample.chains;
    check.ess = sample.ess;
    check.acceptance = sample.acceptance;
    check.r_hat = sample.r_hat;
    check.random_walk = sample.random_walk;
    check.k_hat = kNothing;
    check.log_density = std::move(sample.log_density);
    check.log_weights = Vector::Constant(check.draws, -std::log(static_cast<double>(check.draws)));
    return std::move(sample.points);
}

// Rounded up to one digit.
std::string more_draws(const Check& check, double factor) {
    constexpr double most = 1e7;
    const double needed = factor * static_cast<double>(check.draws);
    const double digit = std::pow(10.0, std::floor(std::log10(needed)));
    const double rounded = digit * std::ceil(needed / digit);
    return rounded <= most ? fmt::format("take about {:.0f} draws", rounded) : "take many more draws";
}

std::string few_draws(const Check& check) {
    return fmt::format("the effective sample size is {:.0f}, below {:.0f}: the exact numbers are doubtful; {}",
                       check.ess, kCheckEss, more_draws(check, kCheckEss / check.ess));
}

// What k̂ of the weights does not see: places where no draw is, and variances that few draws make up. Empty where there
// is no doubt.
std::string doubt_of(const Check& check, double threshold) {
    if (!check.unseen.empty()) {
        return fmt::format("{}: the exact numbers are doubtful; take more draws, or a smaller model", check.unseen);
    }
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        if (check.variance_k_hat[v] < threshold) continue;
        return fmt::format(
            "that of the variance of {} is {:.2f}: the exact numbers are doubtful; take more draws, or "
            "Metropolis-Hastings",
            check.variables[v].name, check.variance_k_hat[v]);
    }
    for (const CheckedVariable& variable : check.variables) {
        const double error = variable.ratio_se / variable.ratio;
        if (!(error > kSdError)) continue;
        return fmt::format("the sd of {} is known only to ±{:.0f}%: the exact numbers are doubtful; {}", variable.name,
                           200.0 * error, more_draws(check, std::pow(error / kSdError, 2)));
    }
    return {};
}

// What the draws say of themselves.
void judge_importance(Check& check) {
    const double threshold = pareto_threshold(check.draws);
    if (!(check.k_hat < kLargestKHat)) {
        check.trust = fmt::format(
            "k-hat {:.2f} is above 1: the exact numbers are not to be used; take Metropolis-Hastings", check.k_hat);
        return;
    }
    check.verdict = CheckVerdict::doubtful;
    if (!(check.k_hat < threshold)) {
        check.trust = fmt::format(
            "k-hat {:.2f} is above {:.2f}: the exact numbers are doubtful; take more draws, or Metropolis-Hastings",
            check.k_hat, threshold);
    } else if (check.ess < kCheckEss) {
        check.trust = fmt::format("k-hat {:.2f} is below {:.2f}, but {}", check.k_hat, threshold, few_draws(check));
    } else if (const std::string doubt = doubt_of(check, threshold); !doubt.empty()) {
        check.trust = fmt::format("k-hat {:.2f} is below {:.2f}, but {}", check.k_hat, threshold, doubt);
    } else {
        check.verdict = CheckVerdict::ok;
        check.reliable = true;
        check.trust =
            fmt::format("k-hat {:.2f} is below {:.2f}: the exact numbers can be relied on", check.k_hat, threshold);
    }
}

void judge_metropolis(Check& check) {
    const std::string moves =
        fmt::format("R-hat {:.3f} over {} chains, {:.0f}% of {} moves accepted", check.r_hat, check.chains,
                    100.0 * check.acceptance, check.random_walk ? "random-walk" : "independence");
    if (!(check.r_hat < kDoubtfulRHat)) {
        check.trust = fmt::format(
            "{}: the exact numbers are not to be used; chains disagree, so take many more draws, or another fit",
            moves);
        return;
    }
    check.verdict = CheckVerdict::doubtful;
    if (!(check.r_hat < kReliableRHat)) {
        check.trust = fmt::format("{}: the exact numbers are doubtful; take more draws", moves);
    } else if (check.ess < kCheckEss) {
        check.trust = fmt::format("{}, {}", moves, few_draws(check));
    } else {
        check.verdict = CheckVerdict::ok;
        check.reliable = true;
        check.trust = fmt::format("{}: the exact numbers can be relied on", moves);
    }
}

// The standard error of a statistic whose derivative in the weight of each draw this is: draws of chains count for
// fewer, as many as their effective size says.
double error_of(const Eigen::ArrayXd& influence, const Eigen::ArrayXd& weights, double ess) {
    const double independent = std::sqrt((weights * influence).square().sum());
    return ess > 0.0 ? independent * std::sqrt(static_cast<double>(weights.size()) / ess) : independent;
}

// 0 for draws that are no chains.
double chain_ess(const Eigen::ArrayXd& values, const Check& check) {
    if (check.chains == 0) return 0.0;
    return effective_sample_size(Eigen::Map<const Matrix>(values.data(), values.size() / check.chains, check.chains));
}

CheckedVariable compared(const Posterior::Row& row, const Vector& values, const Eigen::ArrayXd& weights, Check& check) {
    CheckedVariable variable{row.name, row.mean, row.sd, values[0], 0.0, 0.0, kNothing, 0.0, kNothing, "fixed"};
    check.variance_k_hat.push_back(-std::numeric_limits<double>::infinity());
    // Of what is held, draws differ by rounding at most.
    if ((row.sd == 0.0 && row.mean_field_sd == 0.0) || values.minCoeff() == values.maxCoeff()) return variable;
    // A value that overflowed where there is no density does not count.
    const Eigen::ArrayXd counted = (weights > 0.0).select(values.array(), row.mean);
    variable.mean_exact = (weights * counted).sum();
    const Eigen::ArrayXd centred = counted - variable.mean_exact;
    variable.sd_exact = std::sqrt((weights * centred.square()).sum());
    const Eigen::ArrayXd z = centred / variable.sd_exact;
    if (check.chains == 0) {
        check.variance_k_hat.back() = variance_k_hat(check.log_density - check.log_proposal, z);
    }
    const Eigen::ArrayXd spread = 0.5 * (z.square() - 1.0);  // of log sd
    variable.shift = (row.mean - variable.mean_exact) / variable.sd_exact;
    variable.ratio = row.sd / variable.sd_exact;
    variable.verdict.clear();
    const double mean_ess = chain_ess(centred, check);
    const double sd_ess = chain_ess(centred.square(), check);
    if (check.chains > 0) check.ess = std::min({check.ess, mean_ess, sd_ess});
    const Eigen::ArrayXd shifts = z + variable.shift * spread;
    variable.shift_se = error_of(shifts, weights, chain_ess(shifts, check));
    variable.ratio_se = variable.ratio * error_of(spread, weights, sd_ess);
    return variable;
}

bool is_off(double difference, double error, double z) {
    return std::abs(difference) - z * error > kCheckTolerance;
}

bool is_resolved(double error, double z) {
    return z * error <= kCheckTolerance;
}

// Empty where it is not off.
std::string off_text(const CheckedVariable& variable, double z) {
    std::string text;
    if (is_off(variable.shift, variable.shift_se, z)) text = fmt::format("mean off by {:+.2f} sd", variable.shift);
    if (is_off(variable.ratio - 1.0, variable.ratio_se, z)) {
        if (!text.empty()) text += ", ";
        text += fmt::format("sd off by {:+.0f}%", 100.0 * (variable.ratio - 1.0));
    }
    return text;
}

std::string unresolved_text(const CheckedVariable& variable, double z) {
    std::string text;
    if (!is_resolved(variable.shift_se, z)) text = fmt::format("±{:.2f} sd", z * variable.shift_se);
    if (!is_resolved(variable.ratio_se, z)) {
        if (!text.empty()) text += ", ";
        text += fmt::format("sd ±{:.0f}%", 100.0 * z * variable.ratio_se);
    }
    return text.empty() ? text : fmt::format("not resolved: {}", text);
}

std::string first_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 6;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()));
    return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), names.size() > most ? ", …" : "");
}

void compare(const Posterior& posterior, Check& check) {
    std::vector<Index> all(posterior.variables.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const std::vector<Posterior::Row> rows = posterior.summary(all, 0.9);
    Eigen::ArrayXd weights = check.log_weights.array().exp();
    weights /= weights.sum();
    std::size_t free = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check.variables.push_back(compared(rows[i], check.values.row(static_cast<Index>(i)), weights, check));
        free += check.variables.back().verdict == "fixed" ? 0 : 1;
    }
    if (check.method == CheckMethod::importance) judge_importance(check);
    if (check.method == CheckMethod::metropolis) judge_metropolis(check);
    if (check.exchanged > kManyExchanged) {
        check.trust +=
            fmt::format("; {:.0f}% of the proposals, with labels exchanged, were left out", 100.0 * check.exchanged);
    }
    // Φ⁻¹(1 − 0.025/n).
    const double z = detail::central_quantile(1.0 - 0.05 / static_cast<double>(std::max<std::size_t>(free, 1)));
    std::vector<std::string> off;
    std::vector<std::string> unresolved;
    double largest_error = 0.0;
    for (CheckedVariable& variable : check.variables) {
        if (variable.verdict == "fixed") continue;
        if (check.verdict == CheckVerdict::unchecked) {
            variable.verdict = "not checked";
        } else if (std::string text = off_text(variable, z); !text.empty()) {
            variable.verdict = std::move(text);
            off.push_back(variable.name);
        } else if (text = unresolved_text(variable, z); !text.empty()) {
            variable.verdict = std::move(text);
            unresolved.push_back(variable.name);
            largest_error = std::max({largest_error, variable.shift_se, variable.ratio_se});
        } else {
            variable.verdict = "ok";
        }
    }
    if (check.verdict == CheckVerdict::unchecked) {
        check.message = fmt::format("the draws are not reliable enough for a comparison: {}", check.trust);
    } else if (!off.empty()) {
        const char* seen = check.reliable ? (off.size() == 1 ? "is" : "are") : (off.size() == 1 ? "seems" : "seem");
        if (check.reliable) check.verdict = CheckVerdict::off;
        check.message =
            fmt::format("{} of {} variables {} off (a mean by more than 0.1 sd, or an sd by more than 10%): {}",
                        off.size(), rows.size(), seen, first_of(off));
    } else if (!unresolved.empty()) {
        check.verdict = CheckVerdict::doubtful;
        const double factor = std::pow(z * largest_error / kCheckTolerance, 2);
        check.message = fmt::format(
            "too few draws to say whether {} of {} variables {} off (a mean by more than 0.1 sd, or an sd by "
            "more than 10%): {}; {}",
            unresolved.size(), rows.size(), unresolved.size() == 1 ? "is" : "are", first_of(unresolved),
            more_draws(check, std::max(factor, kCheckEss / check.ess)));
    } else if (!check.reliable) {
        check.message = fmt::format("no variable seems off, but {}", check.trust);
    } else {
        check.message = "no mean is off by more than 0.1 sd and no sd by more than 10%, Monte Carlo error allowed for";
    }
}

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

// Draws about one optimum may not reach the others, or not in their shares.
void doubt(const Posterior& posterior, const std::vector<OtherOptimum>& others, Check& check) {
    if (others.empty()) return;
    const std::string text = other_optima_text(posterior, others);
    check.reliable = false;
    if (check.verdict == CheckVerdict::ok) check.verdict = CheckVerdict::doubtful;
    check.trust += "; but they may have kept to this optimum: " + text;
    check.message = fmt::format("{}; by the draws, {}", text, check.message);
    for (CheckedVariable& variable : check.variables) {
        if (variable.verdict == "fixed") continue;
        const std::string there = elsewhere(variable, others);
        if (there.empty()) continue;
        const bool says_something = variable.verdict != "ok" && variable.verdict != "not checked";
        variable.verdict = says_something ? fmt::format("{}, {}", variable.verdict, there) : there;
    }
}

// Draws are made about a dense covariance.
void require_few_coordinates(Index dimension) {
    if (dimension <= kDenseStatistics) return;
    throw std::invalid_argument(fmt::format(
        "the model has {} free parameters, and draws of the exact posterior are made for {} at most: check a "
        "smaller model of the same kind",
        dimension, kDenseStatistics));
}

}  // namespace

Check check_posterior(const Model& model, const Optimum& optimum, const Posterior& posterior,
                      const Functionals& statistics, const CheckOptions& options) {
    const LinearResponse response(model, optimum);
    const ModelDensity density(model, optimum.state);
    require_few_coordinates(density.dimension());
    const NormalApproximation approximation = density.chart().approximation(response);
    Check check;
    check.method = options.method;
    check.draws = options.draws;
    check.seed = options.seed;
    const detail::LabelledDensity labelled(model, optimum.state, density, approximation);
    const Functionals::Resolved resolved = statistics.resolve(model.layout());
    const auto values_at = [&](const Matrix& points) {
        Matrix values = resolved.weights.transpose() * density.statistics(points, options.threads);
        values.colwise() += resolved.constants;
        return posterior.values_at(values);
    };
    const Target target{model, optimum, density, labelled, approximation, values_at, posterior};
    check.points = options.method == CheckMethod::importance ? draw_importance(target, options.threads, check)
                                                             : draw_metropolis(target, options.threads, check);
    check.exchanged = labelled.exchanged();
    check.values = values_at(check.points);
    compare(posterior, check);
    return check;
}

Check check(const FittedModel& fitted, const CheckOptions& options) {
    return check(fitted, fitted.posterior(), options);
}

Check check(const FittedModel& fitted, const Posterior& posterior, const CheckOptions& options) {
    Check check = check_posterior(fitted.model(), fitted.optimum(), posterior, fitted.statistics(), options);
    doubt(posterior, fitted.file().other_optima, check);
    return check;
}

}  // namespace lrvb
