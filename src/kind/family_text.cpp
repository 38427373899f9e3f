#include "kind/soundness.hpp"

#include <lrvb/family/any_family.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace lrvb::detail {

namespace {

constexpr std::array<std::pair<ScalePrior::Kind, std::string_view>, 4> kScaleWords{
    {{ScalePrior::Kind::half_t, "half_t"},
     {ScalePrior::Kind::half_normal, "half_normal"},
     {ScalePrior::Kind::exponential, "exponential"},
     {ScalePrior::Kind::uniform, "uniform"}}};
constexpr std::array<std::pair<family::Scale::Of, std::string_view>, 3> kScaleOf{
    {{family::Scale::Of::sd, "sd"}, {family::Scale::Of::variance, "variance"}, {family::Scale::Of::value, "value"}}};

template <class Key, std::size_t N>
std::string_view word_for(const std::array<std::pair<Key, std::string_view>, N>& words, Key key) {
    for (const auto& [own, word] : words) {
        if (own == key) return word;
    }
    return {};
}

template <class Key, std::size_t N>
std::optional<Key> key_for(const std::array<std::pair<Key, std::string_view>, N>& words, std::string_view word) {
    for (const auto& [key, own] : words) {
        if (own == word) return key;
    }
    return std::nullopt;
}

std::optional<double> number_in(std::string_view word) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
}

std::optional<AnyFamily> family_with_numbers(const std::string& text) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        words.push_back(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
    }
    try {
        if (words.size() == 5 && words[0] == family::Scale::name) {
            const auto kind = key_for(kScaleWords, words[1]);
            const auto first = number_in(words[2]);
            const auto second = number_in(words[3]);
            const auto of = key_for(kScaleOf, words[4]);
            if (kind && first && second && of) return family::Scale({*kind, *first, *second}, *of);
        }
        if (words.size() == 3 && words[0] == family::TruncatedNormal::name) {
            const auto lower = number_in(words[1]);
            const auto upper = number_in(words[2]);
            if (lower && upper) return family::TruncatedNormal(*lower, *upper);
        }
    } catch (const std::invalid_argument&) {  // numbers that make no sense
    }
    return std::nullopt;
}

}  // namespace

std::string family_text(const AnyFamily& family) {
    if (const auto* scale = std::get_if<family::Scale>(&family)) {
        return fmt::format("{} {} {} {} {}", scale->name, word_for(kScaleWords, scale->prior().kind),
                           scale->prior().first, scale->prior().second, word_for(kScaleOf, scale->of()));
    }
    if (const auto* normal = std::get_if<family::TruncatedNormal>(&family)) {
        return fmt::format("{} {} {}", normal->name, normal->lower(), normal->upper());
    }
    return std::string(std::visit([](const auto& own) { return own.name; }, family));
}

std::optional<AnyFamily> family_of(const std::string& name, Index size) {
    if (name.starts_with(family::Scale::name) || name.starts_with(family::TruncatedNormal::name)) {
        return size == 2 ? family_with_numbers(name) : std::nullopt;
    }
    std::optional<AnyFamily> found;
    const auto try_family = [&](const AnyFamily& family) {
        std::visit(
            [&](const auto& own) {
                if (own.name == name && own.size() == size) found = family;
            },
            family);
    };
    for (const AnyFamily& family : std::initializer_list<AnyFamily>{family::Normal{}, family::Gamma{}, family::Beta{},
                                                                    family::Bernoulli{}, family::Point{}}) {
        try_family(family);
    }
    if (size >= 2) {
        try_family(family::Dirichlet(size));
        try_family(family::Categorical(size));
    }
    for (Index dimension = 1; !found && dimension + dimension * (dimension + 1) / 2 <= size + dimension; ++dimension) {
        try_family(family::MvNormal(dimension));
        try_family(family::Wishart(dimension));
    }
    return found;
}

}  // namespace lrvb::detail
