#include "cli/check_file.hpp"

#include "base/files.hpp"
#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::cli {

namespace {

using Parsed = nlohmann::json;

class CheckReader {
  public:
    CheckReader(const std::string& path, const FitFile& fit) : fit_(fit) {
        detail::ByteStream stream(path);
        name_ = stream.name();
        file_ = Parsed::parse(detail::read_all(stream), nullptr, false);
        if (!file_.is_object()) refuse("it is no JSON object");
    }

    report::Comparison read() const {
        report::Comparison result;
        result.verdict = text(file_, "verdict");
        const std::vector<std::string> verdicts{"ok", "off", "doubtful", "unchecked"};
        if (std::find(verdicts.begin(), verdicts.end(), result.verdict) == verdicts.end()) {
            refuse("its verdict is none of a check");
        }
        result.message = text(file_, "message");
        result.method = text(file_, "method");
        if (result.method != "importance" && result.method != "mh") refuse("its method is none of a check");
        result.k_hat = number(file_, "k_hat");
        result.r_hat = number(file_, "r_hat");
        result.ess = number(file_, "ess");
        result.draws = static_cast<Index>(whole("draws"));
        result.seed = whole("seed");
        result.variables.resize(fit_.posterior.variables.size());
        const Parsed& list = at(file_, "variables");
        if (!list.is_array() || list.empty()) refuse("'variables' is no list of variables");
        for (const Parsed& entry : list) add_variable(entry, result);
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

    const Parsed& at(const Parsed& object, const std::string& key) const {
        if (!object.is_object() || !object.contains(key)) refuse(fmt::format("'{}' is missing", key));
        return object.at(key);
    }
    std::string text(const Parsed& object, const std::string& key) const {
        if (!at(object, key).is_string()) refuse(fmt::format("'{}' is no text", key));
        return object.at(key).get<std::string>();
    }
    // null stands for what is no number.
    double number(const Parsed& object, const std::string& key) const {
        const Parsed& value = at(object, key);
        if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
        if (!value.is_number()) refuse(fmt::format("'{}' is no number", key));
        return value.get<double>();
    }
    std::uint64_t whole(const std::string& key) const {
        if (!at(file_, key).is_number_unsigned()) refuse(fmt::format("'{}' is no whole number", key));
        return file_.at(key).get<std::uint64_t>();
    }

    void add_variable(const Parsed& entry, report::Comparison& result) const {
        const std::string name = text(entry, "name");
        const std::vector<PosteriorVariable>& known = fit_.posterior.variables;
        const auto found = std::find_if(known.begin(), known.end(),
                                        [&](const PosteriorVariable& variable) { return shown_as(variable, name); });
        if (found == known.end()) refuse_other(fmt::format("the fit has no variable {}", detail::shown(name)));
        // Printed so that they are read back as they were; a little is left for other programs' printing.
        const double mean = number(entry, "mean_lrvb");
        if (!(std::abs(mean - found->mean) <= 1e-9 * std::abs(found->mean))) {
            refuse_other(
                fmt::format("its mean of {} is {}, but {} in the fit", detail::shown(name), mean, found->mean));
        }
        const auto position = static_cast<std::size_t>(found - known.begin());
        if (result.variables[position]) refuse(fmt::format("it has {} twice", detail::shown(name)));
        if (number(entry, "sd_exact") < 0.0) refuse(fmt::format("the sd of {} is negative", detail::shown(name)));
        result.variables[position] = {number(entry, "mean_exact"), number(entry, "sd_exact"), text(entry, "verdict")};
    }

    // Names that are no UTF-8 were made so when they were printed.
    static bool shown_as(const PosteriorVariable& variable, const std::string& name) {
        return variable.name == name ||
               Parsed::parse(Parsed(variable.name).dump(-1, ' ', false, Parsed::error_handler_t::replace)) == name;
    }

    const FitFile& fit_;
    std::string name_;
    Parsed file_;
};

}  // namespace

std::optional<report::Comparison> recorded_check(const FitFile& fit) {
    if (!fit.check) return std::nullopt;
    report::Comparison result;
    result.verdict = fit.check->verdict;
    result.message = fit.check->message;
    result.method = "importance";
    result.k_hat = fit.check->k_hat;
    result.r_hat = std::numeric_limits<double>::quiet_NaN();
    result.ess = fit.check->ess;
    result.draws = fit.check->draws;
    result.seed = fit.check->seed;
    for (std::size_t v = 0; v < fit.check->verdicts.size(); ++v) {
        const auto at = static_cast<Index>(v);
        result.variables.push_back(
            report::Comparison::Variable{fit.check->mean[at], fit.check->sd[at], fit.check->verdicts[v]});
    }
    return result;
}

report::Comparison read_check(const std::string& path, const FitFile& fit) {
    return CheckReader(path, fit).read();
}

}  // namespace lrvb::cli
