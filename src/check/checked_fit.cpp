#include "base/files.hpp"
#include "check/target.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace lrvb {

namespace {

constexpr double kQuick = 1.0;   // seconds
constexpr double kRounds = 2.0;  // of importance sampling, or so
constexpr double kFlat = 0.01;   // smallest eigenvalue of I − LᵀHL

bool is_wished(CheckWish wish, const FittedModel& fitted) {
    if (wish == CheckWish::quick) {
        if (const std::optional<double> work = fitted.work_of_integration()) return *work <= detail::kWorkOfASecond;
        const double draws = kRounds * static_cast<double>(CheckOptions().draws);
        return fitted.work_of_a_draw() * draws <= detail::kWorkOfASecond;
    }
    return wish != CheckWish::never;
}

// The remedy of a check, as one of the fit that asked for it.
std::string refusal(const Check& check) {
    constexpr std::string_view kCheck = "'lrvb check FIT DATA";
    std::string trust = check.trust;
    if (const std::size_t at = trust.find(kCheck); at != std::string::npos) {
        trust.replace(at, kCheck.size(), "'lrvb fit … --exact");
    }
    return fmt::format(
        "the exact posterior cannot be had by these draws: {}; without --exact the fit stands, and says how it "
        "compares",
        trust);
}

// Draws that can be relied on where a fit has other optima go to all of them.
void forget_other_optima(FitFile& file) {
    if (file.other_optima.empty()) return;
    const std::string text = other_optima_text(file.posterior, file.other_optima);
    std::erase_if(file.warnings, [&](const std::string& warning) { return warning.starts_with(text); });
    file.other_optima.clear();
}

}  // namespace

std::string flat_direction(const FittedModel& fitted) {
    const FlatDirection flattest = fitted.response().flattest_direction();
    if (!(flattest.curvature < kFlat)) return {};
    // The variable that moves most, in its mean-field sds, of those that people look at.
    const std::vector<PosteriorVariable>& variables = fitted.posterior().variables;
    std::vector<Index> shown;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].meaning.is_shown) shown.push_back(static_cast<Index>(v));
    }
    if (shown.empty()) return {};
    const SparseMatrix gradients = fitted.functionals(shown).resolve(fitted.model().layout()).weights;
    const Vector moved = gradients.transpose() * flattest.direction;
    const std::vector<Posterior::Row> rows = fitted.posterior().summary(shown, 0.9);
    Index most = -1;
    double largest = 0.0;
    for (Index s = 0; s < moved.size(); ++s) {
        const double sd = rows[static_cast<std::size_t>(s)].mean_field_sd;
        if (!(sd > 0.0) || std::abs(moved[s]) / sd <= largest) continue;
        largest = std::abs(moved[s]) / sd;
        most = s;
    }
    if (most < 0) return {};
    return fmt::format(
        "the bound is nearly flat along a direction that moves {} (smallest eigenvalue of I - L'HL {:.1e}): the data "
        "say little about it; use a smaller model, or a stronger prior",
        rows[static_cast<std::size_t>(most)].name, flattest.curvature);
}

bool check_fit(FittedModel& fitted, CheckWish wish, CheckOptions options, std::optional<double> seconds) {
    FitFile& file = fitted.file();
    if (!file.converged()) return false;
    bool is_tried = false;
    std::optional<Check> exact;
    if (is_wished(wish, fitted)) {
        is_tried = true;
        if (wish == CheckWish::quick) options.seconds = kQuick;
        if (seconds) options.seconds = *seconds;
        if (wish == CheckWish::exact) {
            exact = check(fitted, options);
            if (!exact->reliable) {
                detail::require_one_optimum(file);
                throw std::invalid_argument(refusal(*exact));
            }
            forget_other_optima(file);
        } else if (fitted.work_of_integration()) {
            Check integrated = check(fitted, options);
            if (integrated.reliable) {
                exact = std::move(integrated);
            } else {
                file.check = integrated;
            }
        } else {
            try {
                file.check = check(fitted, options);
            } catch (const std::invalid_argument& error) {  // draws do not reach it: the fit stands without
                file.warnings.push_back(fmt::format("not compared with the exact posterior: {}", error.what()));
            }
        }
    }
    if (std::string flat = flat_direction(fitted); !flat.empty()) file.warnings.push_back(std::move(flat));
    for (std::string& warning : prior_warnings(file)) file.warnings.push_back(std::move(warning));
    for (std::string& warning : fitted.warnings()) file.warnings.push_back(std::move(warning));
    if (exact) file = corrected(file, *exact);
    return is_tried;
}

CheckedFit fit_and_check(const Kind& kind, const FitRequest& request, CheckWish wish, std::optional<double> seconds,
                         const std::function<bool(const CheckProgress&)>& progress) {
    CheckedFit result;
    result.fitted = kind.fit(request);
    CheckOptions options;
    options.seed = request.options.seed;
    options.threads = request.threads;
    options.progress = progress;
    result.check_tried = check_fit(*result.fitted, wish, options, seconds);
    return result;
}

CheckResult read_check(const std::string& path, const FitFile& fit) {
    detail::ByteStream stream(path);
    Document document;
    try {
        document = Document::parse(detail::read_json(stream));
    } catch (const std::runtime_error&) {  // what is no JSON is no object either
    }
    return read_check_result(document, fit.posterior, stream.name());
}

}  // namespace lrvb
