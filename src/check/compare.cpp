#include "check/target.hpp"
#include "family/special.hpp"
#include "sample/pareto_tail.hpp"
#include "sample/resampling.hpp"

#include <lrvb/posterior/quantiles.hpp>
#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

namespace lrvb::detail {

namespace {

constexpr double kMostShift = 0.2;  // of a variable that is ok, Monte Carlo error included
constexpr double kMostRatio = 0.15;
constexpr double kQuantileTolerance = 0.4;  // in sds, at either end of the interval
constexpr double kLevel = 0.9;              // of that
constexpr double kLargestKHat = 1.0;
constexpr double kReliableRHat = 1.05;
constexpr double kDoubtfulRHat = 1.1;
constexpr double kAgreeingRHat = 1.01;  // of the no-U-turn sampler
constexpr double kFewDivergences = 0.001;
constexpr double kNoMatter = std::numeric_limits<double>::infinity();  // how many of the same
constexpr double kMore = 4.0;
constexpr double kMuchMore = 16.0;
constexpr double kManyExchanged = 0.01;
constexpr double kSdError = 0.07;  // largest standard error of an sd that is relied on, as a share of it

std::string few_draws(const Check& check, const Advice& advice) {
    return fmt::format("the effective sample size is {:.0f}, below {:.0f}: the exact numbers are doubtful; {}",
                       check.ess, kCheckEss, advice(check, kCheckEss / check.ess));
}

// Fewer moments than two where a few draws make them up, however many draws there are, or where the posterior beyond
// the draws does. Weighted draws whose other variables have few such draws miss something; chains do not.
TailMoments moments_of(const PosteriorVariable& variable, const Check& check, std::size_t v) {
    const VariableMeaning& meaning = variable.meaning;
    const TailMoments tail =
        check.integrated ? (check.integrated->tails.empty() ? TailMoments::mean_and_sd : check.integrated->tails[v])
                         : std::max(variable.moments, check.tails.empty() ? TailMoments::mean_and_sd : check.tails[v]);
    if (check.integrated) return tail;
    const bool is_asked = meaning.may_be_infinite || (check.chains > 0 && is_telling(meaning));
    // A node that is no function of others has hardly ever no variance: its k-hat must say that it is infinite, or
    // nearly.
    constexpr double kAsGoodAsInfinite = 0.9;
    const bool is_computed = meaning.may_be_infinite || static_cast<bool>(meaning.from_draw.function);
    // So must that of a function whose moments a ridge has found.
    const bool is_found = !check.tails.empty() && tail == TailMoments::mean_and_sd;
    const double threshold = is_computed && !is_found ? pareto_threshold(check.draws) : kAsGoodAsInfinite;
    if (tail == TailMoments::none || (is_asked && check.mean_k_hat[v] >= threshold)) return TailMoments::none;
    return tail == TailMoments::mean || (is_asked && check.variance_k_hat[v] >= threshold) ? TailMoments::mean
                                                                                           : TailMoments::mean_and_sd;
}

bool is_heavy(const PosteriorVariable& variable, const Check& check, std::size_t v) {
    return moments_of(variable, check, v) != TailMoments::mean_and_sd;
}

// What k̂ of the weights does not see: places where no draw is, and variances that few draws make up. Empty where there
// is no doubt.
// `more`: how many times as many draws would remove it.
std::string doubt_of(const Posterior& posterior, const Check& check, double threshold, const Advice& advice,
                     double& more) {
    if (!check.unseen.empty()) {
        return fmt::format("{}: the exact numbers are doubtful; take more draws, or a smaller model", check.unseen);
    }
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        const PosteriorVariable& variable = posterior.variables[v];
        if (check.variance_k_hat[v] < threshold || !is_telling(variable.meaning)) continue;
        if (is_heavy(variable, check, v)) continue;
        return fmt::format("that of the variance of {} is {:.2f}: the exact numbers are doubtful; {}",
                           check.variables[v].name, check.variance_k_hat[v], advice(check, kNoMatter));
    }
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        const CheckedVariable& variable = check.variables[v];
        const double error = variable.ratio_se / variable.ratio;
        if (!is_telling(posterior.variables[v].meaning) || !(error > kSdError)) continue;
        if (is_heavy(posterior.variables[v], check, v)) continue;
        more = std::pow(error / kSdError, 2);
        return fmt::format("the sd of {} is known only to ±{:.0f}%: the exact numbers are doubtful; {}", variable.name,
                           200.0 * error, advice(check, more));
    }
    return {};
}

// What the draws say of themselves.
void judge_importance(const Posterior& posterior, const Advice& advice, Check& check) {
    const double threshold = pareto_threshold(check.draws);
    if (!(check.k_hat < kLargestKHat)) {
        check.trust = fmt::format("k-hat {:.2f} is above 1: the exact numbers are not to be used; {}", check.k_hat,
                                  advice(check, kNoMatter));
        return;
    }
    check.verdict = CheckVerdict::doubtful;
    if (!(check.k_hat < threshold)) {
        check.trust = fmt::format("k-hat {:.2f} is above {:.2f}: the exact numbers are doubtful; {}", check.k_hat,
                                  threshold, advice(check, kNoMatter));
    } else if (check.ess < kCheckEss) {
        check.trust =
            fmt::format("k-hat {:.2f} is below {:.2f}, but {}", check.k_hat, threshold, few_draws(check, advice));
    } else if (const std::string doubt = doubt_of(posterior, check, threshold, advice, check.more); !doubt.empty()) {
        check.trust = fmt::format("k-hat {:.2f} is below {:.2f}, but {}", check.k_hat, threshold, doubt);
    } else {
        check.verdict = CheckVerdict::ok;
        check.reliable = true;
        check.trust =
            fmt::format("k-hat {:.2f} is below {:.2f}: the exact numbers can be relied on", check.k_hat, threshold);
    }
}

void judge_nuts(const Advice& advice, Check& check) {
    const std::string moves = fmt::format("R-hat {:.3f} over {} chains, {} of {} moves diverged", check.r_hat,
                                          check.chains, check.divergences, check.draws);
    if (!(check.r_hat < kDoubtfulRHat)) {
        check.trust = fmt::format("{}: chains disagree, and the exact numbers are not to be used; {}", moves,
                                  advice(check, kMuchMore));
        return;
    }
    check.verdict = CheckVerdict::doubtful;
    if (!(check.r_hat < kAgreeingRHat)) {
        check.trust = fmt::format("{}: the exact numbers are doubtful; {}", moves, advice(check, kMore));
    } else if (check.divergences > 0 &&
               static_cast<double>(check.divergences) >= kFewDivergences * static_cast<double>(check.draws)) {
        check.trust = fmt::format(
            "{}, where the posterior bends more than steps can follow: the exact numbers are doubtful; use a stronger "
            "prior, or another way to write the model",
            moves);
    } else if (check.ess < kCheckEss) {
        check.trust = fmt::format("{}, but {}", moves, few_draws(check, advice));
    } else if (!check.apart.empty()) {
        check.trust =
            fmt::format("{}, but {}: the exact numbers are doubtful; {}", moves, check.apart, advice(check, kMore));
    } else if (!check.unseen.empty()) {
        check.trust = fmt::format(
            "{}, but {}: the exact numbers are doubtful, and more draws of these chains would not "
            "help; use a stronger prior, or a smaller model",
            moves, check.unseen);
    } else {
        check.verdict = CheckVerdict::ok;
        check.reliable = true;
        check.trust = fmt::format("{}: the exact numbers can be relied on", moves);
    }
}

void judge_metropolis(const Advice& advice, Check& check) {
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
        check.trust = fmt::format("{}, {}", moves, few_draws(check, advice));
    } else {
        check.verdict = CheckVerdict::ok;
        check.reliable = true;
        check.trust = fmt::format("{}: the exact numbers can be relied on", moves);
    }
}

// The standard error of a statistic whose derivative in the weight of each draw this is: draws of chains count for
// fewer, as many as their effective size says.
double error_of(const Eigen::ArrayXd& influence, const Eigen::ArrayXd& weights, double ess,
                const std::vector<Index>& draw_of) {
    Eigen::ArrayXd shares = weights * influence;
    if (!draw_of.empty()) {  // columns of one draw are not independent
        Eigen::ArrayXd sums = Eigen::ArrayXd::Zero(draw_of.back() + 1);
        for (Index i = 0; i < shares.size(); ++i) sums[draw_of[static_cast<std::size_t>(i)]] += shares[i];
        shares = std::move(sums);
    }
    const double independent = std::sqrt(shares.square().sum());
    return ess > 0.0 ? independent * std::sqrt(static_cast<double>(weights.size()) / ess) : independent;
}

// 0 for draws that are no chains.
double chain_ess(const Eigen::ArrayXd& values, const Check& check) {
    if (check.chains == 0) return 0.0;
    return effective_sample_size(Eigen::Map<const Matrix>(values.data(), values.size() / check.chains, check.chains));
}

// What has no square is as good as infinite.
bool is_number(double value) {
    constexpr double kMost = 1e150;
    return std::abs(value) < kMost;
}

// Whether chains have the outermost twentieth of all draws, at either end, in unequal shares, as where some of them
// miss the neck of a funnel.
bool has_unequal_tails(const Matrix& chains) {
    constexpr double kTail = 0.05;
    constexpr double kSpread = 1.0;  // sd of the shares, as a part of their mean: what chance makes is about half of it
    std::vector<double> all(chains.data(), chains.data() + chains.size());
    std::ranges::sort(all);
    const auto last = static_cast<double>(all.size() - 1);
    const double lower = all[static_cast<std::size_t>(kTail * last)];
    const double upper = all[static_cast<std::size_t>((1.0 - kTail) * last)];
    const auto is_unequal = [&](const Eigen::RowVectorXd& counts) {
        const double mean = counts.mean();
        const double count = static_cast<double>(counts.size());
        const double spread = std::sqrt((counts.array() - mean).square().sum() / std::max(1.0, count - 1.0));
        return mean > 0.0 && spread > kSpread * mean;
    };
    const auto size = static_cast<double>(chains.size());
    const Eigen::RowVectorXd below = (chains.array() < lower).cast<double>().colwise().sum();
    const Eigen::RowVectorXd above = (chains.array() > upper).cast<double>().colwise().sum();
    // Of what has few values an end may hold far more, or none.
    const auto is_tail = [&](const Eigen::RowVectorXd& counts) {
        return counts.sum() > 0.5 * kTail * size && counts.sum() < 2.0 * kTail * size;
    };
    return (is_tail(below) && is_unequal(below)) || (is_tail(above) && is_unequal(above));
}

// Whether more than half of the draws have one value.
bool has_an_atom(Eigen::ArrayXd values) {
    const auto middle = values.begin() + values.size() / 2;
    std::nth_element(values.begin(), middle, values.end());
    const double median = *middle;
    return 2 * (values == median).count() > values.size();
}

// How often a variable is no number where there is a density.
Index undefined_draws(const Vector& values, const Eigen::ArrayXd& weights) {
    Index count = 0;
    for (Index i = 0; i < values.size(); ++i) count += weights[i] > 0.0 && !is_number(values[i]) ? 1 : 0;
    return count;
}

CheckedVariable compared(const Posterior::Row& row, const VariableMeaning& meaning, const Vector& values,
                         const Eigen::ArrayXd& weights, Check& check) {
    CheckedVariable variable{row.name, row.mean, row.sd, values[0], 0.0, 0.0, kNothing, 0.0, kNothing, "fixed"};
    check.variance_k_hat.push_back(-std::numeric_limits<double>::infinity());
    check.mean_k_hat.push_back(-std::numeric_limits<double>::infinity());
    const bool is_defined = undefined_draws(values, weights) == 0;
    // A value that overflowed where there is no density does not count, nor does any other there.
    const Eigen::ArrayXd counted = counted_values(values, weights);
    // Held: draws differ by rounding at most. (What jumps may be the same wherever the answer looked, and not in
    // truth.)
    constexpr double kSame = 1e-9;
    const bool has_no_sd = row.sd == 0.0 && row.mean_field_sd == 0.0 && is_defined;
    if (has_no_sd && counted.maxCoeff() - counted.minCoeff() <= kSame * counted.abs().maxCoeff()) return variable;
    if (counted.minCoeff() == counted.maxCoeff()) {
        variable.mean_exact = is_number(counted[0]) ? counted[0] : row.mean;
        if (!is_defined) variable.verdict.clear();
        return variable;
    }
    variable.mean_exact = (weights * counted).sum();
    const Eigen::ArrayXd centred = counted - variable.mean_exact;
    variable.sd_exact = std::sqrt((weights * centred.square()).sum());
    // Draws of hardly any weight may differ: what they add to the sd is less than the rounding of the mean.
    constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
    if (!(variable.sd_exact > kRounding * std::abs(variable.mean_exact))) {
        variable.sd_exact = 0.0;
        return variable;
    }
    const Eigen::ArrayXd z = centred / variable.sd_exact;
    // Of what is one value at most draws, or is a probability, a few draws make up the variance without a heavy tail.
    const bool is_bounded = meaning.role == Role::weight || has_an_atom(counted);
    if (!meaning.is_auxiliary && (check.chains == 0 || !is_bounded)) {
        const Vector ratios =
            check.chains == 0 ? Vector(check.log_density - check.log_proposal) : Vector::Zero(values.size());
        const bool may_lack_moments = !is_bounded || !meaning.may_be_infinite;
        if (may_lack_moments) check.variance_k_hat.back() = variance_k_hat(ratios, z);
        if (!is_bounded) check.mean_k_hat.back() = moment_k_hat(ratios, z, 1.0);
    }
    const Eigen::ArrayXd spread = 0.5 * (z.square() - 1.0);  // of log sd
    variable.shift = (row.mean - variable.mean_exact) / variable.sd_exact;
    variable.ratio = row.sd / variable.sd_exact;
    variable.verdict.clear();
    const double mean_ess = chain_ess(centred, check);
    const double sd_ess = chain_ess(centred.square(), check);
    if (check.chains > 0 && is_telling(meaning)) check.ess = std::min({check.ess, mean_ess, sd_ess});
    if (check.method == CheckMethod::nuts && is_telling(meaning)) {
        const Matrix chains = Eigen::Map<const Matrix>(counted.data(), counted.size() / check.chains, check.chains);
        check.ess = std::min({check.ess, bulk_ess(chains), tail_ess(chains)});
        check.r_hat = std::max(check.r_hat, split_r_hat(chains));
        if (check.apart.empty() && has_unequal_tails(chains)) {
            check.apart = fmt::format("chains disagree about the mass in a tail of {}", row.name);
        }
    }
    // What has no mean has no shift of it.
    const bool has_shift = std::isfinite(variable.shift);
    const Eigen::ArrayXd shifts = has_shift ? Eigen::ArrayXd(z + variable.shift * spread) : z;
    variable.mean_se = error_of(z, weights, mean_ess, check.draw_of);
    variable.shift_se = error_of(shifts, weights, chain_ess(shifts, check), check.draw_of);
    variable.ratio_se = variable.ratio * error_of(spread, weights, sd_ess, check.draw_of);
    return variable;
}

// Without draws: what the rule may be wrong by takes the place of their error.
CheckedVariable integrated(const Posterior::Row& row, const IntegratedPosterior& exact, Index at, Check& check) {
    check.variance_k_hat.push_back(-std::numeric_limits<double>::infinity());
    check.mean_k_hat.push_back(-std::numeric_limits<double>::infinity());
    CheckedVariable variable{row.name, row.mean, row.sd, exact.mean[at], 0.0, 0.0, kNothing, 0.0, kNothing, "fixed"};
    constexpr double kSame = 1e-12;  // beside the mean: its rounding
    if (!(exact.sd[at] > kSame * std::abs(exact.mean[at]))) return variable;
    variable.sd_exact = exact.sd[at];
    variable.shift = (row.mean - variable.mean_exact) / variable.sd_exact;
    variable.ratio = row.sd / variable.sd_exact;
    // A bound counts as three standard errors.
    constexpr double kBound = 3.0;
    const auto standard = [&](double error, double noise) { return noise + std::max(0.0, error - noise) / kBound; };
    const bool has_noise = exact.mean_noise.size() > 0;
    variable.shift_se = standard(exact.mean_error[at], has_noise ? exact.mean_noise[at] : 0.0);
    variable.mean_se = variable.shift_se;
    variable.ratio_se = variable.ratio * standard(exact.sd_error[at], has_noise ? exact.sd_noise[at] : 0.0);
    variable.verdict.clear();
    return variable;
}

bool is_off(double difference, double error, double z) {
    return std::abs(difference) - z * error > kCheckTolerance;
}

// What z standard errors may be for draws to tell whether a variable is ok: that it is within the limit, or off.
double allowed(double difference, double limit) {
    const double size = std::abs(difference);
    return std::min(kCheckTolerance, std::max(limit - size, size - kCheckTolerance));
}

bool is_resolved(double difference, double error, double z, double limit) {
    return z * error <= kCheckTolerance && std::abs(difference) + z * error <= limit;
}

// The ends of the interval against draws that count the same. Where a quantile lies is known as far as the ranks of
// the draws next to it are: √(p(1 − p)/ESS) either way.
class QuantileJudge {
  public:
    QuantileJudge(const Check& check, const Eigen::ArrayXd& weights) : check_(check) {
        if (check.integrated) return;
        draws_.resize(static_cast<std::size_t>(weights.size()));
        if (check.chains > 0) {
            std::iota(draws_.begin(), draws_.end(), Index{0});
        } else {
            draws_ = resampled(weights.matrix(), weights.size(), 0.5);
        }
        own_.resize(draws_.size());
    }

    /// Empty where neither is off.
    std::string text(const Posterior::Row& row, const CheckedVariable& variable, Index at) {
        if (!(variable.sd_exact > 0.0)) return {};
        for (std::size_t i = 0; i < draws_.size(); ++i) own_[i] = check_.values(at, draws_[i]);
        std::string text;
        for (const auto& [name, end, probability] :
             {std::tuple("q5", row.lower, 0.5 * (1.0 - kLevel)), std::tuple("q95", row.upper, 0.5 * (1.0 + kLevel))}) {
            const double off = std::isfinite(end) ? distance(end, probability, at) / variable.sd_exact : kNothing;
            if (std::abs(off) <= kQuantileTolerance) continue;
            if (!text.empty()) text += ", ";
            text += std::isfinite(off) ? fmt::format("{} off by {:+.2f} sd", name, off)
                                       : fmt::format("{} is no number", name);
        }
        return text;
    }

  private:
    // How far it is from what the quantile may be. What has few values jumps where its probabilities are next to those
    // of the interval, so that these may be a little other.
    double distance(double end, double probability, Index at) {
        if (check_.integrated) {
            const Vector& quantiles = check_.integrated->quantiles[static_cast<std::size_t>(at)];
            if (quantiles.size() == 0) return 0.0;
            return end - quantile_at(Transform::identity, quantiles, probability);
        }
        const double error = std::sqrt(probability * (1.0 - probability) / std::max(check_.ess, 1.0));
        constexpr double kNextTo = 0.03;
        double lower = order_statistic(probability - error);
        double upper = order_statistic(probability + error);
        if (lower == upper) {
            lower = order_statistic(probability - error - kNextTo);
            upper = order_statistic(probability + error + kNextTo);
        }
        if (!std::isfinite(lower) || !std::isfinite(upper)) return 0.0;
        return end < lower ? end - lower : std::max(0.0, end - upper);
    }

    double order_statistic(double probability) {
        const auto last = static_cast<double>(own_.size() - 1);
        const double rank = std::clamp(probability * static_cast<double>(own_.size()), 0.0, last);
        const auto place = own_.begin() + static_cast<std::ptrdiff_t>(rank);
        std::nth_element(own_.begin(), place, own_.end());
        return *place;
    }

    const Check& check_;
    std::vector<Index> draws_;
    std::vector<double> own_;
};

// In place of the moments that a heavy tail leaves out.
void set_quantiles(const Check& check, const Eigen::ArrayXd& weights, Index at, CheckedVariable& variable) {
    if (check.integrated) {
        const Vector& quantiles = check.integrated->quantiles[static_cast<std::size_t>(at)];
        if (quantiles.size() == 0) return;
        variable.median_exact = quantile_at(Transform::identity, quantiles, 0.5);
        variable.lower_exact = quantile_at(Transform::identity, quantiles, 0.5 * (1.0 - kLevel));
        variable.upper_exact = quantile_at(Transform::identity, quantiles, 0.5 * (1.0 + kLevel));
        return;
    }
    const Vector values = counted_values(check.values.row(at), weights);
    const Vector quantiles = draw_quantiles(Transform::identity, values, check.log_weights);
    variable.median_exact = quantile_at(Transform::identity, quantiles, 0.5);
    variable.lower_exact = quantile_at(Transform::identity, quantiles, 0.5 * (1.0 - kLevel));
    variable.upper_exact = quantile_at(Transform::identity, quantiles, 0.5 * (1.0 + kLevel));
}

// Beside the width of the exact interval.
bool has_right_quantiles(const Posterior::Row& row, const CheckedVariable& variable) {
    constexpr double kClose = 0.1;
    const double width = variable.upper_exact - variable.lower_exact;
    return std::abs(row.lower - variable.lower_exact) <= kClose * width &&
           std::abs(row.upper - variable.upper_exact) <= kClose * width &&
           std::abs(row.median - variable.median_exact) <= kClose * width;
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

// Of a function that is infinite, or is not there, at draws that count: then it has no mean.
std::string undefined_text(const Check& check, const Eigen::ArrayXd& weights, Index at) {
    if (check.integrated) return {};
    const Index count = undefined_draws(check.values.row(at), weights);
    return count == 0 ? std::string() : fmt::format("no number in {} of {} draws", count, check.values.cols());
}

std::string unresolved_text(const CheckedVariable& variable, double z) {
    std::string text;
    if (!is_resolved(variable.shift, variable.shift_se, z, kMostShift))
        text = fmt::format("±{:.2f} sd", z * variable.shift_se);
    if (!is_resolved(variable.ratio - 1.0, variable.ratio_se, z, kMostRatio)) {
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

}  // namespace

Eigen::ArrayXd counted_values(const Vector& values, const Eigen::ArrayXd& weights) {
    Eigen::ArrayXd result = values;
    const auto counts = [&](Index i) { return weights[i] > 0.0 && is_number(values[i]); };
    const Index size = values.size();
    Index next = 0;  // the draw that counts at or behind this one, round about
    while (next < size && !counts(next)) ++next;
    if (next == size) return result;
    for (Index i = size - 1; i >= 0; --i) {
        if (counts(i)) next = i;
        result[i] = values[next];
    }
    return result;
}

void compare(const Posterior& posterior, const Advice& advice, Check& check) {
    std::vector<Index> all(posterior.variables.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const std::vector<Posterior::Row> rows = posterior.summary(all, kLevel);
    Eigen::ArrayXd weights = weights_of(check.log_weights);
    weights /= weights.sum();
    const auto is_judged = [&](std::size_t i) { return !posterior.variables[i].meaning.is_auxiliary; };
    std::size_t free = 0;
    std::size_t judged = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<Index>(i);
        check.variables.push_back(
            check.integrated ? integrated(rows[i], *check.integrated, at, check)
                             : compared(rows[i], posterior.variables[i].meaning, check.values.row(at), weights, check));
        judged += is_judged(i) ? 1 : 0;
        free += check.variables.back().verdict == "fixed" || !is_judged(i) ? 0 : 1;
    }
    check.more = 0.0;
    if (check.method == CheckMethod::importance) judge_importance(posterior, advice, check);
    if (check.method == CheckMethod::nuts) judge_nuts(advice, check);
    if (check.method == CheckMethod::metropolis) judge_metropolis(advice, check);
    if (check.integrated) {
        check.verdict = check.integrated->reliable ? CheckVerdict::ok : CheckVerdict::doubtful;
        check.reliable = check.integrated->reliable;
        check.trust = check.integrated->trust;
    }
    if (check.exchanged > kManyExchanged) {
        check.trust +=
            fmt::format("; {:.0f}% of the proposals, with labels exchanged, were left out", 100.0 * check.exchanged);
    }
    // Φ⁻¹(1 − 0.025/n).
    const double z = central_quantile(1.0 - 0.05 / static_cast<double>(std::max<std::size_t>(free, 1)));
    std::optional<QuantileJudge> quantiles;
    if (check.verdict != CheckVerdict::unchecked) quantiles.emplace(check, weights);
    std::vector<std::string> off;
    std::vector<std::string> unresolved;
    bool only_quantiles = true;  // of all that is off
    bool are_undefined = false;
    bool are_heavy = false;
    double lacking = 0.0;  // of draws that tell of all, the root of how many times as many
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CheckedVariable& variable = check.variables[i];
        if (variable.verdict == "fixed") continue;
        if (check.verdict == CheckVerdict::unchecked || !is_judged(i)) {
            variable.verdict = "not checked";
        } else if (std::string text = undefined_text(check, weights, static_cast<Index>(i)); !text.empty()) {
            variable.verdict = std::move(text);
            off.push_back(variable.name);
            are_undefined = true;
        } else if (posterior.variables[i].moments == TailMoments::none) {
            // It is reported by its median and quantiles, and judged by these.
            set_quantiles(check, weights, static_cast<Index>(i), variable);
            text = quantiles ? quantiles->text(rows[i], variable, static_cast<Index>(i)) : std::string();
            if (!text.empty()) off.push_back(variable.name);
            variable.verdict = !text.empty() ? text : check.reliable ? "ok" : "seems ok";
        } else if (is_heavy(posterior.variables[i], check, i)) {
            const TailMoments moments = moments_of(posterior.variables[i], check, i);
            variable.verdict = moments == TailMoments::none ? kNoMean : kNoSd;
            set_quantiles(check, weights, static_cast<Index>(i), variable);
            // A fit that says so is right, where its quantiles are.
            const bool is_known = check.integrated && posterior.variables[i].moments == moments;
            if (is_known && has_right_quantiles(rows[i], variable)) continue;
            off.push_back(variable.name);
            are_heavy = true;
        } else if (text = off_text(variable, z); !text.empty()) {
            variable.verdict = std::move(text);
            off.push_back(variable.name);
            only_quantiles = false;
        } else if (text = unresolved_text(variable, z); !text.empty()) {
            variable.verdict = std::move(text);
            unresolved.push_back(variable.name);
            lacking = std::max({lacking, z * variable.shift_se / allowed(variable.shift, kMostShift),
                                z * variable.ratio_se / allowed(variable.ratio - 1.0, kMostRatio)});
        } else if (text = quantiles ? quantiles->text(rows[i], variable, static_cast<Index>(i)) : std::string();
                   !text.empty()) {
            variable.verdict = std::move(text);
            off.push_back(variable.name);
        } else {
            variable.verdict = check.reliable ? "ok" : "seems ok";
        }
    }
    check.more = std::max({check.more, lacking * lacking, kCheckEss / check.ess});
    check.resolved = static_cast<Index>(rows.size() - unresolved.size());
    if (check.verdict == CheckVerdict::unchecked) {
        check.resolved = static_cast<Index>(rows.size() - free);
        check.message = fmt::format("the draws are not reliable enough for a comparison: {}", check.trust);
    } else if (!off.empty()) {
        const char* seen = check.reliable ? (off.size() == 1 ? "is" : "are") : (off.size() == 1 ? "seems" : "seem");
        if (check.reliable) check.verdict = CheckVerdict::off;
        const char* by =
            are_undefined ? "infinite or undefined at draws, or a mean by more than 0.1 sd, or an sd by more than 10%"
            : are_heavy ? "without an sd that draws can tell, or a mean by more than 0.1 sd, or an sd by more than 10%"
            : only_quantiles ? "a quantile by more than 0.4 sd, the means and sds being right"
                             : "a mean by more than 0.1 sd, or an sd by more than 10%";
        check.message = fmt::format("{} of {} variables {} off ({}): {}", off.size(), judged, seen, by, first_of(off));
        if (!unresolved.empty()) {
            check.message += fmt::format("; too few draws to tell of {} more: {}; {}", unresolved.size(),
                                         first_of(unresolved), advice(check, check.more));
        }
    } else if (!unresolved.empty()) {
        check.verdict = CheckVerdict::doubtful;
        check.message = fmt::format(
            "too few draws to say whether {} of {} variables {} off (a mean by more than 0.1 sd, or an sd by "
            "more than 10%): {}; {}",
            unresolved.size(), judged, unresolved.size() == 1 ? "is" : "are", first_of(unresolved),
            advice(check, check.more));
    } else if (!check.reliable) {
        check.message = fmt::format("no variable seems off, but {}", check.trust);
    } else {
        check.message =
            fmt::format("no mean is off by more than 0.1 sd and no sd by more than 10%, {} error allowed for",
                        check.integrated ? "numerical" : "Monte Carlo");
    }
}

// Rounded up to one digit.
std::string more_draws(const Check& check, double factor) {
    if (!std::isfinite(factor)) return "take more draws, or the no-U-turn sampler";
    constexpr double most = 1e7;
    const double needed = factor * static_cast<double>(check.draws);
    const double digit = std::pow(10.0, std::floor(std::log10(needed)));
    const double rounded = digit * std::ceil(needed / digit);
    return rounded <= most ? fmt::format("take about {:.0f} draws", rounded) : "take many more draws";
}

double variance_k_hat(const Vector& log_ratios, const Eigen::ArrayXd& z) {
    return moment_k_hat(log_ratios, z, 2.0);
}

double moment_k_hat(const Vector& log_ratios, const Eigen::ArrayXd& z, double power) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Vector ratios = log_ratios + power * z.abs().log().matrix();
    for (double& ratio : ratios) {
        if (!(ratio < infinity)) ratio = -infinity;
    }
    const double largest = ratios.maxCoeff();
    if (largest == -infinity) return infinity;
    // Of n draws with a tail of k = 0.7 the heaviest has a share of about n^(k − 1), some 8 % of 4,000.
    constexpr double kHeavyDraw = 0.01;
    const double all = (ratios.array() - largest).exp().sum();
    if (all * kHeavyDraw > 1.0) return -infinity;
    constexpr double kHalf = 0.5;
    if (all * kHalf < 1.0) return infinity;  // next to one draw there is no tail to look at
    return pareto_k_hat(ratios);
}

}  // namespace lrvb::detail
