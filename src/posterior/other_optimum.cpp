#include <lrvb/posterior/other_optimum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lrvb {

namespace {

bool is_location(const PosteriorVariable& variable) {
    return variable.meaning.role == Role::location || variable.meaning.role == Role::coefficient;
}

// The position, among the values of the other optimum, of what differs most; a location rather than anything else.
const OtherOptimum::Value* most_different(const Posterior& posterior, const OtherOptimum& other) {
    std::unordered_map<std::string, Index> positions;
    for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
        positions.try_emplace(posterior.variables[v].name, static_cast<Index>(v));
    }
    std::vector<Index> chosen;
    for (const OtherOptimum::Value& value : other.variables) {
        const auto found = positions.find(value.name);
        if (found != positions.end()) chosen.push_back(found->second);
    }
    if (chosen.size() != other.variables.size() || chosen.empty()) return nullptr;
    const std::vector<Posterior::Row> rows = posterior.summary(chosen, 0.9);
    const OtherOptimum::Value* most = nullptr;
    bool most_is_location = false;
    double largest = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double sd = std::isfinite(rows[i].sd) ? rows[i].sd : rows[i].mean_field_sd;
        const double distance = std::abs(other.variables[i].mean - rows[i].mean) / sd;
        const bool location = is_location(posterior.variables[static_cast<std::size_t>(chosen[i])]);
        // Locations come first where one of them differs by more than an sd.
        const bool counts = location && distance > 1.0;
        if (!std::isfinite(distance) || (most_is_location && !counts)) continue;
        if (distance <= largest && counts == most_is_location) continue;
        most = &other.variables[i];
        most_is_location = counts;
        largest = distance;
    }
    return most;
}

}  // namespace

const OtherOptimum::Value* OtherOptimum::find(const std::string& name) const {
    const auto found =
        std::find_if(variables.begin(), variables.end(), [&](const Value& value) { return value.name == name; });
    return found == variables.end() ? nullptr : &*found;
}

void set_shares(double bound, std::vector<OtherOptimum>& others) {
    double largest = bound;
    for (const OtherOptimum& other : others) largest = std::max(largest, other.bound);
    double sum = std::exp(bound - largest);
    for (const OtherOptimum& other : others) sum += std::exp(other.bound - largest);
    for (OtherOptimum& other : others) other.share = std::exp(other.bound - largest) / sum;
}

double own_share(const std::vector<OtherOptimum>& others) {
    double share = 1.0;
    for (const OtherOptimum& other : others) share -= other.share;
    return std::max(share, 0.0);
}

std::string share_text(double share) {
    return share < 0.01 ? "less than 1%" : fmt::format("{:.0f}%", 100.0 * share);
}

std::string other_optima_text(const Posterior& posterior, const std::vector<OtherOptimum>& others) {
    if (others.empty()) return {};
    const double share = 1.0 - own_share(others);
    const std::string about = share < 0.01 ? share_text(share) : "about " + share_text(share);
    std::string text = others.size() == 1
                           ? fmt::format("another optimum holds {} of the posterior", about)
                           : fmt::format("{} other optima hold {} of the posterior", others.size(), about);
    if (const OtherOptimum::Value* most = most_different(posterior, others.front())) {
        text +=
            fmt::format(": {} {:.4g} {}", most->name, most->mean, others.size() == 1 ? "there" : "in the best of them");
    }
    return text;
}

}  // namespace lrvb
