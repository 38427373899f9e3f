#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/query/fit_range.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace lrvb {

namespace {

double labelled_bound(const RangeFit& one) {
    return one.fit.fitted->optimum().bound + log_labellings(*one.fit.fitted);
}

// The best by elpd_loo, or, where there is none, by the bound.
void compare(FittedRange& range, const LooOptions& options) {
    std::vector<const FittedModel*> fits;
    std::vector<std::string> names;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < range.fits.size(); ++i) {
        const FittedModel& fitted = *range.fits[i].fit.fitted;
        if (!fitted.file().converged()) continue;
        if (!range.best || labelled_bound(range.fits[i]) > labelled_bound(range.fits[*range.best])) range.best = i;
        fits.push_back(&fitted);
        names.push_back(fmt::format("{} = {}", range.option.short_key(), range.fits[i].number));
        places.push_back(i);
    }
    if (fits.empty()) return;
    try {
        if (fits.size() == 1) {
            ComparedFit alone;
            alone.loo = leave_one_out(*fits.front(), options);
            alone.log_labellings = log_labellings(*fits.front());
            alone.bound = fits.front()->optimum().bound + alone.log_labellings;
            range.fits[places.front()].compared = std::move(alone);
            return;
        }
        const std::vector<ComparedFit> compared = compare_fits(fits, names, options);
        for (const ComparedFit& one : compared) range.fits[places[one.fit]].compared = one;
        range.best = places[compared.front().fit];
        range.message = comparison_message(compared, names);
    } catch (const std::invalid_argument& error) {
        range.message = fmt::format("no row could be left out ({}){}", error.what(),
                                    fits.size() > 1 ? ": the best is that with the largest bound" : "");
    }
}

}  // namespace

std::optional<OptionInfo> range_option(const Kind& kind, const Settings& settings) {
    for (const OptionInfo& option : kind.options().value_or(std::vector<OptionInfo>())) {
        if (option.type != OptionInfo::Type::range || settings.text(option.key()).find(':') == std::string::npos) {
            continue;
        }
        const auto [first, last] = settings.range(option.key());
        if (static_cast<double>(first) < option.least || static_cast<double>(last) > option.most) {
            throw UsageError(fmt::format("--{} {} is out of range: it must be {}", option.key(),
                                         settings.text(option.key()), option.range));
        }
        if (last - first >= kMostOfARange) {
            throw UsageError(fmt::format("--{} {} asks for {} fits: give a range of {} at most", option.key(),
                                         settings.text(option.key()), last - first + 1, kMostOfARange));
        }
        return option;
    }
    return std::nullopt;
}

FittedRange fit_range(const Kind& kind, const FitRequest& request, CheckWish wish) {
    const std::optional<OptionInfo> option = range_option(kind, request.settings);
    if (!option) throw std::invalid_argument("fit_range: the settings have no range, such as 1:8");
    FittedRange result;
    result.option = *option;
    const auto [first, last] = request.settings.range(option->key());
    FitRequest one = request;
    for (Index number = first; number <= last && !result.is_cancelled; ++number) {
        one.settings.set(option->key(), fmt::format("{}", number));
        RangeFit& next = result.fits.emplace_back();
        next.number = number;
        next.fit = fit_and_check(kind, one, wish);
        one.previous = next.fit.fitted.get();
        result.is_cancelled = next.fit.fitted->file().outcome.termination == Termination::cancelled;
    }
    if (result.is_cancelled) return result;
    LooOptions options;
    options.seed = request.options.seed;
    options.threads = request.threads;
    compare(result, options);
    return result;
}

}  // namespace lrvb
