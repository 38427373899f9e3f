#include <lrvb/bugs/words.hpp>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace lrvb::bugs {

namespace {

constexpr bool kDiscrete = true;
constexpr bool kMultivariate = true;
constexpr std::size_t kMany = FunctionWord::many;
constexpr bool kElementwise = true;

template <class Word>
std::unordered_map<std::string_view, const Word*> by_name(const std::vector<Word>& words) {
    std::unordered_map<std::string_view, const Word*> result;
    for (const Word& word : words) {
        result.emplace(word.name, &word);
        for (const std::string_view alias : word.aliases) result.emplace(alias, &word);
    }
    return result;
}

}  // namespace

const std::vector<DistributionWord>& distribution_words() {
    static const std::vector<DistributionWord> words{
        {"dbern", {"probability"}, kDiscrete, false, {}},
        {"dbeta", {"a", "b"}, false, false, {}},
        {"dbetabin", {"a", "b", "size"}, kDiscrete, false, {"dbetabinom"}},
        {"dbin", {"probability", "size"}, kDiscrete, false, {"dbinom"}},
        {"dcat", {"probabilities"}, kDiscrete, false, {}, "v"},
        {"dchisqr", {"degrees of freedom"}, false, false, {"dchisq"}},
        {"ddexp", {"mean", "rate"}, false, false, {}},
        {"ddirch", {"weights"}, false, kMultivariate, {"ddirich"}, "v"},
        {"dexp", {"rate"}, false, false, {}},
        {"df", {"first degrees of freedom", "second degrees of freedom"}, false, false, {}},
        {"dflat", {}, false, false, {}},
        {"dgamma", {"shape", "rate"}, false, false, {}},
        {"dgen.gamma", {"shape", "rate", "power"}, false, false, {"dggamma"}},
        {"dhyper", {"marked", "others", "drawn", "odds ratio"}, kDiscrete, false, {}},
        {"dinterval", {"value", "cut points"}, kDiscrete, false, {}, "nv"},
        {"dlnorm", {"mean of the log", "precision of the log"}, false, false, {}},
        {"dlogis", {"mean", "rate"}, false, false, {}},
        {"dmnorm", {"mean", "precision"}, false, kMultivariate, {}, "vm"},
        {"dmnorm.vcov", {"mean", "covariance"}, false, kMultivariate, {}, "vm"},
        {"dmt", {"mean", "precision", "degrees of freedom"}, false, kMultivariate, {}, "vmn"},
        {"dmulti", {"probabilities", "size"}, kDiscrete, kMultivariate, {"dmultinom"}, "vn"},
        {"dnchisqr", {"degrees of freedom", "noncentrality"}, false, false, {"dnchisq"}},
        {"dnegbin", {"probability", "size"}, kDiscrete, false, {"dnbinom"}},
        {"dnorm", {"mean", "precision"}, false, false, {}},
        {"dnormmix", {"means", "precisions", "probabilities"}, false, false, {}, "vvv"},
        {"dnt", {"mean", "precision", "degrees of freedom"}, false, false, {}},
        {"dpar", {"shape", "least value"}, false, false, {"dpareto"}},
        {"dpois", {"mean"}, kDiscrete, false, {}},
        {"dscaled.gamma", {"scale", "degrees of freedom"}, false, false, {}},
        {"dscaled.wishart", {"scales", "degrees of freedom"}, false, kMultivariate, {}, "vn"},
        {"dsum", {"first", "second"}, false, false, {}, "aa"},
        {"dt", {"mean", "precision", "degrees of freedom"}, false, false, {}},
        {"dunif", {"lower", "upper"}, false, false, {}},
        {"dweib", {"shape", "rate"}, false, false, {"dweibull"}},
        {"dwish", {"scale matrix", "degrees of freedom"}, false, kMultivariate, {}, "mn"},
    };
    return words;
}

const std::vector<FunctionWord>& function_words() {
    static const std::vector<FunctionWord> words{
        {"+", 2, 2, kElementwise, {}},
        {"-", 1, 2, kElementwise, {}},
        {"*", 2, 2, kElementwise, {}},
        {"/", 2, 2, kElementwise, {}},
        {"^", 2, 2, kElementwise, {"pow"}},
        {"%*%", 2, 2, false, {}},
        {"%%", 2, 2, kElementwise, {}},
        {"%/%", 2, 2, kElementwise, {}},
        {">", 2, 2, kElementwise, {}},
        {">=", 2, 2, kElementwise, {}},
        {"<", 2, 2, kElementwise, {}},
        {"<=", 2, 2, kElementwise, {}},
        {"==", 2, 2, kElementwise, {"equals"}},
        {"!=", 2, 2, kElementwise, {}},
        {"!", 1, 1, kElementwise, {}},
        {"&&", 2, 2, kElementwise, {}},
        {"||", 2, 2, kElementwise, {}},
        {"abs", 1, 1, kElementwise, {}},
        {"acos", 1, 1, kElementwise, {"arccos"}},
        {"acosh", 1, 1, kElementwise, {"arccosh"}},
        {"asin", 1, 1, kElementwise, {"arcsin"}},
        {"asinh", 1, 1, kElementwise, {"arcsinh"}},
        {"atan", 1, 1, kElementwise, {"arctan"}},
        {"atanh", 1, 1, kElementwise, {"arctanh"}},
        {"c", 1, kMany, false, {}},
        {"cloglog", 1, 1, kElementwise, {}},
        {"cos", 1, 1, kElementwise, {}},
        {"cosh", 1, 1, kElementwise, {}},
        {"dim", 1, 1, false, {}},
        {"exp", 1, 1, kElementwise, {}},
        {"icloglog", 1, 1, kElementwise, {"cexpexp"}},
        {"ifelse", 3, 3, kElementwise, {}},
        {"ilogit", 1, 1, kElementwise, {"expit"}},
        {"inprod", 2, 2, false, {}},
        {"interp.lin", 3, 3, false, {}},
        {"inverse", 1, 1, false, {"inv"}},
        {"length", 1, 1, false, {}},
        {"log", 1, 1, kElementwise, {}},
        {"logdet", 1, 1, false, {}},
        {"logfact", 1, 1, kElementwise, {}},
        {"loggam", 1, 1, kElementwise, {"lgamma"}},
        {"logit", 1, 1, kElementwise, {}},
        {"max", 1, kMany, false, {}},
        {"mean", 1, 1, false, {}},
        {"min", 1, kMany, false, {}},
        {"order", 1, 1, false, {}},
        {"phi", 1, 1, kElementwise, {}},
        {"probit", 1, 1, kElementwise, {}},
        {"prod", 1, 1, false, {}},
        {"rank", 1, 1, false, {}},
        {"rep", 2, 2, false, {}},
        {"round", 1, 1, kElementwise, {}},
        {"sd", 1, 1, false, {}},
        {"sin", 1, 1, kElementwise, {}},
        {"sinh", 1, 1, kElementwise, {}},
        {"sort", 1, 1, false, {}},
        {"sqrt", 1, 1, kElementwise, {}},
        {"step", 1, 1, kElementwise, {}},
        {"sum", 1, kMany, false, {}},
        {"t", 1, 1, false, {}},
        {"tan", 1, 1, kElementwise, {}},
        {"tanh", 1, 1, kElementwise, {}},
        {"trunc", 1, 1, kElementwise, {}},
        {"var", 1, 1, false, {}},
    };
    return words;
}

const DistributionWord* find_distribution(std::string_view name) {
    static const auto known = by_name(distribution_words());
    const auto found = known.find(name);
    return found == known.end() ? nullptr : found->second;
}

const FunctionWord* find_function(std::string_view name) {
    static const auto known = by_name(function_words());
    const auto found = known.find(name);
    return found == known.end() ? nullptr : found->second;
}

bool is_link(std::string_view name) {
    constexpr std::array<std::string_view, 4> links{"log", "logit", "probit", "cloglog"};
    return std::find(links.begin(), links.end(), name) != links.end();
}

}  // namespace lrvb::bugs
