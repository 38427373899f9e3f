#include "program.hpp"

#include "csv.hpp"
#include "schema.hpp"

#include <cmath>
#include <map>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class Program : public ProgramTest {
  protected:
    /// The variables of a summary, by name.
    static std::map<std::string, json> variables(const Result& result) {
        std::map<std::string, json> found;
        const json summary = result.json();
        for (const json& variable : summary.at("variables")) found[variable.at("name")] = variable;
        return found;
    }
    static std::vector<std::vector<double>> csv_numbers(const std::string& text) {
        std::vector<std::vector<double>> rows;
        std::istringstream lines(text);
        std::string line;
        std::getline(lines, line);
        while (std::getline(lines, line)) {
            rows.emplace_back();
            std::istringstream fields(line);
            for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(std::stod(field));
        }
        return rows;
    }
    void fit_old_faithful(const std::string& more = "") const {
        const Result result =
            lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper -o fit.json " + more);
        ASSERT_EQ(result.code, 0) << result.err;
    }
};

TEST_F(Program, SummaryIsTheSameAsTableCsvAndJson) {
    fit_old_faithful();
    const Result as_json = lrvb("summary fit.json --format json");
    const Result as_csv = lrvb("summary fit.json --format csv");
    const Result as_table = lrvb("summary fit.json");
    EXPECT_EQ(as_csv.out.substr(0, as_csv.out.find('\n')),
              "variable,mean,sd,sd_mfvb,q5,q95,ratio,mean_exact,sd_exact,verdict");
    EXPECT_NE(as_table.out.find("272 rows, 2 components"), std::string::npos);
    EXPECT_NE(as_table.out.find("ratio"), std::string::npos);
    const json parsed = as_json.json();
    for (const char* key : {"elbo", "converged", "step", "passes", "n", "warnings"}) EXPECT_TRUE(parsed.contains(key));
    EXPECT_EQ(parsed.at("n"), 272);
    EXPECT_EQ(parsed.at("converged"), true);
    EXPECT_LE(parsed.at("step").get<double>(), 1e-8);

    std::istringstream lines(as_csv.out);
    std::string line;
    std::getline(lines, line);
    for (const json& variable : parsed.at("variables")) {
        std::getline(lines, line);
        std::istringstream fields(line);
        std::string field;
        std::getline(fields, field, ',');
        EXPECT_EQ(field, variable.at("name"));
        for (const char* key : {"mean", "sd", "sd_mfvb", "q5", "q95"}) {
            std::getline(fields, field, ',');
            EXPECT_EQ(std::stod(field), variable.at(key).get<double>()) << line;
        }
    }
}

// The library's own numbers for this model are pinned in the mixture tests against the exact posterior; these are what
// a separate run of the general model with an indicator for every row prints.
TEST_F(Program, OldFaithfulHasTheNumbersOfTheGeneralModel) {
    fit_old_faithful();
    const auto found = variables(lrvb("summary fit.json --format json"));
    const auto near = [&](const std::string& name, double mean, double sd, double sd_mfvb) {
        EXPECT_NEAR(found.at(name).at("mean").get<double>(), mean, 5.1e-5) << name;
        EXPECT_NEAR(found.at(name).at("sd").get<double>(), sd, 5.1e-5) << name;
        EXPECT_NEAR(found.at(name).at("sd_mfvb").get<double>(), sd_mfvb, 5.1e-5) << name;
    };
    near("log_pi[1]", -1.0534, 0.0836, 0.0826);
    near("mu[1]", 2.0196, 0.0264, 0.0244);
    near("mu[2]", 4.2742, 0.0339, 0.0326);
    near("log_tau[1]", 2.8623, 0.1949, 0.1429);
    near("log_tau[2]", 1.6670, 0.1246, 0.1054);
}

TEST_F(Program, IntervalsAreTakenWhereAParameterIsUnbounded) {
    fit_old_faithful();
    const auto found = variables(lrvb("summary fit.json --format json --level 0.8"));
    const auto value = [&](const std::string& name, const char* key) { return found.at(name).at(key).get<double>(); };
    for (const std::string index : {"[1]", "[2]"}) {
        EXPECT_NEAR(std::log(value("tau" + index, "q10")), value("log_tau" + index, "q10"), 1e-12);
        EXPECT_NEAR(-2.0 * std::log(value("sigma" + index, "q90")), value("log_tau" + index, "q10"), 1e-12);
        EXPECT_NEAR(std::log(value("pi" + index, "q90")), value("log_pi" + index, "q90"), 1e-12);
        // 1.2816 sds to either side.
        EXPECT_NEAR(value("mu" + index, "q90") - value("mu" + index, "mean"), 1.2815515655 * value("mu" + index, "sd"),
                    1e-9);
    }
    EXPECT_NEAR(value("pi[1]", "mean") + value("pi[2]", "mean"), 1.0, 1e-14);
    // To first order in 1/N.
    EXPECT_NEAR(value("pi[1]", "sd"), value("pi[1]", "mean") * value("log_pi[1]", "sd"), 1e-2 * value("pi[1]", "sd"));
}

TEST_F(Program, CovarianceAgreesWithTheSummary) {
    fit_old_faithful();
    const auto found = variables(lrvb("summary fit.json --format json"));
    for (const std::string method : {"lrvb", "mfvb"}) {
        const Result result = lrvb("covariance fit.json --format json --method " + method);
        const json parsed = result.json();
        const auto names = parsed.at("names").get<std::vector<std::string>>();
        const auto matrix = parsed.at("matrix").get<std::vector<std::vector<double>>>();
        ASSERT_EQ(names.size(), found.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const double sd = found.at(names[i]).at(method == "lrvb" ? "sd" : "sd_mfvb").get<double>();
            EXPECT_NEAR(std::sqrt(matrix[i][i]), sd, 1e-12 * sd) << names[i];
            for (std::size_t j = 0; j < names.size(); ++j) EXPECT_EQ(matrix[i][j], matrix[j][i]);
        }
        const Csv csv = parse_csv(lrvb("covariance fit.json --format csv --method " + method).out);
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (std::size_t j = 0; j < names.size(); ++j) EXPECT_EQ(csv.number(i, names[j]), matrix[i][j]);
        }
    }
    const auto correlation = lrvb("covariance fit.json --correlation --variables mu --format json").json();
    EXPECT_EQ(correlation.at("names"), (json{"mu[1]", "mu[2]"}));
    EXPECT_NEAR(correlation.at("matrix")[0][0].get<double>(), 1.0, 1e-15);
    EXPECT_LT(std::abs(correlation.at("matrix")[0][1].get<double>()), 1.0);
}

TEST_F(Program, VariablesAreChosenByNameOrByWhatTheyHaveInCommon) {
    fit_old_faithful();
    EXPECT_EQ(variables(lrvb("summary fit.json --format json --variables mu")).size(), 2U);
    const json chosen = lrvb("summary fit.json --format json --variables 'tau[2],mu[1]'").json().at("variables");
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen[0].at("name"), "tau[2]");
    EXPECT_EQ(chosen[1].at("name"), "mu[1]");
}

TEST_F(Program, SeveralColumnsHaveMatricesAndTheirInverses) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --quiet -o fit.json").code, 0);
    const auto found = variables(lrvb("summary fit.json --format json"));
    for (const char* name :
         {"mu[1,waiting]", "Lambda[1,waiting,waiting]", "log_det_Lambda[2]", "Sigma[1,eruptions,waiting]", "pi[2]"}) {
        EXPECT_TRUE(found.contains(name)) << name;
    }
    EXPECT_EQ(variables(lrvb("summary fit.json --format json --variables 'mu[1,2]'")).size(), 1U);
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --covariance diagonal --quiet -o diagonal.json").code, 0);
    const auto diagonal = variables(lrvb("summary diagonal.json --format json"));
    for (const char* name : {"mu[1,waiting]", "tau[1,waiting]", "log_tau[2,eruptions]", "sigma[2,waiting]"})
        EXPECT_TRUE(diagonal.contains(name));
}

TEST_F(Program, ReadsTheSameRowsFromAnyKindOfFile) {
    write("comma.csv", "a,b\n1,10\n2,9\n3,8.5\n7,1\n8,2\n9,2.5\n");
    write("semicolon.csv", "\xEF\xBB\xBF\"a\";b\r\n1;10\r\n2;9\r\n3;\"8.5\"\r\n7;1\r\n8;2\r\n9;2.5\r\n");
    write("tab.csv", "text\ta\tb\nu\t1\t10\nv\t2\t9\nw\t3\t8.5\nx\t7\t1\ny\t8\t2\nz\t9\t2.5\n");
    write("missing.csv", "a,b\n1,10\nNA,4\n2,9\n3,8.5\n7,1\n8,2\n9,2.5\n5,\n");
    const std::string first = lrvb("fit mixture comma.csv -c a,b -k 2").out;
    EXPECT_EQ(lrvb("fit mixture semicolon.csv -k 2").out, first);
    EXPECT_EQ(lrvb("fit mixture tab.csv -c 2,3 -k 2").out, first);
    EXPECT_EQ(shell("lrvb fit mixture - -k 2 < comma.csv").out, first);
    EXPECT_EQ(shell("cat comma.csv | lrvb fit mixture - -k 2").out, first);
    const Result dropped = lrvb("fit mixture missing.csv -k 2 --drop-missing");
    EXPECT_EQ(dropped.out, "2 rows with missing values left out\n" + first);
}

TEST_F(Program, WeightsCountRows) {
    write("twice.csv", "x\n1\n1\n2\n3\n3\n7\n8\n9\n");
    write("weights.csv", "w,x\n2,1\n1,2\n2,3\n1,7\n1,8\n1,9\n0,1000\n");
    ASSERT_EQ(lrvb("fit mixture twice.csv -k 2 --prior paper --quiet -o twice.json").code, 0);
    ASSERT_EQ(lrvb("fit mixture weights.csv -k 2 --prior paper --weights w --quiet -o weights.json").code, 0);
    const auto twice = variables(lrvb("summary twice.json --format json"));
    const auto weighted = variables(lrvb("summary weights.json --format json"));
    for (const auto& [name, row] : twice) {
        for (const char* key : {"mean", "sd", "sd_mfvb"}) {
            EXPECT_NEAR(weighted.at(name).at(key).get<double>(), row.at(key).get<double>(), 1e-9) << name;
        }
    }
}

TEST_F(Program, HoldsPartsAtGivenValues) {
    fit_old_faithful();
    write("values.json", R"({"weights": [0.4, 0.6], "precisions": [20, 5]})");
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --fix weights,precisions --at values.json "
                   "--quiet -o held.json")
                  .code,
              0);
    auto found = variables(lrvb("summary held.json --format json"));
    EXPECT_NEAR(found.at("pi[1]").at("mean").get<double>(), 0.4, 1e-12);
    EXPECT_NEAR(found.at("tau[1]").at("mean").get<double>(), 20.0, 1e-9);
    EXPECT_EQ(found.at("tau[1]").at("sd"), 0.0);
    EXPECT_GT(found.at("mu[1]").at("sd"), 0.0);
    ASSERT_EQ(
        lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --fix means --at fit.json --quiet -o held.json")
            .code,
        0);
    found = variables(lrvb("summary held.json --format json"));
    EXPECT_NEAR(found.at("mu[1]").at("mean").get<double>(), 2.0196, 5.1e-5);
    EXPECT_EQ(found.at("mu[1]").at("sd"), 0.0);
    EXPECT_NE(lrvb("summary held.json").out.find("fixed"), std::string::npos);
}

TEST_F(Program, WritesTheSameBytesForAnyNumberOfThreads) {
    ASSERT_EQ(lrvb("simulate mixture --weights 0.3,0.7 --means 0,3 --sds 1,1 -n 60000 -o data.csv").code, 0);
    for (const char* threads : {"1", "2", "7"}) {
        const std::string name = std::string("fit") + threads + ".json";
        ASSERT_EQ(lrvb("fit mixture data.csv -k 2 --quiet --threads " + std::string(threads) + " -o " + name).code, 0);
        EXPECT_EQ(read_text(work() / name), read_text(work() / "fit1.json"));
    }
}

TEST_F(Program, FitFilesFollowThePublishedSchema) {
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    const auto error_of = [&] { return schema_error(schema, json::parse(read_text(work() / "fit.json")), "fit"); };
    fit_old_faithful();
    EXPECT_EQ(error_of(), "");
    for (const char* arguments :
         {"$DATA/old_faithful.csv -k 2", "$DATA/old_faithful.csv -k 3 --covariance diagonal",
          "$DATA/old_faithful.csv -k 1 -c waiting", "$DATA/mixture3.csv -k 3 --max-iterations 1 --restarts 1",
          "$DATA/old_faithful.csv -c eruptions --weights waiting -k 2"}) {
        lrvb(std::string("fit mixture --quiet -o fit.json ") + arguments);
        EXPECT_EQ(error_of(), "") << arguments;
    }
    lrvb("fit regression --quiet -o fit.json $DATA/mtcars.csv --response mpg -c wt,hp,cyl");
    EXPECT_EQ(error_of(), "");
    // The check itself can fail.
    write("fit.json", R"({"format": "lrvb fit"})");
    EXPECT_EQ(error_of(), "fit.version is missing");
}

// Files that someone has edited: every command refuses them in a sentence, or does without what was edited.
TEST_F(Program, EditedFitFilesAreRefusedByEveryCommandThatNeedsWhatIsWrong) {
    lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper --quiet -o mixture.json");
    lrvb("check mixture.json $DATA/old_faithful.csv --correct -o corrected.json");
    lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --prior paper --quiet -o regression.json");
    const auto edited = [&](const std::string& name, const std::function<void(json&)>& edit) {
        json fit = json::parse(read_text(work() / name));
        edit(fit);
        write("edited.json", fit.dump());
    };
    const auto refused = [&](const std::string& arguments, const std::string& says) {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 1) << arguments << ": " << result.err;
        EXPECT_NE(result.err.find(says), std::string::npos) << arguments << ": " << result.err;
    };
    const std::string of_mixture = " edited.json $DATA/old_faithful.csv";
    edited("mixture.json", [](json& fit) { fit["posterior"]["sensitivities"] = nullptr; });
    refused("sensitivity edited.json", "posterior.sensitivities");
    refused("report" + of_mixture, "posterior.sensitivities");
    edited("corrected.json", [](json& fit) {  // as one before 1.5 is
        fit.erase("correction");
        fit["posterior"].erase("probabilities");
        for (json& variable : fit["posterior"]["variables"]) variable.erase("quantiles");
    });
    for (const char* command : {"influence", "leverage", "report"}) refused(command + of_mixture, "the parameters");
    edited("mixture.json", [](json& fit) { fit["posterior"]["variables"][1] = fit["posterior"]["variables"][0]; });
    refused("summary edited.json", "twice");
    edited("mixture.json", [](json& fit) { fit["posterior"]["marginals"] = {{"sd_mfvb", {1}}}; });
    refused("summary edited.json", "posterior.marginals");
    edited("regression.json", [](json& fit) { fit["data"]["rows"] = std::uint64_t{1} << 53U; });
    refused("report edited.json $DATA/mtcars.csv", "other numbers than the data of the fit");
    edited("regression.json", [](json& fit) { fit["model"]["prior"]["intercept_variance"] = -1.0; });
    refused("sensitivity edited.json", "model.prior");
    edited("mixture.json", [](json& fit) { fit["warnings"] = {"\x1b[31mred"}; });
    EXPECT_EQ(lrvb("summary edited.json").out.find('\x1b'), std::string::npos);
}

TEST_F(Program, AFitOnStandardOutputFeedsTheNextProgram) {
    fit_old_faithful();
    const Result piped = shell(
        "lrvb fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper -o - | lrvb summary - --format csv");
    EXPECT_EQ(piped.out, lrvb("summary fit.json --format csv").out);
    EXPECT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --quiet").out, "");
}

TEST_F(Program, AFitThatDoesNotConvergeIsWrittenAndSaysSo) {
    const Result result = lrvb("fit mixture $DATA/mixture3.csv -k 3 --max-iterations 1 --restarts 1 -o fit.json");
    EXPECT_EQ(result.code, 3);
    EXPECT_NE(result.out.find("NOT converged"), std::string::npos) << result.out;
    EXPECT_EQ(result.err.rfind("lrvb: the fit did not converge: ", 0), 0U) << result.err;
    const json summary = lrvb("summary fit.json --format json").json();
    EXPECT_EQ(summary.at("converged"), false);
    EXPECT_EQ(summary.at("warnings").size(), 1U);
    EXPECT_TRUE(summary.at("variables")[0].at("sd").is_null());
    EXPECT_GT(summary.at("variables")[0].at("sd_mfvb").get<double>(), 0.0);
    EXPECT_EQ(lrvb("covariance fit.json").code, 1);
    EXPECT_EQ(lrvb("covariance fit.json --method mfvb").code, 0);
}

TEST_F(Program, KillingItLeavesTheOldFileOrTheNewOne) {
    fit_old_faithful();
    const std::string old_fit = read_text(work() / "fit.json");
    fit_old_faithful("--seed 2");
    const std::string new_fit = read_text(work() / "fit.json");
    ASSERT_NE(old_fit, new_fit);
    for (int delay = 0; delay < 30; ++delay) {
        write("fit.json", old_fit);
        char command[256];
        std::snprintf(command, sizeof command,
                      "lrvb fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper --seed 2 --quiet "
                      "-o fit.json & sleep 0.%03d; kill -9 $! 2> /dev/null; wait; true",
                      delay);
        shell(command);
        const std::string left = read_text(work() / "fit.json");
        EXPECT_TRUE(left == old_fit || left == new_fit) << left.size() << " bytes after " << delay << " ms";
    }
}

TEST_F(Program, WritesToDevicesAndThroughLinksWithoutReplacingThem) {
    fit_old_faithful();
    ASSERT_EQ(shell("ln -s fit.json link.json && lrvb fit mixture $DATA/old_faithful.csv -c waiting -k 2 --quiet -o "
                    "link.json && test -L link.json")
                  .code,
              0);
    EXPECT_NE(read_text(work() / "fit.json").find("waiting"), std::string::npos);
    ASSERT_EQ(shell("lrvb fit mixture $DATA/old_faithful.csv -k 2 --quiet -o /dev/null && test -c /dev/null").code, 0);
}

TEST_F(Program, SimulationsAreReproducibleAndGrowAtTheirEnd) {
    const std::string arguments = "simulate mixture --weights 1,3 --means -2,2 --sds 0.5,1 --seed 7 --labels -n ";
    const std::string few = lrvb(arguments + "100").out;
    const std::string many = lrvb(arguments + "20000").out;
    EXPECT_EQ(lrvb(arguments + "100").out, few);
    EXPECT_EQ(many.substr(0, few.size()), few);
    double sum[2] = {0.0, 0.0};
    double squares[2] = {0.0, 0.0};
    double count[2] = {0.0, 0.0};
    for (const std::vector<double>& row : csv_numbers(many)) {
        const std::size_t k = row.at(1) == 1.0 ? 0 : 1;
        count[k] += 1.0;
        sum[k] += row[0];
        squares[k] += row[0] * row[0];
    }
    // Within five standard errors.
    EXPECT_NEAR(count[0] / 20000.0, 0.25, 5.0 * std::sqrt(0.25 * 0.75 / 20000.0));
    for (std::size_t k = 0; k < 2; ++k) {
        const double mean = sum[k] / count[k];
        const double sd = k == 0 ? 0.5 : 1.0;
        EXPECT_NEAR(mean, k == 0 ? -2.0 : 2.0, 5.0 * sd / std::sqrt(count[k]));
        EXPECT_NEAR(std::sqrt(squares[k] / count[k] - mean * mean), sd, 5.0 * sd / std::sqrt(2.0 * count[k]));
    }
    EXPECT_EQ(lrvb("simulate mixture --weights 1,1 --means '0,0;4,5' --sds '1,1;2,2' -n 1").out.substr(0, 6),
              "x1,x2\n");
}

TEST_F(Program, PredictsWhereRowsBelong) {
    fit_old_faithful();
    write("new.csv", "waiting,eruptions\n70,2.0\n70,3.1\n70,4.3\n");
    const Result result = lrvb("predict fit.json new.csv");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.substr(0, result.out.find('\n')), "row,component,p[1],p[2],log_density");
    const auto rows = csv_numbers(result.out);
    ASSERT_EQ(rows.size(), 3U);
    const auto found = variables(lrvb("summary fit.json --format json"));
    const auto mean = [&](const std::string& name) { return found.at(name).at("mean").get<double>(); };
    for (std::size_t i = 0; i < 3; ++i) {
        const double x = std::vector<double>{2.0, 3.1, 4.3}[i];
        EXPECT_EQ(rows[i][0], static_cast<double>(i + 1));
        EXPECT_EQ(rows[i][1], rows[i][2] > rows[i][3] ? 1.0 : 2.0);
        EXPECT_NEAR(rows[i][2] + rows[i][3], 1.0, 1e-14);
        // The density of the mixture with its parameters at their posterior means.
        double density = 0.0;
        for (const std::string k : {"[1]", "[2]"}) {
            const double off = x - mean("mu" + k);
            density += mean("pi" + k) * std::sqrt(mean("tau" + k) / (2.0 * std::acos(-1.0))) *
                       std::exp(-0.5 * mean("tau" + k) * off * off);
        }
        EXPECT_NEAR(rows[i][4], std::log(density), 1e-12);
    }
    EXPECT_GT(rows[0][2], 0.99);
    EXPECT_GT(rows[2][3], 0.99);
    EXPECT_EQ(lrvb("predict fit.json new.csv -o out.csv").out, "");
    EXPECT_EQ(read_text(work() / "out.csv"), result.out);
}

// Least squares, from R: lm(mpg ~ wt + hp) has 37.22727, -3.87783, -0.03177 and standard errors 1.59879, 0.63273,
// 0.00903, of which the posterior's are √((N − P)/N) or so under a weak prior.
TEST_F(Program, RegressionIsNearLeastSquaresUnderAWeakPrior) {
    const Result fit = lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("32 rows, mpg ~ wt + hp"), std::string::npos);
    const auto found = variables(lrvb("summary fit.json --format json"));
    const auto near = [&](const std::string& name, double mean, double sd) {
        EXPECT_NEAR(found.at(name).at("mean").get<double>(), mean, 0.02 * sd) << name;
        EXPECT_NEAR(found.at(name).at("sd").get<double>() / sd, 1.0, 0.06) << name;
    };
    near("intercept", 37.22727, 1.59879);
    near("beta[wt]", -3.87783, 0.63273);
    near("beta[hp]", -0.03177, 0.00903);
    for (const char* name : {"sigma", "R2"}) EXPECT_TRUE(found.contains(name));
    const auto rows = csv_numbers(lrvb("predict fit.json $DATA/mtcars.csv").out);
    ASSERT_EQ(rows.size(), 32U);
    EXPECT_NEAR(rows[0][1], 23.57233, 0.01);  // R's fitted value of the first row
    EXPECT_GT(rows[0][3], rows[0][2]);
}

TEST_F(Program, AResponseByNumberIsThatColumnOfTheFile) {
    const std::string by_name = lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp").out;
    EXPECT_EQ(lrvb("fit regression $DATA/mtcars.csv --response 2 -c wt,hp").out, by_name);
}

TEST_F(Program, OutputNeverReplacesInput) {
    write("data.csv", "x\n1\n2\n4\n");
    ASSERT_EQ(lrvb("fit mixture data.csv -k 1 --quiet -o fit.json").code, 0);
    for (const char* command : {"fit mixture data.csv -k 1 -o data.csv", "fit mixture data.csv -k 1 -o ./data.csv",
                                "predict fit.json data.csv -o data.csv", "predict fit.json data.csv -o fit.json",
                                "leverage fit.json data.csv -o data.csv", "influence fit.json data.csv -o fit.json",
                                "sensitivity fit.json -o fit.json"}) {
        EXPECT_EQ(lrvb(command).code, 2) << command;
    }
    EXPECT_EQ(read_text(work() / "data.csv"), "x\n1\n2\n4\n");
}

TEST_F(Program, FilesKeepTheirPermissionsAndPipesCloseQuietly) {
    ASSERT_EQ(
        shell(
            "touch fit.json && chmod 600 fit.json && lrvb fit mixture $DATA/old_faithful.csv -k 2 --quiet -o fit.json "
            "&& test $(stat -c %a fit.json) = 600")
            .code,
        0);
    EXPECT_EQ(shell("lrvb summary fit.json | true").err, "");
    ASSERT_EQ(
        shell("ln -s later.json link.json && lrvb fit mixture $DATA/old_faithful.csv -k 2 --quiet -o link.json && test "
              "-L link.json && test -f later.json")
            .code,
        0);
}

TEST_F(Program, TheOnlyComponentHasTheWeightOne) {
    for (const char* columns : {"-c waiting", "", "--covariance diagonal"}) {
        ASSERT_EQ(lrvb(std::string("fit mixture $DATA/old_faithful.csv -k 1 --quiet -o fit.json ") + columns).code, 0);
        const json weight = variables(lrvb("summary fit.json --format json")).at("pi[1]");
        EXPECT_EQ(weight.at("mean"), 1.0) << columns;
        EXPECT_EQ(weight.at("sd"), 0.0) << columns;
        EXPECT_EQ(weight.at("q5"), 1.0) << columns;
        EXPECT_EQ(weight.at("verdict"), "fixed") << columns;
        ASSERT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --correct -o corrected.json").code, 0) << columns;
        const json corrected = variables(lrvb("summary corrected.json --format json")).at("pi[1]");
        EXPECT_EQ(corrected.at("mean"), 1.0) << columns;
        EXPECT_EQ(corrected.at("sd"), 0.0) << columns;
    }
}

// As they were written before the weight was listed.
TEST_F(Program, FitsOfOneComponentWithoutItsWeightAreAnsweredAlike) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c waiting -k 1 --quiet -o fit.json").code, 0);
    ASSERT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --correct -o corrected.json").code, 0);
    for (const std::string name : {"fit", "corrected"}) {
        json fit = json::parse(read_text(work() / (name + ".json")));
        json& listed = fit.at("posterior").at("variables");
        ASSERT_EQ(listed.back().at("name"), "pi[1]");
        listed.erase(listed.size() - 1);
        // Of a corrected fit, every variable is a statistic of its own.
        json& posterior = fit["posterior"];
        if (posterior.at("statistics").back() == "pi[1]") {
            for (const char* list : {"statistics", "mean", "covariance", "covariance_mfvb", "sensitivities"}) {
                posterior[list].erase(posterior[list].size() - 1);
            }
        }
        for (const char* list : {"mean", "sd", "verdicts"}) {
            if (fit.contains("check")) fit["check"][list].erase(fit["check"][list].size() - 1);
        }
        for (const char* list : {"mean", "sd"}) {
            if (!fit.contains("correction")) continue;
            json& before = fit["correction"]["response"][list];
            before.erase(before.size() - 1);
        }
        write("old.json", fit.dump());
        for (const std::string command :
             {"summary FIT --variables mu,sigma", "sensitivity FIT $DATA/old_faithful.csv",
              "influence FIT $DATA/old_faithful.csv --refit --top 2",
              "check FIT $DATA/old_faithful.csv --variables mu,sigma", "predict FIT $DATA/old_faithful.csv"}) {
            const auto with = [&](const std::string& file) {
                return lrvb(std::string(command).replace(command.find("FIT"), 3, file));
            };
            const Result before = with("old.json");
            EXPECT_EQ(before.code, 0) << name << ": " << command << ": " << before.err;
            EXPECT_EQ(before.out, with(name + ".json").out) << name << ": " << command;
        }
    }
}

// Looking whether a pipe can be written must not open it: its reader would take that for the end.
TEST_F(Program, AFitIsWrittenToAPipeWhole) {
    const Result result = shell(
        "mkfifo pipe && { cat pipe > fit.json & } && lrvb fit mixture $DATA/old_faithful.csv -k 2 --quiet -o pipe && "
        "wait && lrvb summary fit.json --variables mu");
    EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Program, NothingIsLeftOfAnOutputWhoseFitFails) {
    write("bad.csv", "x\n1\ntwo\n");
    EXPECT_EQ(lrvb("fit mixture bad.csv -k 1 -o fit.json").code, 1);
    EXPECT_EQ(files(), std::set<std::string>{"bad.csv"});
    write("fit.json", "kept");
    EXPECT_EQ(lrvb("fit mixture bad.csv -k 1 -o fit.json").code, 1);
    EXPECT_EQ(read_text(work() / "fit.json"), "kept");
}

TEST_F(Program, TextColumnsAreFactors) {
    write("factor.csv", "group,y\nb,5\na,1\nb,7\nc,9\na,3\nc,11\n");
    ASSERT_EQ(lrvb("fit regression factor.csv --response y --prior 'beta ~ normal(0, 1000)' -o fit.json").code, 0);
    const auto found = variables(lrvb("summary fit.json --format json --variables intercept,beta"));
    // Differences of the groups' means 2, 6, 10 from the first, but for the weak prior.
    EXPECT_NEAR(found.at("intercept").at("mean").get<double>(), 2.0, 0.02);
    EXPECT_NEAR(found.at("beta[group=b]").at("mean").get<double>(), 4.0, 0.02);
    EXPECT_NEAR(found.at("beta[group=c]").at("mean").get<double>(), 8.0, 0.02);
}

TEST_F(Program, HelpAndVersionAreAnswers) {
    for (const char* command :
         {"--help", "help", "fit --help", "fit mixture --help", "fit regression --help", "help fit mixture",
          "summary -h", "covariance --help", "predict --help", "simulate mixture --help", "completion --help"}) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, 0) << command;
        EXPECT_NE(result.out.find("Usage"), std::string::npos) << command;
        EXPECT_EQ(result.err, "") << command;
    }
    EXPECT_EQ(lrvb("--version").out.rfind("lrvb ", 0), 0U);
    EXPECT_EQ(lrvb("-V").out, lrvb("--version").out);
}

TEST_F(Program, TheCitationIsOfThisVersion) {
    const std::string version = lrvb("-V").out.substr(5);
    EXPECT_NE(read_text(LRVB_SOURCE_DIR "/CITATION.cff").find("\nversion: " + version), std::string::npos) << version;
}

TEST_F(Program, TheManualPageIsRoffWithoutAWarning) {
    const Result result = shell("lrvb man > lrvb.1 && groff -ww -z -man -Tutf8 lrvb.1");
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.out + result.err, "");
}

TEST_F(Program, TheManualPageHasEveryOptionThatHelpHas) {
    const Result page = shell("lrvb man | groff -man -Tutf8 -P-cbou -rLL=200n");
    ASSERT_EQ(page.code, 0) << page.err;
    for (const char* command : {"fit mixture", "fit regression", "summary", "check", "report", "simulate mixture"}) {
        EXPECT_NE(page.out.find(std::string("lrvb ") + command + " [OPTIONS]"), std::string::npos) << command;
        // Names stand two spaces from the margin, and what they mean in the same line or in the next.
        std::istringstream help(lrvb(std::string(command) + " --help").out);
        for (std::string line; std::getline(help, line);) {
            if (line.rfind("  -", 0) != 0) continue;
            const std::string name = line.substr(2, line.find(' ', 2) - 2);
            EXPECT_NE(page.out.find(name), std::string::npos) << command << ": " << name;
        }
    }
    // Hyphens and quotes that a shell takes, and letters beyond ASCII.
    EXPECT_NE(page.out.find("'lrvb fit … -o FIT'"), std::string::npos);
}

TEST_F(Program, CompletionKnowsCommandsAndOptions) {
    const Result result = shell(R"(lrvb completion bash > c.sh && bash -c '
        source c.sh
        COMP_WORDS=(lrvb fit mix); COMP_CWORD=2; _lrvb; echo "${COMPREPLY[@]}"
        COMP_WORDS=(lrvb fit mixture data.csv --prior-al); COMP_CWORD=4; _lrvb; echo "${COMPREPLY[@]}"
        COMP_WORDS=(lrvb cov); COMP_CWORD=1; _lrvb; echo "${COMPREPLY[@]}"')");
    EXPECT_EQ(result.out, "mixture\n--prior-alpha\ncovariance\n") << result.err;
    EXPECT_EQ(lrvb("completion zsh").code, 0);
    EXPECT_NE(lrvb("completion fish").out.find("-l prior-alpha"), std::string::npos);
}

}  // namespace
}  // namespace lrvb::testing
