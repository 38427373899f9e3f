#include "base/messages.hpp"
#include "formula/syntax.hpp"

#include <lrvb/formula/prior.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lrvb {

namespace {

using detail::PriorSyntax;

struct KnownDistribution {
    std::string_view name;
    std::vector<std::string_view> arguments;
    std::vector<bool> is_positive;
};

const std::vector<KnownDistribution>& known_distributions() {
    static const std::vector<KnownDistribution> known = {
        {"normal", {"mean", "sd"}, {false, true}},
        {"half_t", {"df", "scale"}, {true, true}},
        {"half_cauchy", {"scale"}, {true}},
        {"half_normal", {"scale"}, {true}},
        {"exponential", {"rate"}, {true}},
        {"uniform", {"lower", "upper"}, {false, false}},
        {"gamma", {"shape", "rate"}, {true, true}},
        {"huang_wand", {"df"}, {true}},
        {"lkj", {"eta"}, {true}},
    };
    return known;
}

std::string written_form(const KnownDistribution& distribution) {
    return fmt::format("{}({})", distribution.name, fmt::join(distribution.arguments, ", "));
}

/// Without the spaces around its commas.
std::string without_spaces(const std::string& indices) {
    std::string result;
    for (const char c : indices) {
        const bool is_space = c == ' ' || c == '\t';
        if (is_space && (result.empty() || result.back() == ',')) continue;
        if (c == ',') {
            while (!result.empty() && (result.back() == ' ' || result.back() == '\t')) result.pop_back();
        }
        result += c;
    }
    while (!result.empty() && (result.back() == ' ' || result.back() == '\t')) result.pop_back();
    return result;
}

const KnownDistribution& distribution_of(const PriorSyntax& syntax, const std::string& text) {
    std::vector<std::string> forms;
    for (const KnownDistribution& known : known_distributions()) {
        if (known.name == syntax.distribution) return known;
        forms.push_back(written_form(known));
    }
    throw FormulaError(fmt::format("there is no distribution {}: there are {}", detail::shown(syntax.distribution),
                                   detail::enumerated(forms)),
                       text, syntax.distribution_place);
}

void require_numbers(const PriorSyntax& syntax, const KnownDistribution& known, const std::string& text) {
    const std::size_t count = known.arguments.size();
    if (syntax.numbers.size() != count) {
        const bool has_more = syntax.numbers.size() > count;
        throw FormulaError(fmt::format("{} has {}, but {} here", written_form(known),
                                       count == 1 ? "one number" : fmt::format("{} numbers", count),
                                       syntax.numbers.empty() ? "none" : fmt::format("{}", syntax.numbers.size())),
                           text, has_more ? syntax.number_places[count] : syntax.distribution_place);
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (!known.is_positive[i] || syntax.numbers[i] > 0.0) continue;
        throw FormulaError(fmt::format("the {} of {} is {}, but must be positive", known.arguments[i],
                                       written_form(known), syntax.numbers[i]),
                           text, syntax.number_places[i]);
    }
    if (known.name != "uniform") return;
    if (syntax.numbers[0] < 0.0) {
        throw FormulaError(fmt::format("the lower end is {}, but must be zero or more", syntax.numbers[0]), text,
                           syntax.number_places[0]);
    }
    if (!(syntax.numbers[0] < syntax.numbers[1])) {
        throw FormulaError(
            fmt::format("the upper end is {}, but must be above {}", syntax.numbers[1], syntax.numbers[0]), text,
            syntax.number_places[1]);
    }
}

/// The first indices of a target as a sentence has them.
std::string joined_indices(const PriorTarget& target, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) result += ',';
        result += target.indices[i];
    }
    return result;
}

/// How many indices of a target a sentence names, if it is about that; −1 otherwise.
int named_indices(const PriorSentence& sentence, const PriorTarget& target) {
    if (sentence.target != target.group) return -1;
    if (sentence.indices.empty()) return 0;
    const std::string wanted = without_spaces(sentence.indices);
    for (std::size_t count = target.indices.size(); count > 0; --count) {
        const std::string joined = joined_indices(target, count);
        if (joined == sentence.indices || without_spaces(joined) == wanted) return static_cast<int>(count);
    }
    return -1;
}

[[noreturn]] void refuse_target(const PriorSentence& sentence, const std::vector<PriorTarget>& targets) {
    std::vector<std::string> groups;
    std::vector<std::string> names;
    for (const PriorTarget& target : targets) {
        if (std::find(groups.begin(), groups.end(), target.group) == groups.end()) groups.push_back(target.group);
        if (target.group == sentence.target) names.push_back(detail::printable(target.name()));
    }
    const std::string name = PriorTarget{sentence.target, {sentence.indices}}.name();
    if (names.empty()) {
        throw FormulaError(groups.empty() ? std::string("there is nothing to give a prior to")
                                          : fmt::format("there is no {} to give a prior to: there are {}",
                                                        detail::shown(sentence.target), detail::enumerated(groups)),
                           sentence.text, sentence.target_place);
    }
    throw FormulaError(
        fmt::format("there is no {} to give a prior to: there are {}", detail::shown(name), detail::enumerated(names)),
        sentence.text, sentence.target_place);
}

}  // namespace

PriorSentence PriorSentence::parse(std::string text) {
    const PriorSyntax syntax = detail::parse_prior(text);
    if (syntax.has_indices && syntax.indices.empty()) {
        throw FormulaError("the brackets are empty: leave them out, or name what the prior is of", text,
                           syntax.target_place + syntax.target.size());
    }
    require_numbers(syntax, distribution_of(syntax, text), text);
    PriorSentence result;
    result.text = std::move(text);
    result.target = syntax.target;
    result.indices = syntax.indices;
    result.distribution = syntax.distribution;
    result.numbers = syntax.numbers;
    result.target_place = syntax.target_place;
    result.distribution_place = syntax.distribution_place;
    return result;
}

void PriorSentence::require_distribution(const std::vector<std::string>& allowed, std::string_view of_what) const {
    if (std::find(allowed.begin(), allowed.end(), distribution) != allowed.end()) return;
    std::vector<std::string> forms;
    for (const KnownDistribution& known : known_distributions()) {
        if (std::find(allowed.begin(), allowed.end(), known.name) != allowed.end())
            forms.push_back(written_form(known));
    }
    throw FormulaError(fmt::format("{} is no prior of {}: take {}", distribution, of_what, fmt::join(forms, " or ")),
                       text, distribution_place);
}

std::string PriorSentence::written() const {
    return fmt::format("{} ~ {}({})",
                       PriorTarget{target, indices.empty() ? std::vector<std::string>() : std::vector{indices}}.name(),
                       distribution, fmt::join(numbers, ", "));
}

std::string PriorTarget::name() const {
    std::string inner = joined_indices(*this, indices.size());
    return inner.empty() ? group : fmt::format("{}[{}]", group, inner);
}

std::vector<std::size_t> matching_targets(const PriorSentence& sentence, const std::vector<PriorTarget>& targets) {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (named_indices(sentence, targets[i]) >= 0) result.push_back(i);
    }
    if (result.empty()) refuse_target(sentence, targets);
    return result;
}

std::vector<int> sentences_of_targets(const std::vector<PriorSentence>& sentences,
                                      const std::vector<PriorTarget>& targets) {
    std::vector<int> result(targets.size(), -1);
    std::vector<int> named(targets.size(), -1);
    for (std::size_t s = 0; s < sentences.size(); ++s) {
        for (const std::size_t i : matching_targets(sentences[s], targets)) {
            const int count = named_indices(sentences[s], targets[i]);
            if (count == named[i]) {
                throw FormulaError(
                    fmt::format("{} has two priors, this and {}: give it one", detail::shown(targets[i].name()),
                                detail::shown(sentences[static_cast<std::size_t>(result[i])].text)),
                    sentences[s].text, sentences[s].target_place);
            }
            if (count < named[i]) continue;
            named[i] = count;
            result[i] = static_cast<int>(s);
        }
    }
    return result;
}

}  // namespace lrvb
