// Leverage, influence and sensitivity as the program prints them, against fits of changed data by the same program.

#include "csv.hpp"
#include "program.hpp"

#include <cmath>
#include <map>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class Influence : public ProgramTest {
  protected:
    std::map<std::string, json> summary(const std::string& fit) const {
        const json parsed = lrvb("summary " + fit + " --format json").json();
        std::map<std::string, json> found;
        for (const json& variable : parsed.at("variables")) found[variable.at("name")] = variable;
        return found;
    }
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit --help > /dev/null; lrvb fit " + arguments);
        ASSERT_EQ(result.code, 0) << arguments << ": " << result.err;
    }
};

// The prior is given in numbers, so that it stays where it is when the datum moves.
const std::string kPrior =
    " --quiet --tolerance 1e-11 --prior-alpha 1 --prior-mean 3.5 --prior-variance 130 --prior-shape 2 --prior-rate "
    "0.13";

TEST_F(Influence, LeverageIsTheSlopeOfRefitsForEveryVariable) {
    const Csv data = parse_csv(read_text(LRVB_DATA_DIR "/old_faithful.csv"));
    const auto with = [&](std::size_t row, double change) {
        std::string text = "eruptions\n";
        for (std::size_t i = 0; i < data.rows.size(); ++i) {
            char number[40];
            std::snprintf(number, sizeof number, "%.17g\n", data.number(i, "eruptions") + (i == row ? change : 0.0));
            text += number;
        }
        return text;
    };
    write("data.csv", with(0, 0.0));
    fit("mixture data.csv -k 2 -o fit.json" + kPrior);
    const Csv leverage = parse_csv(lrvb("leverage fit.json data.csv").out);
    ASSERT_EQ(leverage.rows.size(), 272U);
    EXPECT_EQ(leverage.header[0], "row");
    EXPECT_EQ(leverage.header[1], "x");
    const auto sds = summary("fit.json");
    EXPECT_EQ(leverage.header.size(), 2 + sds.size());
    for (const std::size_t row : {0U, 23U, 83U}) {
        const double step = 1e-4;
        write("up.csv", with(row, step));
        write("down.csv", with(row, -step));
        fit("mixture up.csv -k 2 -o up.json" + kPrior);
        fit("mixture down.csv -k 2 -o down.json" + kPrior);
        const auto up = summary("up.json");
        const auto down = summary("down.json");
        for (const auto& [name, variable] : sds) {
            const double slope =
                (up.at(name).at("mean").get<double>() - down.at(name).at("mean").get<double>()) / (2.0 * step);
            const double sd = variable.at("sd").get<double>();
            EXPECT_NEAR(leverage.number(row, name), slope, 1e-5 * std::max(std::abs(slope), 0.1 * sd))
                << name << " of row " << row + 1;
        }
    }
}

TEST_F(Influence, LeverageOfSeveralColumnsNamesThem) {
    fit("mixture $DATA/old_faithful.csv -k 2 --quiet -o fit.json");
    const Csv leverage = parse_csv(lrvb("leverage fit.json $DATA/old_faithful.csv --variables 'mu[1,2]'").out);
    EXPECT_EQ(leverage.header, (std::vector<std::string>{"row", "eruptions", "waiting", "mu[1,waiting]/eruptions",
                                                         "mu[1,waiting]/waiting"}));
    EXPECT_EQ(leverage.rows.size(), 272U);
    ASSERT_EQ(lrvb("leverage fit.json $DATA/old_faithful.csv --variables mu -o leverage.csv").out, "");
    EXPECT_EQ(parse_csv(read_text(work() / "leverage.csv")).header.size(), 3U + 8U);
}

TEST_F(Influence, OfARegressionHasTheHatValues) {
    fit("regression $DATA/mtcars.csv --response mpg -c wt,hp --prior-variance 1e9 --prior-intercept-variance 1e12 "
        "--quiet -o fit.json");
    const Csv leverage = parse_csv(lrvb("leverage fit.json $DATA/mtcars.csv").out);
    // x(XᵀX)⁻¹xᵀ in exact fractions.
    EXPECT_NEAR(leverage.number(0, "hat"), 0.044276914820, 1e-8);
    EXPECT_NEAR(leverage.number(30, "hat"), 0.394208157647, 1e-8);
    double sum = 0.0;
    for (std::size_t i = 0; i < leverage.rows.size(); ++i) sum += leverage.number(i, "hat");
    EXPECT_NEAR(sum, 3.0, 1e-7);
}

TEST_F(Influence, DroppingARowDoesWhatWasSaid) {
    fit("mixture $DATA/mixture3.csv -k 3 --quiet -o fit.json");
    const Result table = lrvb("influence fit.json $DATA/mixture3.csv --top 5 --refit -o all.csv");
    ASSERT_EQ(table.code, 0) << table.err;
    const Csv all = parse_csv(read_text(work() / "all.csv"));
    EXPECT_EQ(all.header[2], "distance");
    std::istringstream lines(table.out);
    std::string line;
    std::vector<std::vector<double>> shown;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        double row = 0.0;
        std::string kind;
        if (!(words >> row >> kind) || (kind != "predicted" && kind != "refitted")) continue;
        shown.emplace_back();
        for (double value = 0.0; words >> value;) shown.back().push_back(value);
    }
    ASSERT_EQ(shown.size(), 10U);
    for (std::size_t i = 0; i < 10; i += 2) {
        // The distance, and every shift that three decimals can tell.
        EXPECT_NEAR(shown[i][1], shown[i + 1][1], 0.1 * shown[i + 1][1] + 1e-3);
        for (std::size_t v = 2; v < shown[i].size(); ++v) {
            EXPECT_NEAR(shown[i][v], shown[i + 1][v], 0.1 * std::abs(shown[i + 1][v]) + 2e-3);
        }
    }
    // The furthest row is the first.
    double furthest = 0.0;
    for (std::size_t i = 0; i < all.rows.size(); ++i) furthest = std::max(furthest, all.number(i, "distance"));
    EXPECT_NEAR(shown[0][1], furthest, 5e-4);
}

// The change is one and the same, of a fit that is exact and of one that is not; what it is counted in is not.
TEST_F(Influence, ShiftsAreCountedInTheSdsThatTheSummaryShows) {
    fit("regression $DATA/mtcars.csv 'mpg ~ wt + hp' --quiet -o exact.json");
    fit("regression $DATA/mtcars.csv 'mpg ~ wt + hp' --check never --quiet -o point.json");
    const auto shown = summary("exact.json");
    const auto point = summary("point.json");
    const std::vector<std::string> names{"intercept", "beta[wt]", "beta[hp]", "sigma"};
    const Csv exact = parse_csv(lrvb("influence exact.json $DATA/mtcars.csv -o -").out);
    const Csv plain = parse_csv(lrvb("influence point.json $DATA/mtcars.csv -o -").out);
    for (const std::string& name : names) {
        const double sd = shown.at(name).at("sd").get<double>();
        const double response = point.at(name).at("sd").get<double>();
        EXPECT_GT(sd, 1.02 * response) << name;
        for (std::size_t row = 0; row < 32; ++row) {
            EXPECT_NEAR(exact.number(row, name) * sd, plain.number(row, name) * response, 1e-9 * sd) << name;
        }
        // Of one variable the distance is the shift, whichever it is.
        const Csv one = parse_csv(lrvb("influence exact.json $DATA/mtcars.csv --variables '" + name + "' -o -").out);
        for (std::size_t row = 0; row < 32; ++row) {
            EXPECT_NEAR(one.number(row, "distance"), std::abs(exact.number(row, name)), 1e-9) << name;
        }
    }
    // Of two, δᵀC⁻¹δ with the correlation that the program shows.
    const Csv two = parse_csv(lrvb("influence exact.json $DATA/mtcars.csv --variables 'beta[wt],beta[hp]' -o -").out);
    const Csv covariance = parse_csv(lrvb("covariance exact.json --variables 'beta[wt],beta[hp]' --format csv").out);
    const double wt = covariance.number(0, "beta[wt]");
    const double hp = covariance.number(1, "beta[hp]");
    const double r = covariance.number(0, "beta[hp]") / std::sqrt(wt * hp);
    for (std::size_t row = 0; row < 32; ++row) {
        const double a = two.number(row, "beta[wt]");
        const double b = two.number(row, "beta[hp]");
        EXPECT_NEAR(two.number(row, "distance"), std::sqrt((a * a - 2.0 * r * a * b + b * b) / (1.0 - r * r)), 1e-8);
    }
}

// Of an integrated fit: against integrated fits with another prior.
TEST_F(Influence, PriorSensitivityOfAnIntegratedFitIsTheSlopeOfIntegrals) {
    const std::string fit = "fit regression $DATA/dyestuff.csv 'Yield ~ 1 + (1 | Batch)' --quiet -o ";
    const double scale = 56.0;
    const auto moments = [&](double value) {
        const std::string prior = "sd[Batch,intercept] ~ half_t(2, " + std::to_string(value) + ")";
        EXPECT_EQ(lrvb(fit + "other.json --prior '" + prior + "'").code, 0);
        return summary("other.json");
    };
    ASSERT_EQ(lrvb(fit + "exact.json --prior 'sd[Batch,intercept] ~ half_t(2, 56)'").code, 0);
    const Csv of_scale = parse_csv(lrvb("sensitivity exact.json $DATA/dyestuff.csv --format csv --all").out);
    const auto low = moments(0.9 * scale);
    const auto high = moments(1.1 * scale);
    const auto shown = summary("exact.json");
    int found = 0;
    for (std::size_t i = 0; i < of_scale.rows.size(); ++i) {
        const std::string name = of_scale.rows[i][0];
        if (of_scale.rows[i][1] != "sd[Batch,intercept]: scale" || (name != "sd[Batch,intercept]" && name != "sigma")) {
            continue;
        }
        ++found;
        const auto slope = [&](const char* of) {
            return (high.at(name).at(of).get<double>() - low.at(name).at(of).get<double>()) / (0.2 * scale);
        };
        const double sd = shown.at(name).at("sd").get<double>();
        EXPECT_NEAR(of_scale.number(i, "mean_derivative"), slope("mean"), 1e-4 * sd / scale) << name;
        EXPECT_NEAR(of_scale.number(i, "sd_derivative"), slope("sd"), 1e-4 * sd / scale) << name;
        EXPECT_NEAR(of_scale.number(i, "sds_per_percent"), 0.01 * scale * slope("mean") / sd, 1e-5) << name;
    }
    EXPECT_EQ(found, 2);
}

TEST_F(Influence, PriorSensitivityIsTheSlopeOfRefits) {
    struct Prior {
        std::string name;
        std::string option;
        double value;
    };
    const auto compare = [&](const std::string& model, const std::vector<Prior>& priors) {
        const auto arguments = [&](const std::string& changed, double value) {
            std::string text = model + " --quiet --tolerance 1e-11";
            for (const Prior& prior : priors) {
                char number[40];
                std::snprintf(number, sizeof number, " %.17g", prior.name == changed ? value : prior.value);
                text += " " + prior.option + number;
            }
            return text;
        };
        fit(arguments("", 0.0) + " -o fit.json");
        ASSERT_EQ(lrvb("sensitivity fit.json -o s.csv").code, 0);
        const Csv csv = parse_csv(read_text(work() / "s.csv"));
        const auto base = summary("fit.json");
        EXPECT_EQ(csv.rows.size(), base.size() * priors.size());
        for (const Prior& prior : priors) {
            const double step = 1e-3 * std::max(std::abs(prior.value), 0.1);
            fit(arguments(prior.name, prior.value + step) + " -o up.json");
            fit(arguments(prior.name, prior.value - step) + " -o down.json");
            const auto up = summary("up.json");
            const auto down = summary("down.json");
            for (std::size_t i = 0; i < csv.rows.size(); ++i) {
                if (csv.rows[i][csv.column("prior")] != prior.name) continue;
                const std::string name = csv.rows[i][csv.column("variable")];
                const double slope =
                    (up.at(name).at("mean").get<double>() - down.at(name).at("mean").get<double>()) / (2.0 * step);
                const double sd = base.at(name).at("sd").get<double>();
                EXPECT_NEAR(csv.number(i, "mean_derivative"), slope,
                            1e-6 * std::max(std::abs(slope), sd / std::max(std::abs(prior.value), 0.1)))
                    << name << " in " << prior.name;
                EXPECT_NEAR(csv.number(i, "sds_per_percent"), slope * 0.01 * prior.value / sd, 1e-6);
            }
        }
    };
    compare("mixture $DATA/old_faithful.csv -c eruptions -k 2", {{"alpha", "--prior-alpha", 1.5},
                                                                 {"mean", "--prior-mean", 3.0},
                                                                 {"variance", "--prior-variance", 20.0},
                                                                 {"shape", "--prior-shape", 2.0},
                                                                 {"rate", "--prior-rate", 0.2}});
    compare("regression $DATA/mtcars.csv --response mpg -c wt",
            {{"intercept_mean", "--prior-intercept-mean", 18.0},
             {"intercept_variance", "--prior-intercept-variance", 30.0},
             {"mean[wt]", "--prior-mean", -4.0},
             {"variance[wt]", "--prior-variance", 5.0},
             {"shape", "--prior-shape", 2.0},
             {"rate", "--prior-rate", 4.0}});
}

TEST_F(Influence, SensitivitySaysWhenThePriorMattersAndWhatIsARefit) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --quiet -o fit.json");
    EXPECT_EQ(lrvb("sensitivity fit.json").out.rfind("The prior hardly matters", 0), 0U);
    const Result with_data = lrvb("sensitivity fit.json $DATA/old_faithful.csv --variables mu");
    EXPECT_NE(with_data.out.find("d sd is the difference of two refits"), std::string::npos) << with_data.err;
    write("few.csv", "x\n1\n2\n4\n");
    fit("mixture few.csv -k 1 --quiet -o few.json");
    EXPECT_EQ(lrvb("sensitivity few.json").out.rfind("The prior matters", 0), 0U);
}

TEST_F(Influence, RowsAreThoseOfTheFileWhereSomeWereLeftOut) {
    write("data.csv", "x,g\nNA,a\n1,a\n2,b\n,b\n4,a\n50,b\n3,a\n5,b\n");
    fit("mixture data.csv -c x -k 1 --drop-missing --quiet -o fit.json");
    const Csv leverage = parse_csv(lrvb("leverage fit.json data.csv --variables mu").out);
    std::vector<std::string> rows;
    for (const auto& row : leverage.rows) rows.push_back(row[0]);
    EXPECT_EQ(rows, (std::vector<std::string>{"2", "3", "5", "6", "7", "8"}));
    const Csv influence = parse_csv(lrvb("influence fit.json data.csv --variables mu -o -").out);
    EXPECT_EQ(influence.rows[3][0], "6");
    EXPECT_EQ(influence.rows[3][1], "50");
    const Csv predicted = parse_csv(lrvb("predict fit.json data.csv --drop-missing").out);
    EXPECT_EQ(predicted.rows[3][0], "6");
    fit("regression data.csv --response x -c g --drop-missing --quiet -o regression.json");
    EXPECT_EQ(parse_csv(lrvb("influence regression.json data.csv -o -").out).rows[3][0], "6");
}

TEST_F(Influence, AnOffsetOfAColumnChangesNoDistance) {
    const auto data = [](double offset) {
        std::string text = "t,y\n";
        for (int i = 0; i < 50; ++i) {
            char line[80];
            std::snprintf(line, sizeof line, "%.0f,%.6f\n", offset + i, 3.0 + 0.1 * i + std::sin(7.0 * i));
            text += line;
        }
        return text;
    };
    std::vector<Csv> answers;
    for (const double offset : {0.0, 1.7e9}) {
        write("data.csv", data(offset));
        fit("regression data.csv --response y --quiet -o fit.json");
        answers.push_back(parse_csv(lrvb("influence fit.json data.csv -o -").out));
    }
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_NEAR(answers[0].number(i, "distance"), answers[1].number(i, "distance"), 1e-5);
    }
}

TEST_F(Influence, SensitivityOfSdsWorksInAnyUnit) {
    std::string text = "a,b\n";
    const Csv data = parse_csv(read_text(LRVB_DATA_DIR "/old_faithful.csv"));
    for (std::size_t i = 0; i < data.rows.size(); ++i) {
        char line[80];
        std::snprintf(line, sizeof line, "%.12g,%.12g\n", 1e-6 * data.number(i, "eruptions"),
                      1e6 + data.number(i, "waiting"));
        text += line;
    }
    write("data.csv", text);
    fit("mixture data.csv -k 2 --quiet -o fit.json");
    const Result result = lrvb("sensitivity fit.json data.csv --variables mu");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.rfind("The prior hardly matters", 0), 0U) << result.out;
}

TEST_F(Influence, ARowThatCannotBeLeftOutIsSaidSo) {
    write("data.csv", "g,y\na,1\nb,2\na,1.5\nb,2.5\nrare,9\na,1.2\n");
    fit("regression data.csv --response y --quiet -o fit.json");
    const Result result = lrvb("influence fit.json data.csv --refit");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("impossible"), std::string::npos) << result.out;
}

TEST_F(Influence, OtherDataThanThoseOfTheFitAreRefused) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --quiet -o fit.json");
    write("other.csv", "eruptions\n1\n2\n3\n");
    for (const char* command : {"leverage", "influence", "sensitivity"}) {
        const Result result = lrvb(std::string(command) + " fit.json other.csv");
        EXPECT_EQ(result.code, 1);
        EXPECT_NE(result.err.find("other.csv holds other numbers"), std::string::npos) << result.err;
    }
    lrvb("fit mixture $DATA/mixture3.csv -k 3 --max-iterations 1 --restarts 1 --quiet -o fit.json");
    EXPECT_NE(lrvb("leverage fit.json $DATA/mixture3.csv").err.find("did not converge"), std::string::npos);
    EXPECT_NE(lrvb("sensitivity fit.json").err.find("did not converge"), std::string::npos);
}

}  // namespace
}  // namespace lrvb::testing
