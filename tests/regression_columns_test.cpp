// How the columns of a table become parts of a regression: groups or numbers, what is refused, and what is said.

#include "data_files.hpp"
#include "says.hpp"
#include "support.hpp"

#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>

#include <fmt/format.h>

namespace lrvb {
namespace {

using Names = std::vector<std::string>;

class RegressionColumns : public ::testing::Test {
  protected:
    std::string path(const std::string& text) const { return directory_.write("a.csv", text); }

    std::unique_ptr<FittedModel> fit(const std::string& text, const Settings& settings) const {
        return find_kind("regression")->fit(FitRequest{path(text), settings, {}, 1, {}});
    }
    Names notes(const std::string& text, const Settings& settings) const { return fit(text, settings)->file().notes; }

    /// Without the file's name.
    std::string refusal(const std::string& text, const Settings& settings) const {
        const std::string message = message_of<std::runtime_error>([&] { fit(text, settings); });
        const std::string name = directory_.path("a.csv") + ": ";
        return message.starts_with(name) ? message.substr(name.size()) : message;
    }

    static Names slopes(const FittedModel& fitted) {
        Names names;
        for (const PosteriorVariable& variable : fitted.posterior().variables) {
            if (variable.name.starts_with("beta")) names.push_back(variable.name);
        }
        return names;
    }

    TemporaryDirectory directory_;
};

/// Three subjects, four times each; the cylinders are in quotes, as R writes factors.
std::string visits() {
    std::string text = "y,subject,cyl,x\n";
    for (int n = 0; n < 12; ++n) {
        text += fmt::format("{},{},\"{}\",{}\n", 0.1 * n + (n % 3) * (n % 3), 308 + n % 3, 4 + 2 * (n / 3 % 3), n * n);
    }
    return text;
}

TEST_F(RegressionColumns, SaysHowEachColumnWasTakenThatCouldBeTakenOtherwise) {
    const auto fitted = fit(visits(), {{"response", "y"}});
    EXPECT_EQ(slopes(*fitted), (Names{"beta[subject]", "beta[cyl=6]", "beta[cyl=8]", "beta[x]"}));
    EXPECT_EQ(
        fitted->file().notes,
        (Names{"cyl: groups 4, 6 and 8 (baseline 4), as its numbers are quoted; --numeric cyl takes it as a number",
               "subject: a number, 308 to 310, 3 values; --factor subject takes it as groups"}));
}

TEST_F(RegressionColumns, WhatWasDecidedIsNotSaid) {
    const auto fitted = fit(visits(), {{"response", "y"}, {"factor", "subject"}, {"numeric", "cyl"}});
    EXPECT_EQ(slopes(*fitted), (Names{"beta[subject=309]", "beta[subject=310]", "beta[cyl]", "beta[x]"}));
    EXPECT_EQ(fitted->file().notes, Names{});
    // By number, and with chosen columns.
    EXPECT_EQ(slopes(*fit(visits(), {{"response", "1"}, {"columns", "2"}, {"factor", "2"}})),
              (Names{"beta[subject=309]", "beta[subject=310]"}));
}

TEST_F(RegressionColumns, ADecisionIsKeptInTheFileAndInPredictions) {
    const auto fitted = fit(visits(), {{"response", "y"}, {"factor", "subject"}, {"numeric", "cyl"}});
    write_fit(directory_.path("fit.json"), fitted->file());
    const FitFile file = read_fit(directory_.path("fit.json"));
    const auto again = restore(file, path(visits()));
    EXPECT_EQ(slopes(*again), slopes(*fitted));
    EXPECT_NO_THROW(again->refit({.without_rows = {3}, .prior = {}}));
    struct Rows final : TableSink {
        void header(const Names&) override {}
        void row(Index, const Vector& numbers) override { means.push_back(numbers[0]); }
        std::vector<double> means;
    } with_quotes, without_quotes;
    file.model->predict(file, directory_.write("new.csv", "x,cyl,subject\n1,\"5\",\"309\"\n2,\"4\",\"308\"\n"),
                        PredictOptions(), with_quotes);
    file.model->predict(file, directory_.write("new.csv", "x,cyl,subject\n1,5,309\n2,4,308\n"), PredictOptions(),
                        without_quotes);
    EXPECT_EQ(with_quotes.means, without_quotes.means);
    EXPECT_EQ(with_quotes.means.size(), 2U);
}

TEST_F(RegressionColumns, NotesAreKeptInTheFile) {
    const auto fitted = fit(visits(), {{"response", "y"}});
    write_fit(directory_.path("fit.json"), fitted->file());
    EXPECT_EQ(read_fit(directory_.path("fit.json")).notes, fitted->file().notes);
}

TEST_F(RegressionColumns, AQuotedResponseIsNumbers) {
    EXPECT_EQ(slopes(*fit("y,x\n\"1\",1\n\"3\",2\n\"2\",4\n\"5\",6\n", {{"response", "y"}})), Names{"beta[x]"});
}

TEST_F(RegressionColumns, ManyColumnsOfFewValuesAreSaidInOneSentence) {
    std::string text = "y";
    for (int j = 1; j <= 12; ++j) text += fmt::format(",p{}", j);
    for (int n = 0; n < 60; ++n) {
        text += fmt::format("\n{}", 0.5 + n * n % 17);
        for (int j = 1; j <= 12; ++j) text += fmt::format(",{}", (n * n + j * n * n * n + n / (j + 1)) % 7);
    }
    const Names said = notes(text + "\n", {{"response", "y"}});
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(
        said[0],
        "p1, p2, p3, p4, p5, p6, p7, p8, p9, p10 and 2 more: numbers, whole and of few values; --factor with their "
        "names takes them as groups");
}

TEST_F(RegressionColumns, NumbersThatDoNotRepeatAreNotAmbiguous) {
    EXPECT_EQ(notes("y,a,b\n1.5,1,0.5\n2.5,2,0.5\n2,3,1\n4,5,0.5\n3,4,1.5\n5,9,1\n", {{"response", "y"}}), Names{});
}

TEST_F(RegressionColumns, OneTextAmongNumbersIsRefusedWithItsRowAndThreeWaysOut) {
    const std::string file = LRVB_TEST_DATA "/r_na.csv";
    const auto fit_file = [&](const Settings& settings) {
        return find_kind("regression")->fit(FitRequest{file, settings, {}, 1, {}});
    };
    EXPECT_TRUE(test::says(
        message_of<std::runtime_error>([&] {
            fit_file({{"response", "y"}});
        }),
        {file, "'age'", "'N/A'", "--na", "--drop-missing", "--factor", "row 51", "199", "200", "missing", "correct"}));
    const auto dropped =
        find_kind("regression")
            ->fit(FitRequest{Dataset(file, {.na = {"N/A"}}), {{"response", "y"}, {"drop-missing", "true"}}, {}, 1, {}});
    EXPECT_EQ(slopes(*dropped), Names{"beta[age]"});
    EXPECT_EQ(dropped->file().data.rows, 199);
    EXPECT_EQ(dropped->file_row(50), 52);
    EXPECT_EQ(slopes(*fit_file({{"response", "y"}, {"factor", "age"}})).size(), 9U);
}

TEST_F(RegressionColumns, SeveralTextsAreOfferedAsMissingTogether) {
    EXPECT_TRUE(
        test::says(refusal("y,x\n1,?\n2,3\n3,-\n4,4\n5,1\n6,2\n", {{"response", "y"}}),
                   {"'x'", "'?'", "'-,?'", "--na", "--drop-missing", "--factor", "row 1", "4", "6", "missing"}));
    EXPECT_TRUE(test::says(refusal("y,x\n1,2\n2,3\n?,5\n4,4\n5,1\n6,2\n", {{"response", "y"}}),
                           {"'y'", "'?'", "--na", "--drop-missing", "row 3", "5", "6", "missing"}));
}

TEST_F(RegressionColumns, TextWithSomeNumbersIsGroupsAndSaid) {
    EXPECT_EQ(
        notes("y,x\n1,?\n2,3\n3,?\n4,?\n5,1\n6,3\n", {{"response", "y"}}),
        Names{
            "x: groups 1, 3 and ? (baseline 1), as 3 of its 6 values are not numbers; --na '?' takes '?' as missing"});
    EXPECT_EQ(notes("y,x\n1,a\n2,b\n3,a\n4,b\n5,a\n", {{"response", "y"}}), Names{});
}

TEST_F(RegressionColumns, DecisionsThatCannotBeAreRefused) {
    const Settings y{{"response", "y"}};
    EXPECT_TRUE(test::says(refusal("y,x\n1,a\n2,b\n3,a\n4,2\n", {{"response", "y"}, {"numeric", "x"}}),
                           {"'x'", "'a'", "--numeric", "row 1", "correct"}));
    EXPECT_TRUE(test::says(refusal("y,x\n1,2\n2,3\n", {{"response", "y"}, {"numeric", "x"}, {"factor", "x"}}),
                           {"'x'", "--factor", "--numeric", "give"}));
    EXPECT_TRUE(test::says(refusal("y,x\n1,2\n2,3\n", {{"response", "y"}, {"factor", "y"}}),
                           {"--factor", "response", "numbers", "leave"}));
    EXPECT_TRUE(
        test::says(refusal("y,my x\n1,\"2.5\"\n2,\"3\"\n3,\"1\"\n", y), {"'my x'", "--numeric", "numbers", "leave"}));
}

TEST_F(RegressionColumns, AnotherBaselineIsAnotherDifference) {
    const Settings groups{{"response", "y"}, {"columns", "cyl"}};
    Settings other = groups;
    other.set("baseline", "cyl=6");
    const auto first = fit(visits(), groups);
    const auto second = fit(visits(), other);
    EXPECT_EQ(slopes(*second), (Names{"beta[cyl=4]", "beta[cyl=8]"}));
    const auto mean = [](const FittedModel& fitted, const std::string& name) {
        return fitted.posterior().variables[static_cast<std::size_t>(fitted.posterior().select({name}).front())].mean;
    };
    // But for the weak prior, which is on other differences.
    EXPECT_NEAR(mean(*second, "beta[cyl=4]"), -mean(*first, "beta[cyl=6]"), 0.01);
    write_fit(directory_.path("fit.json"), second->file());
    EXPECT_EQ(slopes(*restore(read_fit(directory_.path("fit.json")), path(visits()))), slopes(*second));

    other.set("baseline", "cyl=5");
    EXPECT_TRUE(test::says(refusal(visits(), other), {"'cyl'", "'5'", "'4'", "'6'", "'8'", "baseline", "level"}));
    other.set("baseline", "gear=5");
    EXPECT_TRUE(test::says(refusal(visits(), other), {"'cyl'", "--baseline gear=5", "baseline"}));
    other.set("baseline", "6");
    EXPECT_TRUE(test::says(refusal(visits(), other), {"--baseline", "6", "baseline", "levels", "give"}));
    EXPECT_TRUE(test::says(refusal(visits(), {{"response", "y"}, {"baseline", "subject=309"}}),
                           {"'subject'", "--baseline subject=309", "--factor", "baseline"}));
}

TEST_F(RegressionColumns, AResponseThatIsNoNormalOneIsWarnedOf) {
    const auto warnings = [&](const std::string& text) { return fit(text, {{"response", "y"}})->file().warnings; };
    EXPECT_EQ(
        warnings("y,x\n0,1\n1,2\n1,3.5\n0,4\n1,6\n"),
        Names{"the response 'y' has two values, but this fits a normal response: --family bernoulli fits one of 0 "
              "and 1"});
    EXPECT_EQ(warnings("y,x\n0,1\n1,2\n3,3.5\n0,4\n1,6\n3,7\n"),
              Names{"the response 'y' has small counts, but this fits a normal response of one variance: --family "
                    "poisson fits counts"});
    EXPECT_EQ(warnings("y,x\n-1,1\n1,2\n3,3.5\n-1,4\n1,6\n3,7\n"), Names{});
    EXPECT_EQ(warnings("y,x\n41,1\n52,2\n63,3.5\n41,4\n52,6\n63,7\n"), Names{});
}

}  // namespace
}  // namespace lrvb
