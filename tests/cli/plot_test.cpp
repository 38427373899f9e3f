// 'lrvb plot' from the outside: every picture is read as XML, and its marks, taken back through the axes, must be the
// numbers that the other commands print, or those of a formula.

#include "csv.hpp"
#include "program.hpp"
#include "xml.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <regex>

namespace lrvb::testing {
namespace {

using nlohmann::json;

constexpr double kPi = 3.14159265358979323846;
constexpr double kZ = 1.6448536269514722;  // the 95 % point of the normal: scipy.stats.norm.ppf(0.95)

const std::vector<std::string> kFigures{"intervals", "fit", "correlation", "influence"};

class Plot : public ProgramTest {
  protected:
    void fit(const std::string& arguments, const std::string& name = "fit.json") const {
        const Result result = lrvb("fit " + arguments + " --quiet -o " + name);
        ASSERT_EQ(result.code, 0) << result.err;
    }
    /// The picture, which must be well formed and without anything that is no number.
    XmlElement plot(const std::string& arguments) const {
        const Result result = lrvb("plot " + arguments);
        EXPECT_EQ(result.code, 0) << arguments << ": " << result.err;
        EXPECT_EQ(result.err, "");
        XmlElement root = XmlReader::read(result.out);
        EXPECT_EQ(root.name, "svg");
        require_numbers(root);
        return root;
    }
    /// The first of all variables whose names begin so, in order.
    std::vector<json> variables(const std::string& beginning, const std::string& name = "fit.json") const {
        std::vector<json> found;
        const json summary = lrvb("summary " + name + " --format json").json();
        for (const json& one : summary.at("variables")) {
            if (one.at("name").get<std::string>().rfind(beginning, 0) == 0) found.push_back(one);
        }
        return found;
    }

    static void require_numbers(const XmlElement& element) {
        static const std::regex wrong("(^|[^a-z])-?(nan|inf)", std::regex::icase);
        for (const auto& [key, value] : element.attributes) {
            if (key == "class") continue;
            EXPECT_FALSE(std::regex_search(value, wrong)) << key << "=" << value;
        }
        if (element.has_class("name")) return;
        EXPECT_FALSE(std::regex_search(element.text, std::regex("nan", std::regex::icase))) << element.text;
        for (const XmlElement& child : element.children) require_numbers(child);
    }
    static XmlAxis across(const XmlElement& panel) { return XmlAxis(*panel.of_class("across").at(0)); }
    static XmlAxis up(const XmlElement& panel) { return XmlAxis(*panel.of_class("up").at(0)); }
    /// The corners of a path.
    static std::vector<std::pair<double, double>> corners(const XmlElement& path) {
        std::vector<std::pair<double, double>> result;
        const std::string data = path.attribute("d");
        static const std::regex corner("[ML](-?[0-9.]+) (-?[0-9.]+)");
        for (std::sregex_iterator at(data.begin(), data.end(), corner), end; at != end; ++at) {
            result.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
        }
        return result;
    }
};

// --- what is drawn where -----------------------------------------------------------------------------------------

TEST_F(Plot, IntervalsStandWhereTheSummaryHasThem) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const XmlElement root = plot("fit.json --figure intervals --variables pi,mu");
    const json summary = lrvb("summary fit.json --variables pi,mu --format json").json().at("variables");
    std::map<std::string, json> known;
    for (const json& one : summary) known[one.at("name")] = one;
    std::size_t seen = 0;
    for (const XmlElement* panel : root.of_class("panel")) {
        const XmlAxis axis = across(*panel);
        for (const XmlElement* variable : panel->of_class("variable")) {
            const XmlElement& interval = *variable->of_class("interval").at(0);
            const std::string name = interval.tip().substr(0, interval.tip().find(": "));
            ASSERT_TRUE(known.contains(name)) << name;
            const json& one = known[name];
            EXPECT_NEAR(axis.value(interval.number("x1")), one.at("q5").get<double>(), axis.tolerance()) << name;
            EXPECT_NEAR(axis.value(interval.number("x2")), one.at("q95").get<double>(), axis.tolerance()) << name;
            const XmlElement& mean = *variable->of_class("mean").at(0);
            EXPECT_NEAR(axis.value(mean.number("cx")), one.at("mean").get<double>(), axis.tolerance()) << name;
            if (name.rfind("mu", 0) == 0) {  // whose intervals are those of a normal
                const XmlElement& field = *variable->of_class("mean-field").at(0);
                EXPECT_NEAR(axis.value(field.number("x1")),
                            one.at("mean").get<double>() - kZ * one.at("sd_mfvb").get<double>(), axis.tolerance());
            }
            ++seen;
        }
    }
    EXPECT_EQ(seen, known.size());
}

TEST_F(Plot, MeansOfUnitsThatDifferHaveAxesOfTheirOwn) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    // Minutes from 2 to 4 and from 54 to 80: on one axis the first could not be seen.
    EXPECT_EQ(plot("fit.json --variables mu").of_class("panel").size(), 2U);
    EXPECT_EQ(plot("fit.json --variables pi").of_class("panel").size(), 1U);
}

TEST_F(Plot, CoefficientsHaveALineAtZero) {
    fit("regression $DATA/mtcars.csv --response mpg -c wt,qsec");
    const XmlElement root = plot("fit.json --variables beta");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const XmlAxis axis = across(panel);
    EXPECT_NEAR(axis.value(panel.of_class("zero").at(0)->number("x1")), 0.0, axis.tolerance());
    EXPECT_TRUE(plot("fit.json --variables sigma").of_class("zero").empty());
}

TEST_F(Plot, CellsHaveTheColoursOfTheCorrelations) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const Csv csv = parse_csv(lrvb("covariance fit.json --variables mu --correlation --format csv").out);
    const XmlElement root = plot("fit.json --figure correlation --variables mu");
    const std::vector<const XmlElement*> cells = root.of_class("cell");
    ASSERT_EQ(cells.size(), 16U);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            const double r = std::stod(csv.rows[i][csv.rows[i].size() - 4 + j]);
            // White for 0, #0072b2 for 1 and #d55e00 for −1.
            const std::array<double, 3> end =
                r < 0 ? std::array<double, 3>{213, 94, 0} : std::array<double, 3>{0, 114, 178};
            const std::string colour = cells[4 * i + j]->attribute("fill");
            for (std::size_t c = 0; c < 3; ++c) {
                EXPECT_NEAR(std::stoi(colour.substr(1 + 2 * c, 2), nullptr, 16), 255 + std::abs(r) * (end[c] - 255),
                            1.0);
            }
        }
    }
}

TEST_F(Plot, RowsStandWhereInfluenceHasThem) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    ASSERT_EQ(lrvb("influence fit.json $DATA/old_faithful.csv -o all.csv").code, 0);
    const Csv csv = parse_csv(read_text(work() / "all.csv"));
    const XmlElement root = plot("fit.json $DATA/old_faithful.csv --figure influence");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<const XmlElement*> rows = panel.of_class("row");
    ASSERT_EQ(rows.size(), csv.rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(across(panel).value(rows[i]->number("cx")), csv.number(i, "row"), across(panel).tolerance());
        EXPECT_NEAR(up(panel).value(rows[i]->number("cy")), csv.number(i, "distance"), up(panel).tolerance());
    }
    const auto furthest = std::max_element(csv.rows.begin(), csv.rows.end(), [&](const auto& a, const auto& b) {
        return std::stod(a[csv.column("distance")]) < std::stod(b[csv.column("distance")]);
    });
    EXPECT_EQ(panel.of_class("label").at(0)->text, furthest->at(0));
}

TEST_F(Plot, OfOneVariableRowsStandAtTheirShifts) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2");
    ASSERT_EQ(lrvb("influence fit.json $DATA/old_faithful.csv --variables 'mu[1]' -o all.csv").code, 0);
    const Csv csv = parse_csv(read_text(work() / "all.csv"));
    const XmlElement root = plot("fit.json $DATA/old_faithful.csv --figure influence --variables 'mu[1]'");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<const XmlElement*> rows = panel.of_class("row");
    ASSERT_EQ(rows.size(), csv.rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(up(panel).value(rows[i]->number("cy")), std::stod(csv.rows[i].back()), up(panel).tolerance());
    }
}

// p(x) = Σ π_k N(x | μ_k, σ_k) at the means that the summary prints.
TEST_F(Plot, TheDensityIsThatOfTheMeansOverAHistogramOfAreaOne) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2");
    const XmlElement root = plot("fit.json $DATA/old_faithful.csv --figure fit");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<json> pi = variables("pi");
    const std::vector<json> mu = variables("mu");
    const std::vector<json> sigma = variables("sigma");
    const XmlElement& total = *panel.of_class("curve").back();
    const auto points = corners(total);
    ASSERT_GT(points.size(), 200U);
    for (const auto& [px, py] : points) {
        const double x = across(panel).value(px);
        double density = 0.0;
        for (std::size_t k = 0; k < 2; ++k) {
            const double sd = sigma[k].at("mean").get<double>();
            const double z = (x - mu[k].at("mean").get<double>()) / sd;
            density += pi[k].at("mean").get<double>() * std::exp(-0.5 * z * z) / (sd * std::sqrt(2.0 * kPi));
        }
        EXPECT_NEAR(up(panel).value(py), density, 5.0 * up(panel).tolerance());
    }
    double area = 0.0;
    for (const XmlElement* bar : panel.of_class("bin")) {
        const double height = up(panel).value(bar->number("y"));
        // Bars leave six tenths of a pixel to the next.
        area += height * (across(panel).value(bar->number("x") + bar->number("width") + 0.6) -
                          across(panel).value(bar->number("x")));
    }
    EXPECT_NEAR(area, 1.0, 1e-4);
}

// The band against differences: its half width is z √(gᵀCg), here with g by central differences of the density.
TEST_F(Plot, TheBandIsTheDeltaMethods) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2");
    const XmlElement root = plot("fit.json $DATA/old_faithful.csv --figure fit");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const json covariance = lrvb("covariance fit.json --variables pi,mu,sigma --format json").json().at("matrix");
    std::array<double, 6> means{};
    std::size_t next = 0;
    for (const std::string group : {"pi", "mu", "sigma"}) {
        for (const json& one : variables(group)) means.at(next++) = one.at("mean").get<double>();
    }
    const auto density = [](const std::array<double, 6>& at, double x) {
        double sum = 0.0;
        for (std::size_t k = 0; k < 2; ++k) {
            const double z = (x - at[2 + k]) / at[4 + k];
            sum += at[k] * std::exp(-0.5 * z * z) / (at[4 + k] * std::sqrt(2.0 * kPi));
        }
        return sum;
    };
    const auto outline = corners(*panel.of_class("band").at(0));  // the upper edge, then the lower one back
    for (std::size_t i = 0; i < outline.size() / 2; i += 7) {
        const double x = across(panel).value(outline[i].first);
        std::array<double, 6> gradient{};
        for (std::size_t v = 0; v < 6; ++v) {
            std::array<double, 6> more = means;
            std::array<double, 6> less = means;
            const double step = 1e-5 * means[v];
            more[v] += step;
            less[v] -= step;
            gradient[v] = (density(more, x) - density(less, x)) / (2.0 * step);
        }
        double variance = 0.0;
        for (std::size_t a = 0; a < 6; ++a) {
            for (std::size_t b = 0; b < 6; ++b) variance += gradient[a] * gradient[b] * covariance[a][b].get<double>();
        }
        EXPECT_NEAR(up(panel).value(outline[i].second), density(means, x) + kZ * std::sqrt(variance),
                    1e-5 * up(panel).high)
            << x;
    }
}

TEST_F(Plot, EllipsesHoldTheirSharesOfTheComponents) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const XmlElement root = plot("fit.json $DATA/old_faithful.csv --figure fit");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<json> mu = variables("mu");        // component by component
    const std::vector<json> sigma = variables("Sigma");  // of each, the upper half of its matrix
    const std::vector<const XmlElement*> curves = panel.of_class("curve");
    ASSERT_EQ(curves.size(), 4U);
    for (std::size_t k = 0; k < 2; ++k) {
        const auto mean = [&](const json& one) { return one.at("mean").get<double>(); };
        const double a = mean(sigma[3 * k]);
        const double b = mean(sigma[3 * k + 1]);
        const double c = mean(sigma[3 * k + 2]);
        for (std::size_t s = 0; s < 2; ++s) {
            const double share = s == 0 ? 0.5 : 0.9;
            for (const auto& [px, py] : corners(*curves[2 * k + s])) {
                const double x = across(panel).value(px) - mean(mu[2 * k]);
                const double y = up(panel).value(py) - mean(mu[2 * k + 1]);
                const double square = (c * x * x - 2.0 * b * x * y + a * y * y) / (a * c - b * b);
                EXPECT_NEAR(1.0 - std::exp(-0.5 * square), share, 1e-3);
            }
        }
    }
}

TEST_F(Plot, PointsHaveTheColourOfTheComponentThatIsPredicted) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const Csv data = parse_csv(read_text(LRVB_DATA_DIR "/old_faithful.csv"));
    const Csv predicted = parse_csv(lrvb("predict fit.json $DATA/old_faithful.csv").out);
    const XmlElement root = plot("fit.json $DATA/old_faithful.csv --figure fit");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<const XmlElement*> rows = panel.of_class("row");
    ASSERT_EQ(rows.size(), data.rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(across(panel).value(rows[i]->number("cx")), data.number(i, "eruptions"), across(panel).tolerance());
        EXPECT_NEAR(up(panel).value(rows[i]->number("cy")), data.number(i, "waiting"), up(panel).tolerance());
        EXPECT_EQ(rows[i]->attribute("fill"), predicted.number(i, "component") == 1.0 ? "#0072b2" : "#c77700");
    }
}

// Along one column with the other at its mean, the line is the prediction there and its band that of the mean.
TEST_F(Plot, TheLineOfARegressionIsItsPrediction) {
    fit("regression $DATA/mtcars.csv --response mpg -c wt,hp");
    const Csv data = parse_csv(read_text(LRVB_DATA_DIR "/mtcars.csv"));
    double hp = 0.0;
    for (std::size_t i = 0; i < data.rows.size(); ++i)
        hp += data.number(i, "hp") / static_cast<double>(data.rows.size());
    const XmlElement root = plot("fit.json $DATA/mtcars.csv --figure fit -c wt");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const auto line = corners(*panel.of_class("curve").at(0));
    const auto band = corners(*panel.of_class("band").at(0));
    std::ostringstream rows;
    rows.precision(17);
    rows << "wt,hp\n";
    for (const auto& [px, py] : line) rows << across(panel).value(px) << ',' << hp << '\n';
    write("line.csv", rows.str());
    const Csv predicted = parse_csv(lrvb("predict fit.json line.csv").out);
    ASSERT_EQ(predicted.rows.size(), line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
        EXPECT_NEAR(up(panel).value(line[i].second), predicted.number(i, "mean"), 2.0 * up(panel).tolerance());
        EXPECT_NEAR(up(panel).value(band[i].second), predicted.number(i, "mean") + kZ * predicted.number(i, "mean_sd"),
                    3.0 * up(panel).tolerance());
    }
    // The rows are what the line along this column alone is fitted to: y − β_hp (hp − its mean).
    const double slope = variables("beta")[1].at("mean").get<double>();
    const std::vector<const XmlElement*> points = panel.of_class("row");
    ASSERT_EQ(points.size(), data.rows.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(up(panel).value(points[i]->number("cy")),
                    data.number(i, "mpg") - slope * (data.number(i, "hp") - hp), 2.0 * up(panel).tolerance());
    }
}

TEST_F(Plot, LevelsOfAFactorAreMeansWithIntervals) {
    write(
        "cars.csv",
        "mpg,gears\n21,four\n22.8,four\n24.4,four\n18.7,three\n14.3,three\n16.4,three\n26,five\n15.8,five\n15,five\n");
    fit("regression cars.csv --response mpg");
    write("levels.csv", "gears\nfive\nfour\nthree\n");
    const Csv predicted = parse_csv(lrvb("predict fit.json levels.csv").out);
    const XmlElement root = plot("fit.json cars.csv --figure fit");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<const XmlElement*> intervals = panel.of_class("interval");
    const std::vector<const XmlElement*> means = panel.of_class("mean");
    ASSERT_EQ(intervals.size(), 3U);
    const XmlAxis places(*panel.of_class("places").at(0));
    for (std::size_t i = 0; i < 3; ++i) {
        const double mean = predicted.number(i, "mean");
        const double reach = kZ * predicted.number(i, "mean_sd");
        EXPECT_NEAR(places.value(means[i]->number("cx")), static_cast<double>(i), 1e-5);
        EXPECT_NEAR(up(panel).value(means[i]->number("cy")), mean, 2.0 * up(panel).tolerance());
        EXPECT_NEAR(up(panel).value(intervals[i]->number("y1")), mean - reach, 2.0 * up(panel).tolerance());
        EXPECT_NEAR(up(panel).value(intervals[i]->number("y2")), mean + reach, 2.0 * up(panel).tolerance());
    }
    std::vector<std::string> names;
    for (const XmlElement* name : panel.of_class("places").at(0)->of_class("name")) names.push_back(name->text);
    EXPECT_EQ(names, (std::vector<std::string>{"five", "four", "three", "gears"}));
}

TEST_F(Plot, ACorrectedFitIsDrawnAsItWasCorrected) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --prior paper");
    ASSERT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --correct -o corrected.json").code, 0);
    const XmlElement root = plot("corrected.json --variables mu");
    const XmlElement& panel = *root.of_class("panel").at(0);
    const std::vector<json> mu = variables("mu", "corrected.json");
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_NEAR(across(panel).value(panel.of_class("interval").at(k)->number("x1")), mu[k].at("q5").get<double>(),
                    across(panel).tolerance());
    }
    for (const std::string& figure : kFigures) plot("corrected.json $DATA/old_faithful.csv --figure " + figure);
}

// --- what may come -----------------------------------------------------------------------------------------------

TEST_F(Plot, OneAndTwentyComponentsAreDrawn) {
    fit("mixture $DATA/old_faithful.csv -k 1 --check never", "one.json");
    fit("mixture $DATA/old_faithful.csv -k 20 --restarts 1 --check never", "twenty.json");
    for (const std::string name : {"one.json", "twenty.json"}) {
        for (const std::string& figure : kFigures) plot(name + " $DATA/old_faithful.csv --figure " + figure);
    }
    const XmlElement root = plot("twenty.json $DATA/old_faithful.csv --figure fit");
    EXPECT_EQ(root.of_class("centre").size(), 20U);
    EXPECT_EQ(root.of_class("curve").size(), 40U);
}

TEST_F(Plot, NamesAreTextWhateverTheyHold) {
    const std::string name = "\"<script>&'\x01\x1b[31m\xef\xbf\xbf\xe2\x80\xae" + std::string(300, 'W') + "\"\"\"";
    std::string csv = name + ",]]><!--\n";
    const Csv data = parse_csv(read_text(LRVB_DATA_DIR "/old_faithful.csv"));
    for (const std::vector<std::string>& row : data.rows) csv += row[0] + "," + row[1] + "\n";
    write("hostile.csv", csv);
    fit("mixture hostile.csv -k 2 --check never");
    fit("regression hostile.csv --response 2 --check never", "line.json");
    for (const std::string fitted : {"fit.json", "line.json"}) {
        for (const std::string& figure : kFigures) {
            const XmlElement root = plot(fitted + " hostile.csv --title '<b>&\"\x02\xff' --figure " + figure);
            EXPECT_TRUE(root.named("script").empty());
            EXPECT_EQ(root.of_class("title").at(0)->text, "<b>&\"\\x02\\xff");
        }
    }
}

TEST_F(Plot, LongNamesAreCutAndTheirTipsHaveAllOfThem) {
    const std::string name(120, 'a');
    std::string csv = name + ",y\n";
    for (int i = 0; i < 20; ++i) csv += std::to_string(i) + "," + std::to_string((7 * i) % 11) + "\n";
    write("long.csv", csv);
    fit("regression long.csv --response y");
    const XmlElement root = plot("fit.json");
    bool seen = false;
    for (const XmlElement* label : root.of_class("name")) {
        if (label->tip() != "beta[" + name + "]") continue;
        seen = true;
        EXPECT_NE(label->text.find("…"), std::string::npos);
        EXPECT_LT(label->text.size(), 60U);
    }
    EXPECT_TRUE(seen);
}

// Labels and what is said beside them, × 10ⁿ and + offset, are the values where their ticks stand.
TEST_F(Plot, LabelsSayWhatTheirTicksAre) {
    const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
            text.replace(at, from.size(), to);
        }
        return text;
    };
    struct Unit {
        double offset, scale;
    };
    for (const Unit unit : {Unit{0.0, 1.0}, Unit{1.7e9, 1.0}, Unit{-1.7e9, 1e-3}, Unit{0.0, 1e-9}, Unit{0.0, 1e12},
                            Unit{0.0, 1e-60}, Unit{0.0, 1e60}, Unit{1.0, 1e-7}, Unit{3e20, 1e16}}) {
        std::ostringstream csv;
        csv.precision(17);
        csv << "x\n";
        for (int i = 0; i < 40; ++i) csv << unit.offset + unit.scale * ((i * 7919) % 41 - 20) << '\n';
        write("unit.csv", csv.str());
        fit("mixture unit.csv -k 1 --check never");
        const XmlElement root = plot("fit.json unit.csv --figure fit");
        const XmlElement& axis = *root.of_class("across").at(0);
        const XmlAxis scale(axis);
        double power = 1.0;
        double offset = 0.0;
        std::vector<std::pair<double, std::string>> labels;
        for (const XmlElement* text : axis.named("text")) {
            if (text->attribute("text-anchor") == "middle" && !text->has_class("name")) {
                labels.emplace_back(text->number("x"), replaced(text->text, "−", "-"));
                continue;
            }
            std::string note = replaced(text->text, "−", "-");
            const std::array<std::string, 10> digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
            for (std::size_t d = 0; d < 10; ++d) note = replaced(note, digits[d], std::to_string(d));
            note = replaced(note, "⁻", "-");
            std::smatch match;
            if (std::regex_search(note, match, std::regex("× 10(-?[0-9]+)")))
                power = std::pow(10.0, std::stod(match[1]));
            if (std::regex_search(note, match, std::regex("(^| )([-+]) ([0-9.e+-]+)$"))) {
                offset = std::stod(match[3]) * (match[2] == "-" ? -1.0 : 1.0);
            }
        }
        ASSERT_GE(labels.size(), 3U) << unit.scale;
        for (const auto& [x, label] : labels) {
            EXPECT_NEAR(std::stod(label) * power + offset, scale.value(x), 10.0 * scale.tolerance())
                << label << ", " << unit.offset << " and " << unit.scale;
            EXPECT_LT(label.size(), 9U) << label;
        }
        for (const std::string& figure : kFigures) plot("fit.json unit.csv --figure " + figure);
    }
}

TEST_F(Plot, WhatIsHeldIsSaidAndNotAsked) {
    write("at.json", R"({"weights": [0.4, 0.6], "means": [2.0, 4.3], "precisions": [16, 5]})");
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 2 --fix weights,means,precisions --at at.json --check never");
    const XmlElement root = plot("fit.json");
    EXPECT_TRUE(root.of_class("interval").empty());
    EXPECT_EQ(root.of_class("mean").size(), 6U);
    plot("fit.json $DATA/old_faithful.csv --figure fit");
    for (const std::string figure : {"correlation", "influence"}) {
        const Result result = lrvb("plot fit.json $DATA/old_faithful.csv -o x.svg --figure " + figure);
        EXPECT_EQ(result.code, 1);
        EXPECT_NE(result.err.find("held fixed"), std::string::npos) << result.err;
    }
    EXPECT_FALSE(files().contains("x.svg"));
}

TEST_F(Plot, AFitThatDidNotConvergeHasMeanFieldsIntervalsAndSaysSo) {
    ASSERT_EQ(lrvb("fit mixture $DATA/mixture3.csv -k 3 --max-iterations 1 --quiet -o fit.json").code, 3);
    const XmlElement root = plot("fit.json");
    EXPECT_TRUE(root.of_class("interval").empty());
    EXPECT_FALSE(root.of_class("mean-field").empty());
    EXPECT_NE(root.of_class("warning").at(0)->text.find("did not converge"), std::string::npos);
    EXPECT_TRUE(plot("fit.json $DATA/mixture3.csv --figure fit").of_class("band").empty());
    for (const std::string figure : {"correlation", "influence"}) {
        const Result result = lrvb("plot fit.json $DATA/mixture3.csv --figure " + figure);
        EXPECT_EQ(result.code, 1);
        EXPECT_NE(result.err.find("did not converge"), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
    }
}

TEST_F(Plot, ManyRowsAreBinnedAndTheStrongestAreLabelled) {
    ASSERT_EQ(lrvb("simulate mixture --weights 0.3,0.7 --means 0,4 --sds 1,1 -n 20000 > many.csv").code, 0);
    ASSERT_EQ(shell("paste -d, many.csv many.csv | sed '1s/.*/a,b/' | awk -F, 'NR==1{print;next}{print "
                    "$1\",\"$2+NR%7}' > two.csv")
                  .code,
              0);
    fit("mixture two.csv -k 2 --restarts 1 --check never");
    fit("regression two.csv --response b", "line.json");
    for (const std::string fitted : {"fit.json", "line.json"}) {
        for (const std::string& figure : kFigures) {
            const Result result = lrvb("plot " + fitted + " two.csv --figure " + figure);
            ASSERT_EQ(result.code, 0) << result.err;
            EXPECT_LT(result.out.size(), 500'000U) << figure;
            require_numbers(XmlReader::read(result.out));
        }
    }
    const XmlElement root = plot("fit.json two.csv --figure influence");
    EXPECT_EQ(root.of_class("strong").size(), 20U);
    EXPECT_FALSE(root.of_class("label").empty());
    const XmlElement scatter = plot("fit.json two.csv --figure fit");
    EXPECT_TRUE(scatter.of_class("row").empty());
    EXPECT_FALSE(scatter.of_class("cell").empty());
}

TEST_F(Plot, ThreadsChangeNoByte) {
    ASSERT_EQ(lrvb("simulate mixture --weights 0.3,0.7 --means 0,4 --sds 1,1 -n 5000 > many.csv").code, 0);
    fit("mixture many.csv -k 2 --restarts 1 --check never");
    for (const std::string& figure : kFigures) {
        const std::string one = lrvb("plot fit.json many.csv --threads 1 --figure " + figure).out;
        EXPECT_EQ(one, lrvb("plot fit.json many.csv --threads 3 --figure " + figure).out);
        EXPECT_FALSE(one.empty());
    }
}

TEST_F(Plot, ColoursAreThoseOfThePage) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const std::string style = read_text(LRVB_SOURCE_DIR "/src/report/web/style.css");
    for (const std::string figure : {"intervals", "fit", "influence"}) {
        const std::string picture = lrvb("plot fit.json $DATA/old_faithful.csv --figure " + figure).out;
        static const std::regex colour("#[0-9a-f]{6}");
        for (std::sregex_iterator at(picture.begin(), picture.end(), colour), end; at != end; ++at) {
            const std::string one = at->str();
            // The page says how dense its band is with the colour.
            if (one == "#0b5cad") continue;
            EXPECT_NE(style.find(one), std::string::npos) << one << " in " << figure;
        }
    }
}

// --- what is asked -----------------------------------------------------------------------------------------------

TEST_F(Plot, SizeAndTitleAreThoseAskedFor) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    for (const std::string& figure : kFigures) {
        const XmlElement root =
            plot("fit.json $DATA/old_faithful.csv --width 900 --height 700 --title 'Geyser' --figure " + figure);
        EXPECT_EQ(root.number("width"), 900.0);
        EXPECT_EQ(root.number("height"), 700.0);
        EXPECT_EQ(root.of_class("title").at(0)->text, "Geyser");
        for (const XmlElement* panel : root.of_class("panel")) {
            for (const XmlElement* line : panel->named("line")) EXPECT_LE(line->number("y2"), 700.0);
        }
        plot("fit.json $DATA/old_faithful.csv --width 240 --figure " + figure);
    }
}

TEST_F(Plot, AFileAppearsWholeAndStandardOutputIsTheSame) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const std::string printed = lrvb("plot fit.json").out;
    const Result result = lrvb("plot fit.json -o x.svg");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(read_text(work() / "x.svg"), printed);
    EXPECT_EQ(lrvb("plot fit.json -o fit.json").code, 2);
    EXPECT_EQ(lrvb("plot fit.json -o nowhere/x.svg").code, 1);
}

TEST_F(Plot, WrongUsageEndsInASentence) {
    fit("mixture $DATA/old_faithful.csv -k 2");
    const auto refused = [&](const std::string& arguments, int code, const std::vector<std::string>& words) {
        const Result result = lrvb("plot " + arguments);
        EXPECT_EQ(result.code, code) << arguments << result.err;
        EXPECT_EQ(result.out, "");
        for (const std::string& word : words) EXPECT_NE(result.err.find(word), std::string::npos) << result.err;
    };
    refused("fit.json --figure pie", 2, {"pie", "intervals", "fit", "correlation", "influence"});
    refused("fit.json --figure fit", 2, {"needs the data", "lrvb plot FIT DATA --figure fit"});
    refused("fit.json --figure influence", 2, {"needs the data", "lrvb plot FIT DATA --figure influence"});
    refused("fit.json $DATA/old_faithful.csv --figure fit --variables mu", 2, {"-c"});
    refused("fit.json -c waiting", 2, {"--variables"});
    refused("fit.json $DATA/old_faithful.csv --figure fit -c minutes", 1, {"minutes", "eruptions", "waiting"});
    refused("fit.json --variables nu", 1, {"nu"});
    refused("fit.json --height 50", 1, {"50", "too small"});
    refused("fit.json $DATA/mtcars.csv --figure fit", 1, {"mtcars.csv"});
}

}  // namespace
}  // namespace lrvb::testing
