// What a stranger may hand us: names that a terminal would obey, that cannot be seen or that stand there twice, and fit
// files that somebody edited.

#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

const std::string kHostile = LRVB_SOURCE_DIR "/tests/data/hostile/";

// Whether a terminal could be shown it: no control but the line end, nothing that turns or hides text.
bool is_safe(const std::string& text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n') || byte == 0x7F) return false;
    }
    for (const char* hidden : {"\u202A", "\u202E", "\u2066", "\u2069", "\u200B", "\u200E", "\u200F", "\u061C", "\uFEFF",
                               "\u2028", "\u2029", "\u0085", "\u009B"}) {
        if (text.find(hidden) != std::string::npos) return false;
    }
    return text.find("\x9B\x32J") == std::string::npos;
}

// What is poured into a page: all from the contents on, without the script that was there before.
std::string poured_into(const std::string& page) {
    const std::size_t title = page.find("<title>");
    const std::size_t contents = page.find("id=\"contents\"");
    return page.substr(title, page.find("</title>") - title) +
           page.substr(contents, page.find("</script>", contents) - contents);
}

class Hostile : public ProgramTest {
  protected:
    void expect_safe(const std::string& arguments, int code = 0) const {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, code) << arguments << ": " << result.err;
        const bool is_page = result.out.starts_with("<!doctype");
        const std::string shown = is_page ? poured_into(result.out) : result.out;
        EXPECT_TRUE(is_safe(shown)) << arguments << ": " << shown;
        EXPECT_TRUE(is_safe(result.err)) << arguments << ": " << result.err;
    }
    std::string refusal(const std::string& arguments) const {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 1) << arguments << ": " << result.out;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        return result.err;
    }
    void edit(const std::string& from, const std::string& to, const std::function<void(json&)>& change) const {
        json fit = json::parse(read_text(work() / from));
        change(fit);
        write(to, fit.dump());
    }
};

const std::string kName = "\x1b[31m\x7f\u009B2J\u202Ex\u2066\u200B\uFEFF\u2028";

TEST_F(Hostile, NamesOfColumnsReachNoTerminal) {
    write("d.csv", "\"" + kName + "\",\"" + kName + "\ny\",g\n1,2,a\n2,1,\"" + kName + "\"\n3,5,a\n4,4,\"" + kName +
                       "\"\n6,5,a\n7,9,a\n");
    expect_safe("fit regression d.csv --response 2 -o r.json");
    expect_safe("fit mixture d.csv -c 1,2 -k 1 -o m.json");
    for (const std::string fit : {"r.json", "m.json"}) {
        for (const std::string format : {"table", "csv", "json"}) {
            expect_safe("summary " + fit + " --format " + format);
            expect_safe("covariance " + fit + " --format " + format);
            expect_safe("check " + fit + " d.csv --format " + format);
        }
        expect_safe("check " + fit + " d.csv --save-draws -");
        expect_safe("predict " + fit + " d.csv");
        // What the rows hold is for the next program, as it is; not for a terminal.
        const Result shown = shell("script -qec 'lrvb predict " + fit + " d.csv --append' /dev/null | tr -d '\\r'");
        EXPECT_EQ(shown.code, 0) << shown.err;
        EXPECT_TRUE(is_safe(shown.out)) << shown.out;
        EXPECT_NE(shown.out.find("\\x1b[31m"), std::string::npos) << shown.out;
        expect_safe("predict " + fit + " d.csv --append --format json");
        expect_safe("influence " + fit + " d.csv");
        expect_safe("influence " + fit + " d.csv -o -");
        expect_safe("leverage " + fit + " d.csv");
        expect_safe("sensitivity " + fit + " d.csv");
        expect_safe("sensitivity " + fit + " -o -");
        expect_safe("report " + fit + " d.csv -o -");
        expect_safe("report " + fit + " d.csv --title 'a\x1b]0;b\x07\u202E' -o -");
        EXPECT_TRUE(is_safe(read_text(work() / fit)));
    }
    expect_safe("summary r.json --variables 'nu\x1b[2J'", 1);
    expect_safe("fit mixture d.csv -c 'no\u202Ename' -k 1", 1);
    expect_safe("fit mixture $'no\\x1b[2Jfile\\x9b2J.csv' -k 1", 1);
    expect_safe("fit mixture d.csv -k 1 --prior 'pa\x1bper'", 2);
    expect_safe("$'comm\\x1band'", 2);
}

TEST_F(Hostile, KeptFilesAreShownAsWhatTheyAre) {
    expect_safe("fit mixture " + kHostile + "evil.csv -k 1 -o fit.json");
    expect_safe("leverage fit.json " + kHostile + "evil.csv");
    expect_safe("influence fit.json " + kHostile + "evil.csv");
    expect_safe("fit mixture " + kHostile + "cst.csv -k 1", 1);  // a constant column, which is named
    for (const char* format : {"table", "json"}) expect_safe("summary " + kHostile + "m_warn.json --format " + format);
    expect_safe("report " + kHostile + "m_warn.json -o -");
}

TEST_F(Hostile, NamesInAPageAreWrittenOut) {
    write("d.csv", "\"a\u202Eb\x1b[31m</script>\",y\n1,2\n2,1\n3,5\n4,4\n6,5\n");
    ASSERT_EQ(lrvb("fit regression d.csv --response y --quiet -o fit.json").code, 0);
    ASSERT_EQ(lrvb("report fit.json d.csv -o page.html").code, 0);
    const std::string page = read_text(work() / "page.html");
    EXPECT_TRUE(is_safe(poured_into(page)));
    // As JSON writes a backslash: what the page shows is a\u202eb\x1b[31m.
    EXPECT_NE(page.find("a\\\\u202eb\\\\x1b[31m\\u003c/script"), std::string::npos);
}

TEST_F(Hostile, JsonKeepsNamesAsTheyAre) {
    write("d.csv", "\"a\u202E\x7f\",y\n1,2\n2,1\n3,5\n4,4\n6,5\n");
    ASSERT_EQ(lrvb("fit regression d.csv --response y --quiet -o fit.json").code, 0);
    const json summary = lrvb("summary fit.json --format json").json();
    EXPECT_EQ(summary.at("variables").at(1).at("name"), "beta[a\u202E\x7f]");
    EXPECT_EQ(json::parse(read_text(work() / "fit.json")).at("data").at("columns").at(0), "a\u202E\x7f");
}

TEST_F(Hostile, NamesThatASpreadsheetWouldRunAreQuotedInCsv) {
    write("d.csv", "=1+1,@SUM(A1),-2\n1,-2,3\n2,1,1\n-3,5,4\n4,4,1\n");
    ASSERT_EQ(lrvb("fit mixture d.csv -k 1 --quiet -o fit.json").code, 0);
    const Result result = lrvb("influence fit.json d.csv -o -");
    const std::string header = result.out.substr(0, result.out.find('\n'));
    // A name that is a number runs nothing, and numbers stay numbers.
    EXPECT_EQ(header.rfind("row,\"'=1+1\",\"'@SUM(A1)\",-2,distance,\"mu[1,=1+1]\",", 0), 0U) << header;
    EXPECT_NE(result.out.find("\n1,1,-2,3,"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("\n3,-3,5,4,"), std::string::npos) << result.out;
}

TEST_F(Hostile, NamesThatAreNotUtf8AreRefused) {
    const std::string err = refusal("fit mixture " + kHostile + "latin1.csv -k 1 -o fit.json");
    EXPECT_NE(err.find("the name of column 1 is '\\xe9', which is not UTF-8"), std::string::npos) << err;
    EXPECT_TRUE(files().empty());
    // Where the column is not used, its name does not matter.
    EXPECT_EQ(lrvb("fit mixture " + kHostile + "latin1.csv -c b -k 1 --quiet -o fit.json").code, 0);
    EXPECT_EQ(shell("iconv -f LATIN1 -t UTF-8 " + kHostile + "latin1.csv | lrvb fit mixture - -k 1 --quiet").code, 0);
}

TEST_F(Hostile, ColumnsOfOneNameAreKnownByTheirNumbers) {
    const std::string data = kHostile + "du.csv";
    ASSERT_EQ(lrvb("fit mixture " + data + " -c 2,3 -k 1 --quiet -o fit.json").code, 0);
    EXPECT_EQ(json::parse(read_text(work() / "fit.json")).at("data").at("columns"), json({"2", "b"}));
    // The same rows under names of their own give the same predictions.
    write("named.csv", "x,a,b\n1,2,3\n2,3,4\n4,4,9\n");
    ASSERT_EQ(lrvb("fit mixture named.csv -c a,b -k 1 --quiet -o named.json").code, 0);
    const Result predicted = lrvb("predict fit.json " + data);
    EXPECT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_EQ(predicted.out, lrvb("predict named.json named.csv").out);
    EXPECT_EQ(lrvb("influence fit.json " + data).code, 0);
    const std::string err = refusal("predict fit.json named.csv");
    EXPECT_NE(err.find("named.csv: column 2 is called 'a'"), std::string::npos) << err;

    write("r.csv", "a,a,y\n1,2,3\n2,3,4\n4,4,9\n5,1,2\n");
    ASSERT_EQ(lrvb("fit regression r.csv --response y -c 1,2 --quiet -o r.json").code, 0);
    EXPECT_NE(lrvb("summary r.json").out.find("beta[2]"), std::string::npos);
    EXPECT_EQ(lrvb("predict r.json r.csv").code, 0);
    EXPECT_EQ(lrvb("influence r.json r.csv").code, 0);
    write("other.csv", "u,v\n1,2\n");
    EXPECT_NE(refusal("predict r.json other.csv").find("no column '1'"), std::string::npos);
}

TEST_F(Hostile, KeptFilesThatLieAreRefusedByEveryCommand) {
    for (const auto& [name, says] : std::vector<std::pair<std::string, std::string>>{
             {"m_cov_neg.json", "posterior.covariance has a negative variance"},
             {"m_cov_indef.json", "posterior.covariance is not positive semi-definite"},
             {"m_names2.json", "posterior.variables has"}}) {
        for (const std::string command : {"summary ", "covariance ", "sensitivity ", "report "}) {
            const std::string err = refusal(command + kHostile + name);
            EXPECT_NE(err.find(name + " is no fit file of lrvb, or it is damaged: " + says), std::string::npos) << err;
        }
        for (const std::string command : {"predict ", "check ", "influence ", "leverage "}) {
            const std::string err = refusal(command + kHostile + name + " $DATA/old_faithful.csv");
            EXPECT_NE(err.find(says), std::string::npos) << err;
        }
    }
}

TEST_F(Hostile, FitFilesThatContradictThemselvesAreRefused) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --quiet -o m.json").code, 0);
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --quiet -o f.json").code, 0);
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --prior paper --quiet -o r.json").code, 0);
    struct Lie {
        std::string fit;
        std::string says;
        std::function<void(json&)> tell;
    };
    const std::vector<Lie> lies{
        {"m.json", "posterior.covariance_mfvb", [](json& f) { f["posterior"]["covariance_mfvb"][2][2] = -1.0; }},
        {"m.json", "posterior.statistics", [](json& f) { f["posterior"]["statistics"][0] = "nobody"; }},
        {"m.json", "posterior.statistics",
         [](json& f) { f["posterior"]["statistics"][0] = f["posterior"]["statistics"][1]; }},
        {"m.json", "posterior.mean", [](json& f) { f["posterior"]["mean"][3] = 1e6; }},
        {"m.json", "posterior.variables has 'nobody'",
         [](json& f) { f["posterior"]["variables"].back()["name"] = "nobody"; }},
        {"m.json", "posterior.variables", [](json& f) { f["posterior"]["variables"][2]["mean"] = 1.5; }},
        {"m.json", "posterior.hyperparameters", [](json& f) { f["posterior"]["hyperparameters"][0] = "nobody"; }},
        {"m.json", "outcome.converged", [](json& f) { f["outcome"]["converged"] = false; }},
        {"m.json", "outcome.step", [](json& f) { f["outcome"]["step"] = nullptr; }},
        {"m.json", "posterior.covariance is missing",
         [](json& f) { f["posterior"]["covariance"] = f["posterior"]["sensitivities"] = nullptr; }},
        {"m.json", "parameters[1].natural", [](json& f) { f["parameters"][0]["natural"][0] = -7.0; }},
        {"m.json", "parameters[2].mean", [](json& f) { f["parameters"][1]["mean"][0] = 55.0; }},
        {"m.json", "parameters[1].standard", [](json& f) { f["parameters"][0]["standard"][0] = 55.0; }},
        {"m.json", "parameters has 'nobody'", [](json& f) { f["parameters"][1]["name"] = "nobody"; }},
        {"m.json", "parameters[2].name", [](json& f) { f["parameters"][1]["name"] = f["parameters"][0]["name"]; }},
        {"m.json", "parameters[1].family", [](json& f) { f["parameters"][0]["family"] = "Cauchy"; }},
        {"m.json", "check.verdict is 'ok'",
         [](json& f) {
             f["check"]["verdict"] = "ok";
             f["check"]["verdicts"][0] = "sd off by -40%";
         }},
        {"m.json", "check.sd", [](json& f) { f["check"]["sd"][0] = -1.0; }},
        {"m.json", "data.columns", [](json& f) { f["data"]["columns"].push_back("more"); }},
        {"m.json", "data.columns", [](json& f) { f["data"]["columns"][1] = f["data"]["columns"][0]; }},
        {"m.json", "model.prior.variance", [](json& f) { f["model"]["prior"]["variance"][1][0] = 1e9; }},
        {"m.json", "model.fixed", [](json& f) { f["model"]["fixed"] = {"everything"}; }},
        {"r.json", "model.coefficients.covariance",
         [](json& f) { f["model"]["coefficients"]["covariance"][1][1] = -1.0; }},
        {"r.json", "model.coefficients.noise_variance",
         [](json& f) { f["model"]["coefficients"]["noise_variance"] = 0.0; }},
        {"r.json", "model.coefficients.mean", [](json& f) { f["model"]["coefficients"]["mean"][1] = 12.0; }},
        {"r.json", "posterior.variables", [](json& f) { f["model"]["terms"][0]["column"] = "hp2"; }},
        {"r.json", "data.columns", [](json& f) { f["data"]["columns"][0] = "hp2"; }},
        {"r.json", "'hp'", [](json& f) { f["model"]["terms"][0]["column"] = "hp"; }},
        {"r.json", "parameters", [](json& f) { f["parameters"][1]["name"] = "beta[disp]"; }},
        {"f.json", "model.columns",
         [](json& f) {
             f["model"]["columns"] = {0, 2};
         }},
        {"f.json", "model.family", [](json& f) { f["model"]["family"] = "poisson"; }},
        {"f.json", "model.nodes.weights", [](json& f) { f["model"]["nodes"]["weights"][0] = -1.0; }},
        {"f.json", "model.nodes.draws", [](json& f) { f["model"]["nodes"]["draws"][0][0] = 1e308; }},
        {"f.json", "model.nodes.draws", [](json& f) { f["model"]["nodes"]["draws"] = json::array(); }},
        {"f.json", "posterior.statistics", [](json& f) { f["posterior"]["statistics"][2] = "beta[disp]"; }},
        {"f.json", "posterior.mean", [](json& f) { f["posterior"]["mean"][2] = 12.0; }},
        {"f.json", "posterior.variables", [](json& f) { f["posterior"]["variables"][1]["mean"] = 12.0; }},
        {"f.json", "parameters", [](json& f) { f["parameters"].erase(1); }},
    };
    for (const Lie& lie : lies) {
        edit(lie.fit, "lie.json", lie.tell);
        const std::string err = refusal("summary lie.json");
        EXPECT_EQ(err.rfind("lrvb: lie.json is no fit file of lrvb, or it is damaged: ", 0), 0U)
            << lie.says << ": " << err;
        EXPECT_NE(err.find(lie.says), std::string::npos) << err;
    }
}

TEST_F(Hostile, LinksToLinksToNothingAreWrittenThrough) {
    ASSERT_EQ(shell("mkdir sub && ln -s sub/two one && ln -s ../end.csv sub/two").code, 0);
    ASSERT_EQ(lrvb("simulate mixture --weights 1 --means 0 --sds 1 -n 3 -o one").code, 0);
    EXPECT_EQ(shell("test -L one && test -L sub/two && test -f end.csv && test ! -L end.csv").code, 0);
    EXPECT_EQ(files(), (std::set<std::string>{"end.csv", "one", "sub"}));
    ASSERT_EQ(shell("ln -s b a && ln -s a b").code, 0);
    const std::string err = refusal("simulate mixture --weights 1 --means 0 --sds 1 -n 3 -o a");
    EXPECT_NE(err.find("a: is a link that leads in a circle"), std::string::npos) << err;
}

TEST_F(Hostile, PredictionsFarAwayAreNumbersOrSaidToBeBelowAll) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 1 --prior paper --quiet -o fit.json").code, 0);
    write("far.csv", "eruptions\n1e120\n-1e120\n2e120\n1e300\n-1e308\n");
    const Result result = lrvb("predict fit.json far.csv");
    ASSERT_EQ(result.code, 0) << result.err;
    std::vector<std::string> densities;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) densities.push_back(line.substr(line.rfind(',') + 1));
    ASSERT_EQ(densities.size(), 6U);
    // A normal's log density far away is -½ τ x²: the same on both sides, four times as much at twice the distance.
    const double one = std::stod(densities[1]);
    EXPECT_LT(one, -1e238);
    EXPECT_NEAR(std::stod(densities[2]) / one, 1.0, 1e-12);
    EXPECT_NEAR(std::stod(densities[3]) / one, 4.0, 1e-12);
    EXPECT_EQ(densities[4], "-Inf");
    EXPECT_EQ(densities[5], "-Inf");
}

TEST_F(Hostile, PredictionsOfARegressionFarAwayKeepTheirSdsOrAreRefused) {
    write("d.csv", "y,x\n1,2\n2,3\n5,4\n4,6\n");
    // Far away the sd of the mean is |x| sd(slope): the same part of x everywhere.
    const auto expect_parts = [&](const std::vector<double>& places) {
        std::ostringstream text("x\n", std::ios::ate);
        for (const double x : places) text << x << '\n';
        write("far.csv", text.str());
        std::istringstream lines(lrvb("predict fit.json far.csv").out);
        std::string line;
        std::getline(lines, line);
        double part = 0.0;
        for (const double x : places) {
            ASSERT_TRUE(std::getline(lines, line));
            const std::string sd = line.substr(line.rfind(',') + 1);
            if (part == 0.0) part = std::stod(sd) / x;
            EXPECT_NEAR(std::stod(sd) / x / part, 1.0, 1e-12) << line;
        }
        EXPECT_GT(part, 0.0);
    };
    ASSERT_EQ(lrvb("fit regression d.csv --response y --prior paper --quiet -o fit.json").code, 0);
    expect_parts({1e60, 1e160, 1e300});
    // By formula there is no variance where the square of a number is none.
    ASSERT_EQ(lrvb("fit regression d.csv --response y --quiet -o fit.json").code, 0);
    expect_parts({1e60, 1e140});
    write("farther.csv", "x\n1\n1e160\n");
    const std::string err = refusal("predict fit.json farther.csv -o out.csv");
    EXPECT_NE(err.find("farther.csv: row 2: its numbers go beyond what can be squared"), std::string::npos) << err;
}

TEST_F(Hostile, AFitThatNeedsMoreIterationsNamesTheOption) {
    const Result result = lrvb("fit mixture $DATA/old_faithful.csv -k 2 --max-iterations 2 --quiet");
    EXPECT_EQ(result.code, 3);
    EXPECT_NE(result.err.find("--max-iterations"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace lrvb::testing
