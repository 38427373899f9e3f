#include "likelihood/registry.hpp"

#include "base/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace lrvb {

namespace {

struct Entry {
    std::string_view name;
    std::string_view link;  // the default
    detail::LikelihoodMaker make;
};

constexpr std::array kLikelihoods{
    Entry{"gaussian", "identity", detail::gaussian_likelihood},
    Entry{"student", "identity", detail::student_likelihood},
    Entry{"bernoulli", "logit", detail::bernoulli_likelihood},
    Entry{"binomial", "logit", detail::binomial_likelihood},
    Entry{"poisson", "log", detail::poisson_likelihood},
    Entry{"negative_binomial", "log", detail::negative_binomial_likelihood},
};

}  // namespace

const std::vector<std::string>& Likelihood::names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> result;
        for (const Entry& entry : kLikelihoods) result.emplace_back(entry.name);
        return result;
    }();
    return all;
}

std::shared_ptr<const Likelihood> Likelihood::named(std::string_view name, std::string_view link) {
    const auto* const found =
        std::find_if(kLikelihoods.begin(), kLikelihoods.end(), [&](const Entry& entry) { return entry.name == name; });
    if (found == kLikelihoods.end()) {
        throw std::invalid_argument(fmt::format("there is no family {}: choose {}", detail::shown(std::string(name)),
                                                detail::enumerated(names())));
    }
    const std::shared_ptr<const Likelihood> plain = found->make(found->link);
    if (link.empty() || link == plain->link().name) return plain;
    const std::vector<std::string_view>& links = plain->links();
    if (std::find(links.begin(), links.end(), link) == links.end()) {
        throw std::invalid_argument(
            fmt::format("the {} family has no link {}: choose {}", name, detail::shown(std::string(link)),
                        detail::enumerated(std::vector<std::string>(links.begin(), links.end()))));
    }
    return found->make(link);
}

}  // namespace lrvb
