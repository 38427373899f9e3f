// Pipes, devices and data that never end.

#include "../says.hpp"
#include "program.hpp"

#include <cmath>

namespace {

using lrvb::testing::ProgramTest;
using lrvb::testing::read_text;
using lrvb::testing::Result;

class Streams : public ProgramTest {
  protected:
    // What hangs is ended, with code 124.
    Result soon(const std::string& arguments) const { return shell("timeout 60 lrvb " + arguments); }

    void write_weighted() const {
        std::string text = "x,w,y\n";
        for (int i = 0; i < 300; ++i) {
            text += std::to_string(i % 17) + "," + std::to_string(i % 3) + "," + std::to_string((i * i) % 23) + "\n";
        }
        write("data.csv", text);
    }

    // One column, as numpy.save writes it: a header of 128 bytes, then the numbers.
    void write_npy(int rows) const {
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }";
        header.resize(117, ' ');
        std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n";
        for (int i = 0; i < rows; ++i) {
            const double number = std::sin(i) + 3.0 * (i % 3);
            bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
        }
        write("data.npy", bytes);
    }

    // A fit file without the name of its data.
    nlohmann::json fit_of(const std::string& name) const {
        nlohmann::json fit = nlohmann::json::parse(read_text(work() / name));
        fit.at("data").erase("name");
        return fit;
    }
};

TEST_F(Streams, GzipIsReadAsWhatIsInItFromAFileAndFromAPipe) {
    write_weighted();
    ASSERT_EQ(shell("gzip -c data.csv > data.csv.gz && gzip -c data.csv > named").code, 0);
    for (const std::string kind : {"mixture -k 2", "regression --response y"}) {
        ASSERT_EQ(lrvb("fit " + kind + " data.csv --quiet -o file.json").code, 0);
        ASSERT_EQ(lrvb("fit " + kind + " data.csv.gz --quiet -o packed.json").code, 0);
        ASSERT_EQ(lrvb("fit " + kind + " named --quiet -o named.json").code, 0);
        ASSERT_EQ(shell("cat named | timeout 60 lrvb fit " + kind + " - --quiet -o pipe.json").code, 0);
        for (const char* const name : {"packed.json", "named.json", "pipe.json"}) {
            EXPECT_EQ(fit_of(name), fit_of("file.json")) << name;
        }
        EXPECT_EQ(lrvb("predict file.json data.csv.gz").out, lrvb("predict file.json data.csv").out);
        EXPECT_EQ(shell("cat named | timeout 60 lrvb predict file.json -").out, lrvb("predict file.json data.csv").out);
    }
    // On every pass, where little is kept.
    ASSERT_EQ(lrvb("fit mixture -k 2 data.csv --memory 1K --quiet -o file.json").code, 0);
    ASSERT_EQ(lrvb("fit mixture -k 2 data.csv.gz --memory 1K --quiet -o packed.json").code, 0);
    EXPECT_EQ(fit_of("packed.json"), fit_of("file.json"));
}

// Rows without end, packed: a thousand times larger than what comes.
TEST_F(Streams, WhatUnpacksWithoutEndIsRefusedByItsMemory) {
    const std::string bomb = "{ echo x,y; yes 1,2; } | gzip | timeout 60 lrvb fit ";
    for (const std::string kind : {"mixture -k 1", "regression --response y"}) {
        const Result result = shell(bomb + kind + " - --memory 1M -o fit.json");
        EXPECT_EQ(result.code, 1) << result.err;
        EXPECT_NE(result.err.find("memory"), std::string::npos) << result.err;
    }
}

TEST_F(Streams, WeightsOfAPipeAreThoseOfAFile) {
    write_weighted();
    ASSERT_EQ(lrvb("fit mixture data.csv --weights w -k 2 --quiet -o file.json").code, 0);
    ASSERT_EQ(shell("mkfifo pipe; cat data.csv > pipe & timeout 60 lrvb fit mixture pipe --weights w -k 2 --quiet -o "
                    "fifo.json")
                  .code,
              0);
    ASSERT_EQ(shell("cat data.csv | timeout 60 lrvb fit mixture - --weights w -k 2 --quiet -o input.json").code, 0);
    ASSERT_EQ(
        shell("cat data.csv | timeout 60 lrvb fit mixture /dev/stdin --weights 2 -k 2 --quiet -o device.json").code, 0);
    for (const char* const name : {"fifo.json", "input.json", "device.json"}) {
        EXPECT_EQ(fit_of(name), fit_of("file.json")) << name;
    }
}

TEST_F(Streams, ARegressionThroughAPipeIsThatOfItsFile) {
    write("data.csv", "y,x,g\n1,2,a\n2,1,b\n4,5,a\n3,3,b\n7,1,a\n5,2,b\n");
    ASSERT_EQ(lrvb("fit regression data.csv --response y --quiet -o file.json").code, 0);
    ASSERT_EQ(shell("cat data.csv | timeout 60 lrvb fit regression - --response y --quiet -o pipe.json").code, 0);
    EXPECT_EQ(fit_of("pipe.json"), fit_of("file.json"));
}

TEST_F(Streams, FitAndDataCanBothComeThroughPipes) {
    write_weighted();
    ASSERT_EQ(lrvb("fit mixture data.csv -c x -k 2 --quiet -o fit.json").code, 0);
    for (const std::string command : {"check", "influence", "leverage", "sensitivity", "predict"}) {
        const Result file = soon(command + " fit.json data.csv");
        ASSERT_EQ(file.code, 0) << file.err;
        const Result pipes = shell(
            "mkfifo fit.pipe data.pipe; cat fit.json > fit.pipe & cat data.csv > data.pipe & "
            "timeout 60 lrvb " +
            command + " fit.pipe data.pipe; code=$?; rm fit.pipe data.pipe; exit $code");
        EXPECT_EQ(pipes.code, 0) << command << ": " << pipes.err;
        EXPECT_EQ(pipes.out, file.out) << command;
    }
}

TEST_F(Streams, ARowThatIsNoNumberIsNamedThoughMoreRowsNeverEnd) {
    const Result result = shell("yes foo | timeout 60 lrvb fit mixture - -k 1");
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(
        lrvb::test::says(result.err, {"lrvb: standard input", "row 1", "column 'foo'", "'foo' is not a number", "NA"}));
}

TEST_F(Streams, NumbersWithoutEndAreRefusedWhereMemoryEnds) {
    const std::string sentence =
        "lrvb: standard input: is a pipe, which cannot be read twice, and holds more than the 1 MB that may be kept of "
        "it in memory: save it to a file and give that, or allow more (--memory)\n";
    const Result mixture = shell("(echo x; yes 1) | timeout 60 lrvb fit mixture - -k 1 --memory 1M");
    EXPECT_EQ(mixture.code, 1);
    EXPECT_EQ(mixture.err, sentence);
    const Result regression = shell("(echo y,x; yes 1,2) | timeout 60 lrvb fit regression - --response y --memory 1M");
    EXPECT_EQ(regression.code, 1);
    EXPECT_EQ(regression.err, sentence);
}

TEST_F(Streams, MissingValuesAndBlankLinesWithoutEndAreRefused) {
    const Result missing = shell("(echo x; yes NA) | timeout 60 lrvb fit mixture - -k 1");
    EXPECT_EQ(missing.code, 1);
    EXPECT_EQ(
        missing.err.find("lrvb: standard input: row 1, column 'x': the value is missing, in the first of at least "),
        0U)
        << missing.err;
    EXPECT_EQ(shell("yes '' | timeout 60 lrvb fit mixture - -k 1").code, 1);
}

TEST_F(Streams, AFitFileWithoutEndIsRefused) {
    const Result result = shell("yes foo | timeout 60 lrvb summary -");
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err.find("lrvb: standard input is no fit file"), 0U) << result.err;
}

TEST_F(Streams, WhatComesThroughAPipeOnceIsPredictedWithoutBeingKept) {
    write_weighted();
    ASSERT_EQ(lrvb("fit mixture data.csv -c x -k 2 --quiet -o fit.json").code, 0);
    const Result result = shell(
        "(echo x; yes 3 | head -500000) | timeout 60 lrvb predict fit.json - --memory 1K -o rows.csv && wc -l < "
        "rows.csv");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(std::stol(result.out), 500001);
}

TEST_F(Streams, StandardErrorThatIsFullChangesNoExitCode) {
    write_weighted();
    EXPECT_EQ(soon("fit mixture none.csv -k 2 2> /dev/full").code, 1);
    EXPECT_EQ(soon("fit mixture 2> /dev/full").code, 2);
    EXPECT_EQ(soon("fit mixture data.csv -k 2 --max-iterations 1 --restarts 1 --quiet 2> /dev/full").code, 3);
    EXPECT_EQ(soon("fit mixture data.csv -k 2 --quiet -o fit.json 2> /dev/full").code, 0);
}

TEST_F(Streams, StandardOutputThatIsFullIsSaid) {
    write_weighted();
    ASSERT_EQ(lrvb("fit mixture data.csv -c x -k 2 --quiet -o fit.json").code, 0);
    // Less than a buffer, more than one, and by the parser.
    for (const std::string arguments : {"summary fit.json --variables mu", "completion bash", "fit mixture --help",
                                        "predict fit.json data.csv", "covariance fit.json"}) {
        const Result result = soon(arguments + " > /dev/full");
        EXPECT_EQ(result.code, 1) << arguments;
        EXPECT_EQ(result.err.find("lrvb: standard output"), 0U) << arguments << ": " << result.err;
        EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
    }
    EXPECT_EQ(soon("summary fit.json > /dev/full 2> /dev/full").code, 1);
}

TEST_F(Streams, ANumpyFileCutShortWhileItIsReadIsSaid) {
    // So little memory that every pass reads the file, and a reader of the rows who takes the first only when it is
    // cut.
    write_npy(200000);
    ASSERT_EQ(lrvb("fit mixture data.npy -k 1 --quiet -o fit.json").code, 0);
    const Result result = shell(
        "mkfifo rows; timeout 60 lrvb influence fit.json data.npy --memory 1K -o rows & exec 3< rows; read header <&3; "
        "truncate -s 100000 data.npy; cat <&3 > /dev/null; wait $!");
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(lrvb::test::says(result.err, {"lrvb: data.npy", "100000", "1600128", "change"}));
}

TEST_F(Streams, ASizeOfMemoryThatIsNoneIsWrongUsage) {
    write_weighted();
    for (const std::string size : {"512", "0M", "M", "1.5G", "-1M", "512MB", "99999999999999999999G", "99999999999T"}) {
        const Result result = soon("fit mixture data.csv -k 1 --memory=" + size);
        EXPECT_EQ(result.code, 2) << size;
        EXPECT_NE(result.err.find("--memory '" + size + "' is no size"), std::string::npos) << result.err;
    }
}

}  // namespace
