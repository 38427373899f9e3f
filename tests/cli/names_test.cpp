// How the variables of a mixture of several columns are called: components by number, columns by name.

#include "csv.hpp"
#include "program.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class Names : public ProgramTest {
  protected:
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit mixture " + arguments + " --quiet -o fit.json");
        ASSERT_EQ(result.code, 0) << result.err;
    }
    static std::vector<std::string> names(const json& variables) {
        std::vector<std::string> result;
        for (const json& variable : variables) result.push_back(variable.at("name"));
        return result;
    }
    std::vector<std::string> summarised(const std::string& arguments) const {
        const Result result = lrvb("summary --format json " + arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        return result.code == 0 ? names(result.json().at("variables")) : std::vector<std::string>();
    }
    std::string refusal(const std::string& arguments) const {
        const Result result = lrvb(arguments);
        EXPECT_NE(result.code, 0) << arguments;
        return result.err;
    }
};

const std::vector<std::string> kMeans{"mu[1,eruptions]", "mu[1,waiting]", "mu[2,eruptions]", "mu[2,waiting]"};

TEST_F(Names, ColumnsAreSaidByNameInEveryOutput) {
    fit("$DATA/old_faithful.csv -k 2");
    EXPECT_EQ(summarised("fit.json --variables mu"), kMeans);
    EXPECT_EQ(summarised("fit.json --variables Sigma").at(4), "Sigma[2,eruptions,waiting]");
    EXPECT_EQ(lrvb("covariance fit.json --variables mu --format json").json().at("names"), json(kMeans));
    EXPECT_EQ(names(lrvb("check fit.json $DATA/old_faithful.csv --format json").json().at("variables")),
              summarised("fit.json"));
    const Csv influence = parse_csv(lrvb("influence fit.json $DATA/old_faithful.csv --variables mu -o -").out);
    EXPECT_EQ(std::vector<std::string>(influence.header.end() - 4, influence.header.end()), kMeans);
    const std::string sensitivity = lrvb("sensitivity fit.json --variables mu -o -").out;
    EXPECT_NE(sensitivity.find("mu[2,waiting]"), std::string::npos) << sensitivity;
    EXPECT_EQ(sensitivity.find("mu[2,2]"), std::string::npos) << sensitivity;
    const json posterior = json::parse(read_text(work() / "fit.json")).at("posterior");
    EXPECT_EQ(posterior.at("statistics").at(2), "mu[1,eruptions]");
    EXPECT_EQ(names(posterior.at("variables")), summarised("fit.json"));
}

TEST_F(Names, ColumnsAreSaidByNameInTheNumbersOfThePrior) {
    const auto said = [&](const std::string& fit_file) {
        std::set<std::string> result;
        const json sensitivity = lrvb("sensitivity --format json " + fit_file).json();
        for (const json& effect : sensitivity.at("effects")) result.insert(effect.at("prior"));
        return result;
    };
    const std::set<std::string> full{"alpha",
                                     "dof",
                                     "inverse_scale[eruptions,eruptions]",
                                     "inverse_scale[eruptions,waiting]",
                                     "inverse_scale[waiting,waiting]",
                                     "mean[eruptions]",
                                     "mean[waiting]",
                                     "variance[eruptions,eruptions]",
                                     "variance[eruptions,waiting]",
                                     "variance[waiting,waiting]"};
    fit("$DATA/old_faithful.csv -k 2");
    EXPECT_EQ(said("fit.json"), full);
    for (const char* format : {"table --all", "csv"}) {
        const std::string text = lrvb(std::string("sensitivity fit.json --format ") + format).out;
        for (const char* name : {"mean[waiting]", "inverse_scale[eruptions,waiting]"})
            EXPECT_NE(text.find(name), std::string::npos) << text;
        for (const char* name : {"mean[1]", "mean[2]", "variance[1", "inverse_scale[1"})
            EXPECT_EQ(text.find(name), std::string::npos) << text;
    }
    // The file says what it said, so that programs of before read it; and a file of before is said by names.
    EXPECT_EQ(json::parse(read_text(work() / "fit.json")).at("posterior").at("hyperparameters").at(2), "mean[2]");
    EXPECT_EQ(said(LRVB_SOURCE_DIR "/tests/data/fit_1_3/full.json"), full);
    // By refits, which know them by their numbers.
    const Result refits = lrvb("sensitivity fit.json $DATA/old_faithful.csv --variables mu --format csv");
    EXPECT_NE(refits.out.find("mean[waiting]"), std::string::npos) << refits.err;
    fit("$DATA/old_faithful.csv -k 2 --covariance diagonal");
    EXPECT_EQ(said("fit.json"),
              (std::set<std::string>{"alpha", "mean[eruptions]", "mean[waiting]", "rate[eruptions]", "rate[waiting]",
                                     "shape", "variance[eruptions]", "variance[waiting]"}));
    fit("$DATA/old_faithful.csv -k 2 -c waiting");
    EXPECT_EQ(said("fit.json"), (std::set<std::string>{"alpha", "mean", "rate", "shape", "variance"}));
}

TEST_F(Names, WarningsOfThePriorSayColumnsByName) {
    fit("$DATA/old_faithful.csv -k 1 --prior-inverse-scale 1000");
    const std::string summary = lrvb("summary fit.json").out;
    EXPECT_NE(summary.find(" on the prior: with inverse_scale[eruptions,eruptions] 500 instead of 1e+03"),
              std::string::npos)
        << summary;
}

TEST_F(Names, OneColumnKeepsTheNotationOfThePaper) {
    fit("$DATA/old_faithful.csv -c waiting -k 2");
    EXPECT_EQ(summarised("fit.json --variables mu,tau"),
              (std::vector<std::string>{"mu[1]", "mu[2]", "tau[1]", "tau[2]"}));
}

TEST_F(Names, NumbersAreUnderstoodWhereANameIsWritten) {
    fit("$DATA/old_faithful.csv -k 2");
    EXPECT_EQ(summarised("fit.json --variables 'Sigma[2,1,2],mu[1,2]'"),
              (std::vector<std::string>{"Sigma[2,eruptions,waiting]", "mu[1,waiting]"}));
    for (const std::string command :
         {"covariance fit.json --format json", "sensitivity fit.json -o -",
          "influence fit.json $DATA/old_faithful.csv -o -", "leverage fit.json $DATA/old_faithful.csv"}) {
        const Result by_number = lrvb(command + " --variables 'mu[1,2]'");
        EXPECT_EQ(by_number.code, 0) << by_number.err;
        EXPECT_EQ(by_number.out, lrvb(command + " --variables 'mu[1,waiting]'").out) << command;
    }
    EXPECT_NE(refusal("summary fit.json --variables 'mu[1,3]'").find("there is no variable 'mu[1,3]'"),
              std::string::npos);
}

TEST_F(Names, EntriesOfASymmetricMatrixAreUnderstoodInEitherOrder) {
    fit("$DATA/old_faithful.csv -k 2");
    const std::vector<std::string> sigma{"Sigma[2,eruptions,waiting]"};
    for (const char* name :
         {"Sigma[2,1,2]", "Sigma[2,2,1]", "Sigma[2,eruptions,waiting]", "Sigma[2,waiting,eruptions]"}) {
        EXPECT_EQ(summarised(std::string("fit.json --variables '") + name + "'"), sigma) << name;
    }
    EXPECT_EQ(summarised("fit.json --variables 'Lambda[1,2,1]'"),
              (std::vector<std::string>{"Lambda[1,eruptions,waiting]"}));
    for (const std::string command :
         {"covariance fit.json --format json", "sensitivity fit.json -o -", "plot fit.json",
          "influence fit.json $DATA/old_faithful.csv -o -", "leverage fit.json $DATA/old_faithful.csv"}) {
        const Result mirrored = lrvb(command + " --variables 'Sigma[1,waiting,eruptions]'");
        EXPECT_EQ(mirrored.code, 0) << mirrored.err;
        EXPECT_EQ(mirrored.out, lrvb(command + " --variables 'Sigma[1,eruptions,waiting]'").out) << command;
    }
    // What is no entry of a matrix has one order.
    EXPECT_NE(refusal("summary fit.json --variables 'mu[waiting,1]'").find("there is no variable"), std::string::npos);
}

TEST_F(Names, AFitReadAgainSaysTheSame) {
    fit("$DATA/old_faithful.csv -k 2 --covariance diagonal");
    const std::string before = lrvb("summary fit.json").out;
    ASSERT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --correct -o corrected.json").code, 0);
    EXPECT_EQ(summarised("corrected.json"), summarised("fit.json"));
    EXPECT_EQ(lrvb("influence corrected.json $DATA/old_faithful.csv --variables mu").code, 0);
    const Result held = lrvb("fit mixture $DATA/old_faithful.csv -k 2 --covariance diagonal --fix means --at fit.json");
    EXPECT_EQ(held.code, 0) << held.err;
    EXPECT_EQ(lrvb("summary fit.json").out, before);
}

// Whatever would make a name that could be read in two ways, or not at all.
TEST_F(Names, ColumnsWhoseNamesCannotStandThereAreNumbered) {
    const std::string rows = "1,8,2,5,3\n2,6,9,1,4\n3,7,1,2,7\n5,1,4,8,1\n9,2,2,6,0\n";
    write("odd.csv", "\"a,b\",1,c[2],the d,\"e\"\"\"\n" + rows);
    fit("odd.csv -k 1 --covariance diagonal");
    EXPECT_EQ(summarised("fit.json --variables mu"),
              (std::vector<std::string>{"mu[1,1]", "mu[1,2]", "mu[1,3]", "mu[1,the d]", "mu[1,5]"}));
    EXPECT_EQ(summarised("fit.json --variables 'mu[1,the d],mu[1,4]'"),
              (std::vector<std::string>{"mu[1,the d]", "mu[1,the d]"}));
    EXPECT_EQ(lrvb("predict fit.json odd.csv").code, 0);
    const std::string longest(60, 'x');
    write("long.csv", longest + "," + longest + "y,\u00e4,a\tb,z\n" + rows);
    fit("long.csv -k 1 --covariance diagonal");
    EXPECT_EQ(summarised("fit.json --variables mu"),
              (std::vector<std::string>{"mu[1," + longest + "]", "mu[1,2]", "mu[1,\u00e4]", "mu[1,4]", "mu[1,z]"}));
}

TEST_F(Names, ColumnsOfOneNameAreNumbered) {
    write("twice.csv", "a,a,b\n1,2,3\n2,3,4\n4,4,9\n7,1,1\n");
    fit("twice.csv -c 1,2,3 -k 1 --covariance diagonal");
    EXPECT_EQ(summarised("fit.json --variables mu"), (std::vector<std::string>{"mu[1,1]", "mu[1,2]", "mu[1,b]"}));
    // The numbers are those of the columns of the fit.
    fit("twice.csv -c 3,2 -k 1");
    EXPECT_EQ(summarised("fit.json --variables mu"), (std::vector<std::string>{"mu[1,b]", "mu[1,2]"}));
    EXPECT_EQ(lrvb("influence fit.json twice.csv").code, 0);
}

// tests/data/fit_1_3 was written by the program before: it numbered all columns.
TEST_F(Names, FitsOfBeforeAreReadWithNames) {
    const std::string before = LRVB_SOURCE_DIR "/tests/data/fit_1_3/";
    for (const std::string name : {"full", "diagonal_corrected"}) {
        const json then = json::parse(read_text(before + name + ".summary.txt")).at("variables");
        const json now = lrvb("summary --format json " + before + name + ".json").json().at("variables");
        ASSERT_EQ(now.size(), then.size());
        for (std::size_t v = 0; v < now.size(); ++v) {
            for (const char* key : {"mean", "sd", "q5", "q95"}) EXPECT_EQ(now[v].at(key), then[v].at(key));
            std::string named = then[v].at("name");
            for (const auto& [number, column] : {std::pair{",1", ",eruptions"}, {",2", ",waiting"}}) {
                for (std::size_t at = 0; (at = named.find(number, at)) != std::string::npos;)
                    named.replace(at, 2, column);
            }
            EXPECT_EQ(now[v].at("name"), named);
        }
        EXPECT_EQ(lrvb("influence " + before + name + ".json $DATA/old_faithful.csv --variables 'mu[1,waiting]'").code,
                  0);
    }
    // A check that was written then, too.
    const Result report = lrvb("report " + before + "full.json --check " + before + "full.check.txt -o report.html");
    EXPECT_EQ(report.code, 0) << report.err;
}

TEST_F(Names, AFileWithAVariableUnderBothNamesIsRefused) {
    fit("$DATA/old_faithful.csv -k 2 --covariance diagonal");
    json file = json::parse(read_text(work() / "fit.json"));
    json copy = file.at("posterior").at("variables").at(4);
    ASSERT_EQ(copy.at("name"), "mu[1,eruptions]");
    copy["name"] = "mu[1,1]";
    file.at("posterior").at("variables").push_back(copy);
    file.erase("check");
    write("both.json", file.dump());
    EXPECT_NE(refusal("summary both.json").find("posterior.variables has 'mu[1,eruptions]' twice"), std::string::npos);
    file.at("posterior").at("variables").back()["name"] = "mu[1,another]";
    write("both.json", file.dump());
    EXPECT_NE(refusal("summary both.json").find("no variable of the model"), std::string::npos);
}

}  // namespace
}  // namespace lrvb::testing
