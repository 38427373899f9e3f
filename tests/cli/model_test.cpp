// Models in BUGS from the outside.

#include "../bad_models.hpp"
#include "program.hpp"
#include "schema.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class TextModels : public ProgramTest {
  protected:
    Result fit(const std::string& model, const std::string& more = "") const {
        return lrvb("fit model '" LRVB_SOURCE_DIR "/models/" + model + ".bug' " + more);
    }
    static std::string data(const std::string& model) { return "'" LRVB_SOURCE_DIR "/models/" + model + ".json' "; }
    json summary(const std::string& names = "") const {
        return lrvb("summary fit.json --format json" + (names.empty() ? "" : " --variables " + names)).json();
    }
    static json variable(const json& all, const std::string& name) {
        for (const json& one : all.at("variables")) {
            if (one.at("name") == name) return one;
        }
        ADD_FAILURE() << "no variable " << name;
        return {};
    }
};

// The numbers of tests/pump_test.cpp, which come from a fixed point by hand and from quadrature.
TEST_F(TextModels, PumpsAreThoseOfTheLibrary) {
    const Result result = fit("pump", "$DATA/pump.csv -o fit.json --check always");
    ASSERT_EQ(result.code, 0) << result.err;
    const json file = json::parse(read_text(work() / "fit.json"));
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    EXPECT_EQ(schema_error(schema, file, "fit"), "");
    const json r = variable(summary(), "r");
    EXPECT_NEAR(r.at("mean").get<double>(), 2.42539, 5e-6);
    EXPECT_NEAR(r.at("sd").get<double>(), 0.69637, 5e-6);
    const json check = lrvb("check fit.json $DATA/pump.csv --method nuts --format json").json();
    for (const json& one : check.at("variables")) {
        if (one.at("name") != "r") continue;
        // By quadrature.
        EXPECT_NEAR(one.at("mean_exact").get<double>(), 2.47097, 0.05);
        EXPECT_NEAR(one.at("sd_exact").get<double>(), 0.71325, 0.05);
    }
    EXPECT_NE(lrvb("sensitivity fit.json").out.find("r: rate"), std::string::npos);
    EXPECT_NE(lrvb("influence fit.json $DATA/pump.csv").out.find("failures[10]"), std::string::npos);
}

TEST_F(TextModels, SeveralFilesOfDataAreOne) {
    write("a.json", R"({"N": 3, "y": [1, 2, 4]})");
    write("b.R", "x <- c(1, 2, 3)\n");
    write("m.bug",
          "model {\n for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau) }\n a ~ dnorm(0, 0.01)\n b ~ dnorm(0, 0.01)\n"
          " tau ~ dgamma(1, 1)\n}\n");
    const Result result = lrvb("fit model m.bug a.json b.R -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(lrvb("influence fit.json a.json b.R").code, 0);
    EXPECT_EQ(lrvb("check fit.json").code, 0);  // by the names in the file
    write("b.R", "x <- c(1, 2, 5)\n");
    const Result other = lrvb("influence fit.json a.json b.R");
    EXPECT_EQ(other.code, 1);
    EXPECT_NE(other.err.find("other numbers"), std::string::npos) << other.err;
}

// A model with one normal mean and known precision: everything is known in closed form.
TEST_F(TextModels, ANormalMeanIsExact) {
    write("d.json", R"({"y": [1, 3, 5, 7]})");
    write("m.bug", "model {\n for (i in 1:4) { y[i] ~ dnorm(mu, 0.25) }\n mu ~ dnorm(2, 0.5)\n twice <- 2 * mu\n}\n");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json all = summary();
    // Precision 4 · 0.25 + 0.5 = 1.5, mean (16 · 0.25 + 2 · 0.5)/1.5.
    EXPECT_NEAR(variable(all, "mu").at("mean").get<double>(), 5.0 / 1.5, 1e-10);
    EXPECT_NEAR(variable(all, "mu").at("sd").get<double>(), std::sqrt(1.0 / 1.5), 1e-10);
    EXPECT_NEAR(variable(all, "twice").at("sd").get<double>(), 2.0 * std::sqrt(1.0 / 1.5), 1e-10);
}

TEST_F(TextModels, ATextIsAModelToo) {
    write("d.json", R"({"y": [1, 3, 5, 7]})");
    const std::string text = "model { for (i in 1:4) { y[i] ~ dnorm(mu, 0.25) } mu ~ dnorm(2, 0.5) }";
    write("m.bug", text);
    ASSERT_EQ(lrvb("fit model '" + text + "' d.json -o text.json").code, 0);
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    json one = json::parse(read_text(work() / "text.json"));
    json other = json::parse(read_text(work() / "fit.json"));
    EXPECT_EQ(one["model"]["file"], "");
    one["model"]["file"] = other["model"]["file"];
    EXPECT_EQ(one, other);
    EXPECT_EQ(lrvb("influence text.json d.json").out, lrvb("influence fit.json d.json").out);
    const Result wrong = lrvb("fit model 'model { y ~ dnrom(0, 1) }' d.json");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_EQ(wrong.err.find("model:1:13: there is no distribution 'dnrom'"), wrong.err.find("model:")) << wrong.err;
}

// With e = t^1.5, lambda is Gamma(2 + failures, 1 + Σ e) in closed form, censored times being no failures.
TEST_F(TextModels, LifetimesMayBeCensored) {
    write("d.json", R"({"t": [1.2, 0.7, null, 2.5], "c": [0, 0, 3, 0]})");
    write("m.bug",
          "model {\n for (i in 1:4) { t[i] ~ dweib(1.5, lambda)I(c[i], ) }\n lambda ~ dgamma(2, 1)\n"
          " twice <- 2 * lambda\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    double rate = 1.0;
    for (const double time : {1.2, 0.7, 3.0, 2.5}) rate += std::pow(time, 1.5);
    const json all = summary();
    EXPECT_NEAR(variable(all, "lambda").at("mean").get<double>(), 5.0 / rate, 1e-10);
    EXPECT_NEAR(variable(all, "lambda").at("sd").get<double>(), std::sqrt(5.0) / rate, 1e-10);
    // A multiple has the quantiles of what it is a multiple of.
    EXPECT_NEAR(variable(all, "twice").at("q5").get<double>(), 2.0 * variable(all, "lambda").at("q5").get<double>(),
                1e-10);
    // The same under a log link, whose posterior is that of log lambda with a flat prior: Gamma(3, Σ e).
    write("m.bug",
          "model {\n for (i in 1:4) { t[i] ~ dweib(1.5, lambda[i])I(c[i], )\n  log(lambda[i]) <- b }\n"
          " b ~ dnorm(0, 1.0E-8)\n}\n");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json check = lrvb("check fit.json d.json --format json").json();
    // ψ(3) = 1 + 1/2 − γ.
    EXPECT_NEAR(check.at("variables")[0].at("mean_exact").get<double>(), 1.5 - 0.5772156649 - std::log(rate - 1.0),
                0.02);
}

// mu by quadrature over its posterior, N(0, 10²) · Π φ(y − mu) · Φ(mu − 2)².
TEST_F(TextModels, CensoredNormalsAreKnownToBeAboveTheirBounds) {
    write("d.json", R"({"y": [0.5, 1.2, null, null], "c": [-10, -10, 2, 2]})");
    write("m.bug", "model {\n for (i in 1:4) { y[i] ~ dnorm(mu, 1)I(c[i], ) }\n mu ~ dnorm(0, 0.01)\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json --check always");
    ASSERT_EQ(result.code, 0) << result.err;
    double total = 0.0;
    double first = 0.0;
    for (double mu = -8.0; mu < 12.0; mu += 0.001) {
        const double tail = 0.5 * std::erfc((2.0 - mu) / std::sqrt(2.0));
        const double density =
            tail * tail * std::exp(-0.5 * (std::pow(0.5 - mu, 2) + std::pow(1.2 - mu, 2)) - 0.005 * mu * mu);
        total += density;
        first += mu * density;
    }
    EXPECT_NEAR(variable(summary(), "mu").at("mean").get<double>(), first / total, 0.05);
    EXPECT_GT(variable(summary("y"), "y[3]").at("mean").get<double>(), 2.0);
    // As JAGS writes it.
    const double mean = variable(summary(), "mu").at("mean").get<double>();
    write("d.json", R"({"y": [0.5, 1.2, null, null], "is.above": [0, 0, 1, 1], "c": [5, 5, 2, 2]})");
    write("m.bug",
          "model {\n for (i in 1:4) { y[i] ~ dnorm(mu, 1)\n  is.above[i] ~ dinterval(y[i], c[i]) }\n"
          " mu ~ dnorm(0, 0.01)\n}\n");
    const Result other = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_NEAR(variable(summary(), "mu").at("mean").get<double>(), mean, 1e-8);
}

// Cormack, Jolly and Seber's model of three animals, by quadrature over survival and capture.
TEST_F(TextModels, AnimalsThatAreNotSeenMayLive) {
    write("d.json", R"({"y": [[1, 0, 1], [1, 1, 0], [1, 0, 0]]})");
    write("m.bug",
          "model {\n for (i in 1:3) {\n  z[i,1] <- 1\n  for (t in 2:3) {\n   z[i,t] ~ dbern(phi * z[i,t-1])\n"
          "   y[i,t] ~ dbern(p * z[i,t])\n  }\n }\n phi ~ dbeta(8, 2)\n p ~ dbeta(6, 4)\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    double total = 0.0;
    double survival = 0.0;
    for (double phi = 0.0025; phi < 1.0; phi += 0.005) {
        for (double p = 0.0025; p < 1.0; p += 0.005) {
            const double prior = std::pow(phi, 7) * (1.0 - phi) * std::pow(p, 5) * std::pow(1.0 - p, 3);
            const double unseen = 1.0 - phi + phi * (1.0 - p) * (1.0 - phi + phi * (1.0 - p));
            const double last = 1.0 - phi + phi * (1.0 - p);
            const double likelihood = (phi * (1.0 - p) * phi * p) * (phi * p * last) * unseen;
            total += prior * likelihood;
            survival += phi * prior * likelihood;
        }
    }
    EXPECT_NEAR(variable(summary(), "phi").at("mean").get<double>(), survival / total, 0.02);
}

// P(mu > 3) with mu ~ N(10/3, 2/3), as in ANormalMeanIsExact; exp(mu/2) is lognormal, nearly to second order.
TEST_F(TextModels, StepsAreProbabilities) {
    write("d.json", R"({"y": [1, 3, 5, 7]})");
    write("m.bug",
          "model {\n for (i in 1:4) { y[i] ~ dnorm(mu, 0.25) }\n mu ~ dnorm(2, 0.5)\n above <- step(mu - 3)\n"
          " growth <- exp(0.5 * mu)\n}\n");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json all = summary();
    const double p = 0.5 * std::erfc(-(1.0 / 3.0) / std::sqrt(2.0 / 1.5));
    EXPECT_NEAR(variable(all, "above").at("mean").get<double>(), p, 0.03);
    EXPECT_NEAR(variable(all, "above").at("sd").get<double>(), std::sqrt(p * (1.0 - p)), 0.03);
    const double mean = std::exp(0.5 * 5.0 / 1.5 + 0.125 / 1.5);
    EXPECT_NEAR(variable(all, "growth").at("mean").get<double>() / mean, 1.0, 0.01);
    const double sd = mean * std::sqrt(std::expm1(0.25 / 1.5));
    EXPECT_NEAR(variable(all, "growth").at("sd").get<double>() / sd, 1.0, 0.1);
    EXPECT_GT(variable(all, "growth").at("q5").get<double>(), 0.0);
}

// Lauritzen & Spiegelhalter's clinic, in small: all probabilities by enumeration.
TEST_F(TextModels, DiscreteNodesThatDependOnEachOtherAreExact) {
    write("d.json",
          R"({"bronchitis": [[0.7, 0.3], [0.4, 0.6]], "cancer": [[0.99, 0.01], [0.9, 0.1]],)"
          R"( "short": [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]], "dyspnoea": 2, "half": [0.5, 0.5]})");
    write("m.bug",
          "model {\n smoking ~ dcat(half[])\n b ~ dcat(bronchitis[smoking, ])\n c ~ dcat(cancer[smoking, ])\n"
          " dyspnoea ~ dcat(short[c, b, ])\n either <- max(b, c) - 1\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    const double bronchitis[2][2] = {{0.7, 0.3}, {0.4, 0.6}};
    const double cancer[2][2] = {{0.99, 0.01}, {0.9, 0.1}};
    const double breath[2][2] = {{0.1, 0.8}, {0.7, 0.9}};
    double total = 0.0;
    double smokes = 0.0;
    double either = 0.0;
    for (int s = 0; s < 2; ++s) {
        for (int b = 0; b < 2; ++b) {
            for (int c = 0; c < 2; ++c) {
                const double p = 0.5 * bronchitis[s][b] * cancer[s][c] * breath[c][b];
                total += p;
                smokes += s == 1 ? p : 0.0;
                either += b == 1 || c == 1 ? p : 0.0;
            }
        }
    }
    const json all = summary();
    EXPECT_NEAR(variable(all, "smoking[2]").at("mean").get<double>(), smokes / total, 1e-8);
    EXPECT_NEAR(variable(all, "smoking").at("mean").get<double>(), 1.0 + smokes / total, 1e-8);
    EXPECT_NEAR(variable(all, "either").at("mean").get<double>(), either / total, 1e-8);
    const double p = either / total;
    EXPECT_NEAR(variable(all, "either").at("sd").get<double>(), std::sqrt(p * (1.0 - p)), 1e-8);
}

// A label that cannot be, and a number of successes nobody has seen: by enumeration.
TEST_F(TextModels, LabelsMayHaveNoProbability) {
    write("d.json", R"({"y": 1.0, "p": [0, 0.5, 0.5], "m": [1, 2, 4]})");
    write("m.bug", "model {\n z ~ dcat(p[])\n n ~ dbin(0.5, 2)\n y ~ dnorm(m[z] + n, 1)\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    double total = 0.0;
    double second = 0.0;
    for (const double mean : {2.0, 4.0}) {
        for (int n = 0; n < 3; ++n) {
            const double p = (n == 1 ? 0.5 : 0.25) * std::exp(-0.5 * std::pow(1.0 - mean - n, 2));
            total += p;
            second += mean == 2.0 ? p : 0.0;
        }
    }
    const json all = summary();
    EXPECT_NEAR(variable(all, "z[2]").at("mean").get<double>(), second / total, 1e-8);
    EXPECT_EQ(variable(all, "z[1]").at("mean").get<double>(), 0.0);
}

// The stagnant band of BUGS' second volume: of 29 places five random starts missed the one with nearly all of the mass.
TEST_F(TextModels, ChangePointsAreSoughtAtEveryPlace) {
    write("d.json",
          R"({"N": 29, "Y": [1.12, 1.12, 0.99, 1.03, 0.92, 0.90, 0.81, 0.83, 0.65, 0.67, 0.60, 0.59, 0.51, 0.44, 0.43,)"
          R"( 0.43, 0.33, 0.30, 0.25, 0.24, 0.13, -0.01, -0.13, -0.14, -0.30, -0.33, -0.46, -0.43, -0.65],)"
          R"( "x": [-1.39, -1.39, -1.08, -1.08, -0.94, -0.80, -0.63, -0.63, -0.25, -0.25, -0.12, -0.12, 0.01, 0.11,)"
          R"( 0.11, 0.11, 0.25, 0.25, 0.34, 0.34, 0.44, 0.59, 0.70, 0.70, 0.85, 0.85, 0.99, 0.99, 1.19]})");
    write("m.bug",
          "model {\n for (i in 1:N) {\n  Y[i] ~ dnorm(mu[i], tau)\n  mu[i] <- alpha + beta[J[i]] * (x[i] - x[k])\n"
          "  J[i] <- 1 + step(i - k - 0.5)\n  punif[i] <- 1 / N\n }\n tau ~ dgamma(0.001, 0.001)\n"
          " alpha ~ dnorm(0, 1.0E-6)\n for (j in 1:2) { beta[j] ~ dnorm(0, 1.0E-6) }\n k ~ dcat(punif[])\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    // The residual sum of squares is least at the 13th.
    EXPECT_NEAR(variable(summary(), "k").at("mean").get<double>(), 13.0, 0.5);
    // Rows that are on one side of it in all draws that count are told as such.
    EXPECT_EQ(result.out.find("nan"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("13.000000"), std::string::npos) << result.out;
}

TEST_F(TextModels, MissingValuesAreWrittenAsTheUserSays) {
    write("d.csv", "y\n1\n-9\n3\n");
    write("m.bug", "model {\n for (i in 1:N) { y[i] ~ dnorm(mu, 1) }\n mu ~ dnorm(0, 0.01)\n}\n");
    ASSERT_EQ(lrvb("fit model m.bug d.csv --na=-9 -o fit.json").code, 0);
    // Of two observations.
    EXPECT_NEAR(variable(summary(), "mu").at("mean").get<double>(), 4.0 / 2.01, 1e-10);
    EXPECT_EQ(lrvb("check fit.json d.csv").code, 0);
}

// Effects as standard normals times their sd: the same model as with the effects themselves.
TEST_F(TextModels, StandardNormalsTimesTheirSdAreEffects) {
    write("d.json", R"({"y": [28, 8, -3, 7, -1, 1, 18, 12], "s": [15, 10, 16, 11, 9, 11, 10, 18]})");
    const std::string rows = "model {\n for (j in 1:8) {\n  y[j] ~ dnorm(theta[j], pow(s[j], -2))\n";
    const std::string rest = " }\n mu ~ dnorm(0, 0.04)\n";
    struct Written {
        std::string effects, scale, sd;
    };
    for (const Written& one :
         {Written{"tau", " tau ~ dt(0, 0.04, 1) T(0, )\n", "1 / tau^2"},
          Written{"sqrt(v)", " v ~ dunif(0, 1000)\n", "1 / v"}, Written{"1 / sqrt(p)", " p ~ dgamma(1, 10)\n", "p"}}) {
        write("plain.bug", rows + "  theta[j] ~ dnorm(mu, " + one.sd + ")\n" + rest + one.scale + "}\n");
        write("scaled.bug", rows + "  theta[j] <- mu + " + one.effects + " * eta[j]\n  eta[j] ~ dnorm(0, 1)\n" + rest +
                                one.scale + "}\n");
        const Result plain = lrvb("fit model plain.bug d.json -o fit.json --check never");
        ASSERT_EQ(plain.code, 0) << plain.err;
        const json theta = variable(summary(), "theta[1]");
        const double bound = json::parse(read_text(work() / "fit.json")).at("outcome").at("bound").get<double>();
        const Result scaled = lrvb("fit model scaled.bug d.json -o fit.json --check never");
        ASSERT_EQ(scaled.code, 0) << scaled.err;
        EXPECT_NEAR(json::parse(read_text(work() / "fit.json")).at("outcome").at("bound").get<double>(), bound, 1e-8);
        const json all = summary();
        EXPECT_NEAR(variable(all, "theta[1]").at("mean").get<double>(), theta.at("mean").get<double>(), 1e-6);
        EXPECT_NEAR(variable(all, "theta[1]").at("sd").get<double>(), theta.at("sd").get<double>(), 1e-6);
        EXPECT_GT(variable(all, "eta[1]").at("mean").get<double>(), 0.0);
        EXPECT_LT(variable(all, "eta[1]").at("mean").get<double>(), 2.0);
    }
    EXPECT_EQ(lrvb("check fit.json d.json").code, 0);
}

// Shares of exponentials: the evidence by quadrature over the two coefficients.
TEST_F(TextModels, MultinomialLogitsAreCountsUnderALogLink) {
    write("d.json", R"({"y": [[3, 5, 2], [1, 6, 3]], "z": [2, 3, 2], "x": [-0.5, 0.5]})");
    write("m.bug",
          "model {\n for (i in 1:2) {\n  y[i, 1:3] ~ dmulti(p[i, ], 10)\n  for (k in 1:3) {\n"
          "   p[i, k] <- f[i, k] / sum(f[i, ])\n   log(f[i, k]) <- a[k] * (1 + x[i])\n  }\n }\n"
          " for (i in 1:3) { z[i] ~ dcat(q[]) }\n for (k in 1:3) { q[k] <- exp(a[k]) / sum(g[])\n g[k] <- exp(a[k]) }\n"
          " a[1] <- 0\n for (k in 2:3) { a[k] ~ dnorm(0, 1) }\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json --check never");
    ASSERT_EQ(result.code, 0) << result.err;
    const std::array<std::array<double, 3>, 2> y{{{3, 5, 2}, {1, 6, 3}}};
    double total = 0.0;
    double first = 0.0;
    constexpr double kStep = 0.02;
    for (int row = -250; row < 250; ++row) {
        for (int column = -250; column < 250; ++column) {
            const double b = row * kStep;
            const double c = column * kStep;
            double log_density = -0.5 * (b * b + c * c) - std::log(2.0 * std::numbers::pi);
            for (std::size_t i = 0; i < 2; ++i) {
                const double scale = i == 0 ? 0.5 : 1.5;
                const double norm = std::log(1.0 + std::exp(scale * b) + std::exp(scale * c));
                log_density += std::lgamma(11.0) + y[i][1] * scale * b + y[i][2] * scale * c - 10.0 * norm;
                for (const double count : y[i]) log_density -= std::lgamma(count + 1.0);
            }
            log_density += 2.0 * b + c - 3.0 * std::log(1.0 + std::exp(b) + std::exp(c));
            const double mass = std::exp(log_density) * kStep * kStep;
            total += mass;
            first += mass * b;
        }
    }
    const double bound = json::parse(read_text(work() / "fit.json")).at("outcome").at("bound").get<double>();
    EXPECT_LT(bound, std::log(total));
    EXPECT_GT(bound, std::log(total) - 0.5);
    const json a = variable(summary(), "a[2]");
    EXPECT_NEAR(a.at("mean").get<double>(), first / total, 0.1 * a.at("sd").get<double>());
    const json check = lrvb("check fit.json d.json --method nuts --format json").json();
    EXPECT_NEAR(variable(check, "a[2]").at("mean_exact").get<double>(), first / total, 0.1 * a.at("sd").get<double>());
    EXPECT_NE(lrvb("influence fit.json d.json").out.find("z[2]"), std::string::npos);
}

TEST_F(TextModels, BoundsThatALinkCannotPassSayNothing) {
    write("d.json", R"({"y": [1, 0, 1, 1]})");
    std::vector<double> bounds;
    for (const char* p : {"max(0, min(1, p))", "p"}) {
        write("m.bug", std::string("model {\n for (i in 1:4) { y[i] ~ dbern(q[i])\n q[i] <- ") + p +
                           " }\n logit(p) <- a\n a ~ dnorm(0, 0.1)\n}\n");
        const Result result = lrvb("fit model m.bug d.json -o fit.json --check never");
        ASSERT_EQ(result.code, 0) << result.err;
        bounds.push_back(json::parse(read_text(work() / "fit.json")).at("outcome").at("bound").get<double>());
    }
    EXPECT_EQ(bounds[0], bounds[1]);
}

// |x| of a standard normal has the mean √(2/π) and the sd √(1 − 2/π).
TEST_F(TextModels, AbsoluteValuesAreAveragedOverBothSigns) {
    write("m.bug", "model {\n x ~ dnorm(0, 1)\n y <- abs(x)\n}\n");
    ASSERT_EQ(lrvb("fit model m.bug -o fit.json --check never").code, 0);
    const json y = variable(summary(), "y");
    EXPECT_NEAR(y.at("mean").get<double>(), std::sqrt(2.0 / std::numbers::pi), 0.05);
    EXPECT_NEAR(y.at("sd").get<double>(), std::sqrt(1.0 - 2.0 / std::numbers::pi), 0.05);
}

// Of two standard normals the larger one has the mean 1/√π and the sd √(1 − 1/π); nodes that are all but fixed have the
// sd of their means.
TEST_F(TextModels, LargestNodesAndSdsAmongNodesAreReported) {
    write("m.bug",
          "model {\n for (i in 1:2) { x[i] ~ dnorm(0, 1) }\n largest <- max(x[])\n larger <- max(x[1], x[2])\n"
          " for (i in 1:3) { u[i] ~ dnorm(i * i, 1.0E8) }\n s <- sd(u[])\n v <- var(u[])\n}\n");
    const Result result = lrvb("fit model m.bug -o fit.json --check never");
    ASSERT_EQ(result.code, 0) << result.err;
    const json all = summary();
    for (const char* name : {"largest", "larger"}) {
        EXPECT_NEAR(variable(all, name).at("mean").get<double>(), 1.0 / std::sqrt(std::numbers::pi), 0.05) << name;
        EXPECT_NEAR(variable(all, name).at("sd").get<double>(), std::sqrt(1.0 - 1.0 / std::numbers::pi), 0.05) << name;
    }
    const double variance = (121.0 + 4.0 + 169.0) / 9.0 / 2.0;  // of 1, 4 and 9 about 14/3
    EXPECT_NEAR(variable(all, "s").at("mean").get<double>(), std::sqrt(variance), 1e-3);
    EXPECT_NEAR(variable(all, "v").at("mean").get<double>(), variance, 1e-2);
}

// The posterior of the precision matrix is a Wishart one, and its inverse has the moments of an inverse Wishart.
TEST_F(TextModels, CovariancesHaveTheSdsOfAnInverseWishart) {
    write("d.json", R"({"y": [[1, 0.5], [-1, 0.2], [0.3, -0.8], [0.1, 1], [-0.7, -1.2], [0.6, 0.1]]})");
    write("m.bug",
          "model {\n for (i in 1:6) { y[i, 1:2] ~ dmnorm(m[], O[,]) }\n for (j in 1:2) { m[j] <- 0 }\n"
          " O[1:2, 1:2] ~ dwish(R[,], 4)\n R[1, 1] <- 1\n R[2, 2] <- 1\n R[1, 2] <- 0\n R[2, 1] <- 0\n"
          " S[1:2, 1:2] <- inverse(O[,])\n}\n");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json --check never").code, 0);
    const json s = variable(summary(), "S[1,1]");
    // ν = 4 + 6, Ψ_11 = 1 + Σy²: mean Ψ/(ν − 3), sd √(2/(ν − 5)) of it.
    const double mean = (1.0 + 1.0 + 1.0 + 0.09 + 0.01 + 0.49 + 0.36) / 7.0;
    EXPECT_NEAR(s.at("mean").get<double>(), mean, 1e-8);
    EXPECT_NEAR(s.at("sd").get<double>(), mean * std::sqrt(2.0 / 5.0), 1e-8);
}

// Twelve pairs of which eight lack one value, symmetric to the last: correlations of either sign, and a saddle between.
TEST_F(TextModels, SymmetricDataDoNotEndAtASaddle) {
    write("d.json",
          R"({"Y": [[1, 1], [1, -1], [-1, 1], [-1, -1], [2, null], [2, null], [-2, null], [-2, null], [null, 2],)"
          R"( [null, 2], [null, -2], [null, -2]]})");
    write("m.bug",
          "model {\n for (i in 1:12) { Y[i, 1:2] ~ dmnorm(mu[], tau[,]) }\n mu[1] <- 0\n mu[2] <- 0\n"
          " tau[1:2, 1:2] ~ dwish(R[,], 2)\n R[1, 1] <- 0.001\n R[1, 2] <- 0\n R[2, 1] <- 0\n R[2, 2] <- 0.001\n"
          " S[1:2, 1:2] <- inverse(tau[,])\n rho <- S[1, 2] / sqrt(S[1, 1] * S[2, 2])\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json --check never");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_GT(std::abs(variable(summary(), "rho").at("mean").get<double>()), 0.3);
    EXPECT_NE((result.out + result.err).find("another optimum"), std::string::npos) << result.out << result.err;
}

// Counts with a flat logarithm of their mean: that is Gamma distributed, and its logarithm has the mean ψ(Σy) − log n.
// Exponentials of very uncertain predictors: the spread is sought from where they overflow.
TEST_F(TextModels, VagueRowsUnderALinkAreFitted) {
    const auto fitted = [&](const std::string& row, const std::string& precision, const std::string& numbers) {
        const std::string text = "model { for (i in 1:N) { " + row + " <- a + b * x[i] } a ~ dnorm(0, " + precision +
                                 ") b ~ dnorm(0, " + precision + ") }";
        write("rows.json", numbers);
        const Result result = lrvb("fit model '" + text + "' rows.json --check never -o fit.json");
        EXPECT_EQ(result.code, 0) << row << precision << result.err;
        return summary();
    };
    const std::string zeros = R"({"x": [-1, 0, 1], "y": [0, 0, 0], "N": 3})";
    const std::string counts = "y[i] ~ dpois(mu[i]) log(mu[i])";
    for (const char* precision : {"0.01", "0.001"}) {
        const json b = variable(fitted(counts, precision, zeros), "b");  // by symmetry
        EXPECT_NEAR(b.at("mean").get<double>(), 0.0, 1e-3 * b.at("sd").get<double>());
    }
    fitted(counts, "0.001", R"({"x": [-1, 0, 1], "y": [0, 0, 3], "N": 3})");
    const std::string apart = R"({"x": [-2, -1, 1, 2], "y": [0, 0, 1, 1], "N": 4})";
    const json b = variable(fitted("y[i] ~ dbern(p[i]) cloglog(p[i])", "0.01", apart), "b");
    EXPECT_GT(b.at("mean").get<double>(), 0.0);
}

// Two crossing lines with t errors: the fit ends between them, where the posterior is not.
TEST_F(TextModels, DrawsFarFromTheFitAreDoubtful) {
    write("lines.bug",
          "model { for (i in 1:N) { y[i] ~ dt(a + b * x[i], 100, 2) } a ~ dnorm(0, .04) b ~ dnorm(0, .04) }");
    write("lines.json",
          R"({"x": [-3, -2, -1, 1, 2, 3, -2.5, -1.5, 1.5, 2.5], "N": 10,
              "y": [-5.97, -3.968, -2.085, 1.921, 4.078, -5.952, 5.109, 3.06, -3.051, -4.936]})");
    const Result exact = lrvb("fit model lines.bug lines.json --exact -o exact.json");
    EXPECT_EQ(exact.code, 1);
    EXPECT_NE(exact.err.find("sds away from the fit about which they were sought"), std::string::npos) << exact.err;
    EXPECT_FALSE(std::filesystem::exists(work() / "exact.json"));
}

TEST_F(TextModels, FlatNodesMayStandUnderALink) {
    write("d.json", R"({"y": [40, 60, 50, 50]})");
    write("m.bug", "model {\n for (i in 1:4) { y[i] ~ dpois(m)}\n log(m) <- a\n a ~ dflat()\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json --check never");
    ASSERT_EQ(result.code, 0) << result.err;
    const double digamma = std::log(200.0) - 1.0 / 400.0 - 1.0 / (12.0 * 200.0 * 200.0);
    EXPECT_NEAR(variable(summary(), "a").at("mean").get<double>(), digamma - std::log(4.0), 1e-4);
}

// Three sds that are far below ten: a prior that is ten times as wide takes log 10 for each from the evidence.
TEST_F(TextModels, WideSdsUnderALinkAreFitted) {
    write("d.json", R"({"y": [120, 95, 60, 210, 180, 140, 33, 41, 25, 75, 60, 71],)"
                    R"( "g": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3], "h": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]})");
    std::vector<double> bounds;
    for (const char* prior : {"dunif(0, 10)", "dunif(0, 100)"}) {
        const std::string sd(prior);
        write("m.bug",
              "model {\n for (i in 1:12) { y[i] ~ dpois(m[i])\n  log(m[i]) <- mu + a[g[i]] + b[h[i]] + e[i]\n"
              "  e[i] ~ dnorm(0, pow(se, -2)) }\n mu ~ dnorm(0, .0001)\n for (j in 1:3) { a[j] ~ dnorm(0, pow(sa, -2)) "
              "}\n"
              " for (j in 1:4) { b[j] ~ dnorm(0, pow(sb, -2)) }\n sa ~ " +
                  sd + "\n sb ~ " + sd + "\n se ~ " + sd + "\n}\n");
        const Result result = lrvb("fit model m.bug d.json -o fit.json --check never");
        ASSERT_EQ(result.code, 0) << result.err;
        bounds.push_back(json::parse(read_text(work() / "fit.json")).at("outcome").at("bound").get<double>());
    }
    EXPECT_NEAR(bounds[0] - bounds[1], 3.0 * std::log(10.0), 0.1);
}

TEST_F(TextModels, SumsOfLabelsThatAreSummedOutAreNotReported) {
    std::string rows = "[1, 0]";
    for (int i = 0; i < 39; ++i) rows += i % 3 == 0 ? ", [1, 1]" : ", [0, 0]";
    write("d.json", "{\"y\": [" + rows + "]}");
    write("m.bug",
          "model {\n for (i in 1:40) {\n  z[i] ~ dbern(w)\n  for (j in 1:2) { y[i, j] ~ dbern(q[i, j])\n"
          "   q[i, j] <- z[i] * p }\n }\n w ~ dunif(0, 1)\n p ~ dunif(0, 1)\n N <- sum(z[])\n}\n");
    const Result result = lrvb("fit model m.bug d.json -o fit.json --check never");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE((result.out + result.err).find("N cannot be reported"), std::string::npos) << result.out << result.err;
}

TEST_F(TextModels, BadModelsEndWithOneAndWriteNothing) {
    const std::vector<std::pair<std::string, std::string>> models{
        {"model { y ~ dnorm(mu, tau)\n mu ~ dnorm(0, 1)\n tau ~ dnorm(0, 1) }", "tau"},
        {"model { y ~ dnorm(exp(mu), 1)\n mu ~ dnorm(0, 1) }", "exp"},
        {"model { y ~ dgamma(a, 1)\n a ~ dgamma(1, 1) }", "constant"},
        {"model { y ~ dcat(p[])\n p[1:2] ~ ddirch(w[])\n w[1] <- 1\n w[2] <- 1 }", "label from 1 to 2"},
        {"model { y ~ dweird(1) }", "dweird"},
        {"model { y ~ dnorm(mu, 1) }", "mu"},
        {"model { y ~ dpois(m)\n log(m) <- a * b\n a ~ dnorm(0, 1)\n b ~ dnorm(0, 1) }", "a ~ dnorm times b ~ dnorm"},
        {"model { y ~ dpois(m)\n log(m) <- a\n a ~ dnorm(0, 1) T(0, ) }", "without bounds"},
        {"model { y ~ dnorm(a, 1)\n a ~ dnorm(m, 1)I(0, )\n m ~ dnorm(0, 1) }", "censored data alone"},
        {"model { y ~ dcat(q[z[2], ])\n for (i in 1:2) { z[i] ~ dcat(h[]) I(, 2)\n h[i] <- 0.5 }\n"
         " for (i in 1:2) { for (j in 1:3) { q[i,j] <- 1 / 3 } } }",
         "bounds"},
        {"model { y ~ dpois(a[1])\n for (i in 1:0) { a[i] ~ dgamma(b[i], 1)\n b[i] <- a[i] } }", "a"},
        {"model { y ~ dweib(r, 1)\n r ~ dexp(1) }", "the shape of dweib must be a constant"},
        {"model { y ~ dnorm(a * b, 1)\n b ~ dnorm(1, 1)\n a ~ dt(0, 1, 1) T(0, ) }", "pow(a, -2)"},
        {"model { y ~ dpois(m * g)\n log(m) <- a\n a ~ dnorm(0, 1)\n g ~ dgamma(1, 1) }", "beside a link"},
        {"model { y ~ dbin(p, 5)\n p ~ dbeta(a, 1)\n a ~ dexp(1) }", "logit(p[i]) <- a[i]"},
        {"model { y ~ dnorm(0, pow(s, -2))\n s ~ dlnorm(0, 1) }", "where it is a standard deviation"},
        {"model { y ~ dpois(m)\n m <- max(a, 2)\n a ~ dgamma(1, 1) }", "a ~ dgamma enters by max"},
        {"model { y ~ dbin(p, 5)\n logit(p) <- logit(q) + a\n q ~ dunif(0, 1)\n a ~ dnorm(0, 1) }", "logit(p) <- a"},
    };
    write("d.json", R"({"y": 3})");
    for (const auto& [text, word] : models) {
        write("m.bug", text + "\n");
        const Result result = lrvb("fit model m.bug d.json -o fit.json");
        EXPECT_EQ(result.code, 1) << text;
        EXPECT_NE(result.err.find("m.bug:"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find(word), std::string::npos) << result.err;
        EXPECT_FALSE(std::filesystem::exists(work() / "fit.json")) << text;
    }
}

TEST_F(TextModels, EveryBadModelEndsWithOneAndItsPlaces) {
    const std::filesystem::path folder = std::filesystem::path(LRVB_SOURCE_DIR) / "tests/data/bugs/bad";
    const Result result = shell("for model in '" + folder.string() + R"('/*.bug; do
        name=$(basename "$model" .bug); data=${model%.bug}.json; test -e "$data" || data=
        lrvb fit model "$model" $data -o fit.json 2> "$name.err"; echo "$name $?"
    done)");
    std::istringstream codes(result.out);
    std::map<std::string, int> code;
    for (std::string name; codes >> name;) codes >> code[name];
    EXPECT_EQ(code.size(), bad_models(folder).size()) << result.out;
    EXPECT_FALSE(std::filesystem::exists(work() / "fit.json"));
    for (const auto& [name, messages] : expected_messages(folder)) {
        EXPECT_EQ(code[name], 1) << name;
        const std::string err = read_text(work() / (name + ".err"));
        EXPECT_EQ(err.rfind("lrvb: ", 0), 0U) << err;
        for (const ExpectedMessage& message : messages) {
            EXPECT_NE(err.find(name + ".bug:" + message.place + ": "), std::string::npos) << err;
        }
    }
}

json variable_of(const json& summary, const std::string& name) {
    for (const json& one : summary.at("variables")) {
        if (one.at("name") == name) return one;
    }
    throw std::runtime_error(name);
}

// Three indicators, eight combinations: P(n = 3 | y) = 0.3·0.8·0.8·0.6/P(y) = 0.41 and P(n = 0 | y) above 0.1.
TEST_F(TextModels, NodesWithFewValuesHaveIntervalsOfTheirValues) {
    write("m.bug",
          "model { a ~ dbern(0.3); b ~ dbern(0.2 + 0.6 * a); c ~ dbern(0.1 + 0.7 * b); y ~ dbern(0.1 + 0.5 * c)\n"
          "  n <- a + b + c; any <- max(a, b); mu ~ dnorm(0, 1); far <- step(mu - 1) + step(-(mu + 1)) }");
    write("d.json", R"({"y": 1})");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json summary = lrvb("summary fit.json --format json").json();
    EXPECT_NEAR(variable_of(summary, "n").at("q5").get<double>(), 0.0, 1e-12);
    EXPECT_NEAR(variable_of(summary, "n").at("q95").get<double>(), 3.0, 1e-12);
    EXPECT_NEAR(variable_of(summary, "any").at("q95").get<double>(), 1.0, 1e-12);
    EXPECT_NEAR(variable_of(summary, "a").at("q5").get<double>(), 0.0, 1e-12);
    EXPECT_NEAR(variable_of(summary, "a").at("q95").get<double>(), 1.0, 1e-12);
    EXPECT_NEAR(variable_of(summary, "far").at("q95").get<double>(), 1.0, 1e-12);
    EXPECT_NEAR(variable_of(summary, "far").at("mean").get<double>(), 0.3173, 0.02);  // P(|Z| > 1), by 4,000 draws
}

// p ~ Beta(2, 12), so that sd = √(ab/(a + b + 1))/(a + b) = 0.0904; quantiles of it are known.
TEST_F(TextModels, AFunctionOfABetaNodeHasItsMoments) {
    write("m.bug", "model { r ~ dbin(p, n); p ~ dbeta(1, 1); q <- 1 - p; large <- step(p - 0.1) }");
    write("d.json", R"({"r": 1, "n": 12})");
    for (const char* option : {"", "--exact"}) {
        ASSERT_EQ(lrvb(std::string("fit model m.bug d.json -o fit.json ") + option).code, 0);
        const Result result = lrvb("summary fit.json --format json");
        ASSERT_EQ(result.code, 0) << result.err;
        const json q = variable_of(result.json(), "q");
        const double near = *option == 0 ? 0.002 : 0.01;  // of draws
        EXPECT_NEAR(q.at("mean").get<double>(), 6.0 / 7.0, near);
        EXPECT_NEAR(q.at("sd").get<double>(), 0.0904, near);
        EXPECT_NEAR(q.at("q5").get<double>(), 0.6837, 2.0 * near);
        EXPECT_NEAR(q.at("q95").get<double>(), 0.9719, 2.0 * near);
        const json large = variable_of(result.json(), "large");
        EXPECT_NEAR(large.at("q5").get<double>(), 0.0, 1e-12);
        EXPECT_NEAR(large.at("q95").get<double>(), 1.0, 1e-12);
    }
}

// A hundred rows near −5 of a mean that is above zero: an exponential of rate 500 next to the bound.
TEST_F(TextModels, ABoundThatIsFarFromTheRowsIsKept) {
    std::string rows;
    for (int i = 0; i < 100; ++i) rows += (i == 0 ? "" : ", ") + std::to_string(-5.0 + 0.01 * i);
    write("m.bug", "model { for (i in 1:100) { y[i] ~ dnorm(s, 1) } s ~ dnorm(0, 1)T(0, ) }");
    write("d.json", R"({"y": [)" + rows + "]}");
    const Result fit = lrvb("fit model m.bug d.json -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    const json s = variable_of(lrvb("summary fit.json --format json").json(), "s");
    const double rate = 450.5;  // −Σ y, but for the curvature
    EXPECT_NEAR(s.at("q5").get<double>(), -std::log(0.95) / rate, 0.3 / rate);
    EXPECT_NEAR(s.at("q95").get<double>(), -std::log(0.05) / rate, 0.3 / rate);
}

// Rows of two kinds that overlap, so that linear response is three times mean field: p and 1 − p have the same sd.
TEST_F(TextModels, AFunctionOfABetaNodeHasTheResponseOfTheNode) {
    std::string rows;
    for (int i = 0; i < 300; ++i)
        rows += (i == 0 ? "" : ", ") + std::to_string(i % 3 == 0 ? 1.0 + 0.01 * i - 1.5 : 0.01 * i - 1.5);
    write("m.bug",
          "model { for (i in 1:300) { z[i] ~ dbern(p); y[i] ~ dnorm(mu[z[i] + 1], 1) } p ~ dbeta(1, 1)\n"
          "  mu[1] <- 0; mu[2] <- 1; rest <- 1 - p }");
    write("d.json", R"({"y": [)" + rows + "]}");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json summary = lrvb("summary fit.json --format json").json();
    const json p = variable_of(summary, "p");
    const json rest = variable_of(summary, "rest");
    EXPECT_GT(p.at("sd").get<double>(), 1.5 * p.at("sd_mfvb").get<double>());
    EXPECT_NEAR(rest.at("sd").get<double>(), p.at("sd").get<double>(), 0.05 * p.at("sd").get<double>());
    EXPECT_NEAR(rest.at("mean").get<double>(), 1.0 - p.at("mean").get<double>(), 1e-3);
    EXPECT_NEAR(rest.at("q95").get<double>(), 1.0 - p.at("q5").get<double>(), 0.1 * p.at("sd").get<double>());
}

TEST_F(TextModels, CountsThatDoNotAddUpAreRefused) {
    write("m.bug", "model { y[1:3] ~ dmulti(p[], 5); p[1:3] ~ ddirch(a[]) }");
    write("d.json", R"({"y": [1, 2, 3], "a": [1, 1, 1]})");
    const Result result = lrvb("fit model m.bug d.json -o fit.json");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("must be one of counts that add up to 5, and these add up to 6"), std::string::npos)
        << result.err;
    EXPECT_FALSE(std::filesystem::exists(work() / "fit.json"));
}

TEST_F(TextModels, ANodeThatIsNoNumberAtDrawsIsSaidToBe) {
    write("m.bug",
          "model { y ~ dnorm(a, 1); a ~ dnorm(0, 1); la <- log(a); root <- sqrt(a - 2); r <- 1 / step(a - 1)\n"
          "  big <- 1000 * step(a - 2.5) }");
    write("d.json", R"({"y": 1.5})");
    for (const char* option : {"", "--exact"}) {
        const Result fit = lrvb(std::string("fit model m.bug d.json -o fit.json ") + option);
        ASSERT_EQ(fit.code, 0) << fit.err;
        const Result summary = lrvb("summary fit.json");
        EXPECT_EQ(summary.code, 0) << summary.err;
        EXPECT_NE(summary.out.find("no number in "), std::string::npos) << summary.out;
    }
}

// Three independent normals of known means and variances.
TEST_F(TextModels, ComparisonsAndRanksOfNodesAreProbabilities) {
    write("m.bug",
          "model { for (i in 1:3) { y[i] ~ dnorm(t[i], 1); t[i] ~ dnorm(0, 0.1) }\n"
          "  above <- ifelse(t[2] > t[1], 1, 0); below <- t[2] <= t[1]; both <- (t[2] > t[1]) && (t[2] > t[3])\n"
          "  chosen <- ifelse(t[2] > t[1], t[2], t[1]); larger <- max(t[1], t[2]); r[1:3] <- rank(t[1:3]) }");
    write("d.json", R"({"y": [1, 2, 0.5]})");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json --exact").code, 0);
    const json summary = lrvb("summary fit.json --format json").json();
    const auto mean = [&](const char* name) { return variable_of(summary, name).at("mean").get<double>(); };
    // t_i | y ~ N(y_i/1.1, 1/1.1), independent.
    const double above = 0.5 * std::erfc(-(1.0 / 1.1) / std::sqrt(2.0 / 1.1) / std::numbers::sqrt2);
    EXPECT_NEAR(mean("above"), above, 0.03);
    EXPECT_NEAR(mean("below"), 1.0 - mean("above"), 1e-9);
    EXPECT_NEAR(mean("chosen"), mean("larger"), 1e-9);
    EXPECT_LT(mean("both"), mean("above"));
    EXPECT_NEAR(mean("r[1]") + mean("r[2]") + mean("r[3]"), 6.0, 1e-9);
    EXPECT_GT(mean("r[2]"), mean("r[1]"));
    EXPECT_GT(mean("r[1]"), mean("r[3]"));
    write("sorted.bug",
          "model { for (i in 1:3) { y[i] ~ dnorm(t[i], 1); t[i] ~ dnorm(0, 0.1) }; s[1:3] <- sort(t[1:3]) }");
    const Result sorted = lrvb("fit model sorted.bug d.json");
    EXPECT_NE((sorted.out + sorted.err).find("s cannot be reported"), std::string::npos) << sorted.out << sorted.err;
}

// Two groups that disagree about a mean: the answer is at one of them, and never saw the step jump. P(mu < 2.5) is
// 0.530 by a grid of 400 × 400 over mu and the precisions' ratio.
TEST_F(TextModels, WhatTheAnswerHoldsAndDrawsDoNotIsNotFixed) {
    write("m.bug",
          "model { for (i in 1:6) { y[i] ~ dnorm(mu, tau[g[i]]) }\n"
          "  for (j in 1:2) { tau[j] ~ dgamma(0.01, 0.01) }; mu ~ dnorm(0, 0.01); closer <- step(2.5 - mu) }");
    write("d.json", R"({"y": [0, 0.2, -0.1, 5, 5.1, 4.8], "g": [1, 1, 1, 2, 2, 2]})");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json plain = variable_of(lrvb("summary fit.json --format json").json(), "closer");
    EXPECT_NE(plain.at("verdict").get<std::string>().find("sd off by -100%"), std::string::npos) << plain;
    ASSERT_EQ(lrvb("fit model m.bug d.json --exact -o fit.json").code, 0);
    EXPECT_NEAR(variable_of(lrvb("summary fit.json --format json").json(), "closer").at("mean").get<double>(), 0.530,
                0.05);
}

// An indicator of whether a slope is there: its two optima are two labels, which draws add up.
TEST_F(TextModels, OptimaOfOtherLabelsAreAddedUpByAnExactFit) {
    write("m.bug",
          "model { for (i in 1:12) { y[i] ~ dnorm(a + g * b * x[i], tau) }\n"
          "  g ~ dbern(0.5); b ~ dnorm(0, 0.1); a ~ dnorm(0, 0.01); tau ~ dgamma(0.01, 0.01); large <- exp(20 * b) }");
    write("d.json", R"({"y": [-0.63, 0.08, -0.38, 0.21, 0.31, -0.16, -0.94, -0.08, 0.12, -0.19, 1.3, 1.17],
                        "x": [0.35, 0.82, 0.33, -1.3, 0.91, 0.45, -0.54, 0.58, 0.36, 0.29, 0.03, 0.55]})");
    const Result exact = lrvb("fit model m.bug d.json --exact -o fit.json");
    ASSERT_EQ(exact.code, 0) << exact.err;
    // 0.107 by enumeration of the label and a grid over the precision.
    EXPECT_NEAR(variable_of(lrvb("summary fit.json --format json").json(), "g").at("mean").get<double>(), 0.107, 0.02);
    // A node with a tail that no sd describes: the file is read again all the same.
    EXPECT_NE((exact.out + exact.err).find("large has a heavy tail: no "), std::string::npos) << exact.out;
    EXPECT_EQ(lrvb("check fit.json d.json --seconds 1").code, 0);
}

// Where one weight alone is not zero, the node is known: written as constants, the model is the same.
TEST_F(TextModels, ATableOfWeightsMayHaveASingleOneInARow) {
    const std::string rows =
        "  for (i in 1:N) { z[i] ~ dcat(p[]); y[i, 1:2] ~ dmulti(error[z[i], ], 3) }\n  p[1:2] ~ ddirch(ones[])\n";
    write("table.bug", "model {\n" + rows + "  for (j in 1:2) { error[j, 1:2] ~ ddirch(w[j, ]) } }");
    write("constants.bug",
          "model {\n" + rows + "  error[1, 1] <- 1; error[1, 2] <- 0; error[2, 1:2] ~ ddirch(w[2, ]) }");
    write("d.json",
          R"({"N": 8, "y": [[3,0],[3,0],[3,0],[1,2],[0,3],[2,1],[3,0],[1,2]], "ones": [1, 1], "w": [[1, 0], [1, 1]]})");
    const Result table = lrvb("fit model table.bug d.json -o table.json");
    ASSERT_EQ(table.code, 0) << table.err;
    ASSERT_EQ(lrvb("fit model constants.bug d.json -o constants.json").code, 0);
    const json one = lrvb("summary table.json --format json").json();
    const json other = lrvb("summary constants.json --format json").json();
    for (const char* name : {"p[1]", "error[2,1]"}) {
        EXPECT_EQ(variable_of(one, name).at("mean"), variable_of(other, name).at("mean")) << name;
        EXPECT_EQ(variable_of(one, name).at("sd"), variable_of(other, name).at("sd")) << name;
    }
    EXPECT_EQ(variable_of(one, "error[1,1]").at("mean"), 1.0);
    EXPECT_EQ(variable_of(one, "error[1,2]").at("mean"), 0.0);
    write("none.json", R"({"N": 1, "y": [[3, 0]], "ones": [1, 1], "w": [[0, 0], [1, 1]]})");
    const Result none = lrvb("fit model table.bug none.json");
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.err.find("all weights of error[1,1:2] are zero"), std::string::npos) << none.err;
}

// The sd between the schools may be zero, so that one over its square has no mean; all others are decided all the same.
TEST_F(TextModels, ANodeWithoutAFiniteSdSaysSoAndSpoilsNothing) {
    write("m.bug",
          "model { for (j in 1:8) { y[j] ~ dnorm(theta[j], pow(s[j], -2)); theta[j] ~ dnorm(mu, tau) }\n"
          "  mu ~ dnorm(0, 1.0E-4); tau <- pow(sigma, -2); sigma ~ dunif(0, 100) }");
    write("d.json", R"({"y": [28, 8, -3, 7, -1, 1, 18, 12], "s": [15, 10, 16, 11, 9, 11, 10, 18]})");
    ASSERT_EQ(lrvb("fit model m.bug d.json -o fit.json").code, 0);
    const json checked = json::parse(read_text(work() / "fit.json")).at("check");
    EXPECT_EQ(checked.at("verdict"), "off");
    const json summary = lrvb("summary fit.json --format json").json();
    EXPECT_EQ(variable_of(summary, "tau").at("verdict"), "mean and sd unknown: heavy tail");
    EXPECT_EQ(variable_of(summary, "mu").at("verdict"), "ok");
    const Result exact = lrvb("fit model m.bug d.json --exact -o exact.json");
    ASSERT_EQ(exact.code, 0) << exact.err;
    EXPECT_NE((exact.out + exact.err).find("tau has a heavy tail: no "), std::string::npos) << exact.out << exact.err;
    EXPECT_EQ(lrvb("summary exact.json").code, 0);
}

}  // namespace
}  // namespace lrvb::testing
