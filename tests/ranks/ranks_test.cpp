#include "../says.hpp"
#include "base/block_tree.hpp"
#include "crew.hpp"
#include "data_files.hpp"
#include "kind/mixture/questions.hpp"

#include <lrvb/data/npy.hpp>
#include <lrvb/data/row_crew.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/kind/mixture/sums.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

namespace lrvb {
namespace {

struct Sum {
    double value = 0.0;
    void add(const Sum& next) { value += next.value; }
};

using Tree = detail::BlockTree<Sum>;

// Numbers whose sum depends on the order in which they are added.
std::vector<double> rough_numbers(std::size_t count) {
    Random random(1, 7);
    std::vector<double> numbers(count);
    for (double& number : numbers) number = std::exp(20.0 * (random.uniform() - 0.5)) * (random.uniform() - 0.5);
    return numbers;
}

Tree tree_of(const std::vector<double>& numbers, std::size_t begin, std::size_t end) {
    Tree tree;
    for (std::size_t i = begin; i < end; ++i) tree.append(static_cast<Index>(i), Sum{numbers[i]});
    return tree;
}

TEST(BlockTree, GivesTheSameBitsHoweverTheBlocksAreSharedOut) {
    const std::vector<double> numbers = rough_numbers(1000);
    const double total = tree_of(numbers, 0, 1000).total().value;
    Random random(2, 0);
    for (int round = 0; round < 200; ++round) {
        // Cut anywhere, and join neighbours in any order.
        std::vector<std::size_t> cuts{0, 1000};
        for (int i = 0; i < 1 + round % 17; ++i) cuts.push_back(static_cast<std::size_t>(random.uniform() * 1001.0));
        std::sort(cuts.begin(), cuts.end());
        std::vector<Tree> trees;
        for (std::size_t i = 1; i < cuts.size(); ++i) trees.push_back(tree_of(numbers, cuts[i - 1], cuts[i]));
        while (trees.size() > 1) {
            const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(trees.size() - 1));
            trees[at].append(std::move(trees[at + 1]));
            trees.erase(trees.begin() + static_cast<std::ptrdiff_t>(at + 1));
        }
        ASSERT_EQ(trees.front().total().value, total);
    }
    double plain = 0.0;
    for (const double number : numbers) plain += number;
    EXPECT_NEAR(total, plain, 1e-9);
}

TEST(BlockTree, KeepsFewNodes) {
    const Tree tree = tree_of(std::vector<double>(100000, 1.0), 12345, 100000);
    EXPECT_LE(tree.nodes().size(), 34U);  // 2 log₂ of its blocks
    EXPECT_EQ(tree.total().value, 87655.0);
}

TEST(BlockTree, RefusesBlocksThatDoNotFollow) {
    Tree tree;
    tree.append(3, Sum{1.0});
    EXPECT_THROW(tree.append(5, Sum{1.0}), std::invalid_argument);
}

TEST(SimulatedRanks, BroadcastAndReduceTakeLogarithmicallyManyMessages) {
    for (const int size : {1, 2, 3, 5, 64, 1000, 4096}) {
        SimulatedRanks ranks(size);
        for (int rank = 0; rank < size; ++rank) {
            EXPECT_EQ(broadcast(ranks[rank], rank == 0 ? "asked" : ""), "asked");
        }
        EXPECT_EQ(ranks.messages(), size - 1);
        std::string expected;
        std::string result;
        for (int rank = 0; rank < size; ++rank) expected += std::to_string(rank) + " ";
        for (int rank = size - 1; rank >= 0; --rank) {
            result = reduce(ranks[rank], std::to_string(rank) + " ",
                            [](const std::string& left, const std::string& right) { return left + right; });
        }
        EXPECT_EQ(result, expected);
        EXPECT_EQ(ranks.messages(), 2 * (size - 1));
        const auto rounds = static_cast<long>(std::ceil(std::log2(size)));
        EXPECT_LE(ranks.most_of_a_rank(), 2 * rounds);
    }
}

detail::RowFormat plain_format(Index columns) {
    detail::RowFormat format;
    format.columns = columns;
    format.full = columns > 1;
    format.centre = Vector::Zero(columns);
    format.inverse_scale = Vector::Ones(columns);
    return format;
}

// Two components a unit apart.
std::string sums_question_of(Index columns) {
    detail::MixtureScores scores;
    scores.origins = Matrix::Zero(columns, 2);
    scores.origins.col(1).setOnes();
    scores.constants = Vector{{0.1, -0.3}};
    const Index squares = columns == 1 ? 1 : columns * (columns + 1) / 2;
    scores.squares = Matrix::Constant(squares, 2, -0.3);
    return detail::sums_question(plain_format(columns), scores, Matrix::Constant(columns, 1, 0.5), {1, 1e-14});
}

std::vector<double> normal_rows(Index rows, Index columns, std::uint64_t stream) {
    Random random(11, stream);
    std::vector<double> numbers(static_cast<std::size_t>(rows * columns));
    for (double& number : numbers) number = random.normal() + (random.uniform() < 0.4 ? 3.0 : 0.0);
    return numbers;
}

TEST(MixtureSums, OfFourThousandRanksAreThoseOfOne) {
    constexpr int size = 4096;
    for (const Index columns : {Index{1}, Index{3}}) {
        const std::string question = sums_question_of(columns);
        SimulatedRanks ranks(size);
        for (int rank = 0; rank < size; ++rank) broadcast(ranks[rank], rank == 0 ? question : "");
        std::string reduced;
        std::vector<std::string> own(size);
        MixtureSums one_by_one;
        double log_sum = 0.0;
        for (int rank = 0; rank < size; ++rank) {
            // Each has a few rows of a block of its own.
            const Index rows = 1 + rank % 5;
            RowShare share(
                std::make_shared<TableSource>(normal_rows(rows, columns, static_cast<std::uint64_t>(rank)), columns),
                rank * kShareRows, rows);
            const MixtureSums sums = mixture_sums(share, question);
            own[static_cast<std::size_t>(rank)] = sums.bytes();
            one_by_one += sums;
            log_sum += sums.log_sum();
        }
        ranks.forget_counts();
        for (int rank = size - 1; rank >= 0; --rank) {
            reduced = reduce(ranks[rank], std::move(own[static_cast<std::size_t>(rank)]),
                             [](const std::string& left, const std::string& right) {
                                 return (MixtureSums::from_bytes(left) + MixtureSums::from_bytes(right)).bytes();
                             });
        }
        EXPECT_EQ(reduced, one_by_one.bytes());
        EXPECT_EQ(ranks.messages(), size - 1);
        EXPECT_LE(ranks.most_of_a_rank(), 12);
        const MixtureSums total = MixtureSums::from_bytes(reduced);
        EXPECT_EQ(total.first_block(), 0);
        EXPECT_EQ(total.end_block(), size);
        EXPECT_NEAR(total.log_sum(), log_sum, 1e-9 * std::abs(log_sum));
    }
}

TEST(MixtureSums, RefuseSumsOfRowsThatDoNotFollowAndBytesThatAreNone) {
    const std::string question = sums_question_of(1);
    RowShare share(std::make_shared<TableSource>(normal_rows(4, 1, 0), 1), 0, 4);
    const MixtureSums sums = mixture_sums(share, question);
    EXPECT_THROW(sums + sums, std::invalid_argument);
    EXPECT_THROW(MixtureSums::from_bytes(sums.bytes().substr(0, 40)), std::runtime_error);
    EXPECT_EQ((sums + MixtureSums()).bytes(), sums.bytes());
}

class Ranks : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return files_.path(name); }
    void write(const std::string& name, const std::string& text) const { files_.write(name, text); }

    // `rows` rows of two columns in parts of these sizes, each CSV or NumPy by its number.
    void write_parts(const std::vector<Index>& sizes, bool csv, bool quoted = false) {
        std::uint64_t stream = 0;
        for (const Index size : sizes) {
            const std::vector<double> rows = normal_rows(size, 2, stream);
            const std::string name = path(fmt::format("part-{:02}.{}", stream, csv ? "csv" : "npy"));
            ++stream;
            if (!csv) {
                write_npy(name, size, 2, rows.data());
                continue;
            }
            std::ofstream file(name);
            file << (quoted ? "\"x\",y\n" : "x,y\n");
            for (Index i = 0; i < size; ++i) {
                const char* mark = quoted && i % 3 == 0 ? "\"" : "";
                file << fmt::format("{}{}{},{}\n", mark, rows[static_cast<std::size_t>(2 * i)], mark,
                                    rows[static_cast<std::size_t>(2 * i + 1)]);
            }
        }
    }

    static DataRows read(const std::string& name, const DataOptions& options, bool drop = false) {
        RowSelection selection;
        selection.drop_missing = drop;
        return Dataset(name, options).rows(selection);
    }

    static std::vector<double> numbers_of(RowSource& source) {
        std::vector<double> numbers;
        for_each_row(source, [&](const double* row) { numbers.insert(numbers.end(), row, row + source.columns()); });
        return numbers;
    }

    static void expect_same(const DataRows& one, const DataRows& other) {
        EXPECT_EQ(one.record.rows, other.record.rows);
        EXPECT_EQ(one.record.checksum, other.record.checksum);
        EXPECT_EQ(one.record.name, other.record.name);
        EXPECT_EQ(one.record.columns, other.record.columns);
        EXPECT_EQ(one.record.dropped, other.record.dropped);
        EXPECT_EQ(one.file_rows, other.file_rows);
        EXPECT_EQ(one.counting, other.counting);
        EXPECT_EQ(numbers_of(*one.source), numbers_of(*other.source));
    }

  private:
    TemporaryDirectory files_;
};

TEST_F(Ranks, ReadTheRowsOfPartsAsOneProcessDoes) {
    for (const bool csv : {false, true}) {
        write_parts({70000, 3, 90000, 40001}, csv);
        const std::string pattern = path(csv ? "part-*.csv" : "part-*.npy");
        const DataRows alone = read(pattern, {});
        EXPECT_EQ(alone.record.rows, 200004);
        for (const int size : {1, 2, 3, 4, 7, 64}) {
            SCOPED_TRACE(size);
            Crew crew(size);
            expect_same(read(pattern, crew.options()), alone);
            expect_same(read(pattern, crew.options(1 << 16)), alone);
        }
    }
}

TEST_F(Ranks, ShareOutOneFileByBytes) {
    for (const bool quoted : {false, true}) {
        write_parts({150000}, true, quoted);
        const DataRows alone = read(path("part-00.csv"), {});
        for (const int size : {2, 3, 5}) {
            Crew crew(size);
            expect_same(read(path("part-00.csv"), crew.options()), alone);
        }
    }
}

TEST_F(Ranks, KeepTextThatGoesOverTheEndOfALineInOneRank) {
    std::string text = "x,note\n";
    for (int i = 0; i < 70000; ++i) text += fmt::format("{},\"over\n{}\"\n", i * 0.5, i % 7);
    write("notes.csv", text);
    RowSelection selection;
    selection.columns = {"x"};
    const DataRows alone = Dataset(path("notes.csv")).rows(selection);
    for (const int size : {2, 3}) {
        Crew crew(size);
        expect_same(Dataset(path("notes.csv"), crew.options()).rows(selection), alone);
    }
}

TEST_F(Ranks, LeaveOutRowsAsOneProcessDoes) {
    for (int part = 0; part < 3; ++part) {
        std::string text = "x,y\n";
        for (int i = 0; i < 60000; ++i) {
            text += i % 11 == 3 ? "NA,1\n" : fmt::format("{},{}\n", i + 1, (i * 37) % 101);
        }
        write(fmt::format("gap-{}.csv", part), text);
    }
    const DataRows alone = read(path("gap-*.csv"), {}, true);
    EXPECT_GT(alone.record.dropped, 0);
    for (const int size : {2, 4}) {
        Crew crew(size);
        expect_same(read(path("gap-*.csv"), crew.options(), true), alone);
    }
}

TEST_F(Ranks, FitAMixtureToTheSameBits) {
    write_parts({90000, 70001, 3000, 60000}, false);
    const std::string pattern = path("part-*.npy");
    for (const MixtureCovariance covariance : {MixtureCovariance::full, MixtureCovariance::diagonal}) {
        MixtureSpecification specification;
        specification.components = 2;
        specification.covariance = covariance;
        MixtureFitOptions options;
        options.restarts = 4;
        const MixtureFit alone = fit_mixture(read(pattern, {}).source, specification, options);
        ASSERT_TRUE(alone.optimum.converged());
        specification.threads = 3;
        EXPECT_EQ(fit_mixture(read(pattern, {}).source, specification, options).optimum.state.natural,
                  alone.optimum.state.natural);
        for (const int size : {1, 2, 3, 4, 9}) {
            SCOPED_TRACE(size);
            Crew crew(size);
            specification.threads = 1 + size % 2;
            const MixtureFit shared = fit_mixture(read(pattern, crew.options()).source, specification, options);
            EXPECT_EQ(shared.optimum.state.natural, alone.optimum.state.natural);
            EXPECT_EQ(shared.optimum.bound, alone.optimum.bound);
            EXPECT_EQ(shared.model->centre(), alone.model->centre());
            EXPECT_EQ(shared.model->prior().inverse_scale, alone.model->prior().inverse_scale);
            EXPECT_EQ(shared.start_bounds, alone.start_bounds);
            const Matrix statistics = alone.optimum.state.mean.replicate(1, 3);
            EXPECT_EQ(shared.model->log_joint(statistics, 2), alone.model->log_joint(statistics, 1));
        }
    }
}

TEST_F(Ranks, NoticeRowsThatChangeWhileTheyStream) {
    write_parts({90000, 70001}, false);
    Crew crew(2);
    const DataRows rows = read(path("part-*.npy"), crew.options(1 << 16));
    MixtureSpecification specification;
    specification.components = 2;
    ASSERT_TRUE(fit_mixture(rows.source, specification).optimum.converged());
    std::vector<double> others = normal_rows(70001, 2, 1);
    others[100001] += 1e-6;  // within the share of the second
    write_npy(path("part-01.npy"), 70001, 2, others.data());
    try {
        (void)fit_mixture(rows.source, specification);
        ADD_FAILURE() << "rows that changed are fitted";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("the rows are not those that were read at first"), std::string::npos)
            << error.what();
    }
}

TEST_F(Ranks, FitWeightedRowsToTheSameBits) {
    std::string text = "x,w\n";
    const std::vector<double> rows = normal_rows(150000, 1, 5);
    for (std::size_t i = 0; i < rows.size(); ++i) text += fmt::format("{},{}\n", rows[i], i % 4);
    write("weighted.csv", text);
    RowSelection selection;
    selection.columns = {"x"};
    selection.weights = "w";
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    MixtureFitOptions options;
    options.restarts = 3;
    const MixtureFit alone = fit_mixture(Dataset(path("weighted.csv")).rows(selection).source, specification, options);
    Crew crew(3);
    const MixtureFit shared =
        fit_mixture(Dataset(path("weighted.csv"), crew.options()).rows(selection).source, specification, options);
    EXPECT_EQ(shared.optimum.state.natural, alone.optimum.state.natural);
    EXPECT_EQ(shared.model->start_rows(), alone.model->start_rows());
    EXPECT_EQ(shared.model->start_weights(), alone.model->start_weights());
}

TEST_F(Ranks, RefusePartsThatAreWrongByNameAndRow) {
    Crew crew(3);
    const auto refusal = [&](const std::string& name) {
        return message_of<std::runtime_error>([&] { read(path(name), crew.options()); });
    };
    const auto has = [](const std::string& message, const std::string& text) {
        EXPECT_NE(message.find(text), std::string::npos) << message;
    };
    std::string good = "x,y\n";
    for (int i = 0; i < 5000; ++i) good += fmt::format("{},{}\n", i % 91, i % 17);
    has(refusal("none-*.csv"), "no file is called so");
    write("list.txt", "a-1.csv\ngone.csv\n");
    write("a-1.csv", good);
    has(message_of<std::runtime_error>([&] { read("@" + path("list.txt"), crew.options()); }), "gone.csv");
    write("a-2.csv", "");
    has(refusal("a-*.csv"), "a-2.csv: is empty");
    write("a-2.csv", "x,y\n");
    has(refusal("a-*.csv"), "a-2.csv: has a header but no rows");
    write("a-2.csv", "x,z\n1,2\n");
    has(refusal("a-*.csv"), "a-2.csv: the header has the columns");
    write("a-2.csv", good + "1,2,3\n" + good.substr(4));
    const std::string ragged = refusal("a-*.csv");
    has(ragged, "a-2.csv: row 5001: there are 3 fields");
    write("a-2.csv", good + "1,\n" + good.substr(4));
    has(refusal("a-*.csv"), "a-2.csv: row 5001, column 'y': the value is missing");
    write("a-2.csv", good);
    EXPECT_EQ(refusal("a-*.csv"), "no exception");
    write_parts({4000, 4000}, false);
    std::ifstream whole(path("part-01.npy"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
    write("part-01.npy", bytes.substr(0, bytes.size() - 100));
    has(refusal("part-*.npy"), "part-01.npy: is truncated");
    has(message_of<std::runtime_error>([&] { read("-", crew.options()); }), "standard input cannot be shared out");
}

TEST_F(Ranks, RefuseOtherVersions) {
    SimulatedRanks ranks(2);
    const auto first = std::make_shared<RowCrew>(ranks[0], detail::mixture_questions(), "1.0");
    const auto second = std::make_shared<RowCrew>(ranks[1], detail::mixture_questions(), "1.1");
    first->set_others([&] {
        if (second->hear()) second->answer();
    });
    EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { first->require_same_version(); }),
                           {"rank 1", "rank 0", "1.1", "1.0", "version", "install"}));
}

TEST_F(Ranks, AreNoMatterForFewRows) {
    write("few.csv", "x\n1\n2\n4\n8\n");
    Crew crew(8);
    const DataRows rows = read(path("few.csv"), crew.options());
    EXPECT_EQ(rows.source->team(), nullptr);
    expect_same(rows, read(path("few.csv"), {}));
}

}  // namespace
}  // namespace lrvb
