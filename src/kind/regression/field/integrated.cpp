#include "family/special.hpp"
#include "kind/regression/field/fitted.hpp"

#include <lrvb/posterior/quantiles.hpp>
#include <lrvb/sample/field_integral.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/pareto.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

// The posterior of a regression by formula, integrated over its variance parameters: what every variable is comes from
// the nodes, but for R², functions of coefficients and ψ together, which are averages over draws.
namespace lrvb::detail {

namespace {

constexpr Index kFewestPlaces = 200;    // of ψ
constexpr double kWorkOfDraws = 1.5e8;  // a quarter of a second
constexpr double kMoreToCheck = 4.0;    // of what checks an integral
constexpr double kNumbersOfDraws = 2e6;
constexpr double kWorkOfRows = 2e8;  // of draws that weigh what rows that are not normal add: a third of a second
constexpr Index kMostDraws = 32000;
constexpr double kWorkOfPsi = 4e8;  // where ψ is drawn, too
constexpr Index kMostPsi = 10000;
constexpr Index kDrawsOfShares = 20000;  // which are exact but for these
constexpr double kEnoughDraws = 800.0;   // effective ones
constexpr double kExactMean = 0.02;      // sds: the error of means and quantiles that are called exact
constexpr double kExactSd = 0.01;        // of sds, as a share
constexpr double kOuter = 0.15;          // of a moment that does not rest on the outermost nodes
constexpr double kRounding = 1e-12;      // an sd beside its mean, as of a correlation that is one

/// Which way a variable goes.
enum class Way { statistic, of_statistics, of_psi, drawn };

Way way_of(const FromDraw& rule, const FieldVariables& variables) {
    if (!rule.function && rule.transform == Transform::identity) {
        return rule.combination.size() == 1 ? Way::statistic : Way::of_statistics;
    }
    return variables.is_of_psi(rule) ? Way::of_psi : Way::drawn;
}

/// Values of variables that are functions of ψ, at some ψ in the inner units, and on their unbounded scales.
class OfPsi {
  public:
    OfPsi(const std::vector<PosteriorVariable>& all, const std::vector<Index>& chosen, const FieldVariables& variables,
          Vector shift)
        : variables_(variables), shift_(std::move(shift)) {
        for (const Index at : chosen) {
            rules_.push_back(all[static_cast<std::size_t>(at)].meaning.from_draw);
            transforms_.push_back(all[static_cast<std::size_t>(at)].unbounded.transform);
        }
    }

    /// First all values, then all of them on their unbounded scales.
    Vector operator()(const Vector& psi) const {
        const auto count = static_cast<Index>(rules_.size());
        Vector result(2 * count);
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            result[i] = value(rules_[at], psi);
            result[count + i] = unbounded_values(transforms_[at], Vector{{result[i]}})[0];
        }
        return result;
    }

  private:
    double value(const FromDraw& rule, const Vector& psi) const {
        Vector own(static_cast<Index>(rule.combination.size()));
        double sum = rule.constant;
        for (Index s = 0; s < own.size(); ++s) {
            const auto& [at, factor] = rule.combination[static_cast<std::size_t>(s)];
            const Index place = at - variables_.first_psi();
            own[s] = psi[place] + shift_[place];
            sum += factor * own[s];
        }
        return rule.function ? rule.function(own) : transformed(rule.transform, sum);
    }

    const FieldVariables& variables_;
    Vector shift_;
    std::vector<FromDraw> rules_;
    std::vector<Transform> transforms_;
};

// What there is of draws in the covariances: a variable r of draws is bᵀv + e, with v what is known exactly.
void add_drawn(const std::vector<Index>& drawn, const std::vector<Index>& known, const Matrix& values,
               const Vector& log_weights, Matrix& covariance) {
    if (drawn.empty()) return;
    const auto r = static_cast<Index>(drawn.size());
    const auto v = static_cast<Index>(known.size());
    Matrix stacked(v + r, values.cols());
    for (Index i = 0; i < v; ++i) stacked.row(i) = values.row(known[static_cast<std::size_t>(i)]);
    for (Index i = 0; i < r; ++i) stacked.row(v + i) = values.row(drawn[static_cast<std::size_t>(i)]);
    const Matrix moments = weighted_moments(stacked, log_weights).covariance;
    const Matrix slopes = moments.topLeftCorner(v, v).ldlt().solve(moments.topRightCorner(v, r));
    Matrix rest = moments.bottomRightCorner(r, r) - slopes.transpose() * moments.topRightCorner(v, r);
    rest = 0.5 * (rest + rest.transpose()).eval();
    Matrix of_known(v, covariance.cols());
    for (Index i = 0; i < v; ++i) of_known.row(i) = covariance.row(known[static_cast<std::size_t>(i)]);
    const Matrix across = slopes.transpose() * of_known;
    for (Index i = 0; i < r; ++i) {
        const Index at = drawn[static_cast<std::size_t>(i)];
        covariance.row(at) = across.row(i);
        covariance.col(at) = across.row(i).transpose();
    }
    Matrix among(v, r);
    for (Index i = 0; i < v; ++i) {
        for (Index j = 0; j < r; ++j) among(i, j) = across(j, known[static_cast<std::size_t>(i)]);
    }
    const Matrix own = slopes.transpose() * among + rest;
    for (Index i = 0; i < r; ++i) {
        for (Index j = 0; j < r; ++j) {
            covariance(drawn[static_cast<std::size_t>(i)], drawn[static_cast<std::size_t>(j)]) =
                0.5 * (own(i, j) + own(j, i));
        }
    }
}

// The standard error of a sum of such contributions, of which so many in a row share what they were drawn given.
double clustered_error(const Eigen::ArrayXd& contributions, Index each) {
    double sum = 0.0;
    for (Index begin = 0; begin < contributions.size(); begin += each) {
        sum += std::pow(contributions.segment(begin, std::min(each, contributions.size() - begin)).sum(), 2);
    }
    return std::sqrt(sum);
}

// Of draws of ψ, which are the more exact the more there are.
std::string draws_text(double ess) {
    return fmt::format("draws, good to {:.1g} sds in means and {:.1g}% in sds", 1.0 / std::sqrt(ess),
                       100.0 / std::sqrt(2.0 * ess));
}

// Of rows that are not normal: the field given ψ is a normal that is near, of which these are draws. Weighted by how
// much more of the posterior there is at each they are draws of that, where they reach it; otherwise nothing. Where
// fewer than half of them count, a few carry much: then their errors are larger than they look.
struct ExactWeights {
    Vector log_weights;
    double caution = 1.0;
};

std::optional<ExactWeights> exact_log_weights(const FieldDraws& draws, const Vector& log_joint) {
    const Vector ratios = draws.log_weights + log_joint - draws.log_density;
    if (ratios.array().isNaN().any() || !(ratios.maxCoeff() > -std::numeric_limits<double>::infinity())) return {};
    const ParetoSmoothed smoothed = pareto_smooth(ratios);
    if (!(smoothed.k_hat < pareto_threshold(ratios.size())) || smoothed.ess < kEnoughDraws) return {};
    constexpr double kCaution = 3.0;
    const bool is_even = smoothed.ess >= 0.5 * static_cast<double>(ratios.size());
    return ExactWeights{smoothed.log_weights, is_even ? 1.0 : kCaution};
}

// What is left of a difference whose standard error is this: nothing of one that is no larger.
double beyond(double difference, double error) {
    return std::abs(difference) > error ? difference - error * error / difference : 0.0;
}

/// Mean and sd of weighted numbers, of which some weights are those of draws of p and others of q: what the former are
/// beyond the latter, and how sure that is, in sds.
struct Moved {
    Moved(const Vector& values, const Vector& near, const ExactWeights& weights) {
        const Vector& exact = weights.log_weights;
        const NormalApproximation before = weighted_moments(values.transpose(), near);
        const NormalApproximation after = weighted_moments(values.transpose(), exact);
        centre = before.mean[0];
        sd = std::sqrt(before.covariance(0, 0));
        const Eigen::ArrayXd change = weights_of(exact) - weights_of(near);
        const Eigen::ArrayXd z = (values.array() - before.mean[0]) / sd;
        mean_error = weights.caution * (change * z).matrix().norm();
        ratio_error = weights.caution * 0.5 * (change * (z.square() - 1.0)).matrix().norm();
        noise = 1.0 / weights.caution;
        // Mean and sd of a skewed density make a normal too wide at the one end: predictions, which take it as normal,
        // are the better for a small difference that is left alone.
        constexpr double kSmall = 0.05;  // of an sd
        const double further = beyond((after.mean[0] - before.mean[0]) / sd, mean_error);
        const double wider = beyond(0.5 * std::log(after.covariance(0, 0) / before.covariance(0, 0)), ratio_error);
        mean = std::abs(further) > kSmall ? sd * further : 0.0;
        ratio = std::abs(wider) > kSmall ? std::exp(wider) : 1.0;
    }
    /// Whether the numbers as they were have this mean and sd, and not a few of them make the difference: draws that do
    /// not even show what is known say nothing of what is not.
    bool is_told(double known_mean, double known_sd) const {
        constexpr double kAlike = 0.3;
        constexpr double kSure = 0.2;
        return std::abs(centre - known_mean) < kAlike * known_sd && std::abs(std::log(sd / known_sd)) < kAlike &&
               mean_error < kSure && ratio_error < kSure;
    }

    double centre = 0.0;
    double sd = 0.0;
    double mean = 0.0;
    double ratio = 1.0;
    double mean_error = 0.0;
    double ratio_error = 0.0;
    double noise = 1.0;  // the part of these errors that is a standard error
};

// Whether draws whose weights are too uneven to move anything by still say that a variable that people look at is
// elsewhere.
bool is_contradicted(const std::vector<PosteriorVariable>& all, const Matrix& values, const Vector& near,
                     const Vector& exact, const std::vector<bool>& is_drawn) {
    constexpr double kFewest = 30.0;
    constexpr double kOff = 0.2;  // sds
    if (exact.array().isNaN().any() || !std::isfinite(exact.maxCoeff())) return true;
    const Eigen::ArrayXd weights = weights_of(exact.array() - exact.maxCoeff());
    const double ess = std::pow(weights.sum(), 2) / weights.square().sum();
    if (ess < kFewest) return false;  // they say nothing
    for (std::size_t v = 0; v < all.size(); ++v) {
        if (is_drawn[v] || !all[v].meaning.is_shown) continue;
        const Vector own = values.row(static_cast<Index>(v));
        const NormalApproximation before = weighted_moments(own.transpose(), near);
        const double mean = (weights * own.array()).sum() / weights.sum();
        const double sd = std::sqrt(before.covariance(0, 0));
        if (std::abs(mean - before.mean[0]) > (kOff + 2.0 / std::sqrt(ess)) * sd) return true;
    }
    return false;
}

// From what was integrated to the posterior itself, by the same draws with the weights of either: where these are the
// same nothing moves, and no more than is beyond the noise of draws. Whether they could tell, of all that people look
// at.
bool move_by_draws(const std::vector<PosteriorVariable>& all, const Matrix& values, const Vector& near,
                   const ExactWeights& exact, const std::vector<bool>& is_drawn, IntegratedPosterior& result) {
    bool all_told = true;
    Vector scale = Vector::Ones(static_cast<Index>(all.size()));
    for (std::size_t v = 0; v < all.size(); ++v) {
        const auto at = static_cast<Index>(v);
        if (is_drawn[v] || !(result.sd[at] > 0.0)) continue;
        const Vector own = values.row(at);
        const Moved moved(own, near, exact);
        if (!moved.is_told(result.mean[at], result.sd[at])) {
            all_told = all_told && !all[v].meaning.is_shown;
            continue;
        }
        result.mean_error[at] += moved.mean_error;
        result.sd_error[at] += moved.ratio_error;
        result.mean_noise[at] = moved.noise * moved.mean_error;
        result.sd_noise[at] = moved.noise * moved.ratio_error;
        result.mean[at] += moved.mean;
        result.sd[at] *= moved.ratio;
        scale[at] = moved.ratio;
        const Transform transform = all[v].unbounded.transform;
        const Moved unbounded(unbounded_values(transform, own), near, exact);
        // Otherwise a draw stands at a bound, or far out.
        if (!unbounded.is_told(result.unbounded_mean[at], result.unbounded_sd[at])) continue;
        result.unbounded_mean[at] += unbounded.mean;
        result.unbounded_sd[at] *= unbounded.ratio;
        if (result.quantiles[v].size() == 0) continue;
        const Vector before = unbounded_values(transform, draw_quantiles(transform, own, near));
        const Vector after = unbounded_values(transform, draw_quantiles(transform, own, exact.log_weights));
        Vector quantiles = unbounded_values(transform, result.quantiles[v]);
        for (Index i = 0; i < quantiles.size(); ++i) {
            // Of a quantile, as of a normal.
            const double p = kQuantileProbabilities[static_cast<std::size_t>(i)];
            const double z = normal_quantile(p);
            const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
            const double error = unbounded.sd * unbounded.mean_error * std::sqrt(p * (1.0 - p)) / density;
            quantiles[i] = transformed(transform, quantiles[i] + beyond(after[i] - before[i], error));
        }
        std::sort(quantiles.begin(), quantiles.end());  // those of draws far out may cross
        result.quantiles[v] = quantiles;
    }
    if (result.covariance.size() > 0) result.covariance = scale.asDiagonal() * result.covariance * scale.asDiagonal();
    return all_told;
}

}  // namespace

// Of the field given ψ, as measured: of rows that are not normal it takes a search.
double FittedField::work_of_a_node() const {
    const double solve = model_->work() + 20.0 * static_cast<double>(model_->coefficient_count());
    if (record_->shape.likelihood->is_normal()) return 3000.0 + 2.0 * solve;
    return 20000.0 + 10.0 * solve + 3000.0 * static_cast<double>(file().data.rows);
}

std::optional<double> FittedField::work_of_integration() const {
    if (model_->variance_count() == 0) return std::nullopt;  // few coefficients alone, which draws reach
    const double plain = model_->work() + 20.0 * static_cast<double>(model_->coefficient_count());
    const double nodes = FieldIntegral::work(*model_) / plain;
    const double each = work_of_a_node();
    const auto statistics = static_cast<double>(posterior().statistics.size());
    const bool dense = posterior().covariance && posterior().covariance->matrix() != nullptr;
    const double solves = dense ? 0.3 * nodes * statistics * (statistics + 0.1 * plain) : 0.0;
    return nodes * each + solves + static_cast<double>(kFewestPlaces) * each;
}

IntegratedPosterior FittedField::integrate(const IntegrationOptions& options) const {
    const auto step = [&](double done) {
        if (options.progress && !options.progress(done)) {
            throw std::runtime_error("interrupted while the posterior was integrated");
        }
    };
    step(0.0);
    const FieldVariables variables = record_->variables();
    const std::vector<PosteriorVariable>& all = posterior().variables;
    FieldIntegralOptions request;
    request.seed = options.seed;
    request.threads = options.threads;
    request.other_nodes = options.other_nodes;
    // Two conditionals and the covariances of one each; no fewer than the work of an integration is counted with.
    const auto size = static_cast<double>(posterior().statistics.size());
    const auto affordable_psi = static_cast<Index>(kWorkOfPsi / (2.0 * work_of_a_node() + 0.3 * size * size));
    request.draws = std::clamp(affordable_psi, request.draws, kMostPsi);
    const FieldIntegral integral(*model_, request);
    step(0.3);

    std::vector<Index> statistic_of(all.size(), -1);
    std::vector<Index> of_psi;
    std::vector<Index> drawn;
    // Statistics, and behind them variables that are sums of some.
    const Functionals own_functionals = variables.functionals(*model_);
    const Functionals::Resolved resolved = own_functionals.resolve(model_->layout());
    std::vector<Eigen::Triplet<double>> entries;
    for (Index s = 0; s < resolved.weights.cols(); ++s) {
        for (SparseMatrix::InnerIterator entry(resolved.weights, s); entry; ++entry) {
            entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(s), entry.value());
        }
    }
    std::vector<double> constants(resolved.constants.begin(), resolved.constants.end());
    for (std::size_t v = 0; v < all.size(); ++v) {
        const FromDraw& rule = all[v].meaning.from_draw;
        const Way way = way_of(rule, variables);
        if (way == Way::statistic) statistic_of[v] = rule.combination.front().first;
        if (way == Way::of_statistics) {
            statistic_of[v] = static_cast<Index>(constants.size());
            double constant = rule.constant;
            for (const auto& [statistic, factor] : rule.combination) {
                for (SparseMatrix::InnerIterator entry(resolved.weights, statistic); entry; ++entry) {
                    entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(statistic_of[v]),
                                         factor * entry.value());
                }
                constant += factor * resolved.constants[statistic];
            }
            constants.push_back(constant);
        }
        if (way == Way::of_psi) of_psi.push_back(static_cast<Index>(v));
        if (way == Way::drawn) drawn.push_back(static_cast<Index>(v));
    }
    SparseMatrix combined(resolved.weights.rows(), static_cast<Index>(constants.size()));
    combined.setFromTriplets(entries.begin(), entries.end());
    const Functionals functionals(combined, Eigen::Map<const Vector>(constants.data(), combined.cols()));
    const Vector shift = resolved.constants.segment(variables.first_psi(), variables.psi_count());
    const std::vector<double> probabilities(kQuantileProbabilities.begin(), kQuantileProbabilities.end());
    // Of very many effects no quantiles are kept: they are next to normal.
    const bool is_dense = static_cast<Index>(all.size()) <= kDenseStatistics;
    FieldMarginals statistics = integral.marginals(functionals, is_dense ? probabilities : std::vector<double>());
    if (!is_dense) {
        const Index few = variables.first_effect();
        const Functionals globals(SparseMatrix(resolved.weights.leftCols(few)), resolved.constants.head(few));
        statistics.quantiles = integral.marginals(globals, probabilities).quantiles;
    }
    step(0.5);
    const OfPsi function(all, of_psi, variables, shift);
    const FieldMarginals functions = integral.functions(function, probabilities);
    step(0.6);

    IntegratedPosterior result;
    const auto count = static_cast<Index>(all.size());
    for (Vector* own : {&result.mean, &result.sd, &result.mean_error, &result.sd_error, &result.unbounded_mean,
                        &result.unbounded_sd}) {
        own->resize(count);
    }
    result.mean_noise = result.sd_noise = Vector::Zero(count);
    result.tails.assign(all.size(), TailMoments::mean_and_sd);
    result.quantiles.resize(all.size());
    result.nodes = integral.nodes();
    for (std::size_t v = 0; v < all.size(); ++v) {
        const Index s = statistic_of[v];
        if (s < 0) continue;
        const auto at = static_cast<Index>(v);
        result.mean[at] = result.unbounded_mean[at] = statistics.mean[s];
        result.sd[at] = result.unbounded_sd[at] = statistics.sd[s];
        result.mean_error[at] = statistics.mean_error[s];
        result.sd_error[at] = statistics.sd_error[s];
        if (s < statistics.quantiles.cols()) result.quantiles[v] = statistics.quantiles.col(s);
    }
    const auto psi_variables = static_cast<Index>(of_psi.size());
    for (Index i = 0; i < psi_variables; ++i) {
        const Index at = of_psi[static_cast<std::size_t>(i)];
        result.mean[at] = functions.mean[i];
        result.sd[at] = functions.sd[i];
        result.mean_error[at] = functions.mean_error[i];
        result.sd_error[at] = functions.sd_error[i];
        result.unbounded_mean[at] = functions.mean[psi_variables + i];
        result.unbounded_sd[at] = functions.sd[psi_variables + i];
        // Between nodes they are smooth where the variable is unbounded.
        Vector quantiles = functions.quantiles.col(psi_variables + i);
        const Transform transform = all[static_cast<std::size_t>(at)].unbounded.transform;
        for (double& quantile : quantiles) quantile = transformed(transform, quantile);
        result.quantiles[static_cast<std::size_t>(at)] = quantiles;
        if (all[static_cast<std::size_t>(at)].moments != TailMoments::mean_and_sd) {
            // Without moments the sums say nothing: the median, and the sd of a lognormal's middle.
            result.mean[at] = transformed(transform, result.unbounded_mean[at]);
            result.sd[at] = result.mean[at] * result.unbounded_sd[at];
            result.mean_error[at] = functions.mean_error[psi_variables + i];
            result.sd_error[at] = functions.sd_error[psi_variables + i];
            continue;
        }
        if (functions.outer_second[i] <= kOuter) continue;
        const bool has_mean = functions.outer_first[i] <= kOuter;
        result.tails[static_cast<std::size_t>(at)] = has_mean ? TailMoments::mean : TailMoments::none;
        // What is left to tell are quantiles.
        result.mean_error[at] = functions.quantile_error[i];
        result.sd_error[at] = 0.0;
    }

    // Where a node is dear, several draws share one.
    const Index affordable = static_cast<Index>(kNumbersOfDraws) / model_->layout().size();
    const double field_work = options.other_nodes ? kMoreToCheck * kWorkOfDraws : kWorkOfDraws;
    const auto places = static_cast<Index>(std::max(static_cast<double>(kFewestPlaces), field_work / work_of_a_node()));
    // A check draws more of them where rows are few, but not where many would share a ψ.
    constexpr Index kMostAtPlace = 16;
    const auto cheap = static_cast<Index>(std::min(kWorkOfRows / work_of_a_draw(), static_cast<double>(kMostDraws)));
    const bool draws_more = model_->has_corrections() && options.other_nodes;
    const Index more_draws = draws_more ? std::min(cheap, kMostAtPlace * places) : 1;
    const Index draws = std::min(std::max(options.draws, more_draws), std::max(kFewestPlaces, affordable));
    const Index each = std::max<Index>(1, draws / std::max<Index>(1, std::min(places, draws)));
    const FieldDraws field = integral.draw(draws, options.seed, each);
    result.draws = field.statistics;
    result.log_density = model_->log_joint(result.draws, options.threads);
    std::optional<ExactWeights> exact_weights;
    if (model_->has_corrections()) exact_weights = exact_log_weights(field, result.log_density);
    result.log_weights = exact_weights ? exact_weights->log_weights : field.log_weights;
    const auto values_of = [&](const Matrix& statistics_at_draws) {
        Matrix at_draws = resolved.weights.transpose() * statistics_at_draws;
        at_draws.colwise() += resolved.constants;
        return posterior().values_at(at_draws);
    };
    const Matrix values = values_of(result.draws);
    Matrix of_shares = values;
    Vector log_weights = result.log_weights;
    Index each_share = each;
    if (const Index more = std::min(kDrawsOfShares, affordable);
        !model_->has_corrections() && !drawn.empty() && more > draws) {
        each_share = std::max<Index>(2, more / std::max<Index>(1, std::min(places, more)));
        const FieldDraws shares = integral.draw(more, options.seed, each_share);
        of_shares = values_of(shares.statistics);
        log_weights = shares.log_weights;
    }
    const Eigen::ArrayXd weights = weights_of(log_weights);
    for (const Index at : drawn) {
        const Vector own = of_shares.row(at);
        const Transform transform = all[static_cast<std::size_t>(at)].unbounded.transform;
        const NormalApproximation moments = weighted_moments(own.transpose(), log_weights);
        const Vector scale = unbounded_values(transform, own);
        const NormalApproximation unbounded = weighted_moments(scale.transpose(), log_weights);
        result.mean[at] = moments.mean[0];
        result.sd[at] = std::sqrt(moments.covariance(0, 0));
        const Eigen::ArrayXd z = (own.array() - moments.mean[0]) / result.sd[at];
        result.mean_error[at] = clustered_error(weights * z, each_share);
        result.sd_error[at] = clustered_error(0.5 * weights * (z.square() - 1.0), each_share);
        result.mean_noise[at] = result.mean_error[at];
        result.sd_noise[at] = result.sd_error[at];
        result.unbounded_mean[at] = unbounded.mean[0];
        result.unbounded_sd[at] = std::sqrt(unbounded.covariance(0, 0));
        result.quantiles[static_cast<std::size_t>(at)] = draw_quantiles(transform, own, log_weights);
    }
    step(0.8);

    if (is_dense) {
        const auto values_of_psi = [&](const Vector& psi) { return Vector(function(psi).head(psi_variables)); };
        const Matrix joint = integral.covariance(functionals, values_of_psi);
        result.covariance = Matrix::Zero(count, count);
        std::vector<Index> place(all.size(), -1);  // in the joint covariance
        for (std::size_t v = 0; v < all.size(); ++v) place[v] = statistic_of[v];
        for (Index i = 0; i < psi_variables; ++i) {
            place[static_cast<std::size_t>(of_psi[static_cast<std::size_t>(i)])] = statistics.mean.size() + i;
        }
        std::vector<Index> known;  // slopes and ψ, which R² is a function of
        const auto has_covariance = [&](std::size_t v) { return all[v].moments == TailMoments::mean_and_sd; };
        for (std::size_t v = 0; v < all.size(); ++v) {
            if (variables.is_of_shares(statistic_of[v])) {
                known.push_back(static_cast<Index>(v));
            }
            for (std::size_t other = 0; other < all.size() && place[v] >= 0; ++other) {
                if (place[other] < 0 || !has_covariance(v) || !has_covariance(other)) continue;
                result.covariance(static_cast<Index>(v), static_cast<Index>(other)) = joint(place[v], place[other]);
            }
        }
        add_drawn(drawn, known, values, result.log_weights, result.covariance);
        // The sds of quantities are those of the joint covariance, to the last digit.
        for (Index v = 0; v < count; ++v) {
            if (!has_covariance(static_cast<std::size_t>(v)) ||
                (statistic_of[static_cast<std::size_t>(v)] < 0 && place[static_cast<std::size_t>(v)] < 0)) {
                result.covariance(v, v) = std::max(result.covariance(v, v), result.sd[v] * result.sd[v]);
            }
            result.sd[v] = std::sqrt(std::max(0.0, result.covariance(v, v)));
        }
    }
    bool is_confirmed = true;
    if (model_->has_corrections()) {
        std::vector<bool> is_drawn(all.size(), false);
        for (const Index at : drawn) is_drawn[static_cast<std::size_t>(at)] = true;
        const Vector ratios = field.log_weights + result.log_density - field.log_density;
        is_confirmed = exact_weights ? move_by_draws(all, values, field.log_weights, *exact_weights, is_drawn, result)
                                     : !is_contradicted(all, values, field.log_weights, ratios, is_drawn);
    }
    step(0.95);

    result.reliable = integral.reliable();
    result.is_confirmed = is_confirmed;
    // Of what people look at.
    double mean_error = 0.0;
    double sd_error = 0.0;
    for (std::size_t v = 0; v < all.size(); ++v) {
        const auto at = static_cast<Index>(v);
        if (std::find(drawn.begin(), drawn.end(), at) != drawn.end() || !all[v].meaning.is_shown) continue;
        if (!(result.sd[at] > kRounding * std::abs(result.mean[at]))) continue;
        mean_error = std::max(mean_error, result.mean_error[at]);
        sd_error = std::max(sd_error, result.sd_error[at]);
    }
    const bool is_close = mean_error <= kExactMean && sd_error <= kExactSd;
    const bool is_normal = record_->shape.likelihood->is_normal();
    const bool is_exact = is_normal && integral.is_lattice() && is_close;
    const Index parameters = variables.psi_count();
    std::string nodes = draws_text(integral.ess());
    if (integral.is_lattice()) nodes = fmt::format("{} nodes", integral.nodes());
    if (integral.is_lattice() && !is_close) {
        nodes += fmt::format(", error at most {:.2g} sds in means and quantiles, {:.2g}% in sds", mean_error,
                             100.0 * sd_error);
    }
    if (integral.tops().size() > 1) {
        nodes +=
            fmt::format(", {} modes, which hold {:.2g}", integral.tops().size(), fmt::join(integral.shares(), ", "));
    }
    result.how = fmt::format(
        "the {}posterior, by integration over {} variance parameter{} ({}){}", is_exact ? "exact " : "", parameters,
        parameters == 1 ? "" : "s", nodes,
        is_normal ? ""
        : !is_confirmed
            ? ", coefficients given these by a corrected normal, which draws do not confirm: 'lrvb check FIT "
              "DATA --method nuts' may tell"
        : exact_weights ? fmt::format(", coefficients given these by a corrected normal and {} draws", draws)
                        : ", coefficients given these by a corrected normal");
    result.trust =
        fmt::format("the rule is good to {:.1g} sds in means and {:.1g}% in sds{}: the numbers {}",
                    result.mean_error.maxCoeff(), 100.0 * result.sd_error.maxCoeff(),
                    integral.is_lattice() ? "" : fmt::format(", k-hat of its draws is {:.2f}", integral.k_hat()),
                    result.reliable ? "can be relied on" : "are doubtful; 'lrvb check --method nuts' may tell");
    return result;
}

}  // namespace lrvb::detail
