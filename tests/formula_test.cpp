#include "data_files.hpp"
#include "says.hpp"

#include <lrvb/formula/design.hpp>
#include <lrvb/formula/formula.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Formulas: how they are read and expanded, and how they are refused. What is expected is what R's terms() and lme4
// say.

namespace lrvb {
namespace {

using Names = std::vector<std::string>;

FrameColumn numbers(const std::string& name, const Vector& values) {
    return {.name = name, .numbers = values, .levels = {}, .codes = {}};
}

FrameColumn text(const std::string& name, const Names& levels, const std::vector<std::uint32_t>& codes) {
    return {.name = name, .numbers = {}, .levels = levels, .codes = codes};
}

/// Six rows: numbers y, x, z, w; factors a (two levels), b (three), g (three).
DataFrame small_frame() {
    DataFrame frame;
    frame.name = "small.csv";
    frame.rows = 6;
    frame.columns = {numbers("y", Vector{{1, 3, 2, 5, 4, 6}}),      numbers("x", Vector{{1, 2, 3, 4, 5, 6}}),
                     numbers("z", Vector{{2, 1, 4, 3, 6, 5}}),      numbers("w", Vector{{1, 1, 2, 2, 3, 3}}),
                     text("a", {"a1", "a2"}, {0, 1, 0, 1, 0, 1}),   text("b", {"b1", "b2", "b3"}, {0, 0, 1, 1, 2, 2}),
                     text("g", {"p", "q", "r"}, {2, 1, 0, 0, 1, 2})};
    return frame;
}

FormulaCoding coding(const std::string& formula, const FormulaOptions& options = {}) {
    return FormulaCoding(Formula::parse(formula), small_frame(), options);
}

Names names_of(const std::string& formula) {
    return coding(formula).names();
}

/// "intercept, x | g" for each random term.
Names random_of(const std::string& formula) {
    Names result;
    const FormulaCoding coded = coding(formula);
    for (const FormulaCoding::Random& random : coded.random()) {
        std::string text;  // blocks of correlated effects apart
        std::size_t next = 0;
        for (const Index size : random.blocks) {
            for (Index e = 0; e < size; ++e) text += (e > 0 ? ", " : text.empty() ? "" : "; ") + random.effects[next++];
        }
        result.push_back(text + " | " + random.name);
    }
    return result;
}

/// How a formula is refused: the sentence, and the place in bytes.
struct Refusal {
    std::string sentence;
    std::size_t place = 0;
    std::string what;
};

/// What a sentence must name, and the place of the mark.
struct ExpectedRefusal {
    std::vector<std::string> words;
    std::size_t place = 0;
};

Refusal refusal_of(const std::string& formula) {
    try {
        coding(formula).design(small_frame());
    } catch (const FormulaError& error) {
        return {error.sentence(), error.place(), error.what()};
    } catch (const FormulaDataError& error) {
        return {error.sentence(), error.place(), error.what()};
    } catch (const std::exception& error) {
        return {std::string("an exception of another type: ") + error.what(), 0, ""};
    }
    return {"no exception", 0, ""};
}

TEST(Formula, AddsAndRemovesTermsAsRDoes) {
    EXPECT_EQ(names_of("y ~ x"), Names{"x"});
    EXPECT_EQ(names_of("y ~ x + z + x"), (Names{"x", "z"}));
    EXPECT_EQ(names_of("y ~ x * z"), (Names{"x", "z", "x:z"}));
    EXPECT_EQ(names_of("y ~ x * z - x:z"), (Names{"x", "z"}));
    EXPECT_EQ(names_of("y ~ x * z * w - x:z:w"), (Names{"x", "z", "w", "x:z", "x:w", "z:w"}));
    EXPECT_EQ(names_of("y ~ (x + z + w)^2"), (Names{"x", "z", "w", "x:z", "x:w", "z:w"}));
    EXPECT_EQ(names_of("y ~ (x + z + w)**3"), (Names{"x", "z", "w", "x:z", "x:w", "z:w", "x:z:w"}));
    EXPECT_EQ(names_of("y ~ x / z"), (Names{"x", "x:z"}));
    EXPECT_EQ(names_of("y ~ (x + z) / w"), (Names{"x", "z", "x:z:w"}));
    EXPECT_EQ(names_of("y ~ x:z + x"), (Names{"x", "x:z"}));
    EXPECT_EQ(names_of("y ~ z:x + x:z"), (Names{"z:x"}));
    EXPECT_EQ(names_of("y ~ x^2"), Names{"x"});
}

TEST(Formula, KnowsWhetherThereIsAnIntercept) {
    EXPECT_TRUE(coding("y ~ x").intercept());
    EXPECT_TRUE(coding("y ~ 1").intercept());
    EXPECT_TRUE(coding("y ~ x + 1").intercept());
    for (const char* const text : {"y ~ 0 + x", "y ~ x - 1", "y ~ -1 + x", "y ~ x + 0", "y ~ (x - 1)", "y~x+1-1"}) {
        EXPECT_FALSE(coding(text).intercept()) << text;
    }
    EXPECT_TRUE(coding("y ~ 0 + x - 0").intercept());
    EXPECT_TRUE(coding("y ~ 0 + x + 1").intercept());
}

TEST(Formula, TakesTheDotForAllOtherColumns) {
    EXPECT_EQ(names_of("y ~ ."), (Names{"x", "z", "w", "a=a2", "b=b2", "b=b3", "g=q", "g=r"}));
    EXPECT_EQ(names_of("y ~ . - a - b - g"), (Names{"x", "z", "w"}));
    EXPECT_EQ(names_of("log(y) ~ . - a - b - g"), (Names{"x", "z", "w"}));
    EXPECT_EQ(names_of("y ~ . - a - b + offset(log(w)) + (1 | g)"), (Names{"x", "z"}));
    EXPECT_EQ(names_of("cbind(y, x) ~ . - a - b - g"), (Names{"z", "w"}));
    EXPECT_EQ(names_of("y ~ . - a - b - g + log(x)"), (Names{"x", "z", "w", "log(x)"}));
    FormulaOptions options;
    options.weights = "w";
    EXPECT_EQ(coding("y ~ . - a - b - g", options).names(), (Names{"x", "z"}));
}

TEST(Formula, ReadsRandomTerms) {
    EXPECT_EQ(random_of("y ~ x + (1 | g)"), Names{"intercept | g"});
    EXPECT_EQ(random_of("y ~ x + (x | g)"), Names{"intercept, x | g"});
    EXPECT_EQ(random_of("y ~ x + (1 + x | g)"), Names{"intercept, x | g"});
    EXPECT_EQ(random_of("y ~ x + (0 + x | g)"), Names{"x | g"});
    EXPECT_EQ(random_of("y ~ x + (x - 1 | g)"), Names{"x | g"});
    EXPECT_EQ(random_of("y ~ x + (x || g)"), Names{"intercept; x | g"});
    EXPECT_EQ(random_of("y ~ x + (x*z || g)"), Names{"intercept; x; z; x:z | g"});
    EXPECT_EQ(random_of("y ~ (1 | g) + (1 | w) + (0 + x | g)"), (Names{"intercept; x | g", "intercept | w"}));
    EXPECT_EQ(random_of("y ~ (1 | g/a)"), (Names{"intercept | g", "intercept | g:a"}));
    EXPECT_EQ(random_of("y ~ (1 | g/a/b)"), (Names{"intercept | g", "intercept | g:a", "intercept | g:a:b"}));
    EXPECT_EQ(random_of("y ~ (1 | g:a) + (1 | b)"), (Names{"intercept | g:a", "intercept | b"}));
    EXPECT_EQ(random_of("y ~ 0 + ((1 | g) + (1 | w))"), (Names{"intercept | g", "intercept | w"}));
    EXPECT_EQ(random_of("y ~ (1 | factor(w))"), Names{"intercept | w"});
    EXPECT_EQ(random_of("y ~ (a | g)"), Names{"intercept, a=a2 | g"});
    EXPECT_EQ(random_of("y ~ (0 + a | g)"), Names{"a=a1, a=a2 | g"});
    EXPECT_EQ(random_of("y ~ (a || g)"), Names{"intercept; a=a1, a=a2 | g"}) << "as lme4 has it";
    EXPECT_EQ(random_of("y ~ (poly(x, 2) | g)"), Names{"intercept, poly(x,2)[1], poly(x,2)[2] | g"});
}

TEST(Formula, NamesExpressionsWithoutSpaces) {
    EXPECT_EQ(names_of("y ~ log( x + 1 ) + I( x ^ 2 ) + I(2*x/z) + scale(x):z"),
              (Names{"log(x+1)", "I(x^2)", "I(2*x/z)", "scale(x):z"}));
    EXPECT_EQ(names_of("y ~ I(-x) + I(x - z) + I((x + z) * 0.5)"), (Names{"I(-x)", "I(x-z)", "I((x+z)*0.5)"}));
    EXPECT_EQ(coding("log(y) ~ x").response(), "log(y)");
    EXPECT_EQ(coding("cbind(y, x - w) ~ 1").response(), "cbind(y,x-w)");
}

TEST(Formula, HasAMarkUnderThePlace) {
    const Refusal refusal = refusal_of("y ~ x + speed");
    EXPECT_EQ(refusal.what,
              "there is no column 'speed': there are 'y', 'x', 'z', 'w', 'a', 'b' and 'g'\n"
              "  y ~ x + speed\n"
              "          ^");
}

TEST(Formula, RefusesWhatIsNoFormula) {
    const std::vector<std::pair<std::string, ExpectedRefusal>> cases = {
        {"", {{"'y ~ x'", "~", "response"}, 0}},
        {"y + x", {{"'y ~ x'", "~", "response"}, 5}},
        {"~ x", {{"~", "response", "missing"}, 0}},
        {"y ~", {{"missing"}, 3}},
        {"y ~ x +", {{"missing"}, 7}},
        {"y ~ x * + ", {{"missing"}, 10}},
        {"y ~ (x + z", {{"parenthesis", "closed"}, 4}},
        {"y ~ log(x", {{"parenthesis", "closed"}, 7}},
        {"y ~ x)", {{"parenthesis", "opened"}, 5}},
        {"y ~ `x", {{"backquote", "closed"}, 4}},
        {"y ~ ``", {{"backquotes", "between"}, 4}},
        {"y ~ x ~ z", {{"~", "formula", "second"}, 6}},
        {"y ~ x z", {{"'z'", "operator", "missing"}, 6}},
        {"y ~ 2x", {{"'2x'", "understood"}, 4}},
        {"y ~ x % z", {{"'%'", "operator", "missing"}, 6}},
        {"y ~ x | g", {{"(1 | group)", "parentheses", "stands"}, 6}},
        {"y ~ x:(1 | g)", {{"(1 | group)", "random"}, 9}},
        {"y ~ (1 + (1 | a) | g)", {{"random", "another", "outside"}, 9}},
        {"y ~ (1 | g | a)", {{"random"}, 11}},
        {"y ~ x - (1 | g)", {{"random", "leave"}, 6}},
        {"y ~ (0 | g)", {{"(1 | group)", "random", "write"}, 5}},
        {"y ~ (1 | g + a)", {{"random", "write"}, 11}},
        {"y ~ (1 | g * a)", {{"write", "multiplied", "groups"}, 11}},
        {"y ~ (1 | 1)", {{"stands", "behind"}, 9}},
        {"y ~ (1 | g:g)", {{"'g'", "twice", "leave"}, 11}},
        {"y ~ (1 | g) + (x | g)", {{"'g'", "(0 + x | group)", "random", "leave"}, 15}},
        {"y ~ 0", {{"response", "give"}, 4}},
        {"y ~ 0 + offset(x)", {{"response", "give"}, 4}},
        {"y ~ 2 * x", {{"I()", "I(2 * x)", "0", "1", "arithmetic"}, 4}},
        {"y ~ x^z", {{"I()", "I(x^2)", "1", "power", "arithmetic"}, 5}},
        {"y ~ x + y", {{"'y'", "response", "leave"}, 8}},
        {"log(y) ~ x * log(y)", {{"'log(y)'", "response", "leave"}, 13}},
        {"cbind(y, x) ~ x", {{"'x'", "response", "leave"}, 14}},
        {"cbind(y) ~ x", {{"cbind()", "response", "successes"}, 0}},
        {"y ~ cbind(x, z)", {{"cbind()", "response"}, 4}},
        {"y ~ x - offset(z)", {{"offset", "leave"}, 6}},
        {"y ~ x:offset(z)", {{"offset", "product"}, 6}},
        {"y ~ log()", {{"log()", "argument"}, 4}},
        {"y ~ log(x, 2)", {{"log()", "1", "argument"}, 11}},
        {"y ~ log(x:z)", {{"arithmetic", "terms"}, 9}},
        {"y ~ log(poly(x, 2))", {{"poly()", "arithmetic"}, 8}},
        {"y ~ poly(x, 0)", {{"poly()", "1", "20", "degree"}, 12}},
        {"y ~ poly(w, 3)", {{"small.csv", "3", "degree"}, 4}},
        {"y ~ factor(x + 1)", {{"factor()", "baseline", "levels"}, 11}},
        {"y ~ spline(x)", {{"'spline'", "offset", "response", "scale"}, 4}},
        {"y ~ log(a)", {{"small.csv", "'a'", "'a1'", "row 1", "NA", "missing", "correct"}, 8}},
        {"a ~ x", {{"small.csv", "'a'", "'a1'", "row 1", "NA", "missing", "correct"}, 0}},
        {"y ~ log(x - 3)", {{"small.csv", "row 1", "log(x-3)", "3", "-2", "correct"}, 4}},
        {"y ~ I(1 / (x - 2))", {{"small.csv", "row 2", "1", "2", "correct"}, 6}},
    };
    for (const auto& [formula, expected] : cases) {
        const Refusal refusal = refusal_of(formula);
        EXPECT_TRUE(test::says(refusal.sentence, expected.words)) << formula;
        EXPECT_EQ(refusal.place, expected.place) << formula;
    }
}

TEST(Formula, RefusesDeepAndEndlessOnesEarly) {
    EXPECT_TRUE(
        test::says(refusal_of("y ~ " + std::string(100'000, '(') + "x").sentence, {"50", "parentheses", "within"}));
    EXPECT_TRUE(test::says(refusal_of("y ~ " + std::string(100'000, '-') + "x").sentence, {"missing"}));
    std::string many = "y ~ (c1";
    for (int i = 2; i < 300; ++i) many += " + c" + std::to_string(i);
    EXPECT_TRUE(test::says(refusal_of(many + ")^9").sentence, {"20000", "too many"}));
    std::string powers = "y ~ x";
    for (int i = 0; i < 20'000; ++i) powers += "^1";
    EXPECT_EQ(names_of(powers), Names{"x"});
}

TEST(Formula, ShowsThePlaceOfWhatIsLongOrNotPlain) {
    std::string many = "y ~ x";
    for (int i = 0; i < 100; ++i) many += " + x";
    const std::string what = refusal_of(many + " + speed + x").what;
    const std::size_t line = what.find('\n') + 1;
    const std::string picture = what.substr(line, what.find('\n', line) - line);
    EXPECT_TRUE(picture.starts_with("  …")) << what;
    EXPECT_NE(picture.find("speed"), std::string::npos) << what;
    // The mark stands under its beginning; … is one character of three bytes.
    EXPECT_EQ(what.size() - 1 - (what.rfind('\n') + 1), picture.find("speed") - 2) << what;

    const Refusal bell = refusal_of("y ~ `a\x1b[2Jé` + z");
    EXPECT_EQ(bell.what.find('\x1b'), std::string::npos);
    EXPECT_NE(bell.what.find("\n  y ~ `a\\x1b[2Jé` + z\n      ^"), std::string::npos) << bell.what;
    EXPECT_NE(refusal_of("y ~ x +\n speed").what.find("\n  y ~ x +  speed\n           ^"), std::string::npos);
}

TEST(Formula, TakesAnyNameInBackquotes) {
    const Names hostile = {"my col", "a,b", "x[1]", "tick`s", "back\\slash", "é", "end\\", "1", "a\nb", ".", "log(x)"};
    for (const std::string& name : hostile) {
        DataFrame frame = small_frame();
        frame.columns[1].name = name;
        const Formula formula = Formula::of_columns("y", {name, "z"}, true);
        EXPECT_EQ(formula.columns(), (Names{"y", name, "z"})) << formula.text();
        EXPECT_EQ(FormulaCoding(formula, frame).names(), (Names{name, "z"})) << formula.text();
        const Formula logged = Formula::parse("y ~ log(" + formula_name(name) + ")");
        EXPECT_EQ(FormulaCoding(logged, frame).names(), Names{"log(" + formula_name(name) + ")"});
    }
    EXPECT_EQ(formula_name("Sepal.Length"), "Sepal.Length");
    EXPECT_EQ(formula_name("größe"), "größe");
}

TEST(Formula, SaysWhatToRead) {
    const Formula formula = Formula::parse("cbind(s, n - s) ~ x + log(z) + factor(p) + offset(o) + (1 + x | h:k)");
    EXPECT_EQ(formula.columns(), (Names{"s", "n", "x", "z", "p", "o", "h", "k"}));
    EXPECT_TRUE(formula.has_trials());
    EXPECT_TRUE(formula.has_random_terms());
    FormulaOptions options;
    options.weights = "w";
    const FrameOptions reading = formula.reading(options);
    EXPECT_EQ(reading.columns, (Names{"s", "n", "x", "z", "p", "o", "h", "k", "w"}));
    EXPECT_EQ(reading.text, (Names{"p", "h", "k"}));
    EXPECT_EQ(reading.numbers, (Names{"s", "n", "z", "o", "w"}));

    const Formula dot = Formula::parse("y ~ . - z + (1 | g)");
    EXPECT_TRUE(dot.reading().columns.empty()) << "all";
    EXPECT_EQ(dot.reading({}, {"x", "y", "z", "g", "q"}).columns, (Names{"y", "x", "q", "g"}));
    EXPECT_THROW(dot.reading({}, {"x", "y", "z"}), FormulaError);
}

TEST(Formula, ReadsAFileOfWhichItKnowsTheColumns) {
    const TemporaryDirectory directory;
    const std::string path =
        directory.write("a.csv", "y,Subject,x,note\n1,308,1,\n2,0308,2,b\n4,309,3,c\n8,308.0,5,d\n");
    const Formula formula = Formula::parse("y ~ x + (1 | Subject)");
    const DataFrame frame = formula.read(path);
    EXPECT_EQ(frame.column_names(), (Names{"y", "x", "Subject"})) << "what is missing elsewhere does not matter";
    const FormulaDesign design = FormulaCoding(formula, frame).design(frame);
    EXPECT_EQ(design.random[0].levels, (Names{"308", "309"})) << "as they are written first";
    EXPECT_EQ(design.random[0].level, (std::vector<int>{0, 0, 1, 0}));
    const std::string message = message_of<FormulaError>([&] { Formula::parse("y ~ Dayz").read(path); });
    EXPECT_EQ(message,
              "there is no column 'Dayz': there are 'y', 'Subject', 'x' and 'note'\n"
              "  y ~ Dayz\n"
              "      ^");
}

}  // namespace
}  // namespace lrvb
