#include <lrvb/likelihood/likelihood.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lrvb {

namespace {

double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

double logistic(double eta) {
    return 1.0 / (1.0 + std::exp(-eta));
}

constexpr double kLargestOfProbability = 1e8;
constexpr std::string_view kOfProbability =
    "beyond what can be told from a probability: take another unit, as in offset(x / 1e100)";

const std::array<Link, 5> kLinks{{
    {.name = "identity",
     .mean = [](double eta) { return eta; },
     .slope = [](double) { return 1.0; },
     .is_identity = true,
     .offset_fault = "beyond what can be squared: take another unit, as in offset(x / 1e100)"},
    {.name = "logit",
     .mean = logistic,
     .slope =
         [](double eta) {
             const double p = logistic(eta);
             return p * (1.0 - p);
         },
     .largest_offset = kLargestOfProbability,
     .offset_fault = kOfProbability},
    {.name = "probit",
     .mean = [](double eta) { return 0.5 * std::erfc(-eta / std::numbers::sqrt2); },
     .slope = normal_density,
     .largest_offset = kLargestOfProbability,
     .offset_fault = kOfProbability},
    {.name = "cloglog",
     .mean = [](double eta) { return -std::expm1(-std::exp(eta)); },
     .slope = [](double eta) { return std::exp(eta - std::exp(eta)); },
     .largest_offset = kLargestOfProbability,
     .offset_fault = kOfProbability},
    {.name = "log",
     .mean = [](double eta) { return std::exp(eta); },
     .slope = [](double eta) { return std::exp(eta); },
     .is_log = true,
     .largest_offset = 600.0,
     .largest_offset_spread = 200.0,
     .offset_fault = "but its exponential multiplies the mean count: write offset(log(exposure))"},
}};

}  // namespace

const Link& Link::named(std::string_view name) {
    for (const Link& link : kLinks) {
        if (link.name == name) return link;
    }
    throw std::invalid_argument(fmt::format("there is no link '{}'", name));
}

double LikelihoodParameter::value(double psi) const {
    return lower + std::exp(psi);
}

double LikelihoodParameter::psi(double value) const {
    return std::log(value - lower);
}

std::optional<std::string> Likelihood::suspicion(const std::vector<double>&, double) const {
    return std::nullopt;
}

OpenEnds Likelihood::open_ends(double, double) const {
    return {};
}

double Likelihood::intercept_guess(double) const {
    return 0.0;
}

RowWorking Likelihood::working(double rest, double mean_slope, double variance, const Vector&) const {
    return {mean_slope * rest / variance, mean_slope * mean_slope / variance};
}

}  // namespace lrvb
