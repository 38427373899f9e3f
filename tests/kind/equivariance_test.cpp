// What a regression by formula must not depend on: the origin and the unit of a column, the order of rows and of
// levels, and whether equal rows are counted, added up or repeated.

#include <lrvb/check/check.hpp>
#include <lrvb/data/csv.hpp>
#include <lrvb/kind/kind.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace lrvb {
namespace {

struct Rows {
    Vector y;
    Vector x;
    std::vector<std::uint32_t> g;
    std::vector<std::uint32_t> h;
    Vector count;  // weights, or trials; empty: none
};

const std::vector<std::string> kLevels{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

FrameColumn numbers(const std::string& name, const Vector& values) {
    return {.name = name, .numbers = values, .levels = {}, .codes = {}};
}

DataFrame frame_of(const Rows& rows, const std::string& count, const std::vector<std::string>& levels = kLevels) {
    DataFrame frame;
    frame.rows = rows.y.size();
    frame.columns.push_back(numbers("y", rows.y));
    frame.columns.push_back(numbers("x", rows.x));
    frame.columns.push_back({.name = "g", .numbers = {}, .levels = levels, .codes = rows.g});
    frame.columns.push_back({.name = "h", .numbers = {}, .levels = {"u", "v", "w"}, .codes = rows.h});
    if (!count.empty()) frame.columns.push_back(numbers(count, rows.count));
    return frame;
}

/// Ten groups of eight rows, with intercepts and slopes of their own.
Rows simulated(const std::string& family) {
    Rows rows{Vector(80), Vector(80), std::vector<std::uint32_t>(80), std::vector<std::uint32_t>(80), {}};
    std::mt19937_64 engine(11);
    std::normal_distribution<double> normal;
    std::vector<double> intercepts;
    std::vector<double> slopes;
    for (int g = 0; g < 10; ++g) {
        intercepts.push_back(0.8 * normal(engine));
        slopes.push_back(0.5 * normal(engine));
    }
    for (int n = 0; n < 80; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const auto g = static_cast<std::uint32_t>(n / 8);
        rows.g[at] = g;
        rows.h[at] = static_cast<std::uint32_t>(n % 3);
        rows.x[n] = static_cast<double>(n % 8) / 4.0 + 0.25 * static_cast<double>(n % 5);
        const double eta = 0.5 + intercepts[static_cast<std::size_t>(g)] + 0.3 * static_cast<double>(n % 3) +
                           (0.4 + slopes[static_cast<std::size_t>(g)]) * (rows.x[n] - 1.3);
        if (family == "gaussian" || family == "student") rows.y[n] = eta + 0.6 * normal(engine);
        if (family == "poisson") rows.y[n] = std::poisson_distribution<int>(std::exp(eta))(engine);
        if (family == "bernoulli") rows.y[n] = normal(engine) < eta ? 1.0 : 0.0;
    }
    return rows;
}

struct Answer {
    std::map<std::string, double> mean;
    std::map<std::string, double> sd;
};

Answer answer_of(const DataFrame& frame, const std::string& formula, const std::string& family,
                 const Settings& more = {}) {
    Settings settings = more;
    settings.set("FORMULA", formula);
    settings.set("family", family);
    const CheckedFit fit = fit_and_check(*find_kind("regression"), FitRequest{frame, settings, {}, 1, {}},
                                         CheckWish::exact, std::nullopt, {});
    Answer answer;
    const FitFile& file = fit.fitted->file();
    EXPECT_TRUE(file.correction.has_value()) << formula << ' ' << family;
    std::vector<Index> all(file.posterior.variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    for (const Posterior::Row& row : file.posterior.summary(all, 0.9)) {
        answer.mean[row.name] = row.mean;
        answer.sd[row.name] = row.sd;
    }
    return answer;
}

struct Case {
    std::string family;
    std::string formula;
};

void PrintTo(const Case& one, std::ostream* out) {
    *out << one.family << ' ' << one.formula;
}

class Equivariance : public ::testing::TestWithParam<Case> {
  protected:
    // Names of the first answer in the second one, and how the unit changes. Of rows that are not normal, draws move
    // what is integrated: four Monte Carlo errors of 16,000 draws are 0.03 sds, of which a sixth is allowed. R2 of them
    // is from 4,000 draws.
    void expect_same(const Answer& one, const Answer& other, const std::map<std::string, double>& unit = {},
                     const std::vector<std::string>& moved = {}, double drawn = 5e-3) const {
        const bool is_normal = GetParam().family == "gaussian";
        for (const auto& [name, mean] : one.mean) {
            if (std::find(moved.begin(), moved.end(), name) != moved.end()) continue;
            if (name.starts_with("u[") || name.starts_with("log_") || name.starts_with("atanh")) continue;
            const bool is_drawn = name.starts_with("R2");
            const double times = unit.contains(name) ? unit.at(name) : 1.0;
            const double sd = one.sd.at(name);
            ASSERT_TRUE(other.mean.contains(name)) << name;
            const double close = is_drawn && !is_normal ? 0.1 : is_drawn ? 1e-3 : is_normal ? 1e-6 : drawn;
            EXPECT_NEAR(times * other.mean.at(name), mean, close * sd) << name;
            EXPECT_NEAR(times * other.sd.at(name), sd, close * sd) << name;
        }
    }
};

TEST_P(Equivariance, TheOriginOfAColumnIsThatOfTheInterceptAlone) {
    if (GetParam().formula.find("||") != std::string::npos) return;  // another model there
    Rows rows = simulated(GetParam().family);
    const Answer here = answer_of(frame_of(rows, ""), GetParam().formula, GetParam().family);
    for (const double origin : {100.0, 2000.0, 1e6}) {
        Rows moved = rows;
        moved.x.array() += origin;
        const Answer there = answer_of(frame_of(moved, ""), GetParam().formula, GetParam().family);
        expect_same(here, there, {}, {"intercept", "sd[g,intercept]", "cor[g,intercept,x]"});
        if (here.mean.contains("sd[g,x]")) continue;
        EXPECT_NEAR(there.mean.at("sd[g,intercept]"), here.mean.at("sd[g,intercept]"), 1e-3);
    }
}

TEST_P(Equivariance, TheUnitOfAColumnIsThatOfItsSlopes) {
    Rows rows = simulated(GetParam().family);
    const Answer here = answer_of(frame_of(rows, ""), GetParam().formula, GetParam().family);
    rows.x *= 1000.0;
    const Answer there = answer_of(frame_of(rows, ""), GetParam().formula, GetParam().family);
    expect_same(here, there, {{"beta[x]", 1000.0}, {"sd[g,x]", 1000.0}});
}

TEST_P(Equivariance, TheOrderOfRowsAndLevelsDoesNotMatter) {
    const Rows rows = simulated(GetParam().family);
    const Answer here = answer_of(frame_of(rows, ""), GetParam().formula, GetParam().family);
    std::vector<Index> order(80);
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
    Rows shuffled = rows;
    for (Index n = 0; n < 80; ++n) {
        const Index from = order[static_cast<std::size_t>(n)];
        shuffled.y[n] = rows.y[from];
        shuffled.x[n] = rows.x[from];
        shuffled.g[static_cast<std::size_t>(n)] = 9 - rows.g[static_cast<std::size_t>(from)];  // the last is the first
        shuffled.h[static_cast<std::size_t>(n)] = rows.h[static_cast<std::size_t>(from)];
    }
    expect_same(here, answer_of(frame_of(shuffled, ""), GetParam().formula, GetParam().family));
}

TEST_P(Equivariance, ACountedRowIsAsManyRows) {
    Rows rows = simulated(GetParam().family);
    rows.count = Vector::Ones(80);
    for (Index n = 0; n < 80; n += 7) rows.count[n] = 2.0;
    Settings settings;
    settings.set("weights", "w");
    const Answer counted = answer_of(frame_of(rows, "w"), GetParam().formula, GetParam().family, settings);
    std::vector<Index> copies;
    for (Index n = 0; n < 80; ++n) copies.insert(copies.end(), n % 7 == 0 ? 2 : 1, n);
    Rows repeated{Vector(rows.y(copies)), Vector(rows.x(copies)), {}, {}, {}};
    for (const Index n : copies) {
        repeated.g.push_back(rows.g[static_cast<std::size_t>(n)]);
        repeated.h.push_back(rows.h[static_cast<std::size_t>(n)]);
    }
    // Other rows, other draws: what these move is as sure as they are.
    expect_same(counted, answer_of(frame_of(repeated, ""), GetParam().formula, GetParam().family), {}, {}, 0.07);
}

std::vector<Case> cases() {
    std::vector<Case> result;
    for (const char* family : {"gaussian", "student", "poisson", "bernoulli"}) {
        for (const char* formula :
             {"y ~ x + (1 | g)", "y ~ x + (x | g)", "y ~ x + (x || g)", "y ~ x + (1 | g) + (1 | h)"}) {
            const std::string own = family;
            // More parameters than a test has time for.
            if (own == "student" && std::string(formula) != "y ~ x + (1 | g)") continue;
            result.push_back({family, formula});
        }
    }
    return result;
}

INSTANTIATE_TEST_SUITE_P(Formulas, Equivariance, ::testing::ValuesIn(cases()));

// Successes among trials are the same rows, added up.
TEST(EquivariantFits, AddedUpTrialsAreTheirRows) {
    Rows rows = simulated("bernoulli");
    for (Index n = 0; n < 80; ++n) rows.x[n] = static_cast<double>(n % 8 / 4);
    const Answer single = answer_of(frame_of(rows, ""), "y ~ x + (1 | g)", "bernoulli");
    DataFrame frame;
    Rows sums{Vector::Zero(20), Vector(20), std::vector<std::uint32_t>(20), std::vector<std::uint32_t>(20),
              Vector::Zero(20)};
    for (Index n = 0; n < 80; ++n) {
        const Index cell = n / 8 * 2 + n % 8 / 4;
        sums.y[cell] += rows.y[n];
        sums.count[cell] += 1.0 - rows.y[n];
        sums.x[cell] = rows.x[n];
        sums.g[static_cast<std::size_t>(cell)] = rows.g[static_cast<std::size_t>(n)];
    }
    const Answer added = answer_of(frame_of(sums, "failures"), "cbind(y, failures) ~ x + (1 | g)", "binomial");
    // Scales of automatic priors are those of the rows that there are, which weigh differently.
    for (const char* name : {"beta[x]", "sd[g,intercept]"}) {
        EXPECT_NEAR(added.mean.at(name), single.mean.at(name), 0.02 * single.sd.at(name)) << name;
    }
}

// (Days || Subject) far from zero: an intercept and a slope that are independent there make lines that hardly part
// where the days are. Means and sds by quadrature on 60 × 60 × 60 places of the three sds, given which the rest is
// normal (NumPy).
TEST(EquivariantFits, IndependentEffectsFarFromZeroAreIntegratedWhereTheyAre) {
    DataFrame frame = Dataset(std::string(LRVB_DATA_DIR) + "/sleepstudy.csv").frame({});
    frame.columns[static_cast<std::size_t>(frame.find("Days"))].numbers.array() += 2000.0;
    const Answer found = answer_of(frame, "Reaction ~ Days + (Days || Subject)", "gaussian");
    const auto expect = [&](const char* name, double mean, double sd) {
        EXPECT_NEAR(found.mean.at(name), mean, 0.02 * sd) << name;
        EXPECT_NEAR(found.sd.at(name), sd, 0.01 * sd) << name;
    };
    expect("sd[Subject,intercept]", 24.066, 13.856);
    expect("sd[Subject,Days]", 0.014207, 0.0070106);
    expect("sigma", 31.1834, 1.75162);
    expect("beta[Days]", 10.4644, 0.810381);
    expect("alpha", 298.5078, 10.18086);
}

// As issue, README and documents have it, at every origin: sd[beta[Days]] 1.645, sd[Subject,Days] 6.24.
TEST(EquivariantFits, SleepstudyIsTheSameAtEveryOrigin) {
    for (const double origin : {0.0, -4.5, 2000.0, 1e9}) {
        DataFrame frame = Dataset(std::string(LRVB_DATA_DIR) + "/sleepstudy.csv").frame({});
        frame.columns[static_cast<std::size_t>(frame.find("Days"))].numbers.array() += origin;
        const Answer found = answer_of(frame, "Reaction ~ Days + (Days | Subject)", "gaussian");
        EXPECT_NEAR(found.sd.at("beta[Days]"), 1.645, 0.01) << origin;
        EXPECT_NEAR(found.mean.at("sd[Subject,Days]"), 6.24, 0.03) << origin;
    }
}

// The sentences that --show-priors prints make the same fit: Huang & Wand's prior at the means, and priors of sds at
// zero.
TEST(EquivariantFits, ShownPriorsReproduceTheFit) {
    const Rows rows = simulated("gaussian");
    for (const std::string& first : std::vector<std::string>{"", "sd[g,x] ~ half_normal(0.5)"}) {
        Settings settings;
        settings.set("FORMULA", "y ~ x + (x | g)");
        if (!first.empty()) settings.add("prior", first);
        const FitRequest request{frame_of(rows, ""), settings, {}, 1, {}};
        Settings again;
        for (const std::string& line : find_kind("regression")->priors(request)) again.add("prior", line);
        const Answer one = answer_of(frame_of(rows, ""), "y ~ x + (x | g)", "gaussian", settings);
        const Answer other = answer_of(frame_of(rows, ""), "y ~ x + (x | g)", "gaussian", again);
        for (const char* name : {"beta[x]", "sd[g,intercept]", "sd[g,x]", "cor[g,intercept,x]", "sigma"}) {
            EXPECT_NEAR(other.mean.at(name), one.mean.at(name), 1e-4 * one.sd.at(name)) << first << name;
            EXPECT_NEAR(other.sd.at(name), one.sd.at(name), 1e-4 * one.sd.at(name)) << first << name;
        }
    }
}

// A prior of sds at zero is the same prior in the coordinates at the means: sds that are far from each other there, by
// quadrature on 40⁴ places (NumPy) of log sds, atanh of the correlation and log sigma, as written.
TEST(EquivariantFits, APriorOfSdsAtZeroIsCarriedToTheMeans) {
    DataFrame frame = Dataset(std::string(LRVB_DATA_DIR) + "/sleepstudy.csv").frame({});
    Settings settings;
    settings.add("prior", "sd[Subject] ~ half_normal(20)");
    const Answer found = answer_of(frame, "Reaction ~ Days + (Days | Subject)", "gaussian", settings);
    const auto expect = [&](const char* name, double mean, double sd) {
        EXPECT_NEAR(found.mean.at(name), mean, 0.02 * sd) << name;
        EXPECT_NEAR(found.sd.at(name), sd, 0.015 * sd) << name;
    };
    expect("sd[Subject,intercept]", 24.5436, 5.79938);
    expect("sd[Subject,Days]", 6.50581, 1.49201);
    expect("cor[Subject,intercept,Days]", 0.11352, 0.29394);
    expect("sigma", 25.9718, 1.56902);
}

// Two crossing lines: which of them the other is an outlier of, rows do not say.
TEST(EquivariantFits, AnotherFitOfStudentRowsIsNamed) {
    Rows rows{Vector(20), Vector(20), std::vector<std::uint32_t>(20, 0), std::vector<std::uint32_t>(20, 0), {}};
    for (Index n = 0; n < 20; ++n) {
        rows.x[n] = 0.5 * static_cast<double>(n / 2) - 2.25;
        const double noise = 0.02 * static_cast<double>((7 * n) % 5 - 2);
        rows.y[n] = (n % 2 == 0 ? 1.0 : -1.0) * rows.x[n] + noise;
    }
    Settings settings;
    settings.set("FORMULA", "y ~ x");
    settings.set("family", "student");
    // So that no scale is wide enough for both lines: each is then a half of the posterior.
    settings.add("prior", "sigma ~ half_normal(0.05)");
    settings.add("prior", "nu ~ gamma(2, 1)");
    const auto fitted = find_kind("regression")->fit(FitRequest{frame_of(rows, ""), settings, {}, 1, {}});
    const std::vector<std::string> warnings = fitted->warnings();
    ASSERT_FALSE(warnings.empty());
    EXPECT_NE(warnings.front().find("another fit of these rows"), std::string::npos) << warnings.front();
    EXPECT_NE(warnings.front().find("beta[x]"), std::string::npos) << warnings.front();
}

}  // namespace
}  // namespace lrvb
