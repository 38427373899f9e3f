// lrvb-mpi, as its users start it.

#include "../says.hpp"
#include "program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace {

using lrvb::testing::ProgramTest;
using lrvb::testing::read_text;
using lrvb::testing::Result;

class Mpi : public ProgramTest {
  protected:
    // More ranks than cores, as root, in a container.
    static std::string mpirun(int ranks) {
        return "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
               "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1 "
               "OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=sh; " LRVB_MPIRUN " -n " +
               std::to_string(ranks) + " ";
    }
    Result ranks(int count, const std::string& arguments) const {
        return shell(mpirun(count) + "lrvb-mpi " + arguments);
    }

    // Four parts of different sizes.
    void simulate_parts() const {
        int part = 0;
        for (const char* rows : {"90000", "70001", "5000", "60000"}) {
            const std::string number = std::to_string(++part);
            const Result result = lrvb("simulate mixture --weights 0.3,0.7 --means 0,4 --sds 1,1.5 --seed " + number +
                                       " -n " + rows + " -o part-" + number + ".csv");
            ASSERT_EQ(result.code, 0) << result.err;
        }
    }

    // Three parts of a table with numbers, a factor and groups, of which the last has some of its own.
    void write_tables() const {
        std::uint32_t state = 7;
        const auto uniform = [&] {
            return static_cast<double>((state = state * 1664525U + 1013904223U) >> 8U) / 16777216.0;
        };
        int row = 0;
        int part = 0;
        for (const int rows : {70000, 20001, 50000}) {
            std::string text = "y,x,f,g\n";
            for (int n = 0; n < rows; ++n, ++row) {
                const double x = 4.0 * uniform();
                const int f = static_cast<int>(3.0 * uniform());
                const int g = row / 7000;
                const double y = 1.0 + 0.5 * x + f + 0.2 * (g % 5) + 0.1 * (g % 3) * x + uniform() + uniform() - 1.0;
                text += std::to_string(y) + ',' + std::to_string(x) + ',' + "abc"[f] + ",g" + std::to_string(g) + '\n';
            }
            write("table-" + std::to_string(++part) + ".csv", text);
        }
    }

    // The lines of the program; those of mpirun about how ranks ended are its own.
    static std::string sentences(const std::string& err) {
        std::istringstream lines(err);
        std::string result;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("lrvb: ")) result += line + "\n";
        }
        return result;
    }

    void expect_refused(int count, const std::string& arguments, const std::vector<std::string>& words) const {
        const std::set<std::string> before = files();
        const Result result = shell("timeout 30 sh -c '" + mpirun(count) + "lrvb-mpi " + arguments + "'");
        EXPECT_EQ(result.code, 1) << result.err;
        const std::string said = sentences(result.err);
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << result.err;  // by one rank alone
        EXPECT_TRUE(lrvb::test::says(said, words)) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(files(), before);
    }
};

TEST_F(Mpi, WritesTheFitFileOfLrvbForAnyNumberOfRanksAndThreads) {
    simulate_parts();
    ASSERT_EQ(lrvb("fit mixture 'part-*.csv' -k 2 --quiet --threads 1 -o one.json").code, 0);
    const std::string one = read_text(work() / "one.json");
    for (int count = 1; count <= 4; ++count) {
        const Result result = ranks(count, "fit mixture 'part-*.csv' -k 2 --quiet --threads " +
                                               std::to_string(1 + count % 2) + " -o ranks.json");
        ASSERT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(result.err, "");
        EXPECT_EQ(read_text(work() / "ranks.json"), one) << count << " ranks";
    }
    // As a list, and as one file.
    write("parts.txt", "part-1.csv\npart-2.csv\npart-3.csv\npart-4.csv\n");
    ASSERT_EQ(ranks(3, "fit mixture @parts.txt -k 2 --quiet -o list.json").code, 0);
    std::string text = read_text(work() / "part-1.csv");
    for (const char* name : {"part-2.csv", "part-3.csv", "part-4.csv"}) {
        const std::string part = read_text(work() / name);
        text += part.substr(part.find('\n') + 1);
    }
    write("all.csv", text);
    const Result all = ranks(4, "fit mixture all.csv -k 2 --quiet -o all.json");
    ASSERT_EQ(all.code, 0) << all.err;
    const nlohmann::json expected = nlohmann::json::parse(one);
    for (const char* name : {"list.json", "all.json"}) {
        nlohmann::json other = nlohmann::json::parse(read_text(work() / name));
        other["data"]["name"] = expected["data"]["name"];
        EXPECT_EQ(other, expected) << name;
    }
}

TEST_F(Mpi, AnswersWhatLrvbAnswers) {
    simulate_parts();
    ASSERT_EQ(lrvb("fit mixture 'part-*.csv' -k 2 --quiet -o fit.json").code, 0);
    for (const std::string command :
         {"summary fit.json", "covariance fit.json", "summary fit.json 'part-*.csv' --robust",
          "leverage fit.json 'part-*.csv' --variables mu", "influence fit.json 'part-*.csv'",
          "predict fit.json 'part-*.csv'", "sensitivity fit.json"}) {
        SCOPED_TRACE(command);
        const Result alone = lrvb(command);
        ASSERT_EQ(alone.code, 0) << alone.err;
        const Result shared = ranks(3, command);
        EXPECT_EQ(shared.code, 0) << shared.err;
        EXPECT_TRUE(shared.out == alone.out);
    }
}

TEST_F(Mpi, WritesTheRegressionOfLrvbForAnyNumberOfRanksAndThreads) {
    write_tables();
    for (const std::string what : {"'y ~ scale(x) + f + (x | g)'", "--response y -c x,f"}) {
        SCOPED_TRACE(what);
        ASSERT_EQ(lrvb("fit regression 'table-*.csv' " + what + " --quiet --threads 1 -o one.json").code, 0);
        const std::string one = read_text(work() / "one.json");
        for (int count = 1; count <= 4; ++count) {
            const Result result = ranks(count, "fit regression 'table-*.csv' " + what + " --quiet --threads " +
                                                   std::to_string(1 + count % 2) + " -o ranks.json");
            ASSERT_EQ(result.code, 0) << result.err;
            EXPECT_EQ(result.err, "");
            EXPECT_TRUE(read_text(work() / "ranks.json") == one) << count << " ranks";
        }
    }
}

TEST_F(Mpi, AnswersOfARegressionWhatLrvbAnswersForAnyNumberOfRanks) {
    write_tables();
    ASSERT_EQ(lrvb("fit regression 'table-*.csv' 'y ~ x + f + (1 | g)' --quiet -o fit.json").code, 0);
    for (const std::string command :
         {"summary fit.json", "covariance fit.json", "sensitivity fit.json", "check fit.json 'table-*.csv' --draws 200",
          "summary fit.json 'table-*.csv' --robust", "leverage fit.json 'table-*.csv' --variables beta",
          "influence fit.json 'table-*.csv' --variables beta,sigma",
          "influence fit.json 'table-*.csv' --variables beta -o -", "influence fit.json 'table-*.csv' --by g",
          "predict fit.json 'table-*.csv'"}) {
        SCOPED_TRACE(command);
        const Result alone = lrvb(command);
        ASSERT_EQ(alone.code, 0) << alone.err;
        const bool asks_rows = command.find("table") != std::string::npos && !command.starts_with("check");
        for (int count = asks_rows ? 1 : 3; count <= 3; ++count) {
            const Result shared = ranks(count, command);
            EXPECT_EQ(shared.code, 0) << shared.err;
            EXPECT_TRUE(shared.out == alone.out) << count << " ranks";
        }
    }
}

// What needs all rows in one process: rank 0 brings them there, or reads them.
TEST_F(Mpi, DoesByOneRankWhatNeedsAllRowsOfARegression) {
    write_tables();
    ASSERT_EQ(lrvb("fit regression 'table-*.csv' 'y ~ x + f' --quiet -o fit.json").code, 0);
    const auto done = [&](const Result& result) {
        EXPECT_EQ(result.code, 0) << result.err;
        if (!files().contains("done")) return result.out;
        std::string text = result.out + read_text(work() / "done");
        std::filesystem::remove(work() / "done");
        return text;
    };
    for (const std::string command : {"loo fit.json 'table-*.csv'", "report fit.json 'table-*.csv' -o done",
                                      "plot fit.json 'table-*.csv' --figure fit -o done",
                                      "fit regression 'table-*.csv' 'y ~ x' --family student --quiet -o done"}) {
        SCOPED_TRACE(command);
        const std::string alone = done(lrvb(command));
        EXPECT_FALSE(alone.empty());
        EXPECT_TRUE(done(ranks(3, command)) == alone);
    }
}

TEST_F(Mpi, EndsAllRanksForATableThatIsWrong) {
    write_tables();
    const std::string fit = "fit regression \"table-*.csv\" \"y ~ x + f + (x | g)\" --quiet -o fit.json";
    const std::string part = read_text(work() / "table-3.csv");
    write("table-3.csv", "");
    expect_refused(3, fit, {"table-3.csv", "empty", "numbers", "give"});
    write("table-3.csv", "other\n1\n2\n");
    expect_refused(3, fit, {"table-3.csv", "'y'", "'other'", "1", "numbers", "give"});
    write("table-3.csv", part + "1,2\n");
    expect_refused(4, fit, {"table-3.csv", "','", "row 50001", "2", "4", "header", "quote", "text", "give"});
    write("table-3.csv", part + "1,NA,a,g1\n");
    expect_refused(2, fit, {"table-3.csv", "'x'", "--drop-missing", "row 50001", "missing", "fill"});
    write("table-3.csv", part + "1,what,a,g1\n");
    expect_refused(4, fit,
                   {"table-3.csv", "'x'", "'what'", "--na", "--drop-missing", "--factor", "row 50001", "140001",
                    "140002", "missing", "correct"});
    expect_refused(2, "fit regression \"none-*.csv\" \"y ~ x\" -o fit.json", {"none-*.csv", "check", "pattern"});
}

TEST_F(Mpi, NeedsNoRowsForEveryRank) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --quiet -o one.json").code, 0);
    ASSERT_EQ(ranks(4, "fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --quiet -o ranks.json").code, 0);
    EXPECT_EQ(read_text(work() / "ranks.json"), read_text(work() / "one.json"));
    const std::string regression = "fit regression $DATA/mtcars.csv 'am ~ wt' --family bernoulli --quiet";
    ASSERT_EQ(lrvb(regression + " -o one.json").code, 0);
    ASSERT_EQ(ranks(4, regression + " -o ranks.json").code, 0);
    EXPECT_EQ(read_text(work() / "ranks.json"), read_text(work() / "one.json"));
}

TEST_F(Mpi, EndsAllRanksForAPartThatIsWrong) {
    simulate_parts();
    const std::string fit = "fit mixture \"part-*.csv\" -k 2 --quiet -o fit.json";
    const std::string part = read_text(work() / "part-4.csv");
    const std::string header = part.substr(0, part.find('\n') + 1);
    write("part-4.csv", "");
    expect_refused(4, fit, {"part-4.csv", "empty", "numbers", "give"});
    write("part-4.csv", header);
    expect_refused(4, fit, {"part-4.csv", "header", "numbers", "add"});
    write("part-4.csv", "other\n1\n2\n");
    expect_refused(3, fit, {"part-4.csv", "'other'", "'x'", "1", "header", "give"});
    write("part-4.csv", part + "1,2\n" + part.substr(header.size()));
    expect_refused(4, fit, {"part-4.csv", "','", "row 60001", "2", "1", "header", "quote", "text", "give"});
    write("part-4.csv", part + "NA\n");
    expect_refused(4, fit, {"part-4.csv", "'x'", "--drop-missing", "row 60001", "missing", "fill"});
    expect_refused(2, "fit mixture \"nothing-*.csv\" -k 2 --quiet -o fit.json", {"nothing-*.csv", "check", "pattern"});
    write("parts.txt", "part-1.csv\npart-9.csv\n");
    const Result gone = ranks(2, "fit mixture @parts.txt -k 2 --quiet -o fit.json");
    EXPECT_EQ(gone.code, 1);
    EXPECT_NE(sentences(gone.err).find("part-9.csv"), std::string::npos) << gone.err;
}

TEST_F(Mpi, RefusesWhatItCannotShareOut) {
    write("one.bug", "model { mu ~ dnorm(0, 1) }");
    expect_refused(2, "fit model one.bug -o fit.json", {"rows", "lrvb", "lrvb-mpi"});
    expect_refused(2, "fit mixture - -k 2 -o fit.json", {"standard input", "save"});
    EXPECT_EQ(ranks(2, "fit mixture").code, 2);
}

TEST_F(Mpi, RefusesRanksOfDifferentVersions) {
    const Result result = shell(mpirun(1) +
                                "lrvb-mpi fit mixture $DATA/old_faithful.csv -k 2 -o fit.json : -n 1 "
                                "lrvb-mpi-other fit mixture $DATA/old_faithful.csv -k 2 -o fit.json");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(sentences(result.err).find("lrvb: rank 1 runs version 0.0.0, but rank 0 runs "), std::string::npos)
        << result.err;
    EXPECT_TRUE(files().empty());
}

TEST_F(Mpi, EndsWhenARankDies) {
    ASSERT_EQ(lrvb("simulate mixture --weights 0.3,0.3,0.4 --means 0,1,2 --sds 1,1,1 -n 200000 -o data.csv").code, 0);
    for (int round = 0; round < 20; ++round) {
        SCOPED_TRACE(round);
        // Any rank, at any time; then all are gone soon, and nothing is there.
        const std::string victim = std::to_string(1 + round % 3);  // the last are the first and the second
        const bool has_begun = round >= 18;                        // for sure
        const std::string delay = has_begun ? "5" : "0." + std::to_string(1 + (round * 7) % 9);
        const Result result = shell(
            mpirun(3) +
            "lrvb-mpi fit mixture data.csv -k 3 --restarts 1000000 --quiet -o fit.json & run=$!; "
            "for i in $(seq 400); do [ $(pgrep -c -P $run) -ge 3 ] && break; sleep 0.05; done; ranks=$(pgrep -P $run | "
            "tail -n 3); sleep " +
            delay + "; kill -9 $(echo $ranks | cut -d ' ' -f " + victim +
            "); timeout 10 tail -s 0.05 --pid=$run -f /dev/null || exit 98; for rank in $ranks; do timeout 10 tail -s "
            "0.05 "
            "--pid=$rank -f /dev/null || exit 99; done; wait $run");
        EXPECT_NE(result.code, 0);
        EXPECT_NE(result.code, 98) << "still running";
        EXPECT_NE(result.code, 99) << "a rank is left";
        EXPECT_EQ(files(), std::set<std::string>{"data.csv"});
        // Nothing but mpirun's own words where it died before all had begun.
        const std::string said = sentences(result.err);
        EXPECT_TRUE((said.empty() && !has_begun) ||
                    said == "lrvb: ended by a signal, as when another rank dies: nothing was written\n")
            << result.err;
    }
}

}  // namespace
