#include <lrvb/bugs/syntax.hpp>
#include <lrvb/bugs/words.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace lrvb::bugs {
namespace {

/// The value of `x <- …`, with all parentheses that its tree needs.
Expression value_of(const std::string& text) {
    return parse_model("model { x <- " + text + " }", "test").model.relations.at(0).right;
}

/// As a call of each operator: "+(a,*(b,c))".
std::string tree_of(const Expression& expression) {
    if (expression.kind == Expression::Kind::number) return written(expression);
    std::string text = expression.kind == Expression::Kind::range ? ":" : expression.name;
    if (expression.parts.empty()) return text;
    const bool is_variable = expression.kind == Expression::Kind::variable;
    text += is_variable ? '[' : '(';
    for (std::size_t i = 0; i < expression.parts.size(); ++i) {
        text += (i > 0 ? "," : "") + tree_of(expression.parts[i]);
    }
    return text + (is_variable ? ']' : ')');
}

std::string tree_of(const std::string& text) {
    return tree_of(value_of(text));
}

/// "i in 1:N | y[i] ~ dnorm(mu,tau)", a line a relation.
std::string relations_of(const Block& block) {
    std::string text;
    for (const Relation& relation : block.relations) {
        for (const std::size_t loop : relation.loops) {
            text += block.loops[loop].index + " in " + written(block.loops[loop].range) + " | ";
        }
        text += written(relation) + "\n";
    }
    return text;
}

std::string relations_of(const std::string& model) {
    return relations_of(parse_model(model, "test").model);
}

std::string refusal_of(const std::string& model) {
    try {
        parse_model(model, "m.bug");
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST(BugsSyntax, OperatorsBindAsInJags) {
    EXPECT_EQ(tree_of("-x^2"), "-(^(x,2))");
    EXPECT_EQ(tree_of("a^b^c"), "^(a,^(b,c))");
    EXPECT_EQ(tree_of("a^-b^c"), "^(a,-(^(b,c)))");
    EXPECT_EQ(tree_of("2*a+b/c"), "+(*(2,a),/(b,c))");
    EXPECT_EQ(tree_of("a-b-c"), "-(-(a,b),c)");
    EXPECT_EQ(tree_of("a/b*c"), "*(/(a,b),c)");
    EXPECT_EQ(tree_of("a*b%*%c"), "*(a,%*%(b,c))");
    EXPECT_EQ(tree_of("-1:3"), ":(-(1),3)");
    EXPECT_EQ(tree_of("1:n-1"), "-(:(1,n),1)");
    EXPECT_EQ(tree_of("a%*%1:2"), "%*%(a,:(1,2))");
    EXPECT_EQ(tree_of("!a==b"), "!(==(a,b))");
    EXPECT_EQ(tree_of("a>1&&b<2||c!=3"), "||(&&(>(a,1),<(b,2)),!=(c,3))");
    EXPECT_EQ(tree_of("- -x"), "-(-(x))");
    EXPECT_EQ(tree_of("2--x"), "-(2,-(x))");
    EXPECT_EQ(tree_of("+x"), "x");
    EXPECT_EQ(tree_of("(a+b)*c"), "*(+(a,b),c)");
    EXPECT_EQ(tree_of("a < -1"), "<(a,-(1))");
}

TEST(BugsSyntax, WhatIsWrittenReadsBackAsTheSame) {
    for (const std::string text :
         {"(a+b)*c", "a-(b-c)", "(a^b)^c", "a^(-b)", "-(a+b)", "(-a)^2", "!(a&&b)", "(1:n)[1]", "x[,1:2,-i]", "a/(b*c)",
          "(a<b)==(c<d)", "(a%*%b)%*%c", "f.g_1[y[z[i]]]", "ifelse(a>0,exp(b),0)", "a:(b-1)", "-(1:3)"}) {
        if (text == "(1:n)[1]") continue;  // no variable, so no brackets
        const Expression once = value_of(text);
        EXPECT_EQ(tree_of(value_of(written(once))), tree_of(once)) << text << " became " << written(once);
    }
}

TEST(BugsSyntax, NumbersAreReadExactly) {
    EXPECT_EQ(value_of("1.0E-3").number, 1e-3);
    EXPECT_EQ(value_of(".5").number, 0.5);
    EXPECT_EQ(value_of("3.").number, 3.0);
    EXPECT_EQ(value_of("1e+6").number, 1e6);
}

TEST(BugsSyntax, NamesOfFunctionsBecomeTheirFirstNames) {
    EXPECT_EQ(tree_of("pow(x,2)"), "^(x,2)");
    EXPECT_EQ(tree_of("equals(a,b)"), "==(a,b)");
    const Syntax model = parse_model("model { y ~ dbinom(p, n); z ~ dnbinom(p, r) }", "test");
    EXPECT_EQ(model.model.relations[0].right.name, "dbin");
    EXPECT_EQ(model.model.relations[1].right.name, "dnegbin");
}

TEST(BugsSyntax, NamesOfDistributionsMayBeThoseOfNodes) {  // as in JAGS, where df <- 3 is common
    const Syntax model = parse_model("model { y ~ dt(dnorm, dgamma, df); dnorm ~ dnorm(0, 1); df <- 3 }", "test");
    EXPECT_EQ(model.model.relations[0].right.parts[2].name, "df");
    EXPECT_EQ(model.model.relations[1].left.name, "dnorm");
    EXPECT_EQ(model.model.relations[1].right.name, "dnorm");
}

TEST(BugsSyntax, ReadsGrowthCurves) {
    EXPECT_EQ(relations_of(R"(
model
{
  # weights of animals
  for (i in 1:N) {
    for (j in 1:T) {
      Y[i, j] ~ dnorm(mu[i, j], tau.c)
      mu[i, j] <- alpha[i] + beta[i] * (x[j] - xbar);
    }
    alpha[i] ~ dnorm(alpha.c, alpha.tau)
    beta[i] ~ dnorm(beta.c, beta.tau)
  }
  tau.c ~ dgamma(1.0E-3, 1.0E-3); sigma <- 1/sqrt(tau.c)   /* two on a line */
  alpha0 <- alpha.c - xbar*beta.c
}
)"),
              "i in 1:N | j in 1:T | Y[i,j] ~ dnorm(mu[i,j],tau.c)\n"
              "i in 1:N | j in 1:T | mu[i,j] <- alpha[i] + beta[i] * (x[j] - xbar)\n"
              "i in 1:N | alpha[i] ~ dnorm(alpha.c,alpha.tau)\n"
              "i in 1:N | beta[i] ~ dnorm(beta.c,beta.tau)\n"
              "tau.c ~ dgamma(0.001,0.001)\n"
              "sigma <- 1 / sqrt(tau.c)\n"
              "alpha0 <- alpha.c - xbar * beta.c\n");
}

TEST(BugsSyntax, ReadsFailuresOfPumps) {
    EXPECT_EQ(relations_of(R"(model{for(i in 1:N){theta[i]~dgamma(alpha,beta)
lambda[i]<-theta[i]*t[i]
x[i]~dpois(lambda[i])}
alpha~dexp(1.0) beta~dgamma(0.1,1.0)})"),
              "i in 1:N | theta[i] ~ dgamma(alpha,beta)\n"
              "i in 1:N | lambda[i] <- theta[i] * t[i]\n"
              "i in 1:N | x[i] ~ dpois(lambda[i])\n"
              "alpha ~ dexp(1)\n"
              "beta ~ dgamma(0.1,1)\n");
}

TEST(BugsSyntax, ReadsGerminationOfSeeds) {
    EXPECT_EQ(relations_of(R"(
model {
  for (plate in 1:N) {
    germinated[plate] ~ dbin(p[plate], seeds[plate])
    b[plate] ~ dnorm(0.0, tau)
    logit(p[plate]) <- alpha0 + alpha1 * kind[plate] + alpha2 * root[plate]
                       + alpha12 * kind[plate] * root[plate] + b[plate]
  }
  sigma <- 1 / sqrt(tau)
})"),
              "plate in 1:N | germinated[plate] ~ dbin(p[plate],seeds[plate])\n"
              "plate in 1:N | b[plate] ~ dnorm(0,tau)\n"
              "plate in 1:N | logit(p[plate]) <- alpha0 + alpha1 * kind[plate] + alpha2 * root[plate] + alpha12 * "
              "kind[plate] * root[plate] + b[plate]\n"
              "sigma <- 1 / sqrt(tau)\n");
}

TEST(BugsSyntax, ReadsBatchesOfDyes) {
    EXPECT_EQ(relations_of(R"(
model {
  for (i in 1:BATCHES) {
    m[i] ~ dnorm(theta, tau.between)
    for (j in 1:SAMPLES) { y[j, i] ~ dnorm(m[i], tau.within) }
  }
  theta ~ dnorm(0, 1.0E-10);
  sigma2.within <- 1 / tau.within; sigma2.between <- 1 / tau.between;
  share <- sigma2.between / (sigma2.within + sigma2.between)
})"),
              "i in 1:BATCHES | m[i] ~ dnorm(theta,tau.between)\n"
              "i in 1:BATCHES | j in 1:SAMPLES | y[j,i] ~ dnorm(m[i],tau.within)\n"
              "theta ~ dnorm(0,1e-10)\n"
              "sigma2.within <- 1 / tau.within\n"
              "sigma2.between <- 1 / tau.between\n"
              "share <- sigma2.between / (sigma2.within + sigma2.between)\n");
}

TEST(BugsSyntax, ReadsLinksBoundsAndArrays) {
    EXPECT_EQ(relations_of("model { for (i in 1:N) { r[i] ~ dbin(p[i], n[i]) logit(p[i]) <- b[i] + c\n"
                           "b[i] ~ dnorm(0, tau) T(0,) u[i] ~ dnorm(0,1) I(,k) v[i]~dnorm(0,1)T(lo[i],hi[i]) } }"),
              "i in 1:N | r[i] ~ dbin(p[i],n[i])\n"
              "i in 1:N | logit(p[i]) <- b[i] + c\n"
              "i in 1:N | b[i] ~ dnorm(0,tau) T(0,)\n"
              "i in 1:N | u[i] ~ dnorm(0,1) I(,k)\n"
              "i in 1:N | v[i] ~ dnorm(0,1) T(lo[i],hi[i])\n");
    EXPECT_EQ(relations_of("model { beta[i,1:2] ~ dmnorm(mu[], Omega[,]); Omega[1:2,1:2] ~ dwish(R[,], 2) }"),
              "beta[i,1:2] ~ dmnorm(mu[],Omega[,])\nOmega[1:2,1:2] ~ dwish(R[,],2)\n");
    EXPECT_EQ(relations_of("model{a<-b c<-d}"), "a <- b\nc <- d\n");
}

TEST(BugsSyntax, ReadsDeclarationsAndADataBlock) {
    const Syntax model = parse_model("var x[N,3], mu;\ndata { N2 <- N*2 }\nmodel { x[1,1] ~ dnorm(mu, 1) }", "test");
    ASSERT_EQ(model.declarations.size(), 2U);
    EXPECT_EQ(model.declarations[0].name, "x");
    EXPECT_EQ(model.declarations[0].dimensions.size(), 2U);
    EXPECT_TRUE(model.declarations[1].dimensions.empty());
    ASSERT_TRUE(model.data);
    EXPECT_EQ(relations_of(*model.data), "N2 <- N * 2\n");
}

TEST(BugsSyntax, EveryNodeKnowsItsPlace) {
    const std::string text = "model {\n  y[i] <- alpha + beta.x * (x[i] - 2)\n}";
    const Syntax model = parse_model(text, "test");
    const Relation& relation = model.model.relations[0];
    const Source& source = model.source;
    EXPECT_EQ(source.text(relation.left.place), "y[i]");
    EXPECT_EQ(source.text(relation.left.name_place), "y");
    EXPECT_EQ(source.text(relation.right.parts[1].parts[0].place), "beta.x");
    EXPECT_EQ(source.text(relation.right.name_place), "+");
    EXPECT_EQ(source.text(relation.right.parts[1].parts[1].parts[0].place), "x[i]");
    EXPECT_EQ(source.line(relation.left.place.begin), 2U);
    EXPECT_EQ(source.column(relation.left.place.begin), 3U);
}

TEST(BugsSyntax, AnEqualsSignIsAnArrowAsInJags4) {
    EXPECT_EQ(relations_of("model { a = 1; b[1] = a; logit(p) = b[1] == 2 }"),
              relations_of("model { a <- 1; b[1] <- a; logit(p) <- b[1] == 2 }"));
}

TEST(BugsSyntax, LinesEndAsTheyLike) {
    EXPECT_EQ(relations_of("\xEF\xBB\xBFmodel {\r\n  a <- 1 # one\r\n  b <- 2\r\n}\r\n"), "a <- 1\nb <- 2\n");
    EXPECT_NE(refusal_of("model {\r\n  a == 1\r\n}\r\n").find("m.bug:2:5:"), std::string::npos);
}

TEST(BugsSyntax, AMarkStandsUnderTheCharacterWhateverIsBeforeIt) {
    EXPECT_EQ(
        refusal_of("model {\n\t\ta <- 1 ; b == 2\n}"),
        "m.bug:2:14: == compares, and defines nothing: write 'b <- …' for a value, or 'b ~ …' for a distribution\n"
        "    a <- 1 ; b == 2\n"
        "               ^~");
    EXPECT_EQ(
        refusal_of("model {\n  /* größe */ b == 2\n}"),
        "m.bug:2:17: == compares, and defines nothing: write 'b <- …' for a value, or 'b ~ …' for a distribution\n"
        "    /* größe */ b == 2\n"
        "                  ^~");
}

TEST(BugsSyntax, DeepTextsAreRefusedInASentence) {
    const std::string many(60, '(');
    EXPECT_NE(refusal_of("model { x <- " + many + "1" + std::string(60, ')') + " }").find("brackets stand within"),
              std::string::npos);
    std::string sum = "1";
    for (int i = 0; i < 3000; ++i) sum += " + 1";
    EXPECT_NE(refusal_of("model { x <- " + sum + " }").find("deeper than 1000 operators"), std::string::npos);
    std::string signs(2000, '-');
    EXPECT_NE(refusal_of("model { x <- " + signs + "1 }").find("deeper than"), std::string::npos);
    std::string loops;
    for (int i = 0; i < 60; ++i) loops += "for (i" + std::to_string(i) + " in 1:2) { ";
    EXPECT_NE(refusal_of("model { " + loops + "x ~ dnorm(0, 1) " + std::string(61, '}')).find("loops stand within"),
              std::string::npos);
    EXPECT_NE(refusal_of("model { y <- a[a[a[a[a[a[a[a[a[1]]]]]]]]] }").find("indices stand within"),
              std::string::npos);
}

TEST(BugsSyntax, VeryManyErrorsAreNotAllShown) {
    std::string model = "model {\n";
    for (int i = 0; i < 50; ++i) model += "  a" + std::to_string(i) + " == 1\n";
    const std::string refusal = refusal_of(model + "}");
    EXPECT_NE(refusal.find("and 30 more"), std::string::npos) << refusal;
}

TEST(BugsSyntax, NoNameIsADistributionAndAFunction) {
    for (const DistributionWord& word : distribution_words()) EXPECT_EQ(find_function(word.name), nullptr) << word.name;
    std::set<std::string_view> names;
    for (const FunctionWord& word : function_words()) EXPECT_TRUE(names.insert(word.name).second) << word.name;
}

}  // namespace
}  // namespace lrvb::bugs
