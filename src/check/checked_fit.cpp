#include "base/files.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

namespace lrvb {

namespace {

constexpr double kFlat = 0.01;   // smallest eigenvalue of I − LᵀHL
constexpr double kSecond = 3e8;  // numbers looked at in about a second

bool is_wished(CheckWish wish, const FittedModel& fitted) {
    if (wish == CheckWish::quick) {
        return fitted.work_of_a_draw() * static_cast<double>(CheckOptions().draws) <= kSecond;
    }
    return wish == CheckWish::always;
}

}  // namespace

std::string flat_direction(const FittedModel& fitted) {
    const FlatDirection flattest = fitted.response().flattest_direction();
    if (!(flattest.curvature < kFlat)) return {};
    // The reported statistic that moves most, in its mean-field sds.
    const SparseMatrix statistics = fitted.statistics().resolve(fitted.model().layout()).weights;
    const Vector moved = statistics.transpose() * flattest.direction;
    SparseMatrix own(statistics.cols(), statistics.cols());
    own.setIdentity();
    const Vector variance = fitted.posterior().mean_field_covariance->variances(own);
    Index most = -1;
    double largest = 0.0;
    for (Index s = 0; s < moved.size(); ++s) {
        if (!(variance[s] > 0.0) || moved[s] * moved[s] / variance[s] <= largest) continue;
        largest = moved[s] * moved[s] / variance[s];
        most = s;
    }
    if (most < 0) return {};
    return fmt::format(
        "the bound is nearly flat along a direction that moves {} (smallest eigenvalue of I - L'HL {:.1e}): the data "
        "say little about it; use a smaller model, or a stronger prior",
        fitted.posterior().statistics[static_cast<std::size_t>(most)], flattest.curvature);
}

CheckedFit fit_and_check(const Kind& kind, const FitRequest& request, CheckWish wish) {
    CheckedFit result;
    result.fitted = kind.fit(request);
    FittedModel& fitted = *result.fitted;
    FitFile& file = fitted.file();
    if (!file.converged()) return result;
    if (is_wished(wish, fitted)) {
        result.check_tried = true;
        CheckOptions options;
        options.seed = request.options.seed;
        options.threads = request.threads;
        try {
            file.check = check(fitted, options);
        } catch (const std::invalid_argument& error) {  // a posterior that draws do not reach: the fit stands without
            file.warnings.push_back(fmt::format("not compared with the exact posterior: {}", error.what()));
        }
    }
    if (std::string flat = flat_direction(fitted); !flat.empty()) file.warnings.push_back(std::move(flat));
    for (std::string& warning : prior_warnings(file)) file.warnings.push_back(std::move(warning));
    for (std::string& warning : fitted.warnings()) file.warnings.push_back(std::move(warning));
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
