// The report: its contents, read back from the page, against what the other commands say of the same fit.

#include "csv.hpp"
#include "program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <sstream>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

std::string decoded(const std::string& text) {
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
        static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        if (c == '=') break;
        bits = (bits << 6U) | static_cast<unsigned>(digits.find(c));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
    return bytes;
}

template <class Number>
std::vector<double> numbers(const json& text) {
    const std::string bytes = decoded(text.get<std::string>());
    std::vector<Number> values(bytes.size() / sizeof(Number));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return {values.begin(), values.end()};
}
std::vector<double> floats(const json& text) {
    return numbers<float>(text);
}
std::vector<double> doubles(const json& text) {
    return numbers<double>(text);
}

json contents_of(const std::string& page) {
    const std::string opening = "<script type=\"application/json\" id=\"contents\">";
    const std::size_t begin = page.find(opening);
    if (begin == std::string::npos) return {};
    const std::size_t end = page.find("</script>", begin);
    return json::parse(page.substr(begin + opening.size(), end - begin - opening.size()));
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

double total(const json& counts) {
    double sum = 0.0;
    for (const json& entry : counts) sum += (entry.is_array() ? entry.at(2) : entry).get<double>();
    return sum;
}

class Report : public ProgramTest {
  protected:
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit " + arguments + " --quiet");
        ASSERT_EQ(result.code, 0) << arguments << ": " << result.err;
    }
    json report(const std::string& arguments) const {
        const Result result = lrvb("report " + arguments + " -o page.html");
        EXPECT_EQ(result.code, 0) << arguments << ": " << result.err;
        return contents_of(read_text(work() / "page.html"));
    }
    Csv csv(const std::string& arguments) const {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 0) << arguments << ": " << result.err;
        return parse_csv(result.out);
    }
    static std::string names_of(const json& contents) {
        std::string names;
        for (const json& variable : contents.at("variables")) {
            if (!names.empty()) names += ',';
            names += variable.at("name").get<std::string>();
        }
        return names;
    }

    void expect_summary(const json& contents, const std::string& fit) const {
        const json summary = lrvb("summary " + fit + " --format json --variables '" + names_of(contents) + "'").json();
        ASSERT_EQ(summary.at("variables").size(), contents.at("variables").size());
        for (std::size_t v = 0; v < contents.at("variables").size(); ++v) {
            const json& own = contents.at("variables").at(v);
            const json& other = summary.at("variables").at(v);
            const std::vector<std::pair<std::string, std::string>> keys{{"name", "name"},
                                                                        {"mean", "mean"},
                                                                        {"sd", "sd"},
                                                                        {"mean_field_sd", "sd_mfvb"},
                                                                        {"lower", "q5"},
                                                                        {"upper", "q95"},
                                                                        {"exact_mean", "mean_exact"},
                                                                        {"exact_sd", "sd_exact"},
                                                                        {"verdict", "verdict"}};
            for (const auto& [key, other_key] : keys) {
                EXPECT_EQ(own.contains(key), other.contains(other_key)) << key;
                if (!own.contains(key) || !other.contains(other_key)) continue;
                EXPECT_EQ(own.at(key), other.at(other_key)) << key;
            }
            EXPECT_LE(own.at("mean_field_lower"), own.at("mean_field_upper"));
        }
        EXPECT_EQ(contents.at("outcome").at("bound"), summary.at("elbo"));
        EXPECT_EQ(contents.at("data").at("rows"), summary.at("n"));
        EXPECT_EQ(contents.at("warnings"), summary.at("warnings"));
    }

    void expect_correlations(const json& contents, const std::string& fit) const {
        std::string names;
        for (const json& at : contents.at("correlated")) {
            if (!names.empty()) names += ',';
            names += contents.at("variables").at(at.get<std::size_t>()).at("name").get<std::string>();
        }
        const json other =
            lrvb("covariance " + fit + " --correlation --format json --variables '" + names + "'").json();
        // The upper triangle, row by row; in double precision while there is room.
        const std::size_t size = contents.at("correlated").size();
        const std::vector<double> own =
            size <= 150 ? doubles(contents.at("correlations")) : floats(contents.at("correlations"));
        ASSERT_EQ(own.size(), size * (size + 1) / 2);
        std::size_t next = 0;
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = i; j < size; ++j) {
                const double expected = other.at("matrix").at(i).at(j).get<double>();
                EXPECT_NEAR(own[next++], expected, size <= 150 ? 1e-12 : 1e-6);
            }
        }
    }

    void expect_sensitivities(const json& contents, const std::string& fit) const {
        std::map<std::pair<std::string, std::string>, double> slopes;
        const Csv other = csv("sensitivity " + fit + " -o -");
        for (std::size_t i = 0; i < other.rows.size(); ++i) {
            slopes[{other.rows[i].at(0), other.rows[i].at(1)}] = other.number(i, "mean_derivative");
        }
        const std::vector<double> own = doubles(contents.at("sensitivities"));
        const std::size_t priors = contents.at("priors").size();
        ASSERT_EQ(own.size(), contents.at("variables").size() * priors);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const std::string variable = contents.at("variables").at(i / priors).at("name");
            const std::string prior = contents.at("priors").at(i % priors).at("name");
            const double expected = slopes.at({variable, prior});
            EXPECT_NEAR(own[i], expected, 1e-12 * std::abs(expected)) << variable << " by " << prior;
        }
    }

    // Leverage, case weights and distances of the rows that were kept, against those of all rows.
    void expect_rows(const json& contents, const std::string& fit, const std::string& data) const {
        const std::string names = names_of(contents);
        const Csv leverage = csv("leverage " + fit + " " + data + " --variables '" + names + "'");
        const Csv shifts = csv("influence " + fit + " " + data + " -o - --variables '" + names + "'");
        const Csv distances = csv("influence " + fit + " " + data + " -o -");
        std::map<std::string, std::size_t> place;
        for (std::size_t i = 0; i < leverage.rows.size(); ++i) place[leverage.rows[i].front()] = i;

        const json& rows = contents.at("rows");
        const std::size_t inputs = rows.at("inputs").size();
        const std::size_t variables = contents.at("variables").size();
        const std::size_t count = rows.at("row").size();
        const std::vector<double> values = doubles(rows.at("values"));
        const std::vector<double> slopes = floats(rows.at("leverage"));
        const std::vector<double> cases = floats(rows.at("case"));
        ASSERT_EQ(values.size(), count * inputs);
        ASSERT_EQ(slopes.size(), count * variables * inputs);
        ASSERT_EQ(cases.size(), count * variables);
        // Single precision, and what cancelled before it came to that.
        const auto expect_close = [](double own, double other, double unit) {
            EXPECT_NEAR(own, other, 1e-6 * std::abs(other) + 1e-9 * unit);
        };
        for (std::size_t r = 0; r < count; ++r) {
            const std::size_t at = place.at(std::to_string(rows.at("row").at(r).get<long>()));
            const double weight = rows.at("weights").is_null() ? 1.0 : rows.at("weights").at(r).get<double>();
            for (std::size_t i = 0; i < inputs; ++i) {
                EXPECT_EQ(values[r * inputs + i], std::stod(leverage.rows[at].at(1 + i)));
            }
            for (std::size_t v = 0; v < variables; ++v) {
                const json& variable = contents.at("variables").at(v);
                const double sd = variable.at("sd").get<double>();
                for (std::size_t i = 0; i < inputs; ++i) {
                    const std::size_t column = v * inputs + i;
                    const double reach = rows.at("reach").at(i).get<double>();
                    expect_close(slopes[r * variables * inputs + column] * sd / reach,
                                 std::stod(leverage.rows[at].at(1 + inputs + column)), sd / reach);
                }
                if (sd == 0.0) {
                    EXPECT_EQ(cases[r * variables + v], 0.0);
                    continue;
                }
                expect_close(-weight * cases[r * variables + v],
                             shifts.number(at, variable.at("name").get<std::string>()), 1.0);
            }
            expect_close(rows.at("distance").at(r).get<double>(), distances.number(at, "distance"), 1.0);
        }
        // The top rows are the most influential of all.
        std::vector<double> all;
        for (std::size_t i = 0; i < distances.rows.size(); ++i) all.push_back(distances.number(i, "distance"));
        std::sort(all.rbegin(), all.rend());
        ASSERT_EQ(rows.at("top").size(), std::min<std::size_t>(20, count));
        for (std::size_t i = 0; i < rows.at("top").size(); ++i) {
            expect_close(rows.at("distance").at(rows.at("top").at(i).get<std::size_t>()).get<double>(), all[i], 1.0);
        }
    }

    void expect_all(const json& contents, const std::string& fit, const std::string& data) const {
        expect_summary(contents, fit);
        expect_correlations(contents, fit);
        expect_sensitivities(contents, fit);
        expect_rows(contents, fit, data);
    }
};

TEST_F(Report, SaysOfTheModelWhatTheCheckOfItSays) {
    for (const auto& [arguments, data] :
         {std::pair<std::string, std::string>("mixture $DATA/old_faithful.csv -k 2", "$DATA/old_faithful.csv"),
          std::pair<std::string, std::string>("regression $DATA/mtcars.csv -c wt --response mpg",
                                              "$DATA/mtcars.csv")}) {
        fit(arguments + " -o fit.json");
        const json contents = report("fit.json " + data);
        EXPECT_EQ(contents.at("model_check"), lrvb("check fit.json " + data + " --model --format json").json());
        const json summary =
            lrvb("summary fit.json " + data + " --robust --format json --variables '" + names_of(contents) + "'")
                .json();
        for (std::size_t v = 0; v < contents.at("variables").size(); ++v) {
            EXPECT_EQ(contents["variables"][v].at("sd_robust"), summary["variables"][v].at("sd_robust"));
        }
        EXPECT_EQ(contents.at("robust").at("warnings"), summary.at("robust_warnings"));
        // Without the rows nothing is known of it.
        EXPECT_TRUE(report("fit.json").at("model_check").is_null());
        EXPECT_TRUE(report("fit.json").at("robust").is_null());
    }
}

TEST_F(Report, OfAUnivariateMixtureAgreesWithTheOtherCommands) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper -o fit.json");
    const json contents = report("fit.json $DATA/old_faithful.csv");
    expect_all(contents, "fit.json", "$DATA/old_faithful.csv");
    EXPECT_EQ(contents.at("title"), "Mixture of 2 normals: eruptions");
    EXPECT_EQ(contents.at("fit_file"), "fit.json");
    EXPECT_EQ(contents.at("data").at("name"), "old_faithful.csv");
    EXPECT_EQ(contents.at("kind"), "mixture");
    EXPECT_EQ(contents.at("prior"), "paper");
    json model = contents.at("model");
    model.erase("parts");
    EXPECT_EQ(model,
              json::parse(R"({"components": 2, "covariance": "univariate", "columns": ["eruptions"], "fixed": []})"));
    EXPECT_EQ(names_of(contents), "pi[1],pi[2],mu[1],mu[2],sigma[1],sigma[2]");
    EXPECT_EQ(contents.at("check").at("method"), "importance");
    EXPECT_TRUE(contents.at("rows").at("all"));
    EXPECT_EQ(contents.at("rows").at("row").size(), 272U);
    EXPECT_EQ(total(contents.at("picture").at("histograms").at(0).at("counts")), 272.0);
    EXPECT_TRUE(contents.at("picture").at("points").is_null());
    EXPECT_TRUE(contents.at("picture").at("pairs").is_null());
    EXPECT_EQ(contents.at("model").at("parts").at("mu").at(0).at(0), contents.at("variables").at(2).at("mean"));
}

TEST_F(Report, OfAMultivariateMixtureAgreesWithTheOtherCommands) {
    for (const std::string covariance : {"full", "diagonal"}) {
        fit("mixture $DATA/old_faithful.csv -k 2 --covariance " + covariance + " -o fit.json");
        const json contents = report("fit.json $DATA/old_faithful.csv");
        expect_all(contents, "fit.json", "$DATA/old_faithful.csv");
        EXPECT_EQ(contents.at("model").at("covariance"), covariance);
        EXPECT_EQ(contents.at("picture").at("histograms").size(), 2U);
        EXPECT_EQ(contents.at("model").at("parts").at("sigma").at(0).size(), 2U);
    }
}

TEST_F(Report, OfARegressionWithFactorsAgreesWithTheOtherCommands) {
    const Csv cars = parse_csv(read_text(LRVB_DATA_DIR "/mtcars.csv"));
    std::string text = "mpg,wt,gear\n";
    for (const std::vector<std::string>& row : cars.rows) {
        for (const char* name : {"mpg", "wt"}) text.append(row.at(cars.column(name))).append(1, ',');
        text.append(1, 'g').append(row.at(cars.column("gear"))).append(1, '\n');
    }
    write("cars.csv", text);
    fit("regression cars.csv --response mpg --check never -o fit.json");
    const json contents = report("fit.json cars.csv");
    expect_all(contents, "fit.json", "cars.csv");
    EXPECT_EQ(contents.at("title"), "Regression of mpg");
    const json& model = contents.at("model");
    EXPECT_EQ(model.at("slopes"), json::parse(R"(["wt", "gear=g4", "gear=g5"])"));
    EXPECT_EQ(model.at("terms"), json::parse(R"([{"column": "wt", "levels": []},
                                                 {"column": "gear", "levels": ["g3", "g4", "g5"]}])"));
    EXPECT_EQ(contents.at("rows").at("inputs"), json::parse(R"(["mpg"])"));
    const std::vector<double> columns = doubles(contents.at("rows").at("columns"));
    ASSERT_EQ(columns.size(), 3 * cars.rows.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < cars.rows.size(); ++i) {
        EXPECT_EQ(columns[3 * i], cars.number(i, "wt"));
        EXPECT_EQ(columns[3 * i + 1], cars.number(i, "gear") == 4.0 ? 1.0 : 0.0);
        sum += columns[3 * i];
    }
    EXPECT_NEAR(model.at("centre").at(0).get<double>(), sum / 32.0, 1e-12);
    EXPECT_TRUE(contents.at("picture").is_null());
}

TEST_F(Report, NamesRowsByAColumnOfTheData) {
    write("rows.csv", "id,x\n007,1\nb,NA\n,2\n\"c, d\",3\ne,4\nf,9\n");
    fit("mixture rows.csv -c x -k 1 --drop-missing -o fit.json");
    const json contents = report("fit.json rows.csv --label id");
    EXPECT_EQ(contents.at("label"), "id");
    EXPECT_EQ(contents.at("rows").at("row"), json::parse("[1, 3, 4, 5, 6]"));
    EXPECT_EQ(contents.at("rows").at("label"), json::parse(R"(["007", "", "c, d", "e", "f"])"));
    EXPECT_EQ(report("fit.json rows.csv --label 1").at("rows").at("label"), contents.at("rows").at("label"));
    EXPECT_TRUE(report("fit.json rows.csv").at("label").is_null());

    const Result unknown = lrvb("report fit.json rows.csv --label name -o other.html");
    EXPECT_EQ(unknown.code, 1);
    EXPECT_NE(unknown.err.find("rows.csv"), std::string::npos) << unknown.err;
    EXPECT_NE(unknown.err.find("'name'"), std::string::npos) << unknown.err;
    EXPECT_EQ(occurrences(unknown.err, "\n"), 1U) << unknown.err;
    EXPECT_FALSE(std::filesystem::exists(work() / "other.html"));
    EXPECT_EQ(lrvb("report fit.json --label id -o other.html").code, 2);
}

TEST_F(Report, OfManyRowsOfARegressionCountsThemAll) {
    std::ostringstream text;
    text.precision(17);
    text << "y,x,g,z\n";
    std::vector<std::array<double, 4>> rows;
    for (int i = 0; i < 2500; ++i) {
        const double x = 5.0 * std::sin(1.3 * i);
        const double z = std::cos(0.7 * i);
        const double y = 2.0 + 3.0 * x - z + i % 3 + std::sin(97.0 * i);
        rows.push_back({y, x, static_cast<double>(i % 3), z});
        text << y << ',' << x << ',' << "uvw"[i % 3] << ',' << z << '\n';
    }
    write("rows.csv", text.str());
    fit("regression rows.csv --response y --check never -o fit.json");
    const json contents = report("fit.json rows.csv");
    ASSERT_FALSE(contents.at("rows").at("all"));
    const json& binned = contents.at("picture").at("binned");
    ASSERT_EQ(binned.at("terms").size(), 3U);
    const auto mean = [&](const std::string& name) {
        for (const json& variable : contents.at("variables")) {
            if (variable.at("name") == name) return variable.at("mean").get<double>();
        }
        ADD_FAILURE() << name;
        return 0.0;
    };
    const std::vector<double> centre = contents.at("model").at("centre").get<std::vector<double>>();
    const std::array<double, 3> levels{0.0, mean("beta[g=v]"), mean("beta[g=w]")};
    const double at_centre = levels[1] * centre[1] + levels[2] * centre[2];
    // Each row again, with what the other terms explain taken off its response by hand.
    const auto expect_counts = [&](const json& bins, const auto& place) {
        std::map<std::pair<long, long>, long> expected;
        const json& cells = bins.at("cells");
        long last_i = 0;
        long last_j = 0;
        for (const json& cell : cells) {
            last_i = std::max(last_i, cell.at(0).get<long>());
            last_j = std::max(last_j, cell.at(1).get<long>());
        }
        for (const std::array<double, 4>& row : rows) {
            const auto [x, y] = place(row);
            const auto bin = [&](double value, const char* start, const char* step, long last) {
                const double at = std::floor((value - bins.at(start).get<double>()) / bins.at(step).get<double>());
                return std::clamp(static_cast<long>(at), 0L, last);
            };
            ++expected[{bin(x, "x_start", "x_step", last_i), bin(y, "y_start", "y_step", last_j)}];
        }
        std::map<std::pair<long, long>, long> counted;
        for (const json& cell : cells) counted[{cell.at(0), cell.at(1)}] = cell.at(2);
        EXPECT_EQ(counted, expected);
    };
    using Place = std::pair<double, double>;
    const auto factor = [&](const std::array<double, 4>& row) { return levels[static_cast<std::size_t>(row[2])]; };
    expect_counts(binned.at("terms").at(0), [&](const std::array<double, 4>& row) {
        return Place{row[1], row[0] - mean("beta[z]") * (row[3] - centre[3]) - factor(row) + at_centre};
    });
    expect_counts(binned.at("terms").at(1), [&](const std::array<double, 4>& row) {
        return Place{row[2], row[0] - mean("beta[x]") * (row[1] - centre[0]) - mean("beta[z]") * (row[3] - centre[3])};
    });
    expect_counts(binned.at("fitted"), [&](const std::array<double, 4>& row) {
        return Place{mean("intercept") + mean("beta[x]") * row[1] + factor(row) + mean("beta[z]") * row[3], row[0]};
    });
}

TEST_F(Report, OfWeightedRowsKnowsTheWeights) {
    std::string text = "x,w\n";
    for (int i = 0; i < 60; ++i) {
        text += std::to_string(i % 2 == 0 ? std::sin(i) : 8.0 + std::cos(i)) + "," + std::to_string(i % 4) + "\n";
    }
    write("rows.csv", text);
    fit("mixture rows.csv -c x --weights w -k 2 -o fit.json");
    const json contents = report("fit.json rows.csv");
    expect_all(contents, "fit.json", "rows.csv");
    EXPECT_EQ(contents.at("data").at("weights"), "w");
    EXPECT_EQ(contents.at("data").at("total_weight"), 90.0);
    EXPECT_EQ(contents.at("rows").at("weights").at(3), 3.0);
    EXPECT_NEAR(total(contents.at("picture").at("histograms").at(0).at("counts")), 90.0, 1e-9);
}

TEST_F(Report, NumbersRowsAsTheFileDoes) {
    write("rows.csv", "x\n1\nNA\n2\n3\nNA\n4\n9\n");
    fit("mixture rows.csv -k 1 --drop-missing -o fit.json");
    const json contents = report("fit.json rows.csv");
    EXPECT_EQ(contents.at("rows").at("row"), json::parse("[1, 3, 4, 6, 7]"));
    EXPECT_EQ(contents.at("data").at("dropped"), 2);
    expect_all(contents, "fit.json", "rows.csv");
}

TEST_F(Report, OfHeldPartsShowsThatTheyDoNotMove) {
    write("values.json", R"({"weights": [0.35, 0.65]})");
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --fix weights --at values.json -o fit.json");
    const json contents = report("fit.json $DATA/old_faithful.csv");
    EXPECT_EQ(contents.at("model").at("fixed"), json::parse(R"(["weights"])"));
    EXPECT_EQ(contents.at("variables").at(0).at("sd"), 0.0);
    EXPECT_EQ(contents.at("correlated"), json::parse("[2, 3, 4, 5]"));
    expect_summary(contents, "fit.json");
    expect_correlations(contents, "fit.json");
    // 'lrvb influence' asks only what moves.
    const std::vector<double> cases = floats(contents.at("rows").at("case"));
    for (std::size_t r = 0; r < 272; ++r) EXPECT_EQ(cases[6 * r], 0.0);
}

TEST_F(Report, OfManyRowsKeepsTheMostInfluentialAndSomeOfTheRest) {
    ASSERT_EQ(lrvb("simulate mixture --weights 1,2 --means '0,0;6,6' --sds '1,1;1,2' -n 5000 -o rows.csv").code, 0);
    fit("mixture rows.csv -k 2 --check never -o fit.json");
    const json contents = report("fit.json rows.csv");
    const json& rows = contents.at("rows");
    EXPECT_FALSE(rows.at("all"));
    ASSERT_EQ(rows.at("row").size(), 2000U);
    EXPECT_TRUE(std::is_sorted(rows.at("row").begin(), rows.at("row").end()));
    EXPECT_EQ(std::set<long>(rows.at("row").begin(), rows.at("row").end()).size(), 2000U);
    expect_rows(contents, "fit.json", "rows.csv");
    EXPECT_TRUE(contents.at("picture").at("points").is_null());
    EXPECT_EQ(contents.at("picture").at("pairs").at("columns"), 2);
    EXPECT_EQ(total(contents.at("picture").at("pairs").at("bins").at(0).at("cells")), 5000.0);
    EXPECT_EQ(total(contents.at("picture").at("histograms").at(1).at("counts")), 5000.0);
}

TEST_F(Report, BinsAreNoWiderThanHalfOfTheNarrowestComponent) {
    ASSERT_EQ(lrvb("simulate mixture --weights 1,1 --means 0,1 --sds 0.01,0.1 -n 400 -o rows.csv").code, 0);
    fit("mixture rows.csv -k 2 --check never -o fit.json");
    const json contents = report("fit.json rows.csv");
    double narrowest = 1.0;
    for (const json& variable : contents.at("variables")) {
        if (variable.at("group") == "sigma") narrowest = std::min(narrowest, variable.at("mean").get<double>());
    }
    const json& histogram = contents.at("picture").at("histograms").at(0);
    EXPECT_LE(histogram.at("step").get<double>(), 0.5 * narrowest * 1.01);
    EXPECT_EQ(total(histogram.at("counts")), 400.0);
    // The same bins as those that the model's expectations are for.
    EXPECT_NEAR(contents.at("model_check").at("columns").at(0).at("histogram").at("step").get<double>(),
                histogram.at("step").get<double>(), 0.1 * histogram.at("step").get<double>());
}

TEST_F(Report, ShowsAllRowsAsPointsWhereOnlySomeCanBeAsked) {
    ASSERT_EQ(lrvb("simulate mixture --weights 1,1,1 --means '0,0,0;9,9,9;0,9,0' --sds '1,1,1;1,1,1;1,1,1' -n 1500 "
                   "-o rows.csv")
                  .code,
              0);
    fit("mixture rows.csv -k 3 --check never -o fit.json");
    const json contents = report("fit.json rows.csv");
    ASSERT_FALSE(contents.at("rows").at("all"));
    EXPECT_TRUE(contents.at("picture").at("pairs").is_null());
    const std::vector<double> points = floats(contents.at("picture").at("points").at("values"));
    ASSERT_EQ(points.size(), 4500U);
    const Csv data = parse_csv(read_text(work() / "rows.csv"));
    EXPECT_EQ(points[3 * 1499 + 2], static_cast<float>(std::stod(data.rows.at(1499).at(2))));
}

TEST_F(Report, PriorNumbersMoveWithinTheirBounds) {
    fit("mixture $DATA/old_faithful.csv -k 2 -o fit.json");
    std::map<std::string, json> priors;
    const json contents = report("fit.json");
    for (const json& prior : contents.at("priors")) priors[prior.at("name")] = prior;
    const auto at = [&](const std::string& name, const std::string& key) {
        return priors.at(name).at(key).get<double>();
    };
    EXPECT_DOUBLE_EQ(at("alpha", "high"), 4.0 * at("alpha", "value"));
    EXPECT_DOUBLE_EQ(at("alpha", "trusted_low"), 0.5 * at("alpha", "value"));
    EXPECT_DOUBLE_EQ(at("mean[eruptions]", "high") - at("mean[eruptions]", "value"),
                     2.0 * std::sqrt(at("variance[eruptions,eruptions]", "value")));
    EXPECT_DOUBLE_EQ(at("dof", "low"), 1.0 + 0.25 * (at("dof", "value") - 1.0));
    const double correlated =
        std::sqrt(at("variance[eruptions,eruptions]", "value") * at("variance[waiting,waiting]", "value"));
    EXPECT_NEAR(at("variance[eruptions,waiting]", "high"), 0.9 * correlated, 1e-9 * correlated);
    EXPECT_NEAR(at("variance[eruptions,waiting]", "trusted_high"), 0.45 * correlated, 1e-9 * correlated);
}

TEST_F(Report, WithoutDataShowsWhatTheFitFileKnows) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 -o fit.json");
    const json contents = report("fit.json");
    expect_summary(contents, "fit.json");
    expect_correlations(contents, "fit.json");
    expect_sensitivities(contents, "fit.json");
    for (const char* part : {"picture", "rows"}) EXPECT_TRUE(contents.at(part).is_null()) << part;
    EXPECT_FALSE(contents.at("model").at("parts").is_null());
}

TEST_F(Report, OfAFitThatDidNotConvergeHasNoResponse) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --max-iterations 1 --quiet -o fit.json").code, 3);
    const json contents = report("fit.json $DATA/old_faithful.csv");
    EXPECT_FALSE(contents.at("response"));
    EXPECT_FALSE(contents.at("outcome").at("converged"));
    ASSERT_EQ(contents.at("warnings").size(), 1U);
    EXPECT_FALSE(contents.contains("correlations"));
    EXPECT_FALSE(contents.contains("sensitivities"));
    EXPECT_TRUE(contents.at("rows").is_null());
    EXPECT_EQ(contents.at("picture").at("histograms").size(), 2U);
    EXPECT_FALSE(contents.at("picture").at("points").is_null());
    for (const json& variable : contents.at("variables")) {
        EXPECT_TRUE(variable.at("sd").is_null());
        EXPECT_GT(variable.at("mean_field_sd"), 0.0);
        EXPECT_LT(variable.at("mean_field_lower"), variable.at("mean_field_upper"));
    }
}

TEST_F(Report, OfACorrectedFitShowsItsMeansAndAsksTheResponse) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --check never -o fit.json");
    ASSERT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --correct -o corrected.json").code, 0);
    const json before = report("fit.json $DATA/old_faithful.csv");
    const json after = report("corrected.json $DATA/old_faithful.csv");
    expect_summary(after, "corrected.json");
    expect_correlations(after, "corrected.json");
    EXPECT_EQ(after.at("correction").at("method"), "importance");
    EXPECT_NE(after.at("variables").at(4).at("mean"), before.at("variables").at(4).at("mean"));
    const std::vector<double> slopes = doubles(before.at("sensitivities"));
    const std::vector<double> slopes_after = doubles(after.at("sensitivities"));
    ASSERT_EQ(slopes.size(), slopes_after.size());
    for (std::size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(slopes_after[i], slopes[i], 1e-9 * std::abs(slopes[i]));
    // In posterior sds, which are others.
    const std::vector<double> cases = floats(before.at("rows").at("case"));
    const std::vector<double> cases_after = floats(after.at("rows").at("case"));
    const double ratio =
        after.at("variables").at(4).at("sd").get<double>() / before.at("variables").at(4).at("sd").get<double>();
    EXPECT_NEAR(cases_after[4] * ratio, cases[4], 1e-6 * std::abs(cases[4]));
    // And distances in the metric of the covariance that is shown, which is near to that of the response.
    const json& distances = before.at("rows").at("distance");
    const json& distances_after = after.at("rows").at("distance");
    ASSERT_EQ(distances_after.size(), distances.size());
    EXPECT_NE(distances_after, distances);
    for (std::size_t i = 0; i < distances.size(); ++i) {
        EXPECT_NEAR(distances_after[i].get<double>() / distances[i].get<double>(), 1.0, 0.1) << i;
    }
}

TEST_F(Report, TakesACheckOfItsFit) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --check never -o fit.json");
    EXPECT_TRUE(report("fit.json").at("check").is_null());
    const Result checked = lrvb("check fit.json $DATA/old_faithful.csv --method mh --variables pi,mu --format json");
    write("check.json", checked.out);
    const json contents = report("fit.json --check check.json");
    const json expected = checked.json();
    for (const char* key : {"verdict", "message", "method", "k_hat", "r_hat", "ess", "draws", "seed"}) {
        EXPECT_EQ(contents.at("check").at(key), expected.at(key)) << key;
    }
    EXPECT_EQ(contents.at("variables").at(2).at("exact_sd"), expected.at("variables").at(2).at("sd_exact"));
    EXPECT_EQ(contents.at("variables").at(2).at("verdict"), expected.at("variables").at(2).at("verdict"));
    EXPECT_FALSE(contents.at("variables").at(4).contains("exact_sd"));  // sigma[1] was not asked for
}

TEST_F(Report, NoTextOfTheDataBecomesMarkup) {
    const std::vector<std::string> hostile{"<script>alert(1)</script>", "\"};alert(1)//",  "</script>", "<!--",
                                           "{{script}}{{contents}}",    "\xE2\x80\xA8 & '"};
    write("calm.csv", "a,b\n1,2\n2,1\n3,5\n4,4\n6,5\n");
    fit("mixture calm.csv -k 1 -o fit.json");
    report("fit.json calm.csv");
    const std::string calm = read_text(work() / "page.html");
    for (const std::string& name : hostile) {
        std::string quoted = "\"";
        for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
        write("rows.csv", quoted + "\",b\n1,2\n2,1\n3,5\n4,4\n6,5\n");
        fit("mixture rows.csv -k 1 -o fit.json");
        write("title", name);
        const json contents = report("fit.json rows.csv --title \"$(cat title)\"");
        // What ends lines in scripts is written out, where it is shown as well.
        const std::string shown = name == hostile.back() ? "\\u2028 & '" : name;
        EXPECT_EQ(contents.at("model").at("columns").at(0), shown);
        EXPECT_EQ(contents.at("title"), shown);
        const std::string page = read_text(work() / "page.html");
        for (const std::string part : {"<script", "</script", "<!--", "alert(1)</"}) {
            EXPECT_EQ(occurrences(page, part), occurrences(calm, part)) << name << " makes " << part;
        }
        EXPECT_EQ(page.find("\xE2\x80\xA8"), calm.find("\xE2\x80\xA8"));

        fit("regression rows.csv --response b -o fit.json");
        report("fit.json rows.csv");
        const std::string regression = read_text(work() / "page.html");
        EXPECT_EQ(occurrences(regression, "<script"), occurrences(calm, "<script")) << name;
        EXPECT_EQ(occurrences(regression, "</script"), occurrences(calm, "</script")) << name;
    }
}

TEST_F(Report, TextThatIsNoUtf8IsWrittenOut) {
    write("calm.csv", "a,b\n1,2\n2,1\n3,5\n4,4\n6,5\n");
    fit("mixture calm.csv -k 1 -o fit.json");
    const json contents = report("fit.json --title \"$(printf 'a\\377b')\"");
    EXPECT_EQ(contents.at("title"), "a\\xffb");
    EXPECT_EQ(occurrences(read_text(work() / "page.html"), "\377"), 0U);
}

TEST_F(Report, OfTheSmallestMixtures) {
    write("rows.csv", "x,y\n1,2\n2,1\n3,5\n4,4\n60,5\n");
    for (const std::string arguments : {"-c x -k 1", "-c x -k 5", "-k 1", "-k 5"}) {
        const int code = lrvb("fit mixture rows.csv --quiet -o fit.json " + arguments).code;
        ASSERT_TRUE(code == 0 || code == 3) << arguments;
        const json contents = report("fit.json rows.csv");
        EXPECT_EQ(contents.at("model").at("parts").at("pi").size(), contents.at("model").at("components"));
        EXPECT_EQ(contents.at("rows").is_null(), code == 3);
        if (code == 3) continue;
        EXPECT_EQ(contents.at("rows").at("row").size(), 5U);
    }
}

TEST_F(Report, StaysSmall) {
    constexpr std::size_t kLargest = 3'000'000;
    ASSERT_EQ(lrvb("simulate mixture --weights 1,1,1 --means 0,4,9 --sds 1,1,2 -n 200000 -o rows.csv").code, 0);
    fit("mixture rows.csv -k 3 --check never -o fit.json");
    report("fit.json rows.csv");
    EXPECT_LT(std::filesystem::file_size(work() / "page.html"), kLargest);
}

// Twenty components of ten columns: too many of everything, and each is left out as it should be.
TEST_F(Report, OfALargeMixtureLeavesOutWhatIsOffTheDiagonal) {
    constexpr int kComponents = 20;
    constexpr int kColumns = 10;
    std::string weights;
    std::string means;
    std::string sds;
    for (int k = 0; k < kComponents; ++k) {
        weights += k == 0 ? "1" : ",1";
        means += k == 0 ? "" : ";";
        sds += k == 0 ? "" : ";";
        for (int p = 0; p < kColumns; ++p) {
            if (p > 0) means += ',';
            means += std::to_string(20 * ((7 * k + 3 * p * k) % kComponents));
            sds += p == 0 ? "1" : ",1";
        }
    }
    ASSERT_EQ(lrvb("simulate mixture --weights " + weights + " --means '" + means + "' --sds '" + sds +
                   "' -n 2400 -o rows.csv")
                  .code,
              0);
    fit("mixture rows.csv -k 20 --restarts 1 --check never -o fit.json");
    const json contents = report("fit.json rows.csv");
    EXPECT_EQ(contents.at("variables").size(), 420U);
    EXPECT_EQ(contents.at("variables_left_out"), 900);
    EXPECT_EQ(contents.at("priors").size(), 32U);
    EXPECT_EQ(contents.at("priors_left_out"), 90);
    EXPECT_EQ(contents.at("correlated").size(), 420U);
    EXPECT_EQ(contents.at("rows").at("row").size(), 25U);
    EXPECT_EQ(contents.at("picture").at("pairs").at("bins").size(), 45U);
    EXPECT_LT(std::filesystem::file_size(work() / "page.html"), 3'000'000U);
}

TEST_F(Report, OfARegressionWithManyColumnsStaysSmall) {
    std::ostringstream rows;
    rows << "group,y\n";
    for (int i = 0; i < 1000; ++i) rows << 'g' << i % 250 << ',' << std::sin(1.7 * i) + i % 250 % 7 << '\n';
    write("rows.csv", rows.str());
    fit("regression rows.csv --response y --check never -o fit.json");
    const json contents = report("fit.json rows.csv");
    EXPECT_EQ(contents.at("variables").size(), 251U);  // an intercept, 249 levels and sigma
    EXPECT_EQ(contents.at("variables_left_out"), 0);
    EXPECT_GT(contents.at("priors_left_out"), 0);
    EXPECT_GE(contents.at("priors").size(), 12U);
    EXPECT_LT(contents.at("rows").at("row").size(), 1000U);
    EXPECT_EQ(contents.at("rows").at("top").size(), 20U);
    EXPECT_LT(std::filesystem::file_size(work() / "page.html"), 3'000'000U);
}

TEST_F(Report, IsTheSameForAnyNumberOfThreads) {
    ASSERT_EQ(lrvb("simulate mixture --weights 1,2 --means '0,0;6,6' --sds '1,1;1,2' -n 30000 -o rows.csv").code, 0);
    fit("mixture rows.csv -k 2 --check never -o fit.json");
    ASSERT_EQ(lrvb("report fit.json rows.csv --threads 1 -o one.html").code, 0);
    ASSERT_EQ(lrvb("report fit.json rows.csv --threads 2 -o two.html").code, 0);
    EXPECT_TRUE(read_text(work() / "one.html") == read_text(work() / "two.html"));
}

TEST_F(Report, GoesWhereItIsAskedTo) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 -o fit.json");
    const Result result = lrvb("report fit.json - < $DATA/old_faithful.csv");
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string page = read_text(work() / "report.html");
    EXPECT_FALSE(contents_of(page).at("rows").is_null());
    EXPECT_TRUE(lrvb("report fit.json $DATA/old_faithful.csv -o -").out == page);
}

}  // namespace
}  // namespace lrvb::testing
