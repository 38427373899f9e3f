#include "says.hpp"

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

/// What a sentence must name, and the place of the mark.
struct ExpectedRefusal {
    std::vector<std::string> words;
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
    const std::vector<std::pair<std::string, ExpectedRefusal>> cases = {
        {"", {{"'beta[Days] ~ normal(0, 2)'", "'sigma ~ half_normal(30)'"}, 0}},
        {"beta", {{"'beta ~ normal(0, 2)'", "~"}, 4}},
        {"beta ~", {{"'beta ~ normal(0, 2)'", "~"}, 6}},
        {"beta ~ normal", {{"normal(0, 2)", "numbers"}, 13}},
        {"beta ~ normal(0, 1", {{"text", "early"}, 18}},
        {"beta ~ normal(0,)", {{"missing", "number"}, 16}},
        {"beta ~ normal(0, x)", {{"missing", "number"}, 17}},
        {"beta ~ normal(0, 1) 2", {{"'2'", "operator", "missing"}, 20}},
        {"beta[] ~ normal(0, 1)", {{"empty", "leave"}, 4}},
        {"beta[x ~ normal(0, 1)", {{"~", "bracket"}, 21}},
        {"beta ~ cauchy(1)",
         {{"'cauchy'", "normal(mean, sd)", "half_t(df, scale)", "half_cauchy(scale)", "half_normal(scale)",
           "exponential(rate)", "uniform(lower, upper)", "gamma(shape, rate)", "huang_wand(df)", "lkj(eta)", "shape",
           "mean", "lower", "scale"},
          7}},
        {"beta ~ normal(1)", {{"normal(mean, sd)", "2", "1", "mean", "sd", "numbers"}, 7}},
        {"sd ~ half_cauchy(1, 2)", {{"half_cauchy(scale)", "2", "scale"}, 20}},
        {"sd ~ half_t()", {{"half_t(df, scale)", "2", "numbers", "scale"}, 5}},
        {"beta ~ normal(0, -1)", {{"normal(mean, sd)", "-1", "mean", "sd"}, 17}},
        {"sd ~ exponential(0)", {{"exponential(rate)", "0", "rate"}, 17}},
        {"sd ~ uniform(-1, 2)", {{"-1", "lower"}, 13}},
        {"sd ~ uniform(3, 2)", {{"2", "3", "upper"}, 16}},
        {"beta ~ normal(1e999, 1)", {{"'1e999'", "computer", "number"}, 14}},
    };
    for (const auto& [text, expected] : cases) {
        const Refusal refusal = refusal_of([&] { PriorSentence::parse(text); });
        EXPECT_TRUE(test::says(refusal.sentence, expected.words)) << text;
        EXPECT_EQ(refusal.place, expected.place) << text;
    }
}

TEST(PriorSentence, IsRefusedWhereItIsAboutNothing) {
    EXPECT_TRUE(test::says(refusal_of([] { matches("nu ~ gamma(2, 0.1)"); }).sentence, {"'nu'", "give"}));
    EXPECT_TRUE(
        test::says(refusal_of([] { matches("sd[Item,Days] ~ half_t(3, 1)"); }).sentence,
                   {"'sd[Item,Days]'", "sd[Subject,intercept]", "sd[Subject,Days]", "sd[Item,intercept]", "give"}));
    EXPECT_TRUE(
        test::says(refusal_of([] { matches("intercept[x] ~ normal(0, 1)"); }).sentence, {"'intercept[x]'", "give"}));
    const PriorSentence sentence = PriorSentence::parse("beta ~ gamma(1, 2)");
    const Refusal refusal = refusal_of([&] { sentence.require_distribution({"normal"}, "a coefficient"); });
    EXPECT_TRUE(test::says(refusal.sentence, {"normal(mean, sd)", "gamma", "take"}));
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
    EXPECT_TRUE(
        test::says(refusal_of([&] {
                       sentences_of_targets(parse({"sigma ~ half_normal(1)", "sigma ~ half_cauchy(1)"}), kTargets);
                   }).sentence,
                   {"'sigma'", "'sigma ~ half_normal(1)'", "give"}));
}

}  // namespace
}  // namespace lrvb
