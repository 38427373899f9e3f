#include <lrvb/model/layout.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb {

namespace {

std::vector<std::string> statistic_names(const VariableInfo& variable) {
    return std::visit([&](const auto& family) { return family.statistic_names(variable.name); }, variable.family);
}

// "mu, mu^2, tau, …": enough of them to see how names are formed.
std::string some_names(const Layout& layout, bool statistics) {
    constexpr std::size_t kShown = 12;
    std::vector<std::string> names;
    for (const VariableInfo& variable : layout) {
        const std::vector<std::string> own = statistics ? statistic_names(variable) : std::vector{variable.name};
        names.insert(names.end(), own.begin(), own.end());
        if (names.size() > kShown) break;
    }
    const bool all = names.size() <= kShown;
    if (!all) names.resize(kShown);
    return fmt::format("{}{}", fmt::join(names, ", "), all ? "" : ", …");
}

}  // namespace

Index Layout::add(const std::string& name, const AnyFamily& family) {
    if (name.empty()) throw std::invalid_argument("a variable's name is empty; give it one");
    const Index index = variable_count();
    if (!by_name_.emplace(name, index).second) {
        throw std::invalid_argument(fmt::format("variable '{}' is declared twice; names must differ", name));
    }
    const Index size = std::visit([](const auto& f) { return f.size(); }, family);
    variables_.push_back({name, family, size_, size});
    size_ += size;
    return index;
}

Index Layout::variable(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        throw std::invalid_argument(
            fmt::format("there is no variable '{}'; the model has {}", name, some_names(*this, false)));
    }
    return found->second;
}

Index Layout::statistic(const std::string& name) const {
    return statistics({name}).front();
}

std::vector<Index> Layout::statistics(const std::vector<std::string>& names) const {
    constexpr Index kNowhere = -1;
    std::unordered_map<std::string, Index> positions;
    for (const std::string& name : names) positions.emplace(name, kNowhere);
    for (const VariableInfo& variable : variables_) {
        const std::vector<std::string> own = lrvb::statistic_names(variable);
        for (std::size_t s = 0; s < own.size(); ++s) {
            const auto asked = positions.find(own[s]);
            if (asked == positions.end()) continue;
            if (asked->second != kNowhere) {
                throw std::invalid_argument(fmt::format(
                    "'{}' is a statistic of variable '{}' and of variable '{}'; ask for it by the variable's handle",
                    own[s], (*this)[variable_of(asked->second)].name, variable.name));
            }
            asked->second = variable.offset + static_cast<Index>(s);
        }
    }
    std::vector<Index> result;
    for (const std::string& name : names) {
        if (positions.at(name) == kNowhere) {
            throw std::invalid_argument(
                fmt::format("there is no statistic '{}'; the model has {}", name, some_names(*this, true)));
        }
        result.push_back(positions.at(name));
    }
    return result;
}

Index Layout::variable_of(Index statistic) const {
    const auto after = std::upper_bound(variables_.begin(), variables_.end(), statistic,
                                        [](Index value, const VariableInfo& info) { return value < info.offset; });
    return (after - variables_.begin()) - 1;
}

std::vector<std::string> Layout::statistic_names() const {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(size_));
    for (const VariableInfo& variable : variables_) {
        for (std::string& name : lrvb::statistic_names(variable)) names.push_back(std::move(name));
    }
    return names;
}

std::string Layout::statistic_name(Index statistic) const {
    const VariableInfo& variable = (*this)[variable_of(statistic)];
    return lrvb::statistic_names(variable)[static_cast<std::size_t>(statistic - variable.offset)];
}

}  // namespace lrvb
