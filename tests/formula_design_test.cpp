#include "data_files.hpp"
#include "says.hpp"

#include <lrvb/formula/design.hpp>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

// Designs: how factors are coded, what is learnt and kept, what new rows become.

namespace lrvb {
namespace {

using Names = std::vector<std::string>;
using Levels = std::vector<int>;

DataFrame frame_of(const std::string& text, const FrameOptions& options = {}) {
    const TemporaryDirectory directory;
    return read_frame(directory.write("a.csv", text), options);
}

/// A table as the formula reads it.
DataFrame frame_for(const std::string& formula, const std::string& text, const FormulaOptions& options = {}) {
    const TemporaryDirectory directory;
    DataFrame frame = Formula::parse(formula).read(directory.write("a.csv", text), options);
    frame.name = "a.csv";
    return frame;
}

FormulaDesign design_of(const std::string& formula, const std::string& text, const FormulaOptions& options = {}) {
    const DataFrame frame = frame_for(formula, text, options);
    return FormulaCoding(Formula::parse(formula), frame, options).design(frame);
}

/// Two factors, every cell twice, and a number.
const std::string kCells =
    "y,a,b,x\n1,p,u,1\n2,p,v,2\n3,p,w,4\n4,q,u,3\n5,q,v,5\n6,q,w,7\n7,p,u,2\n8,p,v,3\n9,p,w,1\n10,q,u,6\n11,q,v,4\n12,"
    "q,w,"
    "8\n";

Names names_of(const std::string& formula) {
    return design_of(formula, kCells).names;
}

// The expected names are the columns of R's model.matrix(), in R's order.
TEST(FormulaDesign, CodesFactorsByTheRuleOfMarginality) {
    EXPECT_EQ(names_of("y ~ a"), Names{"a=q"});
    EXPECT_EQ(names_of("y ~ 0 + a"), (Names{"a=p", "a=q"}));
    EXPECT_EQ(names_of("y ~ 0 + a + b"), (Names{"a=p", "a=q", "b=v", "b=w"}));
    EXPECT_EQ(names_of("y ~ 0 + x + b"), (Names{"x", "b=u", "b=v", "b=w"}));
    EXPECT_EQ(names_of("y ~ a * b"), (Names{"a=q", "b=v", "b=w", "a=q:b=v", "a=q:b=w"}));
    EXPECT_EQ(names_of("y ~ a / b"), (Names{"a=q", "a=p:b=v", "a=q:b=v", "a=p:b=w", "a=q:b=w"}));
    EXPECT_EQ(names_of("y ~ 0 + a:b"), (Names{"a=p:b=u", "a=q:b=u", "a=p:b=v", "a=q:b=v", "a=p:b=w", "a=q:b=w"}));
    EXPECT_EQ(names_of("y ~ 0 + a * b"), (Names{"a=p", "a=q", "b=v", "b=w", "a=q:b=v", "a=q:b=w"}));
    EXPECT_EQ(names_of("y ~ x * a"), (Names{"x", "a=q", "x:a=q"}));
    EXPECT_EQ(names_of("y ~ a:x"), (Names{"a=p:x", "a=q:x"}));
    EXPECT_EQ(names_of("y ~ x + a:x"), (Names{"x", "x:a=q"}));
    EXPECT_EQ(names_of("y ~ a + a:x"), (Names{"a=q", "a=p:x", "a=q:x"}));
    EXPECT_EQ(names_of("y ~ factor(x):a - factor(x):a + factor(a)"), Names{"a=q"}) << "text is a factor already";
    // Here R's own rule leaves out what tells the levels of b apart: x:b does not.
    EXPECT_EQ(names_of("y ~ x:b + a:b").size(), 3U + 6U);
}

TEST(FormulaDesign, SpansWhatItSays) {
    // Of full rank wherever the terms have no redundancy: as many columns as there are cells to tell apart.
    for (const char* const text : {"y ~ a * b", "y ~ 0 + a * b", "y ~ 0 + a:b", "y ~ a / b", "y ~ a * b * x"}) {
        const FormulaDesign design = design_of(text, kCells);
        EXPECT_TRUE(idle_columns(design.columns, design.intercept).none()) << text;
    }
    const FormulaDesign cells = design_of("y ~ a:b", kCells);  // as in R, one too many beside the intercept
    EXPECT_EQ(idle_columns(cells.columns, true).collinear, std::vector<Index>{5});
}

TEST(FormulaDesign, FillsInteractionsCellByCell) {
    const FormulaDesign design = design_of("y ~ a * b * x", kCells);
    const auto column = [&](const std::string& name) {
        const auto place = std::find(design.names.begin(), design.names.end(), name) - design.names.begin();
        return Vector(design.columns.col(place));
    };
    EXPECT_EQ(column("a=q:b=w"), (Vector{{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}}));
    EXPECT_EQ(column("a=q:b=w:x"), (Vector{{0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 8}}));
    EXPECT_EQ(column("b=v:x"), (Vector{{0, 2, 0, 0, 5, 0, 0, 3, 0, 0, 4, 0}}));
    const FormulaDesign powers = design_of("y ~ a:poly(x, 2)", kCells);
    EXPECT_EQ(powers.names, (Names{"a=p:poly(x,2)[1]", "a=q:poly(x,2)[1]", "a=p:poly(x,2)[2]", "a=q:poly(x,2)[2]"}));
    const FormulaDesign plain = design_of("y ~ poly(x, 2)", kCells);
    for (Index n = 0; n < 12; ++n) {
        const bool is_q = design.columns(n, 0) == 1.0;
        EXPECT_EQ(powers.columns(n, 2), is_q ? 0.0 : plain.columns(n, 1));
        EXPECT_EQ(powers.columns(n, 3), is_q ? plain.columns(n, 1) : 0.0);
    }
}

TEST(FormulaDesign, EvaluatesArithmetic) {
    const FormulaDesign design = design_of(
        "log(y) ~ I(x^2) + log(x + 1) + I(-x^2) + I(2^-x) + sqrt(x) + exp(-x) + I(x - 1 - 2) + I(8 / x / 2) + I(x^2^0)",
        "y,x\n1,1\n2,2\n4,4\n");
    EXPECT_EQ(design.y, (Vector{{0.0, std::log(2.0), std::log(4.0)}}));
    const Matrix& columns = design.columns;
    EXPECT_EQ(columns.row(2)[0], 16.0);
    EXPECT_EQ(columns.row(2)[1], std::log(5.0));
    EXPECT_EQ(columns.row(2)[2], -16.0) << "the sign comes after the power";
    EXPECT_EQ(columns.row(2)[3], 0.0625);
    EXPECT_EQ(columns.row(2)[4], 2.0);
    EXPECT_DOUBLE_EQ(columns.row(2)[5], std::exp(-4.0));
    EXPECT_EQ(columns.row(2)[6], 1.0) << "from the left";
    EXPECT_EQ(columns.row(2)[7], 1.0) << "from the left";
    EXPECT_EQ(columns.row(2)[8], 4.0) << "powers from the right";
}

TEST(FormulaDesign, TakesSuccessesAndFailures) {
    const FormulaDesign design = design_of(
        "cbind(incidence, size - incidence) ~ factor(period) + offset(log(size)) + offset(period) + (1 | herd)",
        "herd,incidence,size,period\n1,2,14,1\n1,3,12,2\n2,4,9,3\n2,0,5,4\n1,1,3,10\n2,2,6,1\n");
    EXPECT_EQ(design.y, (Vector{{2, 3, 4, 0, 1, 2}}));
    EXPECT_EQ(design.trials, (Vector{{14, 12, 9, 5, 3, 6}}));
    EXPECT_EQ(design.names, (Names{"period=2", "period=3", "period=4", "period=10"})) << "sorted as numbers";
    EXPECT_DOUBLE_EQ(design.offset[2], std::log(9.0) + 3.0);
    EXPECT_EQ(design.random[0].level, (Levels{0, 0, 1, 1, 0, 1}));
    EXPECT_EQ(design.random[0].values, Matrix::Ones(6, 1));
}

// Of poly(c(1, 2, 4, 8, 9), 3) in R 4.2: orthonormal, and orthogonal to ones; the signs are those of the powers.
TEST(FormulaDesign, MakesOrthogonalPolynomials) {
    const DataFrame frame = frame_of("y,x\n1,1\n2,2\n3,4\n4,8\n5,9\n");
    const FormulaCoding coding(Formula::parse("y ~ poly(x, 3)"), frame);
    const Matrix columns = coding.design(frame).columns;
    EXPECT_LT((columns.transpose() * columns - Matrix::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((Vector::Ones(5).transpose() * columns).cwiseAbs().maxCoeff(), 1e-14);
    // x − mean over the root of its sum of squares: mean 4.8, squares 50.8.
    EXPECT_NEAR(columns(0, 0), -3.8 / std::sqrt(50.8), 1e-15);
    // What is left of x² after ones and x, by least squares: in closed form.
    const Vector x{{1, 2, 4, 8, 9}};
    Matrix before(5, 2);
    before << Vector::Ones(5), x;
    const Vector square = x.cwiseAbs2();
    const Vector rest = square - before * (before.transpose() * before).inverse() * (before.transpose() * square);
    EXPECT_LT((columns.col(1) - rest / rest.norm()).cwiseAbs().maxCoeff(), 1e-13);

    // New rows, one at a time, are points of the same polynomials.
    const DataFrame first = frame_of("x\n4\n");
    EXPECT_LT((coding.new_rows(first).columns - columns.row(2)).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_EQ(design_of("y ~ poly(x, 2, raw = TRUE)", "y,x\n1,1\n2,2\n3,4\n").columns,
              (Matrix{{1, 1}, {2, 4}, {4, 16}}));
}

TEST(FormulaDesign, ScalesNewRowsAsThoseOfTheFit) {
    const DataFrame frame = frame_of("y,x\n1,2\n2,4\n3,9\n");  // mean 5, variance 13
    const FormulaCoding coding(Formula::parse("y ~ scale(x) + scale(x, scale = FALSE) + I(scale(x)^2) + scale(log(x))"),
                               frame);
    EXPECT_DOUBLE_EQ(coding.design(frame).columns(2, 0), 4.0 / std::sqrt(13.0));
    const Matrix columns = coding.new_rows(frame_of("x\n6\n")).columns;
    EXPECT_DOUBLE_EQ(columns(0, 0), 1.0 / std::sqrt(13.0));
    EXPECT_DOUBLE_EQ(columns(0, 1), 1.0);
    EXPECT_DOUBLE_EQ(columns(0, 2), 1.0 / 13.0);
    EXPECT_THROW(design_of("y ~ scale(x)", "y,x\n1,2\n2,2\n"), FormulaDataError);
}

TEST(FormulaDesign, GroupsNumbersBehindTheBar) {
    const std::string table = "Reaction,Days,Subject\n250,0,309\n260,1,308\n270,2,309.0\n280,0,1e3\n290,1,308\n";
    const FormulaDesign design = design_of("Reaction ~ Days + (Days | Subject)", table);
    ASSERT_EQ(design.random.size(), 1U);
    const RandomTerm& term = design.random[0];
    EXPECT_EQ(term.levels, (Names{"308", "309", "1e3"})) << "sorted as numbers, named as they are written";
    EXPECT_EQ(term.level, (Levels{1, 0, 1, 2, 0}));
    EXPECT_EQ(term.effects, (Names{"intercept", "Days"}));
    EXPECT_EQ(term.values, (Matrix{{1, 0}, {1, 1}, {1, 2}, {1, 0}, {1, 1}}));
    // A number that also groups is both.
    const FormulaDesign both = design_of("Reaction ~ Days + factor(Days) + (1 | Days)", table);
    EXPECT_EQ(both.names, (Names{"Days", "Days=1", "Days=2"}));
    EXPECT_EQ(both.columns.col(0), (Vector{{0, 1, 2, 0, 1}}));
    EXPECT_EQ(both.random[0].levels, (Names{"0", "1", "2"}));
    // Numbers in memory group as well.
    DataFrame memory;
    memory.name = "memory";
    memory.rows = 3;
    memory.columns = {{.name = "y", .numbers = Vector{{1, 2, 3}}, .levels = {}, .codes = {}},
                      {.name = "g", .numbers = Vector{{10, 9.5, 10}}, .levels = {}, .codes = {}}};
    const FormulaDesign numbers = FormulaCoding(Formula::parse("y ~ (1 | g)"), memory).design(memory);
    EXPECT_EQ(numbers.random[0].levels, (Names{"9.5", "10"}));
    EXPECT_EQ(numbers.random[0].level, (Levels{1, 0, 1}));
}

TEST(FormulaDesign, NestsGroups) {
    const std::string table = "y,g,h\n1,b,1\n2,a,2\n3,b,1\n4,a,1\n";
    const FormulaDesign design = design_of("y ~ (1 | g/h)", table);
    EXPECT_EQ(design.random[0].levels, (Names{"a", "b"}));
    EXPECT_EQ(design.random[1].name, "g:h");
    EXPECT_EQ(design.random[1].levels, (Names{"a:1", "a:2", "b:1"})) << "those that occur";
    EXPECT_EQ(design.random[1].level, (Levels{2, 1, 2, 0}));
    EXPECT_TRUE(
        test::says(message_of<std::runtime_error>([] { design_of("y ~ (1 | g:h)", "y,g,h\n1,a:b,c\n2,a,b:c\n"); }),
                   {"a.csv", "'g:h'", "'a:b:c'", "levels", "called", "rename"}));
}

TEST(FormulaDesign, TakesBaselinesAndFactorsByName) {
    const std::string table = "y,cyl,wt\n1,4,1\n2,6,2\n3,8,3\n4,4.0,4\n5,6,2\n";
    FormulaOptions options;
    options.factors = {"cyl"};
    options.baselines = {{"cyl", "6.0"}};
    EXPECT_EQ(design_of("y ~ cyl * wt", table, options).names, (Names{"cyl=4", "cyl=8", "wt", "cyl=4:wt", "cyl=8:wt"}));
    options.baselines = {{"wt", "1"}};
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { design_of("y ~ cyl * wt", table, options); }),
                           {"a.csv", "'wt'", "baseline", "leave"}));
    options.baselines = {{"cyl", "5"}};
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { design_of("y ~ cyl * wt", table, options); }),
                           {"a.csv", "'cyl'", "'5'", "'4'", "'6'", "'8'", "baseline", "level"}));
}

TEST(FormulaDesign, RefusesWhatMakesNoFactor) {
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([] { design_of("y ~ g", "y,g\n1,a\n2,a\n"); }),
                           {"a.csv", "'g'", "'a'", "level", "leave"}));
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([] { design_of("y ~ g", "y,g\n1,a\n2,b\n3,c\n"); }),
                           {"a.csv", "'g'", "1", "numbers", "leave"}));
    std::string table = "y,g\n";
    for (int i = 0; i < 2200; ++i) table += "1,g" + std::to_string(i % 1100) + "\n";
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { design_of("y ~ g", table); }),
                           {"a.csv", "'g'", "1100", "1", "levels", "numbers", "leave"}));
    EXPECT_EQ(design_of("y ~ (1 | g)", table).random[0].levels.size(), 1100U);
    EXPECT_EQ(design_of("y ~ (1 | g)", "y,g\n1,a\n2,b\n").random[0].levels.size(), 2U) << "a group for every row";
    // A column called as another's level is.
    EXPECT_TRUE(test::says(
        message_of<std::invalid_argument>([&] { design_of("y ~ g + `g=b`", "y,g,g=b\n1,a,2\n2,b,3\n3,a,1\n"); }),
        {"'g=b'", "called", "rename"}));
}

/// There and back through the text of a file.
FormulaCoding restored(const FormulaCoding& coding) {
    const Document document = Document::parse(coding.document().json());
    return FormulaCoding::read(Fields(document, "fit.json"));
}

const std::string kTable =
    "y,x,a,g,h,n\n1,1,p,\"s,[1]\",1,3\n2,2,q,t,1,3\n3,4,p,t,2,4\n4,7,q,\"s,[1]\",2,5\n5,3,p,u,1,4\n6,5,q,u,1,6\n";

TEST(FormulaCoding, KeepsAllThatNewRowsNeed) {
    const std::string text = "log(y) ~ a * scale(x) + poly(n, 2) + offset(log(x)) + (x | g/h) + (0 + factor(h) | a)";
    const DataFrame frame = frame_for(text, kTable);
    const FormulaCoding coding(Formula::parse(text), frame);
    const FormulaCoding kept = restored(coding);
    EXPECT_EQ(kept.document().json(), coding.document().json());
    EXPECT_EQ(kept.names(), coding.names());
    const FormulaDesign design = coding.design(frame);
    const FormulaDesign again = kept.design(frame);
    EXPECT_EQ(again.columns, design.columns);
    EXPECT_EQ(again.y, design.y);
    EXPECT_EQ(again.offset, design.offset);
    ASSERT_EQ(again.random.size(), design.random.size());
    for (std::size_t i = 0; i < design.random.size(); ++i) {
        EXPECT_EQ(again.random[i].levels, design.random[i].levels);
        EXPECT_EQ(again.random[i].level, design.random[i].level);
        EXPECT_EQ(again.random[i].effects, design.random[i].effects);
        EXPECT_EQ(again.random[i].values, design.random[i].values);
    }
    EXPECT_EQ(kept.columns(), (Names{"a", "x", "n", "g", "h"}));
    const FrameOptions reading = kept.reading(false);
    EXPECT_EQ(reading.columns, kept.columns());
    EXPECT_EQ(reading.text, (Names{"a", "g", "h"}));
    EXPECT_EQ(reading.numbers, (Names{"x", "n"}));
}

TEST(FormulaCoding, KnowsNewGroupsAndRefusesNewLevels) {
    const std::string text = "y ~ a + x + (1 | g/h)";
    const FormulaCoding coding(Formula::parse(text), frame_for(text, kTable));
    const FrameOptions reading = coding.reading(false);
    const auto rows = [&](const std::string& table) { return coding.new_rows(frame_of(table, reading)); };
    const FormulaDesign design = rows("h,g,a,x\n2,t,q,1\n2.0,u,p,2\n1,new,p,3\n9,t,q,4\n");
    EXPECT_EQ(design.y.size(), 0) << "the response is not needed";
    EXPECT_EQ(design.columns, (Matrix{{1, 1}, {0, 2}, {0, 3}, {1, 4}}));
    EXPECT_EQ(design.random[0].level, (Levels{1, 2, -1, 1}));
    EXPECT_EQ(design.random[1].level, (Levels{3, -1, -1, -1})) << "u:2 did not occur";
    const std::string message = message_of<std::runtime_error>([&] { rows("h,g,a,x\n2,t,q,1\n1,t,r\x1b,2\n"); });
    EXPECT_NE(
        message.find("row 2, column 'a': the level 'r\\x1b' did not occur in the data of the fit, which had 'p' and "
                     "'q': correct it"),
        std::string::npos)
        << message;
    EXPECT_THROW(coding.new_rows(frame_of("h,g,a\n2,t,q\n")), std::invalid_argument);
}

TEST(FormulaCoding, KeepsWhatTheDotWas) {
    const DataFrame frame = frame_for("y ~ . + (1 | g) - h", kTable);
    const FormulaCoding kept = restored(FormulaCoding(Formula::parse("y ~ . + (1 | g) - h"), frame));
    EXPECT_EQ(kept.names(), (Names{"x", "a=q", "n"}));
    EXPECT_EQ(kept.new_rows(frame_of("z,x,a,n,g\n0,1,q,2,t\n3,1,p,2,v\n")).columns, (Matrix{{1, 1, 2}, {1, 0, 2}}));
}

TEST(FormulaCoding, RefusesDamagedFiles) {
    const std::string text = "y ~ a * scale(x) + poly(n, 2) + (1 | g/h)";
    const Document sound = FormulaCoding(Formula::parse(text), frame_for(text, kTable)).document();
    const auto refusal = [&](const std::string& key, const Document& value) {
        Document damaged = sound;
        damaged[key] = value;
        const std::string message =
            message_of<std::runtime_error>([&] { FormulaCoding::read(Fields(damaged, "fit.json")); });
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        return message;
    };
    EXPECT_NE(refusal("formula", "y ~ (").find("is not closed"), std::string::npos);
    EXPECT_NE(refusal("formula", "y ~ b + a * scale(x) + (1 | q)").find("lacks"), std::string::npos);
    EXPECT_NE(refusal("factors", Document::list()).find("lacks the levels of 'a'"), std::string::npos);
    EXPECT_NE(refusal("learnt", Document::list()).find("lacks the numbers of 'scale(x)'"), std::string::npos);
    EXPECT_NE(refusal("groups", Document::list()).find("lacks that of 'g'"), std::string::npos);
    EXPECT_NE(refusal("text", 3).find("text"), std::string::npos);
    for (const auto& [key, value] : *sound.object_entries()) refusal(key, Document());
    Document zero = *sound.find("learnt");
    Document::List entries = *zero.entries();
    entries[0]["numbers"] = Document::Numbers{1.0, 0.0};
    EXPECT_NE(refusal("learnt", Document::list(entries)).find("cannot be"), std::string::npos);
    Document::List groups = *sound.find("groups")->entries();
    groups[1]["cells"] = Document::list({Document::Numbers{0, 1}, Document::Numbers{0, 7}});
    EXPECT_NE(refusal("groups", Document::list(groups)).find("no level's"), std::string::npos);
    groups[1]["cells"] = Document::list({Document::Numbers{0, 0}, Document::Numbers{0, 0}});
    EXPECT_NE(refusal("groups", Document::list(groups)).find("two levels of one name"), std::string::npos);
}

TEST(IdleColumns, AreNamedByWhatTheyAre) {
    Matrix columns(6, 6);
    const Vector x{{1, 2, 3, 4, 5, 7}};
    const Vector z{{1, 0, 1, 0, 0, 1}};
    columns << x, Vector::Zero(6), z, 2.0 * x - 3.0 * z + Vector::Ones(6), Vector::Constant(6, 4.0), x.cwiseAbs2();
    const IdleColumns with = idle_columns(columns, true);
    EXPECT_EQ(with.zero, std::vector<Index>{1});
    EXPECT_EQ(with.constant, std::vector<Index>{4});
    EXPECT_EQ(with.collinear, std::vector<Index>{3});
    EXPECT_EQ(with.all(), (std::vector<Index>{1, 3, 4}));
    // Without an intercept the ones are a column as any other, and the fourth brings them.
    const IdleColumns without = idle_columns(columns, false);
    EXPECT_EQ(without.collinear, std::vector<Index>{4});
    EXPECT_TRUE(without.constant.empty());
}

TEST(IdleColumns, AreFoundAmongMany) {
    Random random(4);
    Matrix columns(400, 150);
    for (double& entry : columns.reshaped()) entry = random.normal();
    EXPECT_TRUE(idle_columns(columns, true).none());
    columns.col(130) = columns.col(3) - 2.0 * columns.col(97) + 0.5 * columns.col(129);
    EXPECT_EQ(idle_columns(columns, true).collinear, std::vector<Index>{130});
}

TEST(IdleColumns, AreNoneWhereColumnsDifferByLittle) {
    // Beside the intercept and x, x² is about 1e-7 of itself here: far from the centre, and yet not collinear.
    const Vector x = Vector::LinSpaced(50, 1e6, 1e6 + 1.0);
    Matrix columns(50, 2);
    columns << x, x.cwiseAbs2();
    EXPECT_TRUE(idle_columns(columns, true).none());
    columns.col(1) = 3.0 * x;
    EXPECT_EQ(idle_columns(columns, true).collinear, std::vector<Index>{1});
}

}  // namespace
}  // namespace lrvb
