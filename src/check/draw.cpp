#include "check/target.hpp"
#include "sample/parts.hpp"

#include <lrvb/sample/metropolis.hpp>
#include <lrvb/sample/mode.hpp>
#include <lrvb/sample/nuts.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr const char* kNoChains =
    "a component has few rows, and no Gibbs chains could be run to see whether it loses them";

// Where the smallest component has fewer rows, it may lose them all, which only chains can tell.
constexpr double kFewRows = 50.0;
constexpr int kTurns = 3;  // of exploring
constexpr std::uint64_t kPartStreams = std::uint64_t{1} << 60U;
// The share of a variance that one draw at an uncovered place would make up.
constexpr double kLimit = 0.02;
// Where the weights have something of a tail, it is looked at more closely at first.
constexpr double kFirstLimit = 0.002;
constexpr double kTail = 0.25;
constexpr double kFewUncovered = 0.002;  // of the points of the chains: as good as none
constexpr double kDifference = 0.15;     // that parts make to a mean, in sds, or to an sd: their places matter
constexpr double kGoodShare = 0.4;       // of draws that are independent: as many as can be wished for
constexpr double kFewUnseen = 0.01;      // of them that may be wide open
constexpr Index kMostParts = 12;
constexpr Index kMostCoordinates = 40;  // for parts to be fitted to so many points
constexpr Index kMostPoints = 1500;     // that parts are fitted to
constexpr double kFarShare = 0.25;      // of a variance, beyond draws
constexpr int kRidgeStream = 200;       // of random numbers
constexpr std::size_t kMostRidges = 4;
constexpr Index kMostOfARidge = 400;  // coordinates

// Among components that can lose their rows the fewest that one has, as its weight says; +∞ where there are none.
double fewest_rows(const Target& target) {
    const std::optional<Index> weights = target.model.exchangeable().weights;
    if (!weights || target.optimum.state.clamped[static_cast<std::size_t>(*weights)]) {
        return std::numeric_limits<double>::infinity();
    }
    return target.model.layout().segment(target.optimum.state.natural, *weights).minCoeff() + 1.0;
}

// A variable that is watched, by its place among those.
std::string name_at(const Target& target, Index place) {
    if (place < 0) return "the density";
    const Index variable = target.watched[static_cast<std::size_t>(place)];
    return target.posterior.variables[static_cast<std::size_t>(variable)].name;
}

Matrix watched_rows(const Target& target, const Matrix& values) {
    return values(target.watched, Eigen::all);
}

Explorer explorer_of(const Target& target, std::uint64_t seed, int threads) {
    const auto values_at = [&target](const Matrix& points) { return watched_rows(target, target.values_at(points)); };
    return {target.model, target.optimum.state, target.density, target.labelled, values_at, seed, threads};
}

std::string drift_text(const std::string& variable) {
    return fmt::format("Gibbs chains that start at the draws drift away from them, as {} shows", variable);
}

// Distances from the mean in sds at draws that count, zero elsewhere; empty where all are the same.
Eigen::ArrayXd standardised(const Vector& values, const Eigen::ArrayXd& weights) {
    const Eigen::ArrayXd counted = (weights > 0.0).select(values.array(), 0.0);
    const double mean = (weights * counted).sum();
    const double sd = std::sqrt((weights * (counted - mean).square()).sum());
    if (!(sd > 1e-12 * std::abs(mean))) return {};
    return (weights > 0.0).select((counted - mean) / sd, 0.0);
}

// A sample, and the reported variables at its points.
struct Drawn {
    ImportanceSample sample;
    Matrix values;
};

Drawn with_values(const Target& target, ImportanceSample sample) {
    Matrix values = target.values_at(sample.points);
    return {std::move(sample), std::move(values)};
}

// The largest change of a mean, in sds, or of the logarithm of an sd from one sample to another.
double difference(const Target& target, const Drawn& before, const Drawn& after) {
    const auto moments = [&](const Drawn& one) {
        const Eigen::ArrayXd weights = weights_of(one.sample.log_weights);
        Matrix values = watched_rows(target, one.values);
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

// Where a few draws make up the variance of a variable, a part goes to where most of that is.
void strengthen(const Target& target, const ImportanceOptions& options, int stream, Drawn& best) {
    const ImportanceSample& sample = best.sample;
    const Eigen::ArrayXd weights = weights_of(sample.log_weights);
    double worst = pareto_threshold(sample.points.cols());
    Vector tilted;
    for (const Index v : target.watched) {
        const Eigen::ArrayXd z = standardised(best.values.row(v), weights);
        if (z.size() == 0) continue;  // held
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
    if (next.reliable()) best = with_values(target, std::move(next));
}

// Adds parts to the proposal, where chains find places that it does not cover, until they find none.
// Returns the next stream of random numbers.
int explore(const Target& target, const ImportanceOptions& options, Drawn& best, Check& check) {
    int stream = options.rounds;
    const Explorer explorer = explorer_of(target, options.seed, options.threads);
    if (!explorer.can_explore() || target.density.dimension() > kMostCoordinates) {
        if (fewest_rows(target) < kFewRows) {
            check.unseen = kNoChains;
        }
        return stream;
    }
    for (int turn = 0; turn < kTurns; ++turn) {
        const double limit = turn == 0 && best.sample.k_hat > kTail ? kFirstLimit : kLimit;
        const Explored explored =
            explorer.explore(best.sample, watched_rows(target, best.values), options.dof, limit, turn);
        check.unseen.clear();
        if (explored.drifting >= 0) {
            check.unseen = drift_text(name_at(target, explored.drifting));
        }
        const Index count = static_cast<Index>(explored.uncovered.size());
        if (static_cast<double>(count) <= kFewUncovered * static_cast<double>(explored.points.cols())) return stream;
        Matrix points(explored.points.rows(), std::min(count, kMostPoints));
        for (Index i = 0; i < points.cols(); ++i) {
            const Index at = i * count / points.cols();
            points.col(i) = explored.points.col(explored.uncovered[static_cast<std::size_t>(at)]);
        }
        Random random(options.seed, kPartStreams + static_cast<std::uint64_t>(turn));
        std::vector<ProposalPart> proposal = best.sample.proposal;
        for (ProposalPart& part : proposal) part.share *= 0.5;
        for (ProposalPart& part : parts_at(points, kMostParts, options.dof, random)) {
            part.share *= 0.5;
            proposal.push_back(std::move(part));
        }
        ImportanceOptions more = options;
        more.enough = 0.3;
        more.functions = target.values_at;
        Drawn next = with_values(target, importance_sample(target.labelled, std::move(proposal), more, stream));
        stream += more.rounds;
        const bool helps = next.sample.reliable() || next.sample.k_hat < best.sample.k_hat;
        const double change = helps ? difference(target, best, next) : std::numeric_limits<double>::infinity();
        if (helps) best = std::move(next);
        // What was found, and is now covered, may not have been the last of its kind: unless it made no difference.
        if (change > kDifference && explored.wide_open > kFewUnseen * static_cast<double>(explored.points.cols())) {
            check.unseen =
                fmt::format("Gibbs chains go where the draws do not, as {} shows", name_at(target, explored.variable));
        }
        if (!helps) return stream;
        // What made no difference to anything is not looked for again, unless its parts would make better draws.
        const bool is_good = best.sample.ess > kGoodShare * static_cast<double>(best.sample.points.cols());
        if (is_good && !(change > kDifference)) return stream;
    }
    return stream;
}

// Whether Gibbs chains that leave from the draws, or near them, go elsewhere and stay.
void leave(const Target& target, Check& check, int threads) {
    const Explorer explorer = explorer_of(target, check.seed, threads);
    if (!explorer.can_explore()) {
        if (fewest_rows(target) < kFewRows) check.unseen = kNoChains;
        return;
    }
    const Left left = explorer.leave(check.points, watched_rows(target, check.values), check.log_density);
    if (left.drifting >= 0) check.unseen = drift_text(name_at(target, left.drifting));
    if (left.away >= 0) {
        check.unseen =
            fmt::format("Gibbs chains stay where the draws do not go, as {} shows", name_at(target, left.away));
    }
}

// Draws that were sought about a fit, and are many of their sds away from it, may be of one of several places. Empty
// where they are not.
std::string far_text(const Target& target, const Vector& centre, const Check& check) {
    constexpr double kFar = 20.0;  // sds: where means of mean field are poor, some
    const Matrix fitted = watched_rows(target, target.values_at(centre));
    const Eigen::ArrayXd weights = weights_of(check.log_weights);
    for (Index v = 0; v < fitted.rows(); ++v) {
        const Index at = target.watched[static_cast<std::size_t>(v)];
        const Eigen::ArrayXd values = counted_values(check.values.row(at), weights);
        const double mean = (weights * values).sum() / weights.sum();
        const double sd = std::sqrt((weights * (values - mean).square()).sum() / weights.sum());
        const double away = std::abs(fitted(v, 0) - mean);
        if (!(sd > 1e-12 * std::abs(mean)) || !(away > kFar * sd)) continue;
        return fmt::format(
            "the draws are {:.0f} sds away from the fit about which they were sought, as {} shows, and "
            "may not have been everywhere",
            away / sd, name_at(target, v));
    }
    return {};
}

// Whether a variable's moments rest on what draws from one normal, or of chains, do not show.
bool rests_beyond_draws(const Ridge& ridge) {
    return ridge.far_shares().maxCoeff() > kFarShare || std::ranges::any_of(ridge.moments(), [](TailMoments moments) {
               return moments != TailMoments::mean_and_sd;
           });
}

// What the ridge says of moments, where the draws are its own or others.
void set_tails(const Target& target, bool follows_ridge, Check& check) {
    const Ridge* ridge = only_ridge(target);
    if (ridge == nullptr) return;
    check.tails.assign(target.posterior.variables.size(), TailMoments::mean_and_sd);
    for (std::size_t f = 0; f < target.of_ridges.size(); ++f) {
        TailMoments& tail = check.tails[static_cast<std::size_t>(target.of_ridges[f])];
        tail = ridge->moments()[f];
        if (!follows_ridge && ridge->far_shares()[static_cast<Index>(f)] > kFarShare) {
            tail = std::max(tail, TailMoments::mean);
        }
    }
}

// What a ridge goes along is looked at everywhere: a few variables whose variance a few draws make up have a heavy tail
// there, and the draws do for the others. Of many such variables the draws are poor.
void find_heavy_variances(const Target& target, const Drawn& best, Check& check) {
    constexpr double kFewVariables = 0.25;
    if (only_ridge(target) == nullptr) return;
    const Eigen::ArrayXd weights = weights_of(best.sample.log_weights);
    const Vector log_ratios = best.sample.log_density - best.sample.log_proposal;
    std::vector<Index> heavy;
    for (const Index v : target.of_ridges) {
        if (check.tails[static_cast<std::size_t>(v)] != TailMoments::mean_and_sd) continue;
        const Eigen::ArrayXd z = standardised(best.values.row(v), weights);
        if (z.size() == 0) continue;  // held
        if (variance_k_hat(log_ratios, z) >= pareto_threshold(best.sample.points.cols())) heavy.push_back(v);
    }
    if (static_cast<double>(heavy.size()) > kFewVariables * static_cast<double>(target.of_ridges.size())) return;
    for (const Index v : heavy) check.tails[static_cast<std::size_t>(v)] = TailMoments::mean;
}

// Draws about the ridge take the place of those about one normal that do not reach all of it, or are poor.
bool follow_ridge(const Target& target, const ImportanceOptions& options, Drawn& best) {
    const Ridge* ridge = only_ridge(target);
    if (ridge == nullptr) return false;
    const auto worth = [&](const Drawn& drawn) { return drawn.sample.ess / static_cast<double>(options.draws); };
    const bool is_good = best.sample.k_hat < kTail && worth(best) > kGoodShare;
    if (is_good && !rests_beyond_draws(*ridge)) return false;
    ImportanceOptions once = options;
    once.rounds = 1;
    Drawn next = with_values(target, importance_sample(target.labelled, ridge->proposal(), once, kRidgeStream));
    const bool is_better =
        next.sample.reliable() && (rests_beyond_draws(*ridge) || !best.sample.reliable() || worth(next) > worth(best));
    if (is_better) best = std::move(next);
    return is_better;
}

// Every draw with all labels, as their probabilities given the draw weigh: what is rare has no noise from drawn labels.
void enumerate_labels(const Target& target, int threads, Check& check) {
    constexpr double kLeastLabel = 1e-7;
    constexpr double kMostNumbers = 3e7;
    constexpr Index kProbed = 64;
    constexpr Index kFewestDraws = 500;
    const Index labels = target.density.enumerable();
    if (labels == 0 || !target.model.exchangeable().blocks.empty() || check.exchanged > 0.0) return;
    const double width = static_cast<double>(check.values.rows() + target.model.layout().size());
    // Most labels may have hardly any share: some draws tell how many columns all would take.
    const Matrix probe = check.points.leftCols(std::min(kProbed, check.draws));
    const auto found =
        static_cast<double>(target.density.enumerated(probe, kLeastLabel, threads, check.seed).point.size());
    const double columns_of_a_draw = 1.1 * found / static_cast<double>(probe.cols());
    const auto most = static_cast<Index>(std::min(kMostNumbers / (width * columns_of_a_draw), 1e9));
    const Vector weights = weights_of(check.log_weights);
    const Index count = std::min(check.draws, most);
    if (count < std::min(kFewestDraws, check.draws)) return;
    std::vector<Index> kept;
    for (Index i = 0; i < count; ++i) {
        const Index at = i * check.draws / count;
        if (weights[at] > 0.0) kept.push_back(at);
    }
    const Matrix points = check.points(Eigen::all, kept);
    const ModelDensity::Enumerated all = target.density.enumerated(points, kLeastLabel, threads, check.seed);
    const auto columns = static_cast<Index>(all.point.size());
    Check result = check;
    result.points.resize(points.rows(), columns);
    for (Vector* own : {&result.log_density, &result.log_proposal, &result.log_weights}) own->resize(columns);
    for (Index c = 0; c < columns; ++c) {
        const auto at = static_cast<std::size_t>(c);
        const Index draw = kept[static_cast<std::size_t>(all.point[at])];
        result.points.col(c) = check.points.col(draw);
        result.log_density[c] = check.log_density[draw] + all.log_shares[at];
        result.log_proposal[c] = check.log_proposal[draw];
        result.log_weights[c] = check.log_weights[draw] + all.log_shares[at];
    }
    result.log_weights.array() -= std::log(weights_of(result.log_weights).sum());
    result.values = target.values_of_statistics(all.statistics);
    result.draw_of = all.point;
    check = std::move(result);
}

// Draws of the density, as a check keeps them.
void draw_importance(const Target& target, int threads, Check& check) {
    ImportanceOptions options;
    options.draws = check.draws;
    options.seed = check.seed;
    options.threads = threads;
    Drawn best = with_values(target, importance_sample(target.labelled, target.approximation, options));
    const bool follows_ridge = follow_ridge(target, options, best);
    const int stream = explore(target, options, best, check);
    set_tails(target, follows_ridge, check);
    if (best.sample.reliable()) strengthen(target, options, stream, best);
    find_heavy_variances(target, best, check);
    ImportanceSample& sample = best.sample;
    check.ess = sample.ess;
    check.k_hat = sample.k_hat;
    check.rounds = sample.rounds;
    check.parts = static_cast<int>(sample.proposal.size());
    check.acceptance = check.r_hat = kNothing;
    check.log_density = std::move(sample.log_density);
    check.log_proposal = std::move(sample.log_proposal);
    check.log_weights = std::move(sample.log_weights);
    check.points = std::move(sample.points);
    check.values = std::move(best.values);
    enumerate_labels(target, threads, check);
    if (check.unseen.empty()) check.unseen = far_text(target, target.approximation.mean, check);
}

void draw_metropolis(const Target& target, int threads, Check& check) {
    ModeOptions mode_options;
    mode_options.threads = threads;
    mode_options.covariance = false;
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
    check.points = std::move(sample.points);
    check.values = target.values_at(check.points);
}

// In coordinates that follow the ridges, where there are some; in those of the fit where these do not do.
NutsSample best_chains(const Target& target, NutsOptions options) {
    if (target.ridges.empty()) return no_u_turn(target.density, target.whitening, options);
    const RidgeDensity density(target.density, target.ridges, target.approximation);
    NutsOptions along = options;
    along.representative = {};
    NutsSample best = no_u_turn(density, density.approximation(), along);
    best.points = density.points(best.points);
    if (best.points.cols() > 0) best.log_density = target.density.evaluate(best.points, options.threads);
    options.gradients -= best.gradients;
    if (best.reliable() || options.gradients <= 0) return best;
    NutsSample other = no_u_turn(target.density, target.whitening, options);
    const Index gradients = best.gradients + other.gradients;
    const auto rank = [](const NutsSample& sample) {
        return std::tuple(sample.points.cols() > 0, sample.reliable(), -sample.divergences, -sample.r_hat);
    };
    if (rank(other) > rank(best)) best = std::move(other);
    best.gradients = gradients;
    return best;
}

// Chains may go about all labels: a draw is told by those of the fit.
void draw_nuts(const Target& target, int threads, Index gradients, const std::function<bool(double)>& progress,
               Check& check) {
    NutsOptions options;
    options.draws = check.draws;
    options.seed = check.seed;
    options.threads = threads;
    options.gradients = gradients;
    options.progress = progress;
    options.representative = [&](const Vector& point) { return target.labelled.relabelled(point); };
    NutsSample sample = best_chains(target, options);
    check.draws = sample.points.cols();
    check.chains = sample.chains;
    check.ess = sample.ess;
    check.acceptance = sample.acceptance;
    check.r_hat = sample.r_hat;
    check.divergences = sample.divergences;
    check.gradients = sample.gradients;
    check.k_hat = kNothing;
    check.log_density = std::move(sample.log_density);
    check.log_weights = Vector::Constant(check.draws, -std::log(static_cast<double>(check.draws)));
    const bool is_reliable = sample.reliable();
    check.points = std::move(sample.points);
    check.values = target.values_at(check.points);
    set_tails(target, false, check);
    if (is_reliable) leave(target, check, threads);
    if (is_reliable && check.unseen.empty()) check.unseen = far_text(target, target.whitening.centre(), check);
}

}  // namespace

void find_ridges(Target& target, Index most_gradients, int threads) {
    const Index dimension = target.density.dimension();
    if (dimension > kMostOfARidge || !target.model.exchangeable().blocks.empty()) return;
    std::vector<Index> places;
    for (Index j = 0; j < target.model.layout().variable_count(); ++j) {
        const AnyFamily& family = target.model.layout()[j].family;
        if (!std::holds_alternative<family::Gamma>(family) && !std::holds_alternative<family::Scale>(family)) continue;
        for (const Index at : target.density.chart().coordinates_of(j)) places.push_back(at);
    }
    if (places.empty() || places.size() > kMostRidges) return;
    for (std::size_t v = 0; v < target.posterior.variables.size(); ++v) {
        const VariableMeaning& meaning = target.posterior.variables[v].meaning;
        if (is_telling(meaning) || (meaning.may_be_infinite && !meaning.is_auxiliary)) {
            target.of_ridges.push_back(static_cast<Index>(v));
        }
    }
    RidgeOptions options;
    options.functions = [&target](const Matrix& points) {
        return Matrix(target.values_at(points)(target.of_ridges, Eigen::all));
    };
    options.most_gradients = most_gradients / static_cast<Index>(places.size());
    options.threads = threads;
    std::vector<Ridge> ridges;
    for (const Index place : places) {
        options.held = places;
        std::erase(options.held, place);
        std::optional<Ridge> ridge = ridge_along(target.density, place, target.approximation, options);
        if (!ridge) return;
        ridges.push_back(*std::move(ridge));
    }
    target.ridges = std::move(ridges);
}

void draw(const Target& target, int threads, Index gradients, const std::function<bool(double)>& progress,
          Check& check) {
    if (check.method == CheckMethod::importance) draw_importance(target, threads, check);
    if (check.method == CheckMethod::metropolis) draw_metropolis(target, threads, check);
    if (check.method == CheckMethod::nuts) {
        draw_nuts(target, threads, gradients, progress, check);
    } else {
        check.exchanged = target.labelled.exchanged();
    }
}

}  // namespace lrvb::detail
