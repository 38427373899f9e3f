// lrvb check from the outside.

#include "../zip.hpp"
#include "csv.hpp"
#include "program.hpp"
#include "schema.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class CheckCommand : public ProgramTest {
  protected:
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit " + arguments + " -o fit.json --quiet");
        ASSERT_EQ(result.code, 0) << result.err;
    }
    void fit_old_faithful() const { fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper"); }

    static std::map<std::string, json> variables(const json& check) {
        std::map<std::string, json> found;
        for (const json& variable : check.at("variables")) found[variable.at("name")] = variable;
        return found;
    }
    static std::vector<std::string> fields_of(const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream stream(line);
        for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
        return fields;
    }
};

// The reference posterior has 100,000 draws of another program; 4,000 have Monte Carlo errors of about 0.02 sd.
TEST_F(CheckCommand, FindsTheReferencePosteriorOfOldFaithfulByBothMethods) {
    fit_old_faithful();
    std::ifstream stream(LRVB_DATA_DIR "/old_faithful_posterior.csv");
    std::map<std::string, std::pair<double, double>> reference;
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line)) {
        const std::vector<std::string> fields = fields_of(line);
        reference[fields.at(0)] = {std::stod(fields.at(1)), std::stod(fields.at(2))};
    }
    for (const std::string method : {"importance", "mh"}) {
        const Result result = lrvb("check fit.json $DATA/old_faithful.csv --format json --method " + method);
        ASSERT_EQ(result.code, 0) << result.err;
        const json check = result.json();
        const auto found = variables(check);
        for (const auto& [name, moments] : reference) {
            const json& variable = found.at(name);
            const auto [mean, sd] = moments;
            EXPECT_NEAR(variable.at("mean_exact").get<double>(), mean, 0.1 * sd) << method << " " << name;
            EXPECT_NEAR(variable.at("sd_exact").get<double>(), sd, 0.08 * sd) << method << " " << name;
            EXPECT_NEAR(variable.at("ratio").get<double>(),
                        variable.at("sd_lrvb").get<double>() / variable.at("sd_exact").get<double>(), 1e-12);
        }
        EXPECT_EQ(check.at("draws"), 4000);
        EXPECT_GT(check.at("ess").get<double>(), 1000.0);
        EXPECT_EQ(check.at("verdict"), "ok") << check.at("message");
        EXPECT_NEAR(found.at("mu[1]").at("shift_se").get<double>(), 0.02, 0.005);
        EXPECT_NEAR(found.at("mu[1]").at("ratio_se").get<double>(), 0.014, 0.005);
        EXPECT_EQ(check.at("k_hat").is_number(), method == "importance");
        EXPECT_EQ(check.at("r_hat").is_number(), method == "mh");
    }
}

TEST_F(CheckCommand, TheTableHasTheColumnsAndSaysWhatKHatMeans) {
    fit_old_faithful();
    const Result table = lrvb("check fit.json $DATA/old_faithful.csv");
    EXPECT_NE(table.out.find("can be relied on"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("k-hat"), std::string::npos);
    std::istringstream lines(table.out);
    std::string line;
    while (std::getline(lines, line) && line.rfind("variable", 0) != 0) continue;
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;) columns.push_back(word);
    EXPECT_EQ(columns, (std::vector<std::string>{"variable", "mean_lrvb", "sd_lrvb", "mean_exact", "sd_exact", "shift",
                                                 "ratio", "verdict"}));
    const Result csv = lrvb("check fit.json $DATA/old_faithful.csv --format csv --variables mu");
    EXPECT_EQ(csv.out.substr(0, csv.out.find('\n')),
              "variable,mean_lrvb,sd_lrvb,mean_exact,sd_exact,shift,shift_se,ratio,ratio_se,verdict");
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 3);
}

// log_pi[1] of this strongly overlapping mixture has an LRVB sd of 0.85 of the exact one.
TEST_F(CheckCommand, SaysWhereAnAnswerIsOff) {
    fit("mixture $DATA/mixture3.csv -k 3 --prior paper");
    const json check = lrvb("check fit.json $DATA/mixture3.csv --draws 60000 --format json").json();
    EXPECT_EQ(check.at("verdict"), "off");
    const std::string verdict = variables(check).at("log_pi[1]").at("verdict");
    EXPECT_NE(verdict.find("sd off by -1"), std::string::npos) << verdict;
}

TEST_F(CheckCommand, TheSameSeedGivesTheSameBitsForAnyNumberOfThreads) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    for (const std::string method : {"importance", "mh"}) {
        const std::string command =
            "check fit.json $DATA/old_faithful.csv --format json --draws 1000 --method " + method;
        const std::string one = lrvb(command + " --threads 1").out;
        EXPECT_EQ(lrvb(command + " --threads 2").out, one);
        EXPECT_EQ(lrvb(command + " --threads 7").out, one);
        EXPECT_NE(lrvb(command + " --seed 2").out, one);
    }
}

// Rows all count the same: a plain mean and sd of the file are those of the check, but for what resampling adds, which
// is less than the Monte Carlo error of 4,000 draws.
TEST_F(CheckCommand, SavedDrawsAreEquallyWeighted) {
    fit_old_faithful();
    for (const std::string method : {"importance", "mh"}) {
        const Result result =
            lrvb("check fit.json $DATA/old_faithful.csv --format json --save-draws draws.csv --method " + method);
        ASSERT_EQ(result.code, 0) << result.err;
        const auto checked = variables(result.json());
        const Csv draws = parse_csv(read_text(work() / "draws.csv"));
        ASSERT_EQ(draws.header.size(), checked.size() + 4);
        EXPECT_EQ(std::vector<std::string>(draws.header.begin(), draws.header.begin() + 3),
                  (std::vector<std::string>{".chain", ".iteration", ".draw"}));
        EXPECT_EQ(draws.header.back(), "lp__");
        ASSERT_EQ(draws.rows.size(), 4000U);
        for (const auto& [name, variable] : checked) {
            double sum = 0.0;
            double squares = 0.0;
            for (std::size_t i = 0; i < draws.rows.size(); ++i) {
                const double z = (draws.number(i, name) - variable.at("mean_exact").get<double>()) /
                                 variable.at("sd_exact").get<double>();
                sum += z;
                squares += z * z;
            }
            EXPECT_NEAR(sum / 4000.0, 0.0, 0.02) << method << " " << name;
            EXPECT_NEAR(squares / 4000.0, 1.0, 0.04) << method << " " << name;
        }
        std::set<std::string> chains;
        for (std::size_t i = 0; i < draws.rows.size(); ++i) {
            EXPECT_EQ(draws.rows[i][2], std::to_string(i + 1));
            EXPECT_TRUE(std::isfinite(draws.number(i, "lp__")));
            chains.insert(draws.rows[i][0]);
        }
        EXPECT_EQ(chains.size() == 1U, method == "importance");
        EXPECT_EQ(draws.rows.back()[1], std::to_string(4000U / chains.size()));
    }
}

TEST_F(CheckCommand, SavedDrawsAreTheSameBitsForAnyNumberOfThreads) {
    fit_old_faithful();
    for (const std::string name : {"a.csv", "a.npz"}) {
        const auto saved = [&](const std::string& options) {
            EXPECT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --save-draws " + name + " " + options).code, 0);
            return read_text(work() / name);
        };
        const std::string one = saved("--threads 1");
        EXPECT_EQ(saved("--threads 2"), one) << name;
        EXPECT_EQ(saved("--threads 7"), one) << name;
        EXPECT_NE(saved("--seed 2"), one) << name;
    }
}

// The numbers of an .npy file of doubles, after its header.
std::vector<double> numbers_of(const std::string& npy, const std::string& shape) {
    const std::size_t start = npy.find('\n') + 1;
    EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_NE(npy.substr(0, start).find("'descr': '<f8', 'fortran_order': False, 'shape': " + shape),
              std::string::npos);
    EXPECT_EQ(start % 64, 0U);
    std::vector<double> numbers((npy.size() - start) / sizeof(double));
    std::memcpy(numbers.data(), npy.data() + start, numbers.size() * sizeof(double));
    return numbers;
}

TEST_F(CheckCommand, ANumPyArchiveHasTheDrawsOfTheCsvFile) {
    fit_old_faithful();
    const std::string command = "check fit.json $DATA/old_faithful.csv --variables mu,pi ";
    for (const std::string method : {"importance", "mh"}) {
        const std::string of_method = command + "--method " + method;
        ASSERT_EQ(lrvb(of_method + " --save-draws draws.csv").code, 0);
        ASSERT_EQ(lrvb(of_method + " --save-draws draws.npz").code, 0);
        const Csv csv = parse_csv(read_text(work() / "draws.csv"));
        const StoredZip zip(read_text(work() / "draws.npz"));
        const std::string shape = method == "mh" ? "(4, 1000)" : "(1, 4000)";
        ASSERT_EQ(zip.files().size(), 5U);
        for (const std::string name : {"mu[1]", "mu[2]", "pi[1]", "pi[2]", "lp__"}) {
            const std::vector<double> numbers = numbers_of(zip.files().at(name + ".npy"), shape);
            ASSERT_EQ(numbers.size(), csv.rows.size());
            for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], csv.number(i, name)) << name;
        }
    }
    // Where the name does not say it, --format does; then nothing but the draws goes to standard output.
    const std::string archive = read_text(work() / "draws.npz");
    EXPECT_EQ(lrvb(command + "--method mh --save-draws - --format npz").out, archive);
    const Result named = lrvb(command + "--method mh --save-draws other --format npz");
    EXPECT_EQ(read_text(work() / "other"), archive);
    EXPECT_EQ(named.out, lrvb(command + "--method mh").out);
    const Result without = lrvb(command + "--format npz");
    EXPECT_EQ(without.code, 2);
    EXPECT_NE(without.err.find("--format npz is of the draws that --save-draws writes"), std::string::npos);
}

TEST_F(CheckCommand, DrawsThatCannotBeReliedOnAreSaidToBeSoBesideThem) {
    fit_old_faithful();
    const Result few = lrvb("check fit.json $DATA/old_faithful.csv --method importance --draws 200 --save-draws -");
    EXPECT_EQ(few.code, 0);
    EXPECT_EQ(parse_csv(few.out).rows.size(), 200U);
    EXPECT_NE(few.err.find("the exact numbers are doubtful"), std::string::npos) << few.err;
    EXPECT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --save-draws -").err, "");
}

TEST_F(CheckCommand, ACorrectedFitIsAFitFileWithTheExactNumbers) {
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    for (const std::string model :
         {"mixture $DATA/mixture3.csv -k 3", "regression $DATA/mtcars.csv -c wt,hp --response mpg"}) {
        fit(model);
        const std::string data = model.find("mtcars") == std::string::npos ? "$DATA/mixture3.csv" : "$DATA/mtcars.csv";
        const Result result = lrvb("check fit.json " + data + " --format json --correct -o fit2.json");
        ASSERT_EQ(result.code, 0) << result.err;
        const json file = json::parse(read_text(work() / "fit2.json"));
        EXPECT_EQ(schema_error(schema, file, "fit"), "");
        const bool is_mixture = data == "$DATA/mixture3.csv";
        EXPECT_EQ(file.at("correction").at("method"), is_mixture ? "importance" : "integration");
        const auto exact = variables(result.json());
        const auto summary = variables(lrvb("summary fit2.json --format json").json());
        for (const auto& [name, variable] : exact) {
            EXPECT_NEAR(summary.at(name).at("mean").get<double>(), variable.at("mean_exact").get<double>(), 1e-9);
            EXPECT_NEAR(summary.at(name).at("sd").get<double>(), variable.at("sd_exact").get<double>(), 1e-9);
        }
        EXPECT_NE(
            lrvb("summary fit2.json").out.find(is_mixture ? "corrected by " : "the exact posterior, by integration"),
            std::string::npos);
        // What a check said of the means before says nothing of these.
        EXPECT_FALSE(file.contains("check"));
        EXPECT_EQ(lrvb("summary fit2.json").out.find("verdict"), std::string::npos);
        // What is corrected can be checked again, and predicts.
        const json again = lrvb("check fit2.json " + data + " --format json --seed 2").json();
        EXPECT_EQ(again.at("verdict"), "ok") << again.at("message");
        const Result prediction = lrvb("predict fit2.json " + data);
        EXPECT_EQ(prediction.code, 0);
        EXPECT_EQ(prediction.err, "");
        // What rows do is a question to the response, and has the answer of the fit.
        EXPECT_EQ(lrvb("influence fit2.json " + data + " --variables sigma --format csv").out,
                  lrvb("influence fit.json " + data + " --variables sigma --format csv").out);
    }
}

// A skewed posterior: the precision of the noise of ten rows.
TEST_F(CheckCommand, TheIntervalsOfACorrectedFitAreThoseOfItsDraws) {
    shell("head -11 $DATA/mtcars.csv > cars.csv");
    fit("regression cars.csv -c wt --response mpg --check never");
    ASSERT_EQ(
        lrvb("check fit.json cars.csv --method importance --draws 20000 --correct -o fit2.json --save-draws draws.csv")
            .code,
        0);
    const Csv draws = parse_csv(read_text(work() / "draws.csv"));
    const json before = lrvb("summary fit.json --format json --level 0.98").json();
    bool differs = false;
    for (const auto& [name, variable] : variables(lrvb("summary fit2.json --format json --level 0.98").json())) {
        double below = 0.0;
        double above = 0.0;
        for (std::size_t i = 0; i < draws.rows.size(); ++i) {
            const double value = draws.number(i, name);
            below += value < variable.at("q1").get<double>() ? 1.0 : 0.0;
            above += value > variable.at("q99").get<double>() ? 1.0 : 0.0;
        }
        // Of resampled draws a few more or fewer than the weights say.
        EXPECT_NEAR(below / 20000.0, 0.01, 0.001) << name;
        EXPECT_NEAR(above / 20000.0, 0.01, 0.001) << name;
        const json normal = variables(before).at(name);
        differs = differs || std::abs(normal.at("q1").get<double>() - variable.at("q1").get<double>()) >
                                 0.2 * variable.at("sd").get<double>();
    }
    EXPECT_TRUE(differs);
}

TEST_F(CheckCommand, QuantilesThatNoDrawsHaveAreRefused) {
    fit_old_faithful();
    ASSERT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --correct -o fit2.json").code, 0);
    const json file = json::parse(read_text(work() / "fit2.json"));
    EXPECT_EQ(file.at("version").at("minor"), 10);
    const auto variable = [](json& fit, const std::string& name) -> json& {
        for (json& one : fit.at("posterior").at("variables")) {
            if (one.at("name") == name) return one;
        }
        throw std::runtime_error(name);
    };
    const auto refused = [&](const std::function<void(json&)>& edit, const std::string& says) {
        json edited = file;
        edit(edited);
        write("edited.json", edited.dump());
        const Result result = lrvb("summary edited.json");
        EXPECT_EQ(result.code, 1) << says;
        EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
    };
    refused(
        [&](json& fit) { std::swap(variable(fit, "mu[1]")["quantiles"][3], variable(fit, "mu[1]")["quantiles"][4]); },
        "has quantiles of 'mu[1]' that do not ascend");
    refused([&](json& fit) { variable(fit, "tau[2]")["quantiles"][0] = -0.5; },
            "has quantiles of 'tau[2]' of which one is -0.5, which it cannot be");
    refused([&](json& fit) { variable(fit, "mu[1]")["quantiles"][44] = 1e3; },
            "has quantiles of 'mu[1]' that its mean and sd contradict");
    refused([&](json& fit) { variable(fit, "mu[1]")["quantiles"].erase(7); }, "quantiles");
    refused([&](json& fit) { variable(fit, "mu[1]")["quantiles"][7] = nullptr; }, "quantiles");
    refused([&](json& fit) { variable(fit, "mu[2]").erase("quantiles"); }, "but none of 'mu[2]'");
    refused([&](json& fit) { fit["posterior"].erase("probabilities"); }, "posterior.probabilities");
    refused([&](json& fit) { fit["posterior"]["probabilities"][1] = 0.0011; }, "posterior.probabilities");
    refused([&](json& fit) { fit.erase("correction"); }, "though no draws corrected the fit");
    refused(
        [&](json& fit) {
            for (json& one : fit["posterior"]["variables"]) one.erase("quantiles");
        },
        "posterior.probabilities");
    // As a file of 1.4 is, which has none: then they are those of a normal.
    json old = file;
    for (json& one : old["posterior"]["variables"]) one.erase("quantiles");
    old["posterior"].erase("probabilities");
    old["version"]["minor"] = 4;
    write("old.json", old.dump());
    const Result summary = lrvb("summary old.json --format json");
    ASSERT_EQ(summary.code, 0) << summary.err;
    const json mu = variables(summary.json()).at("mu[1]");
    EXPECT_NEAR(mu.at("q95").get<double>(), mu.at("mean").get<double>() + 1.6448536 * mu.at("sd").get<double>(), 1e-6);
    EXPECT_NE(lrvb("summary old.json").out.find("\nmeans and covariances corrected by 4000 draws"), std::string::npos);
    EXPECT_NE(lrvb("summary fit2.json").out.find("\nmeans, covariances and quantiles corrected by 4000 draws"),
              std::string::npos);
}

TEST_F(CheckCommand, ReadsTheDataAsTheFitDid) {
    // Weights, a choice of columns, and rows with missing values.
    write(
        "data.csv", "name,x,w,y\n" + [] {
            std::string rows;
            for (int i = 0; i < 60; ++i) {
                const double x = (i % 2 == 0 ? 0.0 : 6.0) + std::sin(3.7 * i);
                rows += "a," + (i == 7 ? std::string("NA") : std::to_string(x)) + "," + std::to_string(1 + i % 3) +
                        "," + std::to_string(2.0 * x + std::cos(5.1 * i)) + "\n";
            }
            return rows;
        }());
    fit("mixture data.csv -c x -k 2 --weights w --drop-missing");
    EXPECT_EQ(lrvb("check fit.json data.csv").code, 0);
    fit("regression data.csv -c x --response y --drop-missing");
    EXPECT_EQ(lrvb("check fit.json data.csv").code, 0);
    write("at.json", R"({"weights": [0.35, 0.65]})");
    fit("mixture $DATA/old_faithful.csv -k 2 --covariance diagonal --fix weights --at at.json");
    const Result fixed = lrvb("check fit.json $DATA/old_faithful.csv --format json");
    ASSERT_EQ(fixed.code, 0) << fixed.err;
    EXPECT_EQ(variables(fixed.json()).at("pi[1]").at("verdict"), "fixed");
    EXPECT_TRUE(variables(fixed.json()).at("pi[1]").at("ratio").is_null());
}

TEST_F(CheckCommand, WhatIsHeldIsFixedByBothMethods) {
    write("at.json", R"({"weights": [0.35, 0.65], "means": [2.0, 4.3]})");
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --fix means,weights --at at.json");
    for (const std::string method : {"importance", "mh"}) {
        const Result result =
            lrvb("check fit.json $DATA/old_faithful.csv --format json --correct -o fit2.json --method " + method);
        ASSERT_EQ(result.code, 0) << result.err;
        const auto found = variables(result.json());
        for (const char* name : {"log_pi[1]", "pi[1]", "pi[2]", "mu[1]", "mu[2]"}) {
            EXPECT_EQ(found.at(name).at("verdict"), "fixed") << method << " " << name;
            EXPECT_EQ(found.at(name).at("sd_exact"), 0.0) << method << " " << name;
        }
        EXPECT_EQ(found.at("tau[1]").at("verdict"), "ok");
        const auto summary = variables(lrvb("summary fit2.json --format json").json());
        EXPECT_EQ(summary.at("pi[1]").at("sd"), 0.0);
        EXPECT_NEAR(summary.at("pi[1]").at("mean").get<double>(), 0.35, 1e-12);
        EXPECT_EQ(summary.at("mu[2]").at("sd"), 0.0);
        EXPECT_EQ(lrvb("check fit2.json $DATA/old_faithful.csv --seed 3 --format json").json().at("verdict"), "ok");
    }
}

TEST_F(CheckCommand, UnreliableDrawsCorrectNothing) {
    fit_old_faithful();
    for (const std::string method : {"importance", "mh"}) {
        const Result result =
            lrvb("check fit.json $DATA/old_faithful.csv --draws 300 --correct -o fit2.json --method " + method);
        EXPECT_NE(result.code, 0);
        EXPECT_NE(result.err.find("cannot be corrected"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("take about "), std::string::npos) << result.err;
        EXPECT_FALSE(std::filesystem::exists(work() / "fit2.json"));
    }
}

TEST_F(CheckCommand, AFactorIsCheckedAsItWasFitted) {
    write(
        "data.csv", "group,y\n" + [] {
            std::string rows;
            for (int i = 0; i < 40; ++i) {
                rows +=
                    std::string(i % 2 == 0 ? "left" : "right") + "," + std::to_string(i % 2 + std::sin(2.3 * i)) + "\n";
            }
            return rows;
        }());
    fit("regression data.csv --response y");
    const Result result = lrvb("check fit.json data.csv");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("beta[group=right]"), std::string::npos);
}

TEST_F(CheckCommand, RefusesOtherData) {
    fit_old_faithful();
    const auto refuses = [&](const std::string& command, int code, const std::string& sentence) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, code) << command;
        EXPECT_NE(result.err.find(sentence), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_EQ(result.out, "");
    };
    shell("sed 's/^3.6,/3.7,/' $DATA/old_faithful.csv > other.csv");
    refuses("check fit.json other.csv", 1, "other.csv holds other numbers than the data of the fit");
    shell("head -100 $DATA/old_faithful.csv > part.csv");
    refuses("check fit.json part.csv", 1, "holds other numbers than the data of the fit");
    refuses("check fit.json $DATA/mixture3.csv", 1, "there is no column 'eruptions'");
    refuses("check fit.json $DATA/old_faithful.csv --variables nu", 1, "there is no variable 'nu'");
    refuses("check fit.json $DATA/old_faithful.csv --draws 10", 2, "--draws");
    refuses("check fit.json $DATA/old_faithful.csv --draws 99", 2, "100 to 10000000");
    EXPECT_NE(lrvb("check --help").out.find("100 to 10000000"), std::string::npos);
    refuses("check fit.json $DATA/old_faithful.csv --save-draws ./fit.json", 2,
            "--save-draws ./fit.json would replace the input");
    refuses("check fit.json $DATA/old_faithful.csv --correct -o fit.json", 2, "-o fit.json would replace the input");
    refuses("check fit.json $DATA/old_faithful.csv --correct -o ./x.json --save-draws x.json", 2, "the same file");
    refuses("check fit.json $DATA/old_faithful.csv --method gibbs", 2, "--method");
    refuses("check fit.json $DATA/old_faithful.csv --correct", 2, "--correct and -o need each other");
    refuses("check - -", 2, "only one file can come from standard input");
    lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --max-iterations 2 -o short.json --quiet");
    refuses("check short.json $DATA/old_faithful.csv", 1, "did not converge");
    fit("regression $DATA/mtcars.csv -c wt --response mpg");
    shell("sed 's/2.62,/2.63,/' $DATA/mtcars.csv > cars.csv");
    refuses("check fit.json cars.csv", 1, "holds other numbers than the data of the fit");
}

}  // namespace
}  // namespace lrvb::testing
