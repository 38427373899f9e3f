// Long chains, deep texts, many nodes and far numbers in models in BUGS, with the smallest of stacks.

#include "program.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class ModelLimits : public ProgramTest {
  protected:
    static std::string repeated(const std::string& text, int times) {
        std::string result;
        for (int i = 0; i < times; ++i) result += text;
        return result;
    }
    Result fit(const std::string& model, const std::string& data, const std::string& more = "") const {
        write("m.bug", model);
        write("d.json", data);
        return shell("ulimit -s 256; lrvb fit model m.bug d.json --check never -o fit.json " + more);
    }
    /// Mean and sd.
    std::pair<double, double> node(const std::string& name) const {
        const json all = lrvb("summary fit.json --format json --variables '" + name + "'").json();
        const json& one = all.at("variables").at(0);
        return {one.at("mean").get<double>(), one.at("sd").get<double>()};
    }
};

// y = x₁ + n − 1 + noise with x₁ ~ N(0, 1): the posterior of x₁ is N((y − n + 1)/2, 1/2).
TEST_F(ModelLimits, AChainOfDeterministicNodesIsFittedOrRefusedAtOnce) {
    for (const int length : {5000, 100000}) {
        const std::string n = std::to_string(length);
        const Result result =
            fit("model { x[1] ~ dnorm(0, 1) for (i in 2:" + n + ") { x[i] <- x[i-1] + 1 } y ~ dnorm(x[" + n + "], 1) }",
                "{\"y\": " + n + "}");
        ASSERT_EQ(result.code, 0) << result.err;
        EXPECT_NEAR(node("x[1]").first, 0.5, 1e-9);
        EXPECT_NEAR(node("x[1]").second, std::sqrt(0.5), 1e-9);
    }
    const std::string million = "for (i in 2:1000000) { x[i] <- x[i-1] + 1 }";
    const Result refused = fit("model { x[1] ~ dnorm(0, 1) " + million + " y ~ dnorm(x[1000000], 1) }", "{\"y\": 3}");
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("'x' is computed by a chain of 999999 nodes"), std::string::npos) << refused.err;
    // Of known numbers any length is computed.
    ASSERT_EQ(
        fit("model { x[1] <- 1 " + million + " m ~ dnorm(0, 1) y ~ dnorm(m + x[1000000], 1) }", "{\"y\": 1000001}")
            .code,
        0);
    EXPECT_NEAR(node("m").first, 0.5, 1e-9);
}

TEST_F(ModelLimits, ChainsThatGrowAreRefusedInASentence) {
    const auto chain = [&](const std::string& value) {
        return fit("model { x[1] ~ dnorm(0, 1) for (i in 2:5000) { e[i] ~ dnorm(0, 1) x[i] <- " + value +
                       " } y ~ dnorm(x[5000], 1) }",
                   "{\"y\": 3}");
    };
    for (const std::string value : {"exp(0.01 * x[i-1])", "x[i-1] * (1 - x[i-1])", "abs(x[i-1] - e[i])",
                                    "max(x[i-1], e[i])", "ifelse(x[i-1] > 0, x[i-1], e[i])"}) {
        const Result result = chain(value);
        EXPECT_EQ(result.code, 1) << value;
        EXPECT_NE(result.err.find("m.bug:1:"), std::string::npos) << result.err;
    }
}

// x_n = e_1 + … + e_n with y = x_n + noise: each e_i has the mean y / (n + 1) and the variance n / (n + 1).
TEST_F(ModelLimits, AWalkOfSumsIsFittedWithoutItsLongFunctionsOrRefused) {
    const auto walk = [&](int steps, const std::string& more = "") {
        const std::string n = std::to_string(steps);
        return fit("model { for (i in 1:" + n + ") { e[i] ~ dnorm(0, 1) } x[1] <- e[1] for (i in 2:" + n +
                       ") { x[i] <- x[i-1] + e[i] } y ~ dnorm(x[" + n + "], 1) }",
                   "{\"y\": 100}", more);
    };
    const Result result = walk(1200);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("x is not reported: its elements are sums of many nodes"), std::string::npos)
        << result.out;
    EXPECT_NEAR(node("e[7]").first, 100.0 / 1201.0, 1e-9);
    EXPECT_NEAR(node("e[7]").second, std::sqrt(1200.0 / 1201.0), 1e-9);
    // The functions alone would be 25 MB.
    EXPECT_LT(std::filesystem::file_size(work() / "fit.json"), std::uintmax_t{40'000'000});
    const Result refused = walk(19000);
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("the nodes of this chain are sums with more than"), std::string::npos) << refused.err;
}

TEST_F(ModelLimits, DeepTextsAreReadOrRefusedAtOnce) {
    const auto in = [&](const std::string& open, int times, const std::string& close) {
        return fit(
            "model { y ~ dnorm(" + repeated(open, times) + "a" + repeated(close, times) + ", 1) a ~ dnorm(0, 1) }",
            "{\"y\": 3}");
    };
    ASSERT_EQ(in("(", 49, ")").code, 0);
    EXPECT_NEAR(node("a").first, 1.5, 1e-9);
    ASSERT_EQ(in("-(", 48, ")").code, 0);
    EXPECT_NEAR(node("a").first, 1.5, 1e-9);
    for (const int times : {50, 51, 1000, 200000}) EXPECT_EQ(in("(", times, ")").code, 1) << times;
    EXPECT_EQ(in("((((exp(", 10, ")))))").code, 1);  // not conjugate
    ASSERT_EQ(in("1 + ", 900, "").code, 0);
    EXPECT_NEAR(node("a").first, (3.0 - 900.0) / 2.0, 1e-9);
    EXPECT_EQ(in("1 + ", 1100, "").code, 1);
    ASSERT_EQ(in("- ", 900, "").code, 0);
    EXPECT_NEAR(node("a").first, 1.5, 1e-9);
}

TEST_F(ModelLimits, DataThatNoRoundUsesAreSaid) {
    const std::string model = "model { for (i in 1:N) { y[i] ~ dnorm(m, 1) } m ~ dnorm(0, 1) }";
    const Result none = fit(model, "{\"N\": -3, \"y\": [1, 2]}");
    ASSERT_EQ(none.code, 0) << none.err;
    EXPECT_NE((none.out + none.err).find("the data y are not used: the loops around y ~ … have no rounds"),
              std::string::npos)
        << none.out << none.err;
    const Result some = fit(model, "{\"N\": 1, \"y\": [1, 2]}");
    EXPECT_EQ((some.out + some.err).find("not used"), std::string::npos) << some.out << some.err;
}

TEST_F(ModelLimits, ManyNodesAreCountedBeforeTheyAreMade) {
    const Result result = fit("model { for (i in 1:1e7) { x[i] ~ dnorm(0, 1) } y ~ dnorm(x[1], 1) }", "{\"y\": 3}");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(
        result.err.find("with 'x' the model has 10000000 nodes that are not in the data, which is more than 2000000: "
                        "give their values as data, or shorten the loop"),
        std::string::npos)
        << result.err;
}

// Where nothing is known of x, 0 log 0 in a saturated likelihood is no number, which only its own node notes.
TEST_F(ModelLimits, AConstantThatIsNoNumberSpoilsNoOther) {
    const Result result =
        fit("model { for (i in 1:2) { r[i] ~ dbin(p, 3) s[i] <- r[i] * log(r[i] / 3) } D <- 2 * sum(s[]) - p "
            "p ~ dbeta(1, 1) }",
            "{\"r\": [0, 3]}");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NEAR(node("p").first, 0.5, 1e-9);  // Beta(4, 4)
    EXPECT_NEAR(node("p").second, 1.0 / 6.0, 1e-3);
    EXPECT_NE(result.out.find("D cannot be reported"), std::string::npos) << result.out;
}

// The same days, in seconds from the first one, from long before, and from 1970: the slope and the curve are
// those of the first. A prior far away is answered, too.
TEST_F(ModelLimits, ACovariateFarFromZeroIsFittedAsOneNearIt) {
    const auto rows = [](double origin) {
        std::string x;
        std::string y;
        for (int i = 0; i < 40; ++i) {
            x += (i > 0 ? "," : "") + std::to_string(static_cast<long long>(origin) + 86400 * i);
            y += std::string(i > 0 ? "," : "") + (i % 4 == 0 || i > 25 ? "1" : "0");
        }
        return "{\"y\": [" + y + "], \"x\": [" + x + "]}";
    };
    const std::string model =
        "model { for (i in 1:40) { y[i] ~ dbern(p[i]) logit(p[i]) <- a + b * x[i] } a ~ dnorm(0, 1.0E-12) b ~ "
        "dnorm(0, 1.0E-6) }";
    ASSERT_EQ(fit(model, rows(0)).code, 0);
    const std::pair<double, double> slope = node("b");
    const std::pair<double, double> curve = node("p[20]");
    for (const double origin : {1e7, 1.7e9}) {
        const Result result = fit(model, rows(origin));
        ASSERT_EQ(result.code, 0) << result.err;
        EXPECT_NEAR(node("b").first, slope.first, 1e-4 * slope.second) << origin;
        EXPECT_NEAR(node("b").second, slope.second, 1e-4 * slope.second) << origin;
        EXPECT_NEAR(node("p[20]").first, curve.first, 1e-3 * curve.second) << origin;
        EXPECT_NEAR(node("p[20]").second, curve.second, 1e-3 * curve.second) << origin;
    }
    const Result far =
        fit("model { for (i in 1:40) { y[i] ~ dbern(p[i]) logit(p[i]) <- a + b * x[i] + e[i] e[i] ~ dnorm(0, tau) } "
            "a ~ dnorm(0, 1.0E-6) b ~ dnorm(1.8e19, 1.0E-6) tau ~ dgamma(0.001, 0.001) }",
            rows(0));
    EXPECT_TRUE(far.code == 0 || far.err.find("ran away") != std::string::npos) << far.err;
}

TEST_F(ModelLimits, ADamagedTextIsBlamedOnTheFitFile) {
    ASSERT_EQ(fit("model { y ~ dnorm(m, 1) m ~ dnorm(0, 1) }", "{\"y\": 3}").code, 0);
    std::string text = read_text(work() / "fit.json");
    const std::size_t at = text.find("dnorm(m, 1)");
    ASSERT_NE(at, std::string::npos);
    write("damaged.json", text.replace(at, 11, "dnorm(m, 1 "));
    for (const std::string command : {"summary damaged.json", "check damaged.json d.json"}) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, 1);
        EXPECT_TRUE(result.err.starts_with("lrvb: damaged.json")) << result.err;
        EXPECT_EQ(result.err.find("m.bug"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("line 1: the parenthesis ( of 'dnorm' is not closed"), std::string::npos)
            << result.err;
    }
}

}  // namespace
}  // namespace lrvb::testing
