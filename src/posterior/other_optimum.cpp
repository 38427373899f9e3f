#include <lrvb/posterior/other_optimum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lrvb {

namespace {

constexpr double kMore = 1.001;  // of two that differ as much the first is named

bool is_location(const PosteriorVariable& variable) {
    return variable.meaning.role == Role::location || variable.meaning.role == Role::coefficient;
}

// What differs most, in sds of the optimum where it is known worse; a location rather than anything else.
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
    const OtherOptimum::Value* location = nullptr;
    double largest = 0.0;
    double largest_of_locations = 1.0;  // sds: a location that differs less is not worth more than others
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const OtherOptimum::Value& there = other.variables[i];
        const double distance = std::abs(there.mean - rows[i].mean) / std::max(rows[i].sd, there.sd);
        if (distance > kMore * largest) {
            largest = distance;
            most = &there;
        }
        if (!is_location(posterior.variables[static_cast<std::size_t>(chosen[i])])) continue;
        if (distance > kMore * largest_of_locations) {
            largest_of_locations = distance;
            location = &there;
        }
    }
    return location != nullptr ? location : most;
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

Document other_optima_document(const std::vector<OtherOptimum>& others, const Posterior& posterior,
                               const std::vector<Index>& chosen) {
    Document list = Document::list();
    for (const OtherOptimum& other : others) {
        Document variables = Document::list();
        for (const Index at : chosen) {
            const OtherOptimum::Value* there = other.find(posterior.variables[static_cast<std::size_t>(at)].name);
            if (there == nullptr) continue;
            Document entry;
            entry["name"] = there->name;
            entry["mean"] = there->mean;
            entry["sd"] = there->sd;
            variables.push_back(std::move(entry));
        }
        Document json;
        json["bound"] = other.bound;
        json["share"] = other.share;
        json["variables"] = std::move(variables);
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace lrvb
