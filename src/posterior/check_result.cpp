#include "base/messages.hpp"

#include <lrvb/posterior/check_result.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace lrvb {

namespace {

constexpr std::array kVerdicts{CheckVerdict::ok, CheckVerdict::off, CheckVerdict::doubtful, CheckVerdict::unchecked};
constexpr std::array kMethods{CheckMethod::importance, CheckMethod::nuts, CheckMethod::metropolis,
                              CheckMethod::integration};

class Reader {
  public:
    Reader(const Document& file, const Posterior& posterior, std::string name)
        : file_(file), posterior_(posterior), name_(std::move(name)) {
        if (!file_.is_object()) refuse("it is no JSON object");
    }

    CheckResult read() const {
        CheckResult result;
        const std::optional<CheckVerdict> verdict = check_verdict(text(file_, "verdict"));
        if (!verdict) refuse("its verdict is none of a check");
        result.verdict = *verdict;
        result.message = text(file_, "message");
        const std::optional<CheckMethod> method = check_method(text(file_, "method"));
        if (!method) refuse("its method is none of a check");
        result.method = *method;
        result.k_hat = number(file_, "k_hat");
        result.r_hat = number(file_, "r_hat");
        result.ess = number(file_, "ess");
        const std::uint64_t draws = whole("draws");
        if (draws > (std::uint64_t{1} << 53U)) refuse("'draws' is too large");
        result.draws = static_cast<Index>(draws);
        result.seed = whole("seed");
        for (const PosteriorVariable& variable : posterior_.variables) {
            // Names that are no UTF-8 were made so when they were printed.
            positions_.try_emplace(valid_text(variable.name), result.variables.size());
            // Checks of before 1.4 say indices by numbers.
            if (!variable.meaning.index_names.empty()) {
                positions_.try_emplace(variable.meaning.numbered_name(), result.variables.size());
            }
            CheckedVariable& checked = result.variables.emplace_back();
            checked.name = variable.name;
            checked.mean_lrvb = variable.mean;
        }
        const Document& list = at(file_, "variables");
        if (list.entries() == nullptr || list.size() == 0) refuse("'variables' is no list of variables");
        for (const Document& entry : *list.entries()) add_variable(entry, result);
        return result;
    }

  private:
    [[noreturn]] void refuse(const std::string& reason) const {
        throw std::runtime_error(
            fmt::format("{} is no check: {}; make it with 'lrvb check FIT DATA --format json'", name_, reason));
    }
    [[noreturn]] void refuse_other(const std::string& reason) const {
        throw std::runtime_error(fmt::format(
            "{} checks another fit: {}; check this one with 'lrvb check FIT DATA --format json'", name_, reason));
    }

    const Document& at(const Document& object, const std::string& key) const {
        const Document* value = object.find(key);
        if (value == nullptr) refuse(fmt::format("'{}' is missing", key));
        return *value;
    }
    std::string text(const Document& object, const std::string& key) const {
        const std::string* value = at(object, key).text();
        if (value == nullptr) refuse(fmt::format("'{}' is no text", key));
        return *value;
    }
    // null stands for what is no number.
    double number(const Document& object, const std::string& key) const {
        const Document& value = at(object, key);
        if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
        if (!value.is_number()) refuse(fmt::format("'{}' is no number", key));
        return *value.number();
    }
    std::uint64_t whole(const std::string& key) const {
        const std::optional<std::uint64_t> value = at(file_, key).whole();
        if (!value) refuse(fmt::format("'{}' is no whole number", key));
        return *value;
    }

    void add_variable(const Document& entry, CheckResult& result) const {
        const std::string name = text(entry, "name");
        const auto found = positions_.find(name);
        if (found == positions_.end()) refuse_other(fmt::format("the fit has no variable {}", detail::shown(name)));
        CheckedVariable& checked = result.variables[found->second];
        // Printed so that they are read back as they were; a little is left for other programs' printing.
        const double mean = number(entry, "mean_lrvb");
        const bool has_mean = posterior_.variables[found->second].moments != TailMoments::none;
        if (has_mean && !(std::abs(mean - checked.mean_lrvb) <= 1e-9 * std::abs(checked.mean_lrvb))) {
            refuse_other(
                fmt::format("its mean of {} is {}, but {} in the fit", detail::shown(name), mean, checked.mean_lrvb));
        }
        if (!checked.verdict.empty()) refuse(fmt::format("it has {} twice", detail::shown(name)));
        checked.mean_exact = number(entry, "mean_exact");
        checked.sd_exact = number(entry, "sd_exact");
        if (checked.sd_exact < 0.0) refuse(fmt::format("the sd of {} is negative", detail::shown(name)));
        checked.verdict = text(entry, "verdict");
        if (checked.verdict.empty()) refuse(fmt::format("{} has no verdict", detail::shown(name)));
    }

    const Document& file_;
    const Posterior& posterior_;
    std::string name_;
    mutable std::unordered_map<std::string, std::size_t> positions_;
};

}  // namespace

TailMoments CheckedVariable::moments() const {
    // What is reported without a mean has none.
    if (std::isnan(mean_lrvb)) return TailMoments::none;
    return verdict == kNoMean ? TailMoments::none : verdict == kNoSd ? TailMoments::mean : TailMoments::mean_and_sd;
}

double CheckedVariable::shown_mean_exact() const {
    return moments() == TailMoments::none ? std::numeric_limits<double>::quiet_NaN() : mean_exact;
}

double CheckedVariable::shown_sd_exact() const {
    return moments() == TailMoments::mean_and_sd ? sd_exact : std::numeric_limits<double>::quiet_NaN();
}

double CheckedVariable::shown_shift() const {
    return moments() == TailMoments::mean_and_sd ? shift : std::numeric_limits<double>::quiet_NaN();
}

double CheckedVariable::shown_ratio() const {
    return moments() == TailMoments::mean_and_sd ? ratio : std::numeric_limits<double>::quiet_NaN();
}

std::string CheckedVariable::verdict_text() const {
    if (moments() == TailMoments::mean_and_sd || !std::isfinite(median_exact)) return verdict;
    return fmt::format("{} (median {:.3g}, 90% interval {:.3g} to {:.3g})", verdict, median_exact, lower_exact,
                       upper_exact);
}

std::string_view to_string(CheckMethod method) {
    switch (method) {
        case CheckMethod::importance:
            return "importance";
        case CheckMethod::integration:
            return "integration";
        case CheckMethod::nuts:
            return "nuts";
        case CheckMethod::metropolis:
            break;
    }
    return "mh";
}

std::optional<CheckMethod> check_method(std::string_view word) {
    const auto* found =
        std::find_if(kMethods.begin(), kMethods.end(), [&](CheckMethod m) { return to_string(m) == word; });
    return found == kMethods.end() ? std::nullopt : std::optional(*found);
}

std::string_view to_string(CheckVerdict verdict) {
    switch (verdict) {
        case CheckVerdict::ok:
            return "ok";
        case CheckVerdict::off:
            return "off";
        case CheckVerdict::doubtful:
            return "doubtful";
        case CheckVerdict::unchecked:
            break;
    }
    return "unchecked";
}

std::optional<CheckVerdict> check_verdict(std::string_view word) {
    const auto* found =
        std::find_if(kVerdicts.begin(), kVerdicts.end(), [&](CheckVerdict v) { return to_string(v) == word; });
    return found == kVerdicts.end() ? std::nullopt : std::optional(*found);
}

Document CheckResult::document(const std::vector<Index>& chosen) const {
    Document json;
    Document list = Document::list();
    for (const Index at : chosen) {
        const CheckedVariable& variable = variables[static_cast<std::size_t>(at)];
        Document entry;
        entry["name"] = variable.name;
        entry["mean_lrvb"] = variable.mean_lrvb;
        entry["sd_lrvb"] = variable.sd_lrvb;
        entry["mean_exact"] = variable.shown_mean_exact();
        entry["sd_exact"] = variable.shown_sd_exact();
        entry["shift"] = variable.shown_shift();
        entry["shift_se"] = variable.shift_se;
        entry["ratio"] = variable.shown_ratio();
        entry["ratio_se"] = variable.ratio_se;
        entry["verdict"] = variable.verdict;
        if (variable.moments() != TailMoments::mean_and_sd) {
            entry["median_exact"] = variable.median_exact;
            entry["q5_exact"] = variable.lower_exact;
            entry["q95_exact"] = variable.upper_exact;
        }
        list.push_back(std::move(entry));
    }
    json["variables"] = std::move(list);
    json["method"] = to_string(method);
    json["k_hat"] = k_hat;
    json["r_hat"] = r_hat;
    json["acceptance"] = acceptance;
    json["ess"] = ess;
    json["draws"] = draws;
    json["seed"] = seed;
    json["verdict"] = to_string(verdict);
    json["message"] = message;
    json["trust"] = trust;
    return json;
}

CheckResult read_check_result(const Document& document, const Posterior& posterior, const std::string& name) {
    return Reader(document, posterior, name).read();
}

}  // namespace lrvb
