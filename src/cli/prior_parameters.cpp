#include "cli/prior_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace lrvb::cli
