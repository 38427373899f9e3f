// Every bad input ends with one sentence on standard error that names what is wrong, exit code 1 (2 for wrong usage),
// nothing on standard output, and no file that was not there before.

#include "program.hpp"

#include <vector>

namespace lrvb::testing {
namespace {

struct BadInput {
    std::string name;
    std::string file;  // content of bad.csv (or bad.json); empty: no file
    std::string command;
    int code;
    std::vector<std::string> says;
};

const std::string kGood = "x,y\n1,2\n2,1\n3,5\n4,4\n6,5\n";

void PrintTo(const BadInput& bad, std::ostream* out) {
    *out << bad.command;
}

class BadInputs : public ProgramTest, public ::testing::WithParamInterface<BadInput> {};

TEST_P(BadInputs, EndsInOneSentence) {
    const BadInput& bad = GetParam();
    write("good.csv", kGood);
    ASSERT_EQ(lrvb("fit mixture good.csv -c x -k 1 --quiet -o good.json").code, 0);
    if (!bad.file.empty()) write("bad.csv", bad.file);
    const std::set<std::string> before = files();
    const std::string good_fit = read_text(work() / "good.json");

    const Result result = shell(bad.command);
    EXPECT_EQ(result.code, bad.code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.err.rfind("lrvb: ", 0), 0U) << result.err;
    for (const std::string& part : bad.says) EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(files(), before);
    EXPECT_EQ(read_text(work() / "good.json"), good_fit);
}

const std::string kFit = "lrvb fit mixture bad.csv -k 2 -o good.json";

std::vector<BadInput> cases() {
    const auto data = [](const std::string& name, const std::string& file, const std::vector<std::string>& says) {
        return BadInput{name, file, kFit, 1, says};
    };
    const auto usage = [](const std::string& name, const std::string& command, const std::vector<std::string>& says) {
        return BadInput{name, "", "lrvb " + command, 2, says};
    };
    const auto fails = [](const std::string& name, const std::string& command, const std::vector<std::string>& says) {
        return BadInput{name, "", "lrvb " + command, 1, says};
    };
    // A fit file that was changed by a sed expression.
    const auto damaged = [](const std::string& name, const std::string& sed, const std::vector<std::string>& says) {
        return BadInput{name, "-", "sed '" + sed + "' good.json > bad.csv && lrvb summary bad.csv", 1, says};
    };
    return {
        fails("MissingFile", "fit mixture nowhere.csv -k 2 -o good.json", {"nowhere.csv", "No such file", "check"}),
        fails("DirectoryAsData", "fit mixture . -k 2", {".: is a directory"}),
        data("OnlyAHeader", "x,y\n", {"bad.csv", "row"}),
        data("RaggedRow", "x,y\n1,2\n3\n4,5\n", {"bad.csv", "row 2"}),
        data("TooManyFields", "x,y\n1,2\n3,4,5\n", {"bad.csv", "row 2"}),
        data("TextInANumberColumn", "x,y\n1,2\n3,four\n5,6\n", {"bad.csv", "row 2", "'y'", "'four'"}),
        data("Infinity", "x,y\n1,2\n3,inf\n5,6\n", {"bad.csv", "row 2", "'y'"}),
        data("NumberTooLarge", "x,y\n1,2\n3,1e999\n5,6\n", {"bad.csv", "row 2", "'y'"}),
        data("MissingValue", "x,y\n1,2\n3,NA\n,6\n", {"bad.csv", "row 2", "2 such rows", "--drop-missing"}),
        data("NotANumber", "x,y\n1,2\n3,NaN\n5,6\n", {"bad.csv", "row 2", "'y'"}),
        {"EveryRowMissing", "x,y\n1,NA\nNA,2\n", kFit + " --drop-missing", 1, {"bad.csv", "missing"}},
        data("NoHeader", "1,2\n3,4\n5,6\n", {"bad.csv", "names of the columns"}),
        data("DuplicateColumn", "x,x\n1,2\n3,4\n5,7\n", {"bad.csv", "'x'"}),
        data("OpenQuote", "x,y\n1,\"2\n3,4\n", {"bad.csv", "quote"}),
        data("NulByte", std::string("x,y\n1,2\n\0,4\n5,6\n", 17), {"bad.csv", "row 2"}),
        data("FewerRowsThanComponents", "x,y\n1,2\n", {"bad.csv", "1 row", "2 components"}),
        data("ConstantColumn", "x,y\n1,2\n2,2\n3,2\n4,2\n", {"bad.csv", "'y'", "constant"}),
        data("ConstantColumns", "x,y,z\n1,2,0\n2,2,0\n3,2,0\n4,2,0\n",
             {"bad.csv", "columns 'y' (2) and 'z' (0) are constant", "leave them out"}),
        data("OutlierBeyondSquares", "x,y\n1,2\n2,1e300\n3,4\n4,5\n", {"bad.csv", "'y'", "1e+300"}),
        {"UnknownColumn", kGood, kFit + " -c x,z", 1, {"bad.csv", "'z'", "'x', 'y'"}},
        {"ColumnTwice", kGood, kFit + " -c x,x", 1, {"bad.csv", "'x'"}},
        {"ColumnNumberTooLarge", kGood, kFit + " -c 3", 1, {"bad.csv", "'3'"}},
        {"NegativeWeight", "x,w\n1,1\n2,-1\n3,1\n", kFit + " -c x --weights w", 1, {"bad.csv", "row 2", "weight"}},
        {"NothingButWeights", "w\n1\n2\n3\n", kFit + " --weights w", 1, {"bad.csv", "no column is left besides 'w'"}},
        {"UnknownWeights", kGood, kFit + " --weights z", 1, {"bad.csv", "'z'"}},
        {"AllWeightsZero", "x,w\n1,0\n2,0\n3,0\n", kFit + " -c x --weights w", 1, {"bad.csv", "weight"}},
        {"NotANumPyFile",
         "",
         "echo hello > bad.npy && lrvb fit mixture bad.npy -k 1; rc=$?; rm bad.npy; exit $rc",
         1,
         {"bad.npy"}},
        {"EmptyFile", "", ": > bad.csv; " + kFit + "; rc=$?; rm bad.csv; exit $rc", 1, {"bad.csv", "empty"}},
        {"EmptyStandardInput", "", "lrvb fit mixture - -k 2 < /dev/null", 1, {"standard input", "empty"}},
        fails("FolderThatIsNotThere", "fit mixture good.csv -k 1 -o nowhere/fit.json", {"nowhere/fit.json", "check"}),
        // Found before the other files are looked at, which are missing as well.
        fails("OutputOfAFitBeforeItsData", "fit mixture nowhere.csv -k 1 -o none/fit.json", {"none/fit.json", "check"}),
        fails("OutputOfARegressionBeforeItsData", "fit regression nowhere.csv --response y -o none/fit.json",
              {"none/fit.json", "check"}),
        fails("DrawsBeforeTheCheck", "check nowhere.json good.csv --save-draws none/draws.csv", {"none/draws.csv"}),
        fails("CorrectionBeforeTheCheck", "check nowhere.json good.csv --correct -o none/fit.json", {"none/fit.json"}),
        fails("PredictionsBeforeTheFit", "predict nowhere.json good.csv -o none/rows.csv", {"none/rows.csv"}),
        fails("InfluenceBeforeTheFit", "influence nowhere.json good.csv -o none/rows.csv", {"none/rows.csv"}),
        fails("LeverageBeforeTheFit", "leverage nowhere.json good.csv -o none/rows.csv", {"none/rows.csv"}),
        fails("SensitivityBeforeTheFit", "sensitivity nowhere.json -o none/prior.csv", {"none/prior.csv"}),
        fails("PageBeforeTheFit", "report nowhere.json -o none/page.html", {"none/page.html"}),
        fails("OutputIsADirectory", "fit mixture good.csv -k 1 -o .", {".: is a directory"}),
        fails("FullDisk", "fit mixture good.csv -k 1 -o /dev/full", {"/dev/full", "No space left"}),
        fails("FullDiskBehindStandardOutput", "summary good.json > /dev/full", {"standard output"}),
        usage("NegativeSeed", "fit mixture good.csv -k 2 --seed -1", {"--seed", "'-1'"}),
        usage("SeedWithAnEqualsSign", "fit mixture good.csv -k 2 --seed=-1", {"--seed", "'-1'"}),
        usage("SeedBeyond64Bits", "fit mixture good.csv -k 2 --seed 18446744073709551616",
              {"--seed", "'18446744073709551616'", "from 0 to 18446744073709551615"}),
        usage("SeedOfASimulationBeyond64Bits",
              "simulate mixture --weights 1 --means 0 --sds 1 -n 3 --seed 99999999999999999999999",
              {"--seed", "from 0"}),
        usage("ToleranceOfZero", "fit mixture good.csv -k 2 --tolerance 0",
              {"--tolerance", "0 is out of range", "between 1e-15 and 1e-4"}),
        usage("TooManyIterations", "fit mixture good.csv -k 2 --max-iterations 2000000000",
              {"--max-iterations", "at most 1000000000"}),
        usage("IterationsInParts", "fit mixture good.csv -k 2 --max-iterations 1.5", {"'1.5' is not a whole number"}),
        usage("FitWithoutAName", "fit mixture good.csv -k 1 -o ''", {"--output", "empty", "name of a file"}),
        usage("PredictionsWithoutAName", "predict good.json good.csv -o ''", {"--output", "empty"}),
        usage("InfluenceWithoutAName", "influence good.json good.csv -o ''", {"--output", "empty"}),
        usage("SensitivityWithoutAName", "sensitivity good.json -o ''", {"--output", "empty"}),
        usage("LeverageWithoutAName", "leverage good.json good.csv -o ''", {"--output", "empty"}),
        usage("CorrectionWithoutAName", "check good.json good.csv --correct -o ''", {"--output", "empty"}),
        usage("DrawsWithoutAName", "check good.json good.csv --save-draws ''", {"--save-draws", "empty"}),
        usage("SimulationWithoutAName", "simulate mixture --weights 1 --means 0 --sds 1 -n 3 -o ''",
              {"--output", "empty"}),
        usage("FitOfNoName", "summary ''", {"FIT", "empty"}),
        usage("DrawsAndAFormatOnStandardOutput", "check good.json good.csv --save-draws - --format json",
              {"--save-draws -", "--format"}),
        usage("SimulationBeyondDoubles", "simulate mixture --weights 1 --means 1e308 --sds 1e308 -n 3",
              {"--means and --sds", "too large", "unit"}),
        {"GzipInGzipAsData",
         "",
         "gzip < good.csv | gzip > good.csv.gz && lrvb fit mixture good.csv.gz -k 1; rc=$?; rm good.csv.gz; exit $rc",
         1,
         {"good.csv.gz: is compressed by gzip", "'zcat good.csv.gz | lrvb …'"}},
        {"GzipCutShort",
         "",
         "gzip < good.csv | head -c 30 > good.csv.gz && lrvb fit mixture good.csv.gz -k 1; rc=$?; rm good.csv.gz; exit "
         "$rc",
         1,
         {"good.csv.gz: is a gzip file that is cut short: copy or write it again"}},
        {"XzAsData",
         "",
         "printf '\\3757zXZ\\0 and so on' > good.csv.xz && lrvb fit mixture good.csv.xz -k 1; rc=$?; rm good.csv.xz; "
         "exit $rc",
         1,
         {"good.csv.xz: is compressed by xz", "'xzcat good.csv.xz | lrvb …'"}},
        data("ZipAsData", "PK\x03\x04 and so on\n", {"bad.csv", "ZIP archive", "CSV"}),
        data("NameThatIsNotUtf8", "\xE9t\xE9,b\n1,2\n2,1\n3,5\n",
             {"bad.csv: the name of column 1", "'\\xe9t\\xe9'", "not UTF-8", "iconv"}),
        {"LevelThatIsNotUtf8",
         "y,g\n1,a\n2,caf\xE9\n3,a\n5,caf\xE9\n",
         "lrvb fit regression bad.csv --response y",
         1,
         {"bad.csv: row 2, column 'g'", "'caf\\xe9'", "not UTF-8", "iconv"}},
        usage("NoCommand", "", {"command", "lrvb --help"}),
        usage("UnknownCommand", "fitt mixture good.csv", {"fitt"}),
        usage("NoModel", "fit", {"lrvb fit --help"}),
        usage("NoData", "fit mixture -k 2", {"DATA", "lrvb fit mixture --help"}),
        usage("NoComponents", "fit mixture good.csv", {"--components"}),
        usage("ZeroComponents", "fit mixture good.csv -k 0", {"--components", "0"}),
        usage("ComponentsInWords", "fit mixture good.csv -k two", {"--components", "two"}),
        usage("UnknownOption", "fit mixture good.csv -k 2 --fast", {"--fast"}),
        usage("UnknownPrior", "fit mixture good.csv -k 2 --prior flat", {"--prior", "flat"}),
        usage("PriorInWords", "fit mixture good.csv -k 2 --prior-alpha one", {"--prior-alpha", "'one'"}),
        usage("NegativePriorVariance", "fit mixture good.csv -k 2 --prior-variance -1", {"--prior-variance", "-1"}),
        usage("PriorOfAnotherSize", "fit mixture good.csv -k 2 --prior-mean 1,2,3", {"--prior-mean", "3 numbers"}),
        usage("GammaPriorOfAMatrix", "fit mixture good.csv -k 2 --prior-shape 3", {"--prior-dof"}),
        usage("TooFewDegreesOfFreedom", "fit mixture good.csv -k 2 --prior-dof 0.5", {"--prior-dof", "0.5"}),
        usage("UnknownCovariance", "fit mixture good.csv -k 2 --covariance round", {"--covariance", "round"}),
        usage("NegativeTolerance", "fit mixture good.csv -k 2 --tolerance -1", {"--tolerance"}),
        usage("FixWithoutValues", "fit mixture good.csv -k 2 --fix means", {"--fix", "--at"}),
        usage("FixOfSomethingElse", "fit mixture good.csv -k 2 --fix medians --at good.json", {"medians"}),
        fails("FixOfAnotherShape", "fit mixture good.csv -k 2 --fix means --at good.json", {"good.json", "'means'"}),
        usage("LevelOfTwo", "summary good.json --level 2", {"--level"}),
        usage("UnknownFormat", "summary good.json --format xml", {"--format", "xml"}),
        fails("UnknownVariable", "summary good.json --variables nu", {"'nu'", "mu"}),
        fails("FitThatIsNotThere", "summary nowhere.json", {"nowhere.json", "No such file"}),
        usage("ReportOfNothing", "report", {"FIT", "lrvb report --help"}),
        usage("ReportOverItsFit", "report good.json -o good.json", {"-o good.json", "replace"}),
        usage("ReportOverItsData", "report good.json good.csv -o good.csv", {"-o good.csv", "replace"}),
        usage("ReportOverItsCheck", "report good.json --check good.csv -o good.csv", {"-o good.csv", "replace"}),
        usage("ReportOfTwoStandardInputs", "report - -", {"standard input", "save"}),
        usage("ReportCheckOfStandardInputToo", "report - --check -", {"standard input", "save"}),
        fails("ReportOfACsv", "report good.csv", {"good.csv", "no fit file"}),
        fails("ReportWithoutItsFolder", "report good.json -o nowhere/page.html", {"nowhere/page.html", "check"}),
        fails("ReportOnAFullDisk", "report good.json -o /dev/full", {"/dev/full", "No space left"}),
        fails("ReportWithMissingData", "report good.json nowhere.csv", {"nowhere.csv", "No such file"}),
        {"ReportWithOtherData", "x,y\n1,2\n2,1\n", "lrvb report good.json bad.csv", 1, {"bad.csv", "other numbers"}},
        fails("ReportWithMissingCheck", "report good.json --check nowhere.json", {"nowhere.json", "No such file"}),
        fails("ReportWithACsvAsCheck", "report good.json --check good.csv", {"good.csv", "no check", "lrvb check"}),
        {"ReportWithACheckOfNothing",
         R"({"verdict": "ok", "message": "fine", "method": "mh", "k_hat": null, "r_hat": 1, "ess": 9, "draws": 9, )"
         R"("seed": 1, "variables": []})",
         "lrvb report good.json --check bad.csv",
         1,
         {"bad.csv", "no check", "variables", "lrvb check"}},
        usage("ReportWithoutAName", "report good.json -o ''", {"--output", "name"}),
        fails("ReportWithAFitAsCheck", "report good.json --check good.json", {"good.json", "no check", "lrvb check"}),
        {"ReportWithCheckOfOtherVariables",
         kGood,
         "lrvb fit mixture bad.csv -k 1 --quiet -o - > bad.json && lrvb check bad.json bad.csv --format json > "
         "check.json; lrvb report good.json --check check.json; rc=$?; rm bad.json check.json; exit $rc",
         1,
         {"check.json", "another fit", "'mu[1,x]'", "lrvb check"}},
        {"ReportWithCheckOfOtherMeans",
         kGood,
         "lrvb fit mixture bad.csv -c y -k 1 --quiet -o - > bad.json && lrvb check bad.json bad.csv --format json > "
         "check.json; lrvb report good.json --check check.json; rc=$?; rm bad.json check.json; exit $rc",
         1,
         {"check.json", "another fit", "'mu[1]'", "lrvb check"}},
        {"ReportWithDamagedCheck",
         "{\"verdict\": \"ok\", \"message\": 3}",
         "lrvb report good.json --check bad.csv",
         1,
         {"bad.csv", "no check", "'message'"}},
        fails("CsvAsFit", "summary good.csv", {"good.csv", "no fit file"}),
        fails("OtherJsonAsFit",
              "summary good.json --variables mu --format csv < /dev/null | cat - > /dev/null; "
              "echo '{\"a\":1}' | lrvb covariance -",
              {"standard input", "no fit file"}),
        damaged("FitOfAnotherVersion", "s/\"major\":1/\"major\":2/", {"version 2", "version 1"}),
        damaged("TruncatedFit", "$d", {"bad.csv", "damaged"}),
        damaged("FitWithTextForANumber", "s/\"components\":1/\"components\":\"one\"/", {"components"}),
        damaged("FitWithAnotherNumberOfComponents", "s/\"components\":1/\"components\":3/", {"parameters"}),
        damaged("FitWithoutItsPosterior", "/^\"posterior\"/d", {"posterior"}),
        damaged("FitWithAHugeNumber", "s/\"total_weight\":5.0/\"total_weight\":1e999/", {"bad.csv"}),
        fails("DataWithoutTheColumnsOfTheFit",
              "simulate mixture --weights 1 --means 0 --sds 1 -n 3 -o /dev/null; "
              "printf 'z\\n1\\n' | lrvb predict good.json -",
              {"'x'"}),
        fails("TextAsResponse", "fit regression $DATA/mtcars.csv --response model -c wt", {"mtcars.csv", "'model'"}),
        fails("IdentifierAsFactor", "fit regression $DATA/mtcars.csv --response mpg", {"mtcars.csv", "'model'"}),
        fails("UnknownResponse", "fit regression good.csv --response z", {"good.csv", "'z'"}),
        fails("FactorWithoutIntercept", "fit regression $DATA/mtcars.csv --response mpg -c model --no-intercept",
              {"mtcars.csv", "'model'"}),
        usage("TwoFilesFromStandardInput", "leverage - -", {"standard input"}),
        usage("NoResponse", "fit regression good.csv", {"--response"}),
        usage("PriorOfNoIntercept", "fit regression good.csv --response y --no-intercept --prior-intercept-mean 1",
              {"--no-intercept"}),
        {"CollinearColumns",
         "a,b,c,y\n1,2,3,1\n2,5,7,3\n4,4,8,2\n5,1,6,6\n7,3,10,4\n",
         "lrvb fit regression bad.csv --response y",
         1,
         {"bad.csv", "beta[c]", "a combination of those before it"}},
        {"ConstantRegressor",
         "a,b,y\n1,2,1\n2,2,3\n4,2,2\n",
         "lrvb fit regression bad.csv --response y",
         1,
         {"bad.csv", "beta[b]", "every row"}},
        {"UnseenLevel",
         "x,y\nu,1\nv,2\nu,3\nv,5\n",
         "lrvb fit regression bad.csv --response y --quiet -o /dev/stdout > ../reg.json && "
         "printf 'x\\nu\\nw\\n' | lrvb predict ../reg.json -",
         1,
         {"row 2", "'x'", "'w'"}},
        usage("SdsOfAnotherNumber", "simulate mixture --weights 1,1 --means 0,1 --sds 1 -n 3", {"--sds"}),
        usage("NegativeSd", "simulate mixture --weights 1 --means 0 --sds -1 -n 3", {"--sds"}),
        usage("NegativeWeights", "simulate mixture --weights 1,-1 --means 0,1 --sds 1,1 -n 3", {"--weights"}),
        usage("NoRows", "simulate mixture --weights 1 --means 0 --sds 1 -n 0", {"--rows"}),
        usage("UnknownShell", "completion tcsh", {"tcsh"}),
        usage("HelpOnNothing", "help dance", {"dance"}),
    };
}

INSTANTIATE_TEST_SUITE_P(Program, BadInputs, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace lrvb::testing
