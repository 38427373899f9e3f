// Regressions whose rows many processes have: the fit file of one process that reads the same files, to the bit.

#include "crew.hpp"
#include "data_files.hpp"

#include <lrvb/data/npy.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/query/influence.hpp>
#include <lrvb/query/robust.hpp>
#include <lrvb/query/row_tallies.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

namespace lrvb {
namespace {

class RegressionRanks : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return files_.path(name); }
    void write(const std::string& name, const std::string& text) const { files_.write(name, text); }

    // Rows with a response, two numbers, a factor, two groups and weights, of which some are zero; the last group is in
    // the last rows alone.
    static std::string rows(Index first, Index count) {
        std::string text;
        for (Index n = first; n < first + count; ++n) {
            Random random(3, static_cast<std::uint64_t>(n));
            const double x = 2.0 + random.normal();
            const double z = std::exp(0.3 * random.normal());
            const int f = static_cast<int>(random.uniform() * 3.0);
            const int g = static_cast<int>(n / 9000);
            const int h = static_cast<int>(random.uniform() * 4.0);
            const double y = 1.0 + 0.5 * x - z + 0.3 * f + 0.2 * (g % 7) + 0.1 * ((g + h) % 3) * x + random.normal();
            text += fmt::format("{},{:.6f},{:.6f},{},s{},{},{}\n", y, x, z, "abc"[f], g, h, n % 5);
        }
        return text;
    }

    void write_parts() const {
        Index first = 0;
        int part = 0;
        for (const Index count : {70000, 3, 40000, 50001}) {
            write(fmt::format("part-{}.csv", ++part), "y,x,z,f,g,h,w\n" + rows(first, count));
            first += count;
        }
    }

    static std::unique_ptr<FittedModel> fit(const Settings& settings, const Dataset& data, int threads = 1) {
        return find_kind("regression")->fit({data, settings, {}, threads, {}});
    }
    static std::string text_of(const Settings& settings, const Dataset& data, int threads = 1) {
        return fit_text(fit(settings, data, threads)->file());
    }
    std::string refusal(const Settings& settings, const std::string& data, const DataOptions& options) const {
        try {
            fit(settings, Dataset(path(data), options));
        } catch (const std::exception& error) {
            return error.what();
        }
        return "no exception";
    }
    void expect_refused(const Settings& settings, const std::string& data, const std::string& part) const {
        const std::string alone = refusal(settings, data, {});
        EXPECT_NE(alone.find(part), std::string::npos) << alone;
        for (const int size : {2, 3}) {
            Crew crew(size);
            EXPECT_EQ(refusal(settings, data, crew.options()), alone);
        }
    }

    TemporaryDirectory files_;
};

TEST_F(RegressionRanks, AreFittedToTheSameBits) {
    write_parts();
    const std::vector<Settings> all{
        {{"FORMULA", "y ~ x + z"}},
        {{"FORMULA", "y ~ x + f + (x | g)"}},
        {{"FORMULA", "y ~ scale(log(z)) + poly(x, 3) + f:z + (1 | g) + (1 | h)"}, {"baseline", "f=b"}},
        {{"FORMULA", "log(z) ~ 0 + f + offset(x) + (1 | g:h)"}, {"prior", "beta ~ normal(0, 10)"}},
        {{"FORMULA", "y ~ . - g - h"}, {"weights", "w"}},
        {{"response", "y"}, {"columns", "x,f,h"}, {"weights", "w"}},
    };
    for (const Settings& settings : all) {
        SCOPED_TRACE(settings.text("FORMULA", "by columns"));
        const std::string alone = text_of(settings, path("part-*.csv"));
        for (const int size : {1, 2, 3, 4, 9}) {
            SCOPED_TRACE(size);
            Crew crew(size);
            EXPECT_EQ(text_of(settings, Dataset(path("part-*.csv"), crew.options()), 1 + size % 2), alone);
        }
    }
}

TEST_F(RegressionRanks, HaveTheNumbersOfOneFile) {
    write_parts();
    write("all.csv", "y,x,z,f,g,h,w\n" + rows(0, 160004));
    const Settings settings{{"FORMULA", "y ~ x + f + (x | g)"}};
    const auto parts = fit(settings, path("part-*.csv"));
    const auto one = fit(settings, path("all.csv"));
    EXPECT_EQ(parts->file().data.checksum, one->file().data.checksum);
    EXPECT_EQ(parts->posterior().mean, one->posterior().mean);
    const std::string alone = fit_text(one->file());
    for (const int size : {2, 5}) {
        Crew crew(size);
        EXPECT_EQ(text_of(settings, Dataset(path("all.csv"), crew.options())), alone);
    }
}

TEST_F(RegressionRanks, LeaveOutRowsAsOneProcessDoes) {
    write_parts();
    std::ofstream(path("part-2.csv"), std::ios::app) << "NA,1,1,a,s1,1,1\n1,1,1,,s1,1,1\n";
    const Settings settings{{"FORMULA", "y ~ x + f + (1 | g)"}, {"drop-missing", "true"}};
    const auto alone = fit(settings, path("part-*.csv"));
    EXPECT_EQ(alone->file().data.dropped, 2);
    for (const int size : {2, 4}) {
        Crew crew(size);
        EXPECT_EQ(text_of(settings, Dataset(path("part-*.csv"), crew.options())), fit_text(alone->file()));
    }
}

TEST_F(RegressionRanks, GroupNumbersOfNumPyFiles) {
    Index first = 0;
    int part = 0;
    for (const Index count : {66000, 70000}) {
        std::vector<double> numbers;
        for (Index n = first; n < first + count; ++n) {
            Random random(5, static_cast<std::uint64_t>(n));
            const double x = random.normal();
            numbers.insert(numbers.end(), {static_cast<double>(n % 1500) / 4.0 + x + random.normal(), x,
                                           static_cast<double>(n % 1500) / 2.0});
        }
        write_npy(path(fmt::format("part-{}.npy", ++part)), count, 3, numbers.data());
        first += count;
    }
    const Settings settings{{"FORMULA", "`1` ~ `2` + (1 | `3`)"}};
    const auto alone = fit(settings, path("part-*.npy"));
    EXPECT_EQ(alone->posterior().select({"u[3,0.5,intercept]"}).size(), 1U);
    for (const int size : {2, 3}) {
        Crew crew(size);
        EXPECT_EQ(text_of(settings, Dataset(path("part-*.npy"), crew.options())), fit_text(alone->file()));
    }
}

// A column of codes that are numbers in the first part and text in the last.
TEST_F(RegressionRanks, AgreeOnWhatAColumnIs) {
    std::string numbers = "y,code\n";
    std::string texts = "y,code\n";
    for (int n = 0; n < 70000; ++n) {
        Random random(8, static_cast<std::uint64_t>(n));
        numbers += fmt::format("{},{}\n", random.normal(), n % 3);
        texts += fmt::format("{},{}\n", random.normal(), n % 10 == 0 ? "7" : n % 2 == 0 ? "x" : "y");
    }
    write("code-1.csv", numbers);
    write("code-2.csv", texts + texts.substr(7));
    const Settings settings{{"FORMULA", "y ~ code"}};
    const auto alone = fit(settings, path("code-*.csv"));
    EXPECT_EQ(alone->posterior().select({"beta"}).size(), 5U);  // 0, 1, 2, 7, x, y but the first
    for (const int size : {2, 3}) {
        Crew crew(size);
        EXPECT_EQ(text_of(settings, Dataset(path("code-*.csv"), crew.options())), fit_text(alone->file()));
    }
}

TEST_F(RegressionRanks, OfFewRowsAreThoseOfOneProcessWithAllTheirQueries) {
    write(
        "few.csv", "y,x,f,g,s\n" + [] {
            std::string text;
            for (int n = 0; n < 60; ++n) {
                Random random(9, static_cast<std::uint64_t>(n));
                text +=
                    fmt::format("{},{},{},{},{}\n", random.normal(), n, "ab"[n % 2], n % 7, n % 3 > 0 ? "yes" : "no");
            }
            return text;
        }());
    for (const Settings& settings :
         {Settings{{"FORMULA", "y ~ x + f + (1 | g)"}}, Settings{{"FORMULA", "s ~ x"}, {"family", "bernoulli"}}}) {
        const auto alone = fit(settings, path("few.csv"));
        Crew crew(4);
        const auto shared = fit(settings, Dataset(path("few.csv"), crew.options()));
        EXPECT_EQ(fit_text(shared->file()), fit_text(alone->file()));
        EXPECT_EQ(shared->row_columns().size(), alone->row_columns().size());
    }
}

TEST_F(RegressionRanks, AreReadAgainFromTheirFiles) {
    write_parts();
    const Settings settings{{"FORMULA", "y ~ x + f + (x | g)"}, {"weights", "w"}};
    const auto alone = fit(settings, path("part-*.csv"));
    Crew crew(3);
    const auto shared = restore(alone->file(), Dataset(path("part-*.csv"), crew.options()));
    const auto here = restore(alone->file(), path("part-*.csv"));
    EXPECT_EQ(shared->posterior().mean, alone->posterior().mean);
    const Vector means = shared->optimum().state.mean;
    EXPECT_EQ(shared->model().log_joint(means, 1), here->model().log_joint(means, 1));
    // Another number is noticed.
    std::string text = "y,x,z,f,g,h,w\n" + rows(70000, 3);
    text.replace(text.rfind('\n', text.size() - 2) + 1, 1, "9");
    write("part-2.csv", text);
    EXPECT_NE(message_of<std::runtime_error>([&] {
                  restore(alone->file(), Dataset(path("part-*.csv"), crew.options()));
              }).find("holds other numbers than the data of the fit"),
              std::string::npos);
}

// What is asked of rows: by tallies where they are, one after the other, and of all of them here; with rows without
// weight, and one with a missing value.
TEST_F(RegressionRanks, AnswerOfTheirRowsWhatOneProcessAnswers) {
    register_query_tallies();
    write_parts();
    std::ofstream(path("part-2.csv"), std::ios::app) << "NA,1,1,a,s1,1,1\n";
    for (const Settings& settings : {Settings{{"FORMULA", "y ~ x + f + (x | g) + (1 | h)"}, {"drop-missing", "true"}},
                                     Settings{{"FORMULA", "y ~ x + z"}, {"weights", "w"}, {"drop-missing", "true"}}}) {
        SCOPED_TRACE(settings.text("FORMULA"));
        const FitFile file = fit(settings, path("part-*.csv"))->file();
        const auto here = restore(file, path("part-*.csv"));
        const std::vector<std::string> chosen{"beta", "sigma"};
        const RowInfluence own(*here, chosen);
        const std::vector<RobustSd> own_sds = robust_sds(*here);
        const std::vector<RowInfluence::Case> own_cases = own.most_influential(5);
        for (const int size : {1, 2, 3, 9}) {
            SCOPED_TRACE(size);
            Crew crew(size);
            const Dataset data(path("part-*.csv"), crew.options());
            const auto shared = restore(file, data);
            const std::vector<RobustSd> sds = robust_sds(*shared);
            ASSERT_EQ(sds.size(), own_sds.size());
            for (std::size_t v = 0; v < sds.size(); ++v) EXPECT_EQ(sds[v].sd_robust, own_sds[v].sd_robust);
            const RowInfluence influence(*shared, chosen);
            const std::vector<RowInfluence::Case> cases = influence.most_influential(5);
            ASSERT_EQ(cases.size(), 5U);
            for (std::size_t i = 0; i < cases.size(); ++i) {
                EXPECT_EQ(shared->file_row(cases[i].row), here->file_row(own_cases[i].row));
                EXPECT_EQ(cases[i].inputs, own_cases[i].inputs);
                EXPECT_EQ(cases[i].shifts, own_cases[i].shifts);
            }
            std::vector<double> distances;
            std::vector<double> own_distances;
            influence.each([&](const RowInfluence::Case& one) { distances.push_back(one.distance); });
            own.each([&](const RowInfluence::Case& one) { own_distances.push_back(one.distance); });
            EXPECT_EQ(distances, own_distances);
            EXPECT_EQ(shared->fitted_response()->hat, here->fitted_response()->hat);
            EXPECT_EQ(shared->picture().json(), here->picture().json());
        }
    }
}

TEST_F(RegressionRanks, AreFittedAgainWithoutSomeRows) {
    write_parts();
    const FitFile file = fit({{"FORMULA", "y ~ x + f"}}, path("part-*.csv"))->file();
    Crew crew(3);
    const auto shared = restore(file, Dataset(path("part-*.csv"), crew.options()));
    const auto here = restore(file, path("part-*.csv"));
    EXPECT_EQ(shared->refit({{1, 100000}, {}}).mean, here->refit({{1, 100000}, {}}).mean);
}

TEST_F(RegressionRanks, RefuseWhatOneProcessRefusesByPartAndRow) {
    write_parts();
    const Settings settings{{"FORMULA", "y ~ x + f + (1 | g)"}};
    const std::string header = "y,x,z,f,g,h,w\n";
    const std::string good = rows(110003, 50001);
    write("part-4.csv", header + "1,what,1,a,s1,1,1\n" + good);
    expect_refused(settings, "part-*.csv", "part-4.csv: row 1, column 'x': 'what' is not a number");
    write("part-4.csv", header + "1,1,0,a,s1,1,1\n" + good);
    expect_refused({{"FORMULA", "y ~ log(z) + (1 | g)"}}, "part-*.csv",
                   "part-4.csv: row 1: log(z) is not a finite number");
    write("part-4.csv", header + "1,1,1,a,s1,1,1,1\n" + good);
    expect_refused(settings, "part-*.csv", "part-4.csv: row 1: there are 8 fields");
    write("part-4.csv", header + good + "1,NA,1,a,s1,1,1\n");
    expect_refused(settings, "part-*.csv", "part-4.csv: row 50002, column 'x': the value is missing");
    write("part-4.csv", header + good + "1,1,1,a,s1,1,-1\n");
    expect_refused({{"FORMULA", "y ~ x"}, {"weights", "w"}}, "part-*.csv",
                   "part-4.csv: row 50002, column 'w': the weight is -1");
    write("part-4.csv", header);
    expect_refused(settings, "part-*.csv", "part-4.csv: has a header but no rows");
    write("part-4.csv", "");
    expect_refused(settings, "part-*.csv", "part-4.csv: is empty");
    write("part-4.csv", "other\n1\n");
    expect_refused(settings, "part-*.csv", "part-4.csv");
    write("part-4.csv", header + good);
    expect_refused({{"FORMULA", "y ~ x + I(2 * x)"}}, "part-*.csv", "is a combination of those before it");
    expect_refused({{"FORMULA", "y ~ x + nothing"}}, "part-*.csv", "there is no column 'nothing'");
    expect_refused({{"FORMULA", "y ~ x + (0 + w | g)"}, {"weights", "w"}}, "part-*.csv", "the formula has that column");
}

// Other responses, and the paper's model, look at all rows again at every step: rank 0 reads them.
TEST_F(RegressionRanks, OfOtherResponsesAreFittedByOneProcess) {
    write_parts();
    for (const Settings& settings : {Settings{{"FORMULA", "h ~ x"}, {"family", "poisson"}},
                                     Settings{{"response", "y"}, {"columns", "x"}, {"prior", "paper"}}}) {
        const FitFile alone = fit(settings, path("part-*.csv"))->file();
        Crew crew(2);
        const Dataset data(path("part-*.csv"), crew.options());
        EXPECT_EQ(text_of(settings, data), fit_text(alone));
        EXPECT_EQ(restore(alone, data)->posterior().mean, alone.posterior.mean);
    }
}

}  // namespace
}  // namespace lrvb
