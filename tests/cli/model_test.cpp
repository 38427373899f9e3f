// Models in BUGS from the outside.

#include "program.hpp"
#include "schema.hpp"

#include <cmath>

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

TEST_F(TextModels, BadModelsEndWithOneAndWriteNothing) {
    const std::vector<std::pair<std::string, std::string>> models{
        {"model { y ~ dnorm(mu, tau)\n mu ~ dnorm(0, 1)\n tau ~ dnorm(0, 1) }", "tau"},
        {"model { y ~ dnorm(exp(mu), 1)\n mu ~ dnorm(0, 1) }", "exp"},
        {"model { y ~ dgamma(a, 1)\n a ~ dgamma(1, 1) }", "constant"},
        {"model { y ~ dcat(p[])\n p[1:2] ~ ddirch(w[])\n w[1] <- 1\n w[2] <- 1 }", "label from 1 to 2"},
        {"model { y ~ dweird(1) }", "dweird"},
        {"model { y ~ dnorm(mu, 1) }", "mu"},
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

}  // namespace
}  // namespace lrvb::testing
