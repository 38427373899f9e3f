#include <lrvb/formula/prior.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Sentences of priors: what they say, what they are about, how they are refused.

namespace lrvb {
namespace {

using Places = std::vector<std::size_t>;

const std::vector<PriorTarget> kTargets = {{"intercept", {}},
                                           {"beta", {"Days"}},
                                           {"beta", {"poly(x,2)[1]"}},
                                           {"beta", {"a,b ~ c]"}},
                                           {"sd", {"Subject", "intercept"}},
                                           {"sd", {"Subject", "Days"}},
                                           {"sd", {"Item", "intercept"}},
                                           {"sigma", {}}};

Places matches(const std::string& text) {
    return matching_targets(PriorSentence::parse(text), kTargets);
}

struct Refusal {
    std::string sentence;
    std::size_t place = 0;
};

template <class Call>
Refusal refusal_of(Call call) {
    try {
        call();
    } catch (const FormulaError& error) {
        return {error.sentence(), error.place()};
    }
    return {"no exception"};
}

TEST(PriorSentence, IsReadIntoItsParts) {
    const PriorSentence sentence = PriorSentence::parse(" sd[ Subject, Days ]~half_t( 3 , 2.5e0 ) ");
    EXPECT_EQ(sentence.target, "sd");
    EXPECT_EQ(sentence.distribution, "half_t");
    EXPECT_EQ(sentence.numbers, (std::vector<double>{3.0, 2.5}));
    EXPECT_EQ(PriorSentence::parse("beta~normal(-1,+2)").numbers, (std::vector<double>{-1.0, 2.0}));
    EXPECT_EQ(PriorSentence::parse("tau[Subject,intercept] ~ gamma(0.5, 1e-3)").written(),
              "tau[Subject,intercept] ~ gamma(0.5, 0.001)");
    EXPECT_EQ(PriorSentence::parse("sigma ~ half_normal(30)").written(), "sigma ~ half_normal(30)");
}

TEST(PriorSentence, IsAboutTheNamesThatItHas) {
    EXPECT_EQ(matches("intercept ~ normal(250, 50)"), Places{0});
    EXPECT_EQ(matches("beta ~ normal(0, 10)"), (Places{1, 2, 3}));
    EXPECT_EQ(matches("beta[Days] ~ normal(0, 2)"), Places{1});
    EXPECT_EQ(matches("beta[poly(x,2)[1]] ~ normal(0, 2)"), Places{2});
    EXPECT_EQ(matches("beta[poly(x, 2)[1]] ~ normal(0, 2)"), Places{2});
    EXPECT_EQ(matches("beta[a,b ~ c]] ~ normal(0, 2)"), Places{3}) << "a name may hold anything";
    EXPECT_EQ(matches("sd ~ half_t(3, 2.5)"), (Places{4, 5, 6}));
    EXPECT_EQ(matches("sd[Subject] ~ exponential(1)"), (Places{4, 5}));
    EXPECT_EQ(matches("sd[Subject , Days] ~ half_cauchy(5)"), Places{5});
    EXPECT_EQ(matches("sigma ~ uniform(0, 100)"), Places{7});
}

TEST(PriorSentence, IsRefusedWithThePlace) {
    const std::vector<std::pair<std::string, Refusal>> cases = {
        {"", {"a prior begins with what it is of, as in 'beta[Days] ~ normal(0, 2)' or 'sigma ~ half_normal(30)'", 0}},
        {"beta", {"there is no ~ between what the prior is of and its distribution, as in 'beta ~ normal(0, 2)'", 4}},
        {"beta ~", {"a distribution follows the ~, as in 'beta ~ normal(0, 2)'", 6}},
        {"beta ~ normal", {"a distribution's numbers stand in parentheses, as in normal(0, 2)", 13}},
        {"beta ~ normal(0, 1", {"the text ends too early", 18}},
        {"beta ~ normal(0,)", {"a number is missing here", 16}},
        {"beta ~ normal(0, x)", {"a number is missing here", 17}},
        {"beta ~ normal(0, 1) 2", {"'2' is not understood here: an operator such as + may be missing before it", 20}},
        {"beta[] ~ normal(0, 1)", {"the brackets are empty: leave them out, or name what the prior is of", 4}},
        {"beta[x ~ normal(0, 1)", {"the bracket [ is not closed by ] before the ~", 21}},
        {"beta ~ cauchy(1)",
         {"there is no distribution 'cauchy': there are normal(mean, sd), half_t(df, scale), "
          "half_cauchy(scale), half_normal(scale), exponential(rate), uniform(lower, upper), "
          "gamma(shape, rate), huang_wand(df) and lkj(eta)",
          7}},
        {"beta ~ normal(1)", {"normal(mean, sd) has 2 numbers, but 1 here", 7}},
        {"sd ~ half_cauchy(1, 2)", {"half_cauchy(scale) has one number, but 2 here", 20}},
        {"sd ~ half_t()", {"half_t(df, scale) has 2 numbers, but none here", 5}},
        {"beta ~ normal(0, -1)", {"the sd of normal(mean, sd) is -1, but must be positive", 17}},
        {"sd ~ exponential(0)", {"the rate of exponential(rate) is 0, but must be positive", 17}},
        {"sd ~ uniform(-1, 2)", {"the lower end is -1, but must be zero or more", 13}},
        {"sd ~ uniform(3, 2)", {"the upper end is 2, but must be above 3", 16}},
        {"beta ~ normal(1e999, 1)", {"'1e999' is not a number that a computer has", 14}},
    };
    for (const auto& [text, expected] : cases) {
        const Refusal refusal = refusal_of([&] { PriorSentence::parse(text); });
        EXPECT_EQ(refusal.sentence, expected.sentence) << text;
        EXPECT_EQ(refusal.place, expected.place) << text;
    }
}

TEST(PriorSentence, IsRefusedWhereItIsAboutNothing) {
    EXPECT_EQ(refusal_of([] { matches("nu ~ gamma(2, 0.1)"); }).sentence,
              "there is no 'nu' to give a prior to: there are intercept, beta, sd and sigma");
    EXPECT_EQ(refusal_of([] { matches("sd[Item,Days] ~ half_t(3, 1)"); }).sentence,
              "there is no 'sd[Item,Days]' to give a prior to: there are sd[Subject,intercept], sd[Subject,Days] and "
              "sd[Item,intercept]");
    EXPECT_EQ(refusal_of([] { matches("intercept[x] ~ normal(0, 1)"); }).sentence,
              "there is no 'intercept[x]' to give a prior to: there are intercept");
    const PriorSentence sentence = PriorSentence::parse("beta ~ gamma(1, 2)");
    const Refusal refusal = refusal_of([&] { sentence.require_distribution({"normal"}, "a coefficient"); });
    EXPECT_EQ(refusal.sentence, "gamma is no prior of a coefficient: take normal(mean, sd)");
    EXPECT_EQ(refusal.place, 7U);
}

TEST(PriorSentence, CountsWhereItNamesTheMost) {
    const auto parse = [](const std::vector<std::string>& texts) {
        std::vector<PriorSentence> sentences;
        for (const std::string& text : texts) sentences.push_back(PriorSentence::parse(text));
        return sentences;
    };
    EXPECT_EQ(sentences_of_targets(
                  parse({"sd[Subject,Days] ~ half_cauchy(5)", "sd ~ half_t(3, 1)", "sd[Subject] ~ exponential(1)"}),
                  kTargets),
              (std::vector<int>{-1, -1, -1, -1, 2, 0, 1, -1}));
    EXPECT_EQ(refusal_of([&] {
                  sentences_of_targets(parse({"sigma ~ half_normal(1)", "sigma ~ half_cauchy(1)"}), kTargets);
              }).sentence,
              "'sigma' has two priors, this and 'sigma ~ half_normal(1)': give it one");
}

}  // namespace
}  // namespace lrvb
