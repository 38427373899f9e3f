#include "says.hpp"

#include <lrvb/bugs/graph.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

// What is a number, a vector or a matrix, and what has no elements. Which of these models are accepted was asked of
// JAGS 4.3, by the same texts and data.
namespace lrvb::bugs {
namespace {

constexpr const char* kData =
    R"({"y": [1, 2, 3], "x": [0.5, 1.5, 2.5], "t": [1, 2, 3], "n": [5, 6, 7], "p": [0.2, 0.3, 0.5], "one": [2], "k": 2,
        "M": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "M2": [[1, 0], [0, 1]], "R": [[1, 2, 3]], "N": 3, "cnt": [1, 2, 3],
        "A": [[1, 2, 3], [4, 5, 6]], "B": [[1, 2], [3, 4], [5, 6]], "none": []})";

/// The first sentence; empty where the model is accepted.
std::string refusal(const std::string& text, const GraphOptions& options = {}) {
    Data data;
    data.add_json(kData, "d.json");
    try {
        const Graph graph(parse_model(text, "m.bug"), std::move(data), options);
    } catch (const ModelError& error) {
        return error.diagnostics().front().sentence;
    }
    return "";
}

std::string refusal_of_relations(const std::string& relations) {
    return refusal("model { " + relations + " }");
}

struct Case {
    std::string relations;
    std::vector<std::string> words;  // that the sentence must hold
};

TEST(BugsShapes, AVectorWhereANumberIsWantedIsRefusedWithBoth) {
    const std::vector<Case> cases{
        {"for (i in 1:N) { y[i] ~ dnorm(a + b * x, 1) } a ~ dnorm(0, 1) b ~ dnorm(0, 1)",
         {"'dnorm'", "'x'", "x[i]", "3", "mean", "give"}},
        {"for (i in 1:N) { cnt[i] ~ dpois(l * t) } l ~ dgamma(1, 1)", {"'dpois'", "'t'", "t[i]", "3", "mean", "give"}},
        {"for (i in 1:N) { cnt[i] ~ dbin(p, n) }", {"'dbin'", "'p'", "p[i]", "3", "probability", "give"}},
        {"for (i in 1:N) { cnt[i] ~ dbin(q, n) } q ~ dbeta(1, 1)", {"'dbin'", "'n'", "n[i]", "3", "size", "give"}},
        {"for (i in 1:N) { y[i] ~ dnorm(a, t) } a ~ dnorm(0, 1)", {"'dnorm'", "'t'", "t[i]", "3", "precision", "give"}},
        {"a ~ dunif(t, 5)", {"'dunif'", "'t'", "t[i]", "3", "lower", "give"}},
        {"for (i in 1:N) { mu[i] ~ dnorm(0, 1) y[i] ~ dnorm(mu[], 1) }", {"'dnorm'", "'mu[]'", "3", "mean", "give"}},
        {"for (i in 1:N) { mu[i] ~ dnorm(0, 1) y[i] ~ dnorm(mu, 1) }",
         {"'dnorm'", "'mu'", "mu[i]", "3", "mean", "give"}},
        {"a ~ dnorm(0, 1) T(t, 9)", {"'t'", "T(,)", "t[i]", "3", "give"}},
        {"a ~ dnorm(0, 1) T(0, k * t)", {"'t'", "T(,)", "t[i]", "3", "give"}},
        {"a ~ dnorm(0, 1) I(t, )", {"'t'", "I(,)", "t[i]", "3", "give"}},
        {"y[1] ~ dnorm(M, 1)", {"'dnorm'", "'M'", "3 × 3", "M[i]", "mean", "give"}},
        {"y[1] ~ dnorm(c(1, 2), 1)", {"'dnorm'", "v[i]", "<-", "2", "mean", "take"}},
    };
    for (const Case& one : cases) {
        EXPECT_TRUE(test::says(refusal_of_relations(one.relations), one.words)) << one.relations;
    }
    const std::vector<std::string> others{
        "y[1] ~ dnorm(one * t, 1)",
        "y[1] ~ dnorm(rank(t), 1)",
        "y[1] ~ dnorm(sort(t), 1)",
        "y[1] ~ dnorm(0, pow(t, -2))",
        "y[1] ~ dnorm(1:2, 1)",
        "y[1] ~ dnorm(rep(1, 2), 1)",
        "y[1] ~ dnorm(M %*% t, 1)",
        "y[1] ~ dnorm(step(t), 1)",
        "y[1] ~ dnorm(equals(t, k), 1)",
        "y[1] ~ dnorm(ifelse(k > 1, t, x), 1)",
        "for (i in 1:N) { y[i] ~ dnorm(sum(t[1:i]) + t[1:i], 1) }",  // in some rounds only
        "a ~ dt(0, 1, t)",
        "a ~ dgamma(t, 1)",
        "y[1] ~ dnorm(t[t], 1)",
        "k ~ dinterval(x, t)",
        "z[1] <- t y[1] ~ dnorm(z[1], 1)",
        "a ~ dnorm(0, 1) for (i in 1:N) { z[i] <- a * t y[i] ~ dnorm(z[i], 1) }",
        "a ~ dnorm(0, 1) for (i in 1:N) { log(z[i]) <- a * t cnt[i] ~ dpois(z[i]) }",
        "z <- t + x[1:2] y[1] ~ dnorm(z[1], 1)",
        "z <- pow(t, x[1:2]) y[1] ~ dnorm(z[1], 1)",
        "z <- A + B y[1] ~ dnorm(z[1, 1], 1)",
        "z <- M + t y[1] ~ dnorm(z[1, 1], 1)",
        "z <- inprod(t, x[1:2]) y[1] ~ dnorm(z, 1)",
        "z <- inprod(t, k) y[1] ~ dnorm(z, 1)",
        "z <- interp.lin(x, t, t) y[1] ~ dnorm(z[1], 1)",
        "z <- logdet(t) y[1] ~ dnorm(z, 1)",
        "z <- inverse(t) y[1] ~ dnorm(z[1], 1)",
        "for (i in 1:t) { y[i] ~ dnorm(0, 1) }",
        "z <- interp.lin(1.5, c(2, 1), c(10, 20)) y[1] ~ dnorm(z, 1)",  // points that do not ascend
        "z <- interp.lin(1.5, c(1, 1), c(10, 20)) y[1] ~ dnorm(z, 1)",
    };
    for (const std::string& relations : others) EXPECT_NE(refusal_of_relations(relations), "") << relations;
}

TEST(BugsShapes, AVectorOfOneIsANumberAndFunctionsOfVectorsStay) {
    const std::vector<std::string> accepted{
        "for (i in 1:N) { cnt[i] ~ dpois(l * one) } l ~ dgamma(1, 1)",
        "a ~ dnorm(0, 1) T(one, )",
        "a ~ dnorm(0, 1) y[1] ~ dnorm(a[], 1)",
        "a[1, 1] ~ dnorm(0, 1) y[1] ~ dnorm(a, 1)",
        "a[1] ~ dnorm(0, 1) y[1] ~ dnorm(a * one, 1)",
        "a ~ dnorm(1:1, 1) y[1] ~ dnorm(a, 1)",
        "y[1] ~ dnorm(c(1), 1)",
        "y[1] ~ dnorm(t[n[1] - 4], 1)",
        "for (i in 1:N) { y[i] ~ dnorm(x[] %*% t[], 1) }",
        "for (i in 1:N) { y[i] ~ dnorm(M[i, ] %*% t[], 1) }",
        "for (i in 1:N) { y[i] ~ dnorm(sum(t[1:i]) + max(t, x) + mean(M) + inprod(t, x), 1) }",
        "for (i in 1:one) { y[i] ~ dnorm(0, 1) }",
        "for (i in t) { y[i] ~ dnorm(0, 1) }",
        "for (i in 5:1) { a[i] ~ dnorm(0, 1) }  y[1] ~ dnorm(0, 1)",
        "z <- t + k y[1] ~ dnorm(z[1], 1)",
        "z <- R + t y[1] ~ dnorm(z[1, 1], 1)",
        "z <- A * k y[1] ~ dnorm(z[1, 1], 1)",
        "z <- sort(t) y[1] ~ dnorm(z[1], 1)",
        "z <- interp.lin(1.5, t, x) y[1] ~ dnorm(z, 1)",
        "z <- c(5:1, 2) y[1] ~ dnorm(z[1], 1)",
        "z[1:2] ~ dmnorm(x[1:2], M2) y[1] ~ dnorm(inprod(z, x[1:2]), 1)",
        "z[1, 1:2] ~ dmnorm(x[1:2], M2) y[1] ~ dnorm(z[1, 1], 1)",
        "y ~ dmnorm(R[1, ], M)",
        "y ~ dmnorm(R, M)",
        "y[1] ~ dmnorm(k, k)",
        "S ~ dwish(M, 4) y ~ dmnorm(x, S)",
        "q ~ ddirch(t) cnt ~ dmulti(q, 6)",
        "q[1:3] ~ ddirch(t) cnt[1] ~ dcat(q)",
        "cnt[1] ~ dcat(R)",
        "cnt[1] ~ dcat(M)",
        "cnt[1] ~ dcat(k)",
        "k ~ dinterval(a, t) a ~ dnorm(0, 1)",
    };
    for (const std::string& relations : accepted) EXPECT_EQ(refusal_of_relations(relations), "") << relations;
}

TEST(BugsShapes, ParametersOfVectorsFitToTheLeftSide) {
    const std::vector<Case> cases{
        {"y ~ dmnorm(x, M2)", {"'dmnorm'", "2 × 2", "3 × 3", "precision"}},
        {"y ~ dmnorm(k, M)", {"'dmnorm'", "3", "mean", "vector"}},
        {"y ~ dmnorm(x, 1)", {"'dmnorm'", "3 × 3", "precision"}},
        {"y[1:2] ~ dmnorm(x, M2)", {"'dmnorm'", "3", "2", "mean", "vector"}},
        {"y[1:2] ~ dmnorm(x[1:2], M)", {"'dmnorm'", "3 × 3", "2 × 2", "precision"}},
        {"y ~ dmnorm(x, t)", {"'dmnorm'", "3 × 3", "3", "precision"}},
        {"y ~ dmnorm(M, M)", {"'dmnorm'", "3 × 3", "3", "mean", "vector"}},
        {"S ~ dwish(M, t)", {"'dwish'", "'t'", "t[i]", "3", "give"}},
        {"S[1:3, 1:3] ~ dwish(t, 4)", {"'dwish'", "3 × 3", "3", "scale"}},
        {"S[1:2, 1:2] ~ dwish(M, 4)", {"'dwish'", "3 × 3", "2 × 2", "scale"}},
        {"S[1:3, 1:2] ~ dwish(M, 4)", {"'dwish'", "3 × 2", "square"}},
        {"S[1:2, 1:2] ~ dmnorm(x, M)", {"'dmnorm'", "2 × 2", "vectors"}},
        {"q[1:2] ~ ddirch(t)", {"'ddirch'", "3", "2", "vector", "weights"}},
        {"q[1:3] ~ ddirch(M)", {"'ddirch'", "3 × 3", "3", "vector", "weights"}},
        {"cnt ~ dmulti(p, n)", {"'dmulti'", "'n'", "n[i]", "3", "size", "give"}},
        {"cnt ~ dmulti(k, 6)", {"'dmulti'", "3", "vector"}},
    };
    for (const Case& one : cases) {
        EXPECT_TRUE(test::says(refusal_of_relations(one.relations), one.words)) << one.relations;
    }
    EXPECT_NE(refusal_of_relations("cnt[1:3] ~ dcat(p)"), "");
}

TEST(BugsShapes, WhatHasNoElementsIsRefusedInASentence) {
    const std::vector<std::string> forms{
        "mu ~ dnorm(5:1, 1)",
        "mu ~ dnorm(0, 5:1)",
        "mu ~ dnorm(t[5:1], 1)",
        "mu ~ dnorm(M[1, 3:2], 1)",
        "mu ~ dnorm(none, 1)",
        "mu ~ dnorm(none[], 1)",
        "mu ~ dnorm(sum(5:1), 1)",
        "mu ~ dnorm(exp(5:1), 1)",
        "mu ~ dnorm(3 + 5:1, 1)",
        "mu ~ dnorm(-(5:1), 1)",
        "mu ~ dnorm(c(5:1), 1)",
        "mu ~ dnorm(rep(1, 0), 1)",
        "mu ~ dnorm(max(none), 1)",
        "mu ~ dnorm(t[none], 1)",
        "mu ~ dnorm(t[5:1] %*% x[5:1], 1)",
        "mu ~ dnorm(inprod(t[2:1], x[2:1]), 1)",
        "mu ~ dnorm(0, 1) T(5:1, )",
        "mu ~ dnorm(0, 1) T(, none)",
        "a ~ dnorm(0, 1) y[1] ~ dnorm(sum(a[2:1]), 1)",
        "a ~ dnorm(0, 1) y[1] ~ dnorm(a * 5:1, 1)",
        "for (i in 1:N) { y[i] ~ dnorm(sum(t[1:(i - 1)]), 1) }",
        "cnt[1] ~ dcat(p[2:1])",
        "cnt[1] ~ dcat(none)",
        "q ~ ddirch(t[2:1])",
        "q ~ ddirch(none)",
        "y[2:1] ~ dmnorm(x[2:1], M[2:1, 2:1])",
        "b ~ dmnorm(none, none)",
        "S ~ dwish(none, 2)",
        "a[5:1] ~ dnorm(0, 1)",
        "none ~ dnorm(0, 1)",
        "none[] ~ dnorm(0, 1)",
        "z <- 5:1",
        "z <- none",
        "none <- none",
        "none <- 3",
        "z[5:1] <- 5:1",
        "z <- t[2:1]",
        "z <- t[t[2:1]]",
        "z <- sort(t[2:1])",
        "z <- max(5:1)",
        "z <- mean(none)",
        "z <- inverse(none)",
        "z <- logdet(none)",
        "z <- interp.lin(1, none, none)",
        "z <- ifelse(5:1, 1, 2)",
        "z <- length(t[5:1])",
        "z <- rep(1, 0)",
        "z <- rep(none, 2)",
        "log(z) <- 5:1",
    };
    for (const std::string& form : forms) {
        EXPECT_NE(refusal("model { w ~ dnorm(0, 1) " + form + " }"), "") << form;
        if (form.find('~') == std::string::npos) {
            EXPECT_NE(refusal("data { " + form + " } model { y[1] ~ dnorm(0, 1) }"), "") << form;
        }
    }
    EXPECT_TRUE(test::says(refusal_of_relations("mu ~ dnorm(5:1, 1)"), {"'5:1'", "'dnorm'", "needs"}));
    EXPECT_NE(refusal("var z[0]; model { z ~ dnorm(0, 1) }"), "");
}

TEST(BugsShapes, AConstantThatIsNoNumberIsRefusedWhereItIsUsed) {
    // 0 log 0 in JAGS, too: of a saturated likelihood in beetles.
    const auto graph_of = [](const std::string& text) {
        Data data;
        data.add_json(kData, "d.json");
        return Graph(parse_model(text, "m.bug"), std::move(data));
    };
    const Graph graph = graph_of(
        "model { b <- 0 * log(0) s <- sum(c(b, 1)) u <- step(b) v <- max(b, 3) w <- ifelse(b > 0, 1, 2) "
        "r <- rank(c(b, 1)) y[1] ~ dnorm(0, 1) }");
    for (const std::string name : {"b", "s", "u", "v", "w", "r"}) {
        EXPECT_EQ(graph.find(name)->states.front(), State::constant) << name;
        EXPECT_TRUE(std::isnan(graph.find(name)->values.front())) << name;
    }
    EXPECT_TRUE(test::says(refusal("model { b <- 0 * log(0) y[1] ~ dnorm(b, 1) }"), {"'b'", "m.bug:1:14"}));
    EXPECT_TRUE(test::says(refusal("data { b <- 0 * log(0) } model { y[1] ~ dnorm(b, 1) }"), {"'b'", "data"}));
    EXPECT_EQ(refusal("data { b <- 0 * log(0) } model { y[1] ~ dnorm(0, 1) }"), "");
    EXPECT_EQ(refusal("data { for (i in 1:2) { b[i] <- (i - 1) * log(i - 1) } } model { y[1] ~ dnorm(b[2], 1) }"), "");
    EXPECT_TRUE(test::says(refusal("data { b <- 0 * log(0) } model { b ~ dnorm(0, 1) }"), {"'b'", "data"}));
    EXPECT_NE(refusal("model { b <- 0 * log(0) y[b] ~ dnorm(0, 1) }"), "");
    EXPECT_NE(refusal("model { b <- 0 * log(0) for (i in 1:b) { y[i] ~ dnorm(0, 1) } }"), "");
    EXPECT_NE(refusal("model { b <- 0 * log(0) mu ~ dnorm(0, 1) T(b, ) }"), "");
}

TEST(BugsShapes, ChainsKnowHowDeepTheyAre) {
    Data data;
    const Graph graph(parse_model("model { v[1] ~ dnorm(0, 1) for (i in 2:9) { v[i] <- v[i-1] + 1 } "
                                  "z[1] <- 1 for (i in 2:9) { z[i] <- z[i-1] + 1 } "
                                  "u[1] ~ dnorm(0, 1) for (i in 2:9) { u[i] ~ dnorm(m[i], 1) m[i] <- u[i-1] * 2 } }",
                                  "m.bug"),
                      std::move(data));
    for (const GraphRelation& relation : graph.relations()) {
        const std::string& name = relation.syntax->left.name;
        if (relation.rows() == 1 || name != "v") {
            EXPECT_TRUE(relation.depths.empty()) << name;  // constants, and nodes with a distribution between them
            continue;
        }
        for (Index row = 0; row < relation.rows(); ++row) EXPECT_EQ(relation.depth(row), row);
    }
    GraphOptions options;
    options.longest_chain = 10;
    EXPECT_EQ(refusal("model { v[1] ~ dnorm(0, 1) for (i in 2:11) { v[i] <- v[i-1] + 1 } }", options), "");
    EXPECT_TRUE(test::says(refusal("model { v[1] ~ dnorm(0, 1) for (i in 2:20) { v[i] <- v[i-1] + 1 } }", options),
                           {"'v'", "19", "10", "write"}));
    EXPECT_EQ(refusal("model { v[1] <- 1 for (i in 2:20) { v[i] <- v[i-1] + 1 } }", options), "");
}

TEST(BugsShapes, NodesAreCountedBeforeTheyAreMade) {
    GraphOptions options;
    options.most_nodes = 1000;
    EXPECT_EQ(refusal("model { for (i in 1:1000) { v[i] ~ dnorm(0, 1) } }", options), "");
    EXPECT_TRUE(test::says(refusal("model { for (i in 1:2000) { v[i] ~ dnorm(0, 1) } }", options),
                           {"'v'", "2000", "1000", "give"}));
    EXPECT_NE(refusal("model { a ~ dnorm(0, 1) for (i in 1:2000) { v[i] <- a * i } }", options), "");
    EXPECT_EQ(refusal("model { for (i in 1:2000) { v[i] <- 2 * i } }", options), "");
}

}  // namespace
}  // namespace lrvb::bugs
