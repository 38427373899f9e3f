// Exact answers from the outside: a check that chooses its draws, fit --exact, and what corrected mixtures predict.

#include "csv.hpp"
#include "program.hpp"
#include "schema.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class ExactAnswers : public ProgramTest {
  protected:
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit " + arguments + " -o fit.json --quiet");
        ASSERT_EQ(result.code, 0) << result.err;
    }
};

// 4,000 importance draws are worth a few hundred in these 44 dimensions.
TEST_F(ExactAnswers, OfFourColumnsTheNoUTurnSamplerDecides) {
    fit("mixture $DATA/iris.csv -c -Species -k 3 --check never");
    const std::string check = "check fit.json $DATA/iris.csv --format json --threads ";
    const Result result = lrvb(check + "1");
    ASSERT_EQ(result.code, 0) << result.err;
    const json found = result.json();
    EXPECT_EQ(found.at("method"), "nuts");
    EXPECT_LT(found.at("r_hat").get<double>(), 1.01);
    EXPECT_GT(found.at("ess").get<double>(), 400.0);
    for (const json& variable : found.at("variables")) {
        const std::string verdict = variable.at("verdict");
        EXPECT_EQ(verdict.find("not "), std::string::npos) << variable.at("name") << ": " << verdict;
    }
    EXPECT_EQ(lrvb(check + "2").out, result.out);
}

TEST_F(ExactAnswers, ACheckWhoseTimeIsUpHasTheCommandThatMayTell) {
    fit("mixture $DATA/iris.csv -c -Species -k 3 --check never");
    const Result result = lrvb("check fit.json $DATA/iris.csv --seconds 0.1");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("'lrvb check FIT DATA"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("\nok: "), std::string::npos) << result.out;
    EXPECT_EQ(lrvb("check fit.json $DATA/iris.csv --seconds 0").code, 2);
    EXPECT_EQ(lrvb("check fit.json $DATA/iris.csv --seconds soon").code, 2);
}

TEST_F(ExactAnswers, AnExactFitIsTheFitThatACheckCorrects) {
    const std::string data = "$DATA/old_faithful.csv";
    const Result exact = lrvb("fit mixture " + data + " -c eruptions -k 2 --exact -o exact.json");
    ASSERT_EQ(exact.code, 0) << exact.err;
    EXPECT_NE(exact.out.find("corrected by 4000 draws"), std::string::npos) << exact.out;
    EXPECT_NE(exact.out.find("with Monte Carlo errors of at most 0.0"), std::string::npos) << exact.out;
    fit("mixture " + data + " -c eruptions -k 2 --check never");
    ASSERT_EQ(lrvb("check fit.json " + data + " --correct -o corrected.json").code, 0);
    EXPECT_EQ(lrvb("summary exact.json --format json --all").out,
              lrvb("summary corrected.json --format json --all").out);
    const json file = json::parse(read_text(work() / "exact.json"));
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    EXPECT_EQ(schema_error(schema, file, "fit"), "");
    // Of independent draws they would be 1/√4000 of an sd and, of a normal, 1/√8000; weights and tails make them
    // larger.
    EXPECT_GT(file["correction"]["mean_error"], 0.0158);
    EXPECT_LT(file["correction"]["mean_error"], 0.04);
    EXPECT_GT(file["correction"]["sd_error"], 0.0111);
    EXPECT_LT(file["correction"]["sd_error"], 0.07);
    EXPECT_EQ(lrvb("fit mixture " + data + " -k 2 --exact --check never -o no.json").code, 2);
}

TEST_F(ExactAnswers, WhatCannotBeHadIsRefusedAndNothingIsWritten) {
    const Result result = lrvb("fit mixture $DATA/digits.csv -k 3 --exact --seconds 0.1 -o fit.json");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("cannot be had by these draws"), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(work() / "fit.json"));
}

// Against averages over the saved draws, of which the file keeps four hundred.
TEST_F(ExactAnswers, ACorrectedMixturePredictsByItsDraws) {
    shell("head -31 $DATA/old_faithful.csv | cut -d , -f 1 > few.csv");
    fit("mixture few.csv -k 2 --check never");
    ASSERT_EQ(lrvb("check fit.json few.csv --correct -o fit2.json --save-draws draws.csv").code, 0);
    write("new.csv", "eruptions\n1.5\n2.8\n3.1\n4.4\n6\n1e200\n");
    const Result predicted = lrvb("predict fit2.json new.csv");
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_EQ(predicted.err, "");
    const Csv found = parse_csv(predicted.out);
    const Csv before = parse_csv(lrvb("predict fit.json new.csv").out);
    const Csv draws = parse_csv(read_text(work() / "draws.csv"));
    const std::vector<double> rows{1.5, 2.8, 3.1, 4.4, 6.0};
    double moved = 0.0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        double density = 0.0;
        double first = 0.0;  // of a new row: weighted by how well each draw explains it
        for (std::size_t s = 0; s < draws.rows.size(); ++s) {
            std::array<double, 2> terms{};
            for (std::size_t k = 0; k < 2; ++k) {
                const std::string of = "[" + std::to_string(k + 1) + "]";
                const double tau = draws.number(s, "tau" + of);
                const double off = rows[n] - draws.number(s, "mu" + of);
                terms[k] = draws.number(s, "pi" + of) * std::sqrt(0.5 * tau / std::numbers::pi) *
                           std::exp(-0.5 * tau * off * off);
            }
            density += (terms[0] + terms[1]) / static_cast<double>(draws.rows.size());
            first += terms[0] / static_cast<double>(draws.rows.size());
        }
        EXPECT_NEAR(found.number(n, "log_density"), std::log(density), 0.15) << rows[n];
        EXPECT_NEAR(found.number(n, "p[1]"), first / density, 0.06) << rows[n];
        moved = std::max(moved, std::abs(before.number(n, "log_density") - std::log(density)));
    }
    EXPECT_GT(moved, 0.3);  // the mean parameters say less of the tails
    EXPECT_NEAR(found.number(5, "p[1]") + found.number(5, "p[2]"), 1.0, 1e-9);
    // Draws that are none are refused, with their place.
    json file = json::parse(read_text(work() / "fit2.json"));
    file["model"]["draws"][3][0] = -0.5;
    write("lie.json", file.dump());
    const Result lie = lrvb("predict lie.json new.csv");
    EXPECT_EQ(lie.code, 1);
    EXPECT_NE(lie.err.find("model.draws"), std::string::npos) << lie.err;
}

TEST_F(ExactAnswers, OptionsThatWouldDoNothingAreRefused) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --check never");
    EXPECT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --method importance --seconds 3").code, 2);
    EXPECT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --model --seconds 3").code, 2);
    EXPECT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --check never --seconds 3").code, 2);
    EXPECT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 1:2 --seconds 3").code, 2);
}

// 100 draws may leave a part of the proposal without any.
TEST_F(ExactAnswers, FewDrawsEndInWords) {
    shell("head -31 $DATA/old_faithful.csv | cut -d , -f 1 > few.csv");
    fit("mixture few.csv -k 2 --check never");
    for (const std::string seed : {"1", "2", "3", "4"}) {
        const Result result = lrvb("check fit.json few.csv --method importance --draws 100 --seed " + seed);
        EXPECT_EQ(result.code, 0) << result.err;
    }
}

// Components of equal precisions that are held can still change places.
TEST_F(ExactAnswers, WhatIsHeldAlikeKeepsItsLabels) {
    std::string rows = "x\n";
    for (int i = 0; i < 40; ++i) rows += std::to_string((i % 2 == 0 ? -1.2 : 1.2) + 0.04 * (i - 20)) + "\n";
    write("two.csv", rows);
    fit("mixture two.csv -k 2 --check never");
    EXPECT_EQ(lrvb("fit mixture two.csv -k 2 --fix weights,precisions --at fit.json --check never -o held.json").code,
              0);
    const json by_importance = lrvb("check held.json two.csv --method importance --format json").json();
    const json by_nuts = lrvb("check held.json two.csv --method nuts --format json").json();
    for (std::size_t i = 0; i < by_nuts.at("variables").size(); ++i) {
        const json& one = by_importance.at("variables")[i];
        const json& other = by_nuts.at("variables")[i];
        EXPECT_NEAR(one.at("mean_exact").get<double>(), other.at("mean_exact").get<double>(),
                    0.2 * one.at("sd_exact").get<double>() + 1e-12)
            << one.at("name");
    }
}

}  // namespace
}  // namespace lrvb::testing
