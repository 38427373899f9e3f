#include "cli/prior_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace lrvb::cli {

namespace {

/// "variance[1,2]" as its base and what stands between the brackets.
std::pair<std::string, std::string> parts_of(const std::string& name) {
    const std::size_t open = name.find('[');
    if (open == std::string::npos) return {name, ""};
    return {name.substr(0, open), name.substr(open + 1, name.size() - open - 2)};
}

[[noreturn]] void unknown(const std::string& name) {
    throw std::logic_error(fmt::format("there is no prior parameter '{}'", name));
}

/// The places where a prior keeps a number: two for an entry off the diagonal of a matrix.
std::vector<double*> places(MixturePrior& prior, const std::string& name) {
    const auto [base, inside] = parts_of(name);
    Index p = 0;
    Index q = 0;
    if (!inside.empty()) {
        p = q = std::stol(inside) - 1;
        const std::size_t comma = inside.find(',');
        if (comma != std::string::npos) q = std::stol(inside.substr(comma + 1)) - 1;
    }
    const auto entries = [&](Matrix& matrix) {
        return p == q ? std::vector<double*>{&matrix(p, q)} : std::vector<double*>{&matrix(p, q), &matrix(q, p)};
    };
    if (base == "alpha") return {&prior.alpha};
    if (base == "mean") return {&prior.mean[p]};
    if (base == "variance") return entries(prior.variance);
    if (base == "shape") return {&prior.shape};
    if (base == "rate") return {&prior.rate[p]};
    if (base == "dof") return {&prior.dof};
    if (base == "inverse_scale") return entries(prior.inverse_scale);
    unknown(name);
}

double& place(RegressionPrior& prior, const std::string& name, const std::vector<std::string>& slopes) {
    const auto [base, inside] = parts_of(name);
    if (name == "intercept_mean") return prior.intercept_mean;
    if (name == "intercept_variance") return prior.intercept_variance;
    if (name == "shape") return prior.shape;
    if (name == "rate") return prior.rate;
    const auto found = std::find(slopes.begin(), slopes.end(), inside);
    if (found == slopes.end()) unknown(name);
    const Index j = found - slopes.begin();
    return base == "mean" ? prior.mean[j] : prior.variance[j];
}

}  // namespace

double prior_parameter(const MixturePrior& prior, const std::string& name) {
    MixturePrior copy = prior;
    return *places(copy, name).front();
}

void set_prior_parameter(MixturePrior& prior, const std::string& name, double value) {
    for (double* place : places(prior, name)) *place = value;
}

double prior_parameter(const RegressionPrior& prior, const std::string& name, const std::vector<std::string>& slopes) {
    RegressionPrior copy = prior;
    return place(copy, name, slopes);
}

void set_prior_parameter(RegressionPrior& prior, const std::string& name, const std::vector<std::string>& slopes,
                         double value) {
    place(prior, name, slopes) = value;
}

std::optional<double> prior_value_if(const FitFile& fit, const std::string& name) {
    const std::vector<std::string>& known = fit.posterior.hyperparameters;
    if (std::find(known.begin(), known.end(), name) == known.end()) return std::nullopt;
    if (const auto* mixture = std::get_if<MixtureRecord>(&fit.model)) return prior_parameter(mixture->prior, name);
    const auto& regression = std::get<RegressionRecord>(fit.model);
    return prior_parameter(regression.prior, name, design_names(regression.terms));
}

double prior_value(const FitFile& fit, const std::string& name) {
    const std::optional<double> value = prior_value_if(fit, name);
    if (!value) throw std::runtime_error(fmt::format("the fit has no prior parameter '{}': fit again", name));
    return *value;
}

Vector prior_values(const FitFile& fit) {
    Vector values(static_cast<Index>(fit.posterior.hyperparameters.size()));
    for (Index i = 0; i < values.size(); ++i) {
        values[i] = prior_value(fit, fit.posterior.hyperparameters[static_cast<std::size_t>(i)]);
    }
    return values;
}

double unit_of(const FitFile& fit, const std::string& name, double value) {
    const auto find = [&](const std::string& other) { return prior_value(fit, other); };
    const std::size_t open = name.find('[');
    const std::string base = name.substr(0, open);
    const std::string index = open == std::string::npos ? "" : name.substr(open);
    if (base == "intercept_mean") return std::sqrt(find("intercept_variance"));
    if (base == "mean") {
        if (const std::optional<double> variance = prior_value_if(fit, "variance" + index)) return std::sqrt(*variance);
        const std::string inside = index.substr(1, index.size() - 2);
        return std::sqrt(find(fmt::format("variance[{},{}]", inside, inside)));
    }
    const std::size_t comma = index.find(',');
    if (std::holds_alternative<MixtureRecord>(fit.model) && comma != std::string::npos) {
        const std::string p = index.substr(1, comma - 1);
        const std::string q = index.substr(comma + 1, index.size() - comma - 2);
        if (p != q)
            return std::sqrt(find(fmt::format("{}[{},{}]", base, p, p)) * find(fmt::format("{}[{},{}]", base, q, q)));
    }
    if (base == "dof") {
        const auto columns = static_cast<double>(std::get<MixtureRecord>(fit.model).centre.size());
        return value - (columns - 1.0);
    }
    return std::abs(value);
}

bool is_location(const std::string& name) {
    return name == "intercept_mean" || name.substr(0, name.find('[')) == "mean";
}

}  // namespace lrvb::cli
