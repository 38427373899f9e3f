// What rests on a far tail, from the outside: moments where they can be had, and what stands in their place.

#include "program.hpp"

namespace lrvb::testing {
namespace {

using nlohmann::json;

class HeavyTails : public ProgramTest {
  protected:
    static json variable_of(const json& list, const std::string& name) {
        for (const json& one : list.at("variables")) {
            if (one.at("name") == name) return one;
        }
        throw std::runtime_error(name);
    }
    json summary(const std::string& arguments = "") const {
        return lrvb("summary fit.json --format json" + arguments).json();
    }
    double number(const std::string& name, const char* field) const {
        return variable_of(summary(), name).at(field).get<double>();
    }

    // Plates of the salmonella example: 18 effects with one precision, counts under a log link.
    void write_salm() const {
        write("salm.bug",
              "model {\n"
              "  a ~ dnorm(0, 1.0E-4); b ~ dnorm(0, 1.0E-4); g ~ dnorm(0, 1.0E-10); tau ~ dgamma(1.0E-3, 1.0E-3)\n"
              "  sigma <- 1 / sqrt(tau)\n"
              "  for (i in 1:6) {\n"
              "    logx[i] <- log(x[i] + 10)\n"
              "    for (j in 1:3) {\n"
              "      y[i, j] ~ dpois(mu[i, j]); lambda[i, j] ~ dnorm(0, tau)\n"
              "      log(mu[i, j]) <- a + b * (logx[i] - mean(logx[])) + g * (x[i] - mean(x[])) + lambda[i, j]\n"
              "    }\n  }\n}\n");
        write("salm.json", R"({"x": [0, 10, 33, 100, 333, 1000],
            "y": [[15, 21, 29], [16, 18, 21], [16, 26, 33], [27, 41, 60], [33, 38, 41], [20, 27, 42]]})");
    }
};

// 1.2 million draws of JAGS: tau has mean 20.9 and sd 35, sigma mean 0.258 and sd 0.077.
TEST_F(HeavyTails, APrecisionOfEffectsUnderALinkHasTheMomentsOfItsFarTail) {
    write_salm();
    for (const char* seed : {"1", "2", "3"}) {
        const Result exact =
            lrvb(std::string("fit model salm.bug salm.json --exact --quiet -o fit.json --seed ") + seed);
        ASSERT_EQ(exact.code, 0) << exact.err;
        EXPECT_NEAR(number("tau", "mean"), 20.9, 1.5) << seed;
        EXPECT_NEAR(number("tau", "sd"), 35.0, 3.5) << seed;
        EXPECT_NEAR(number("sigma", "mean"), 0.258, 0.006) << seed;
        EXPECT_NEAR(number("sigma", "sd"), 0.077, 0.005) << seed;
    }
}

TEST_F(HeavyTails, ChainsThatDoNotReachTheTailSaySo) {
    write_salm();
    ASSERT_EQ(lrvb("fit model salm.bug salm.json --check never --quiet -o fit.json").code, 0);
    const json check = lrvb("check fit.json salm.json --method nuts --format json").json();
    const json tau = variable_of(check, "tau");
    EXPECT_EQ(tau.at("verdict"), "sd unknown: heavy tail");
    EXPECT_TRUE(tau.at("sd_exact").is_null());
    EXPECT_NEAR(tau.at("median_exact").get<double>(), 15.9, 1.0);  // JAGS
    EXPECT_EQ(variable_of(check, "b").at("verdict"), "ok");
}

// tau is sigma^−2 with a density of sigma that is positive at 0, where the likelihood is too: it has no mean.
TEST_F(HeavyTails, APowerOfAnSdThatMayBeZeroPrintsItsQuantilesAlone) {
    write("m.bug",
          "model { for (j in 1:8) { y[j] ~ dnorm(theta[j], pow(s[j], -2)); theta[j] ~ dnorm(mu, tau) }\n"
          "  mu ~ dnorm(0, 1.0E-4); tau <- pow(sigma, -2); sigma ~ dunif(0, 100) }");
    write("d.json", R"({"y": [28, 8, -3, 7, -1, 1, 18, 12], "s": [15, 10, 16, 11, 9, 11, 10, 18]})");
    const Result exact = lrvb("fit model m.bug d.json --exact -o fit.json");
    ASSERT_EQ(exact.code, 0) << exact.err;
    EXPECT_NE(exact.out.find("tau has a heavy tail: no mean and no sd that draws can tell"), std::string::npos)
        << exact.out;
    const json tau = variable_of(summary(), "tau");
    EXPECT_TRUE(tau.at("mean").is_null());
    EXPECT_TRUE(tau.at("sd").is_null());
    EXPECT_EQ(tau.at("reason"), "heavy tail: no mean and no sd");
    // One over the square of the median of sigma, 5.2 by quadrature.
    EXPECT_NEAR(tau.at("median").get<double>(), 1.0 / (5.2 * 5.2), 0.006);
    EXPECT_GT(tau.at("q95").get<double>(), tau.at("median").get<double>());
    EXPECT_FALSE(variable_of(summary(), "mu").contains("reason"));
    const std::string table = lrvb("summary fit.json --variables tau").out;
    EXPECT_NE(table.find("heavy tail"), std::string::npos) << table;
    EXPECT_NE(table.find("median"), std::string::npos) << table;
    const std::string csv = lrvb("summary fit.json --variables tau --format csv").out;
    EXPECT_NE(csv.find("\ntau,,,"), std::string::npos) << csv;
    const json covariance = lrvb("covariance fit.json --variables mu,tau --format json").json();
    EXPECT_TRUE(covariance.at("matrix")[0][1].is_null());
    EXPECT_TRUE(covariance.at("matrix")[0][0].is_number());
    EXPECT_EQ(lrvb("report fit.json d.json -o page.html").code, 0);
    EXPECT_EQ(lrvb("plot fit.json -o intervals.svg").code, 0);
}

// By quadrature over sigma: mu has mean 0.747 and sd 0.302, sigma 0.303 and 0.251, its square 0.155 and 0.272. Rounding
// at a sigma of e^-17 called all of them heavy.
TEST_F(HeavyTails, OnlyWhatHasAHeavyTailIsCalledSo) {
    write("m.bug",
          "model { for (i in 1:12) { y[i] ~ dnorm(theta[i], pow(s[i], -2)); theta[i] ~ dnorm(mu, pow(sigma, -2)) }\n"
          "  mu ~ dnorm(0, 0.01); sigma ~ dt(0, 1, 1) T(0, ); tau <- pow(sigma, -2); square <- sigma * sigma }");
    write("d.json", R"({"y": [0.94, -0.65, 2.4, -1.64, 1.78, 0.06, 0.28, 0.01, 0.93, 0.86, 1.0, 0.66],
        "s": [0.64, 2.43, 1.56, 1.61, 0.97, 1.36, 1.39, 0.84, 0.78, 0.94, 0.74, 0.74]})");
    for (const char* seed : {"1", "2"}) {
        const Result exact = lrvb(std::string("fit model m.bug d.json --exact --quiet -o fit.json --seed ") + seed);
        ASSERT_EQ(exact.code, 0) << exact.err;
        EXPECT_NEAR(number("mu", "mean"), 0.747, 0.03) << seed;
        EXPECT_NEAR(number("mu", "sd"), 0.302, 0.015) << seed;
        EXPECT_NEAR(number("sigma", "mean"), 0.303, 0.025) << seed;
        EXPECT_NEAR(number("sigma", "sd"), 0.251, 0.015) << seed;
        EXPECT_NEAR(number("square", "sd"), 0.272, 0.025) << seed;
        EXPECT_TRUE(variable_of(summary(), "tau").at("sd").is_null()) << seed;
    }
}

// The single label of a change point, 60 of them: sums over them, with the rates integrated out, are the truth.
TEST_F(HeavyTails, TheLabelOfAChangePointIsEnumerated) {
    std::string ones = "[1";
    for (int i = 1; i < 60; ++i) ones += ", 1";
    write("cp.bug",
          "model { for (i in 1:N) { y[i] ~ dpois(lambda[i]); lambda[i] <- rate[1 + step(i - cp - 0.5)] }\n"
          "  cp ~ dcat(ones[]); rate[1] ~ dgamma(1, 0.5); rate[2] ~ dgamma(1, 0.5); ratio <- rate[2] / rate[1] }");
    write("cp.json",
          "{\"N\": 60, \"ones\": " + ones +
              "], \"y\": [4, 2, 0, 4, 4, 3, 2, 5, 7, 5, 3, 3, 3, 7, 3, 6, 0, 4, 2, 5, 2, 3, 2, 5, 1, 4, 4, 1, 0, 1, "
              "0, 3, 2, 0, 1, 3, 0, 1, 1, 1, 5, 2, 0, 2, 0, 2, 6, 1, 3, 0, 1, 1, 2, 2, 1, 4, 1, 3, 1, 1]}");
    const Result fit = lrvb("fit model cp.bug cp.json -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("against the exact posterior"), std::string::npos) << fit.out;
    EXPECT_NEAR(number("cp", "sd_exact"), 3.2006, 0.15);
    const Result exact = lrvb("fit model cp.bug cp.json --exact --quiet -o fit.json");
    ASSERT_EQ(exact.code, 0) << exact.err;
    const std::tuple<const char*, double, double> truth[] = {{"cp", 25.7337, 3.2006},
                                                             {"lambda[1]", 3.4106, 0.3795},
                                                             {"lambda[20]", 3.3222, 0.4865},
                                                             {"lambda[27]", 2.6977, 0.8619},
                                                             {"lambda[40]", 1.6568, 0.2417}};
    for (const auto& [name, mean, sd] : truth) {
        EXPECT_NEAR(number(name, "mean"), mean, 0.05 * sd) << name;
        EXPECT_NEAR(number(name, "sd"), sd, 0.05 * sd) << name;
    }
}

}  // namespace
}  // namespace lrvb::testing
