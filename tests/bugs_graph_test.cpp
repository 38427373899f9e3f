#include "says.hpp"

#include <lrvb/bugs/graph.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace lrvb::bugs {
namespace {

using Values = std::vector<double>;
using Extents = std::vector<Index>;

Graph graph_of(const std::string& model, const std::string& data = "{}") {
    Data arrays;
    arrays.add_json(data, "d.json");
    return Graph(parse_model(model, "m.bug"), std::move(arrays));
}

/// The values of a deterministic node that data decide.
Values constants(const std::string& relations, const std::string& name, const std::string& data = "{}") {
    const Graph graph = graph_of("model { " + relations + " }", data);
    const Array& array = *graph.find(name);
    EXPECT_EQ(array.count(State::constant), array.size());
    return array.values;
}

double constant(const std::string& value, const std::string& data = "{}") {
    return constants("x[1] <- " + value, "x", data).front();
}

std::vector<State> states(const Graph& graph, const std::string& name) {
    return graph.find(name)->states;
}

TEST(BugsGraph, ComputesWhatDataDecide) {
    EXPECT_EQ(constant("2 + 3 * 4 - 6 / 2"), 11.0);
    EXPECT_EQ(constant("-2^2"), -4.0);
    EXPECT_EQ(constant("2^3^2"), 512.0);
    EXPECT_EQ(constant("2^-1"), 0.5);
    EXPECT_EQ(constant("sum(1:10)"), 55.0);
    EXPECT_EQ(constant("mean(y)", R"({"y": [1, 2, 6]})"), 3.0);
    EXPECT_EQ(constant("sd(y)", R"({"y": [1, 2, 3]})"), 1.0);
    EXPECT_EQ(constant("var(c(1, 3))"), 2.0);
    EXPECT_EQ(constant("prod(1:5)"), 120.0);
    EXPECT_EQ(constant("max(3, y[])", R"({"y": [1, 7, 6]})"), 7.0);
    EXPECT_EQ(constant("inprod(a, b)", R"({"a": [1, 2], "b": [3, 4]})"), 11.0);
    EXPECT_EQ(constant("step(0) + step(-1) + equals(2, 2) + (2 > 1 && !(1 > 2))"), 3.0);
    EXPECT_EQ(constant("ifelse(1 > 2, 10, 20)"), 20.0);
    EXPECT_EQ(constant("length(m) + 100 * length(m[1,])", R"({"m": [[1, 2, 3], [4, 5, 6]]})"), 306.0);
    EXPECT_EQ(constant("7 %% 3"), 1.0);
    EXPECT_EQ(constant("trunc(-1.5) + round(2.4)"), 1.0);
    EXPECT_EQ(constant("interp.lin(1.5, c(1, 2), c(10, 20))"), 15.0);
    EXPECT_DOUBLE_EQ(constant("logit(ilogit(0.3))"), 0.3);
    EXPECT_DOUBLE_EQ(constant("cloglog(icloglog(-0.7))"), -0.7);
    EXPECT_DOUBLE_EQ(constant("exp(logfact(5)) + exp(loggam(5))"), 144.0);
    EXPECT_DOUBLE_EQ(constant("logdet(m)", R"({"m": [[2, 0], [0, 3]]})"), std::log(6.0));
}

TEST(BugsGraph, DataMayDecideASizeOfTheirOwnDistribution) {
    const Graph graph = graph_of(
        "model { for (i in 1:2) { n[i] <- sum(y[i,])\n y[i,1:2] ~ dmulti(p[], n[i]) }\n p[1:2] ~ ddirch(w[]) }",
        R"({"y": [[1, 2], [3, 4]], "w": [1, 1]})");
    EXPECT_EQ(graph.find("n")->values, (Values{3.0, 7.0}));
    EXPECT_THROW(graph_of("model { m <- a * y\n y ~ dnorm(m, 1)\n a ~ dnorm(0, 1) }", R"({"y": 1})"), ModelError);
    EXPECT_THROW(graph_of("model { n <- y + 1\n y ~ dpois(n) }"), ModelError);
}

TEST(BugsGraph, QuantilesOfTheNormalAreThoseOfItsDistribution) {
    // 1.959963984540054: the quantile of 0.975 as tables have it; the rest by going back and forth.
    EXPECT_NEAR(constant("probit(0.975)"), 1.959963984540054, 1e-14);
    for (const double x : {-7.0, -3.0, -0.1, 0.0, 0.5, 2.0, 4.0}) {
        EXPECT_NEAR(constant("probit(phi(x1))", "{\"x1\": " + std::to_string(x) + "}"), x, 1e-11);
    }
}

TEST(BugsGraph, ComputesArrays) {
    EXPECT_EQ(constants("t1[1:2,1:2] <- t(m)", "t1", R"({"m": [[1, 2], [3, 4]]})"), (Values{1, 2, 3, 4}));
    EXPECT_EQ(constants("p[1:2] <- m %*% v", "p", R"({"m": [[1, 2], [3, 4]], "v": [1, 10]})"), (Values{21, 43}));
    EXPECT_EQ(constants("p <- m %*% v", "p", R"({"m": [[1, 2], [3, 4]], "v": [1, 10]})"), (Values{21, 43}));
    EXPECT_EQ(constants("p[1:2,1:2] <- inverse(m)", "p", R"({"m": [[2, 0], [0, 4]]})"), (Values{0.5, 0, 0, 0.25}));
    EXPECT_EQ(constants("s[1:3] <- sort(y)", "s", R"({"y": [3, 1, 2]})"), (Values{1, 2, 3}));
    EXPECT_EQ(constants("s[1:3] <- rank(y)", "s", R"({"y": [30, 10, 20]})"), (Values{3, 1, 2}));
    EXPECT_EQ(constants("s[1:3] <- order(y)", "s", R"({"y": [30, 10, 20]})"), (Values{2, 3, 1}));
    EXPECT_EQ(constants("r[1:3] <- rep(2, 3)", "r"), (Values{2, 2, 2}));
    EXPECT_EQ(constants("r[1:4] <- rep(1:2, 2)", "r"), (Values{1, 2, 1, 2}));
    EXPECT_EQ(constants("r[1:3] <- y * 2 + 1:3", "r", R"({"y": [1, 1, 1]})"), (Values{3, 4, 5}));
    EXPECT_EQ(constants("d <- dim(m)", "d", R"({"m": [[1, 2, 3], [4, 5, 6]]})"), (Values{2, 3}));
}

TEST(BugsGraph, LinksOnTheLeftAreTurnedAround) {
    EXPECT_DOUBLE_EQ(constants("log(x) <- 2", "x").front(), std::exp(2.0));
    EXPECT_DOUBLE_EQ(constants("logit(x) <- 0", "x").front(), 0.5);
    EXPECT_DOUBLE_EQ(constants("probit(x) <- 0", "x").front(), 0.5);
    EXPECT_DOUBLE_EQ(constants("cloglog(x) <- 0", "x").front(), 1.0 - std::exp(-1.0));
}

TEST(BugsGraph, RecursionsAreComputedInTheirOrder) {
    EXPECT_EQ(constants("f[1] <- 1 f[2] <- 1 for (i in 3:8) { f[i] <- f[i-1] + f[i-2] }", "f"),
              (Values{1, 1, 2, 3, 5, 8, 13, 21}));
    // Backwards, by two relations that use each other.
    EXPECT_EQ(constants("a[4] <- 1 for (i in 1:3) { a[i] <- 2 * b[i+1] } for (i in 1:4) { b[i] <- a[i] + 1 }", "a"),
              (Values{22, 10, 4, 1}));
}

TEST(BugsGraph, LoopsBecomePlates) {
    const Graph graph = graph_of(
        "model { for (i in 1:2) { for (j in i:3) { y[i,j] ~ dnorm(mu[i], tau) } mu[i] ~ dnorm(0, 1) } tau ~ dgamma(1, "
        "1) }");
    const GraphRelation& y = graph.relations()[0];
    EXPECT_EQ(y.rows(), 5);
    EXPECT_EQ(y.plate->indices, (std::vector<std::string>{"i", "j"}));
    EXPECT_EQ(y.plate->values[0], (Values{1, 1, 1, 2, 2}));
    EXPECT_EQ(y.plate->values[1], (Values{1, 2, 3, 2, 3}));
    EXPECT_EQ(graph.find("y")->dims, (Extents{2, 3}));
    EXPECT_EQ(graph.find("y")->count(State::unobserved), 5);
    EXPECT_EQ(graph.find("y")->states[1], State::undefined);  // y[2,1]
    EXPECT_EQ(graph.find("y")->element_name(5), "y[2,3]");
    EXPECT_EQ(graph.find("tau")->element_name(0), "tau");
    EXPECT_EQ(graph.relations()[2].rows(), 1);
    const Reference mu = graph.reference(y.syntax->right.parts[0], y);
    EXPECT_EQ(mu.array, static_cast<std::size_t>(graph.find("mu") - graph.arrays().data()));
    EXPECT_EQ(mu.at(0), 0);
    EXPECT_EQ(mu.at(4), 1);
    EXPECT_TRUE(mu.dims.empty());
}

TEST(BugsGraph, LoopsMayGoOverAnyWholeNumbers) {
    const Graph graph = graph_of("model { for (i in which) { x[i] ~ dnorm(0, 1) } }", R"({"which": [2, 5, 4]})");
    EXPECT_EQ(graph.find("x")->dims, Extents{5});
    EXPECT_EQ(graph.find("x")->count(State::unobserved), 3);
}

TEST(BugsGraph, ALoopWithoutRoundsSaysNothing) {
    const Graph graph =
        graph_of("model { for (i in 1:N) { x[i] ~ dnorm(0, 1) for (j in 1:i) { z[i,j] <- x[j] } } y ~ dnorm(0, 1) }",
                 R"({"N": 0})");
    EXPECT_EQ(graph.relations().size(), 1U);
    EXPECT_EQ(graph.find("x"), nullptr);
    EXPECT_EQ(graph.steps().size(), 1U);
}

TEST(BugsGraph, BoundsMayBeComputedInTheModel) {
    const Graph graph =
        graph_of("model { K <- length(y) - 1 for (k in 1:K) { b[k] ~ dnorm(0, 1) } y[1] ~ dnorm(b[1], 1) }",
                 R"({"y": [1, 2, 3]})");
    EXPECT_EQ(graph.find("b")->dims, Extents{2});
}

TEST(BugsGraph, ElementsAreObservedMissingOrConstant) {
    const Graph graph = graph_of(
        "model { for (i in 1:3) { y[i] ~ dnorm(b[g[i]] * x[i], tau) } b[1] <- 0 b[2] ~ dnorm(0, 1) tau ~ dgamma(1, 1) "
        "s <- 1 / sqrt(tau) t <- b[1] + x[2] }",
        R"({"y": [1, null, 3], "x": [1, 2, 3], "g": [1, 2, 2]})");
    EXPECT_EQ(states(graph, "y"), (std::vector<State>{State::observed, State::unobserved, State::observed}));
    EXPECT_EQ(states(graph, "b"), (std::vector<State>{State::constant, State::unobserved}));
    EXPECT_EQ(states(graph, "x"), (std::vector<State>(3, State::data)));
    EXPECT_EQ(states(graph, "s"), std::vector<State>{State::deterministic});
    EXPECT_EQ(states(graph, "t"), std::vector<State>{State::constant});
    EXPECT_EQ(graph.find("t")->values, Values{2});

    const GraphRelation& y = graph.relations()[0];
    const Expression& mean = y.syntax->right.parts[0];
    EXPECT_EQ(graph.known(mean, y), (std::vector<bool>{true, false, false}));
    EXPECT_FALSE(graph.is_known(mean, y));
    const Rows first{0};
    EXPECT_EQ(graph.values(mean, y, &first).at(0), 0.0);
    EXPECT_TRUE(graph.is_known(mean.parts[1], y));
    const Columns x = graph.values(mean.parts[1], y);
    EXPECT_EQ(x.values.col(0), (Vector{{1, 2, 3}}));
    EXPECT_THROW(graph.values(mean, y), ModelError);
    EXPECT_EQ(graph.find("y")->relations[2], 0);
    EXPECT_EQ(graph.find("y")->rows[2], 2U);
}

TEST(BugsGraph, ADiscreteVariableMayBeAnIndex) {
    const Graph graph = graph_of(
        "model { for (i in 1:3) { y[i] ~ dnorm(mu[z[i],g[i]], 1) z[i] ~ dcat(p[]) } p[1:2] ~ ddirch(a[]) "
        "for (k in 1:2) { a[k] <- 1 for (j in 1:4) { mu[k,j] ~ dnorm(0, 1) } } }",
        R"({"y": [1, 2, 3], "g": [4, 1, 2]})");
    const GraphRelation& y = graph.relations()[0];
    const Reference mu = graph.reference(y.syntax->right.parts[0], y);
    ASSERT_EQ(mu.variable_indices.size(), 1U);
    EXPECT_EQ(mu.variable_indices[0].index->name, "z");
    EXPECT_EQ(mu.variable_indices[0].stride, 1);
    EXPECT_EQ(mu.variable_indices[0].extent, 2);
    EXPECT_EQ(mu.at(0), 6);  // mu[1,4]
    EXPECT_EQ(mu.at(1), 0);
    EXPECT_EQ(mu.at(2), 2);
    const Reference p = graph.reference(graph.relations()[1].syntax->right.parts[0], graph.relations()[1]);
    EXPECT_EQ(p.dims, Extents{2});
    EXPECT_EQ(p.elements.rows(), 1);
}

TEST(BugsGraph, PartsOfArraysHaveTheirFirstIndexFastest) {
    const Graph graph = graph_of(
        "model { for (i in 1:2) { y[i] <- sum(x[i,2:3,]) z[i] ~ dnorm(inprod(x[i,,1], b[]), 1) } "
        "for (k in 1:3) { b[k] ~ dnorm(0, 1) } }",
        R"({"x": [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]})");
    EXPECT_EQ(graph.find("y")->values, (Values{3 + 4 + 5 + 6, 9 + 10 + 11 + 12}));
    const GraphRelation& z = graph.relations()[1];
    const Expression& part = z.syntax->right.parts[0].parts[0];
    const Reference x = graph.reference(part, z);
    EXPECT_EQ(x.dims, Extents{3});
    EXPECT_EQ(x.at(1, 2), 5);  // x[2,3,1] of 2 × 3 × 2
    const Columns values = graph.values(part, z);
    EXPECT_EQ(values.values.row(1), (Matrix{{7, 9, 11}}));
    EXPECT_EQ(graph.dims(z.syntax->right.parts[0].parts[1], z), Extents{3});
}

TEST(BugsGraph, RaggedPartsAreAskedRowByRow) {
    const Graph graph = graph_of(
        "model { for (i in 1:3) { s[i] <- sum(x[1:n[i]]) u[i] ~ dnorm(sum(b[1:n[i]]), 1) } "
        "for (k in 1:3) { b[k] ~ dnorm(0, 1) } }",
        R"({"x": [1, 10, 100], "n": [1, 2, 3]})");
    EXPECT_EQ(graph.find("s")->values, (Values{1, 11, 111}));
    const GraphRelation& u = graph.relations()[1];
    const Expression& part = u.syntax->right.parts[0].parts[0];
    EXPECT_TRUE(graph.is_ragged(part, u));
    const Rows last{2};
    EXPECT_FALSE(graph.is_ragged(part, u, &last));
    EXPECT_EQ(graph.reference(part, u, &last).dims, Extents{3});
    EXPECT_THROW(graph.reference(part, u), ModelError);
    EXPECT_FALSE(graph.is_known(part, u));
}

TEST(BugsGraph, StepsDefineEverythingBeforeItIsUsed) {
    const Graph graph = graph_of(
        "model { for (t in 2:50) { x[t] ~ dnorm(m[t], tau) m[t] <- rho * x[t-1] } x[1] ~ dnorm(0, tau) rho ~ dunif(-1, "
        "1) "
        "tau ~ dgamma(1, 1) y ~ dnorm(x[50], 1) }",
        R"({"y": 1})");
    std::vector<std::vector<bool>> is_done;
    for (const GraphRelation& relation : graph.relations()) is_done.emplace_back(relation.rows(), false);
    for (const Step& step : graph.steps()) {
        const GraphRelation& relation = graph.relations()[step.relation];
        Rows rows = step.rows;
        if (step.is_all) {
            rows.resize(static_cast<std::size_t>(relation.rows()));
            std::iota(rows.begin(), rows.end(), 0U);
        }
        const auto require_done = [&](const Expression& expression, const auto& self) -> void {
            for (const Expression& part : expression.parts) self(part, self);
            if (expression.kind != Expression::Kind::variable || graph.is_loop_index(expression.name, relation)) return;
            const Reference used = graph.reference(expression, relation, &rows);
            const Array& array = graph.arrays()[used.array];
            for (Index i = 0; i < used.elements.rows(); ++i) {
                const auto element = static_cast<std::size_t>(used.elements(i, 0));
                const auto definer = static_cast<std::size_t>(array.relations[element]);
                EXPECT_TRUE(is_done[definer][array.rows[element]]) << array.element_name(used.elements(i, 0));
            }
        };
        require_done(relation.syntax->right, require_done);
        for (const std::uint32_t row : rows) is_done[step.relation][row] = true;
    }
    for (const std::vector<bool>& rows : is_done) {
        EXPECT_EQ(std::count(rows.begin(), rows.end(), true), static_cast<std::ptrdiff_t>(rows.size()));
    }
    EXPECT_EQ(graph.find("m")->count(State::deterministic), 49);
}

TEST(BugsGraph, TheDataBlockMakesData) {
    const Graph graph = graph_of(
        "var z[N]; data { for (i in 1:N) { z[i] <- (y[i] - mean(y)) / sd(y) } M <- N * 2 } "
        "model { for (i in 1:N) { z[i] ~ dnorm(0, tau) } tau ~ dgamma(M, 1) }",
        R"({"y": [1, 2, 3], "N": 3})");
    EXPECT_EQ(graph.find("z")->values, (Values{-1, 0, 1}));
    EXPECT_EQ(graph.find("z")->count(State::observed), 3);
    EXPECT_EQ(graph.data().find("M")->values, Values{6});
    EXPECT_TRUE(graph.unused_data().empty());
}

TEST(BugsGraph, DataThatNobodyUsesAndSingleRoundsAreNoted) {
    const Graph graph = graph_of("model { for (i in N) { y[i] ~ dnorm(0, 1) } }", R"({"y": [1, 2], "N": 2, "w": 3})");
    EXPECT_EQ(graph.unused_data(), std::vector<std::string>{"w"});
    ASSERT_EQ(graph.notes().size(), 1U);
    EXPECT_EQ(graph.notes()[0].sentence, "this loop has one round, for i = N: write 1:N for all from 1 on");
}

TEST(BugsGraph, AStandardDeviationWhereAPrecisionBelongsIsNoted) {
    const Graph graph = graph_of("model { y ~ dnorm(0, sigma[1]) sigma[1] ~ dunif(0, 10) }", R"({"y": 1})");
    ASSERT_EQ(graph.notes().size(), 1U);
    EXPECT_EQ(
        graph.notes()[0].sentence,
        "the second parameter of dnorm is a precision, one over the variance: if 'sigma' is a standard deviation, "
        "write pow(sigma[1], -2)");
}

TEST(BugsGraph, ARangeLessOneIsExplainedWhereSomethingIsWrong) {
    try {
        graph_of("model { for (i in 1:N-1) { y[i] ~ dnorm(0, 1) } }", R"({"y": [1, 2], "N": 2})");
        FAIL();
    } catch (const ModelError& error) {
        ASSERT_EQ(error.diagnostics().size(), 2U);
        EXPECT_EQ(error.diagnostics()[0].sentence, "this is (1:N) - 1: write 1:(N - 1) if the last bound is meant");
        EXPECT_EQ(error.diagnostics()[1].sentence, "the index of 'y' is 0 for i = 0, but goes from 1 to 2");
    }
}

TEST(BugsGraph, ArraysWithoutIndicesAreAsTheirRightSide) {
    const Graph graph = graph_of("model { b ~ dmnorm(m, P) p ~ ddirch(a) Q ~ dwish(P, 3) c <- b * 2 s <- 3 }",
                                 R"({"m": [0, 0], "P": [[1, 0], [0, 1]], "a": [1, 1, 1]})");
    EXPECT_EQ(graph.find("b")->dims, Extents{2});
    EXPECT_EQ(graph.find("p")->dims, Extents{3});
    EXPECT_EQ(graph.find("Q")->dims, (Extents{2, 2}));
    EXPECT_EQ(graph.find("c")->dims, Extents{2});
    EXPECT_EQ(graph.find("s")->dims, Extents{});
}

TEST(BugsGraph, TooManyRowsAreRefused) {
    GraphOptions options;
    options.most = 1000;
    const auto refusal = [&](const std::string& model) {
        try {
            const Graph graph(parse_model(model, "m.bug"), Data(), options);
        } catch (const ModelError& error) {
            return error.diagnostics().front().sentence;
        }
        return std::string();
    };
    EXPECT_TRUE(test::says(refusal("model { for (i in 1:2000) { x[i] ~ dnorm(0, 1) } }"), {"'i'", "2000", "1000"}));
    EXPECT_TRUE(test::says(refusal("model { x[40,50] ~ dnorm(0, 1) }"), {"'x'", "2000", "1000"}));
    EXPECT_TRUE(test::says(refusal("model { x <- sum(1:2000) }"), {"1000", "numbers"}));
}

TEST(BugsGraph, ManyRowsCostLittle) {
    constexpr Index rows = 200'000;
    Data data;
    Values y(rows);
    Values group(rows);
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = static_cast<double>(i % 17);
        group[i] = static_cast<double>(i % 5) + 1.0;
    }
    data.add({"y", {rows}, y, "here", {}});
    data.add({"g", {rows}, group, "here", {}});
    data.add({"N", {}, {static_cast<double>(rows)}, "here", {}});
    const Graph graph(parse_model("model { for (i in 1:N) { y[i] ~ dnorm(mu[g[i]] + 2 * x[i], tau) x[i] <- log(g[i]) } "
                                  "for (k in 1:5) { mu[k] ~ dnorm(0, 1) } tau ~ dgamma(1, 1) }",
                                  "m.bug"),
                      std::move(data));
    EXPECT_EQ(graph.steps().size(), 4U);
    EXPECT_EQ(graph.find("y")->count(State::observed), rows);
    EXPECT_EQ(graph.find("x")->count(State::constant), rows);
}

}  // namespace
}  // namespace lrvb::bugs
