// Data in memory and data in a file: the same fits.

#include "data_files.hpp"
#include "support.hpp"

#include <lrvb/data/dataset.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>

#include <cstring>
#include <fstream>
#include <limits>

namespace lrvb {
namespace {

// The text of a fit file, without the name of the data.
std::string fit_text(const std::string& kind, Dataset data, const Settings& settings) {
    const TemporaryDirectory folder;
    const auto fitted = find_kind(kind)->fit({std::move(data), settings, {}});
    fitted->file().data.name = "data";
    write_fit(folder.path("fit.json"), fitted->file());
    std::ifstream stream(folder.path("fit.json"));
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

DataFrame frame_of(const std::string& path, Missing missing = Missing::refuse) {
    FrameOptions options;
    options.missing = missing;
    DataFrame frame = read_frame(path, options);
    frame.name = "a table";
    return frame;
}

std::string sentence_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Dataset, AMixtureOfATableInMemoryIsThatOfItsFileToTheBit) {
    const std::string path = LRVB_DATA_DIR "/old_faithful.csv";
    for (const Settings& settings :
         {Settings{{"components", "2"}}, Settings{{"components", "2"}, {"columns", "waiting"}},
          Settings{{"components", "2"}, {"columns", "2,1"}},
          Settings{{"components", "2"}, {"columns", "eruptions"}, {"weights", "waiting"}},
          Settings{{"components", "2"}, {"weights", "waiting"}}}) {
        EXPECT_EQ(fit_text("mixture", frame_of(path), settings), fit_text("mixture", path, settings));
    }
}

TEST(Dataset, ARegressionOfATableInMemoryIsThatOfItsFileToTheBit) {
    const std::string path = LRVB_DATA_DIR "/mtcars.csv";
    for (const Settings& settings : {Settings{{"response", "mpg"}, {"columns", "wt,hp,cyl"}},
                                     Settings{{"response", "mpg"}, {"columns", "wt"}, {"weights", "hp"}}}) {
        EXPECT_EQ(fit_text("regression", frame_of(path), settings), fit_text("regression", path, settings));
    }
}

TEST(Dataset, ARegressionOnTextInMemoryIsThatOfItsFileToTheBit) {
    const TemporaryDirectory folder;
    const std::string path =
        folder.write("a.csv", "y,x,sort\n1.5,1,a\n2.5,2,b\n2.0,3,a\n4.5,4,c\n4.0,5,b\n6.5,6,c\n5.0,7,a\n");
    const Settings settings{{"response", "y"}};
    EXPECT_EQ(fit_text("regression", frame_of(path), settings), fit_text("regression", path, settings));
}

TEST(Dataset, AModelOfArraysInMemoryIsThatOfItsFile) {
    const TemporaryDirectory folder;
    const std::string path = folder.write("d.json", R"({"N": 2, "M": 3, "y": [[1, 2, 3], [4, null, 6.5]]})");
    const Settings settings{{"MODEL",
                             "model { for (i in 1:N) { for (j in 1:M) { y[i, j] ~ dnorm(mu, tau) } }\n"
                             " mu ~ dnorm(0, 1)\n tau ~ dgamma(1, 1) }"}};
    const double missing = std::numeric_limits<double>::quiet_NaN();
    const Dataset arrays = Dataset::of_arrays(
        "arrays", {{"N", {}, {2}, "", {}}, {"M", {}, {3}, "", {}}, {"y", {2, 3}, {1, 4, 2, missing, 3, 6.5}, "", {}}});
    EXPECT_EQ(arrays.name(), "arrays");
    EXPECT_EQ(fit_text("model", arrays, settings), fit_text("model", path, settings));
    EXPECT_EQ(sentence_of([&] { static_cast<void>(arrays.frame({})); }),
              "arrays: this kind of model reads a table, but there are arrays");
}

TEST(Dataset, TextsThatMeanAMissingValueAreThoseOfEveryReading) {
    const TemporaryDirectory folder;
    std::string text = "a,s\n1,u\n?,u\n-9,v\n";
    for (int n = 0; n < 20; ++n) text += std::to_string(n % 7) + (n % 2 == 0 ? ",u\n" : ",v\n");
    const std::string path = folder.write("a.csv", text);
    const Dataset data = Dataset(path, {.na = {"?"}}).with_na({"-9", "?"});
    EXPECT_EQ(data.na(), (std::vector<std::string>{"?", "-9"}));
    const DataRows rows = data.rows({{"a"}, "", true});
    EXPECT_EQ(rows.record.dropped, 2);
    EXPECT_EQ(rows.record.na, data.na());
    EXPECT_EQ(rows.file_rows[1], 4);
    FrameOptions options;
    options.missing = Missing::drop;
    EXPECT_EQ(data.frame(options).file_rows[1], 4);
    // A table in memory: what would be written so in a file.
    const DataFrame table = Dataset(path, {.na = {"?"}}).frame(options);
    EXPECT_EQ(Dataset(table).with_na({"-9"}).frame(options).file_rows[1], 4);
    EXPECT_EQ(Dataset(table).with_na({"v"}).frame(options).columns[1].levels, (std::vector<std::string>{"u"}));
    // A fit knows them when it is restored.
    const auto fitted =
        find_kind("mixture")->fit({data, {{"components", "1"}, {"columns", "a"}, {"drop-missing", "yes"}}, {}});
    write_fit(folder.path("fit.json"), fitted->file());
    FitFile file = read_fit(folder.path("fit.json"));
    EXPECT_EQ(restore(file, path)->file_row(1), 4);
    // Also where it did not converge, and there is nothing but its data to look at.
    file.outcome.termination = Termination::iteration_limit;
    EXPECT_EQ(file.model->restore(file, path, 1)->file_row(1), 4);
}

TEST(Dataset, ColumnsOfANumPyFileCanBeGroups) {
    const TemporaryDirectory folder;
    const std::vector<double> rows = {1, 4, 2, 6, 3, 4, 5, 6};
    write_npy(folder.path("a.npy"), 4, 2, rows.data());
    FrameOptions options;
    options.text = {"2"};
    EXPECT_EQ(Dataset(folder.path("a.npy")).frame(options).columns[1].levels, (std::vector<std::string>{"4", "6"}));
    EXPECT_EQ(sentence_of([&] { Dataset(folder.path("a.npy"), {.na = {"?"}}).frame({}); }),
              folder.path("a.npy") +
                  ": '?' cannot mean a missing value in a NumPy file, which holds numbers alone: give a CSV file");
}

TEST(Dataset, RowsThatWereDroppedKeepTheirNumbersInMemory) {
    const TemporaryDirectory folder;
    std::string text = "a,b\n1,2\n,3\n";
    for (int n = 0; n < 20; ++n) text += std::to_string(n % 7) + "," + std::to_string(n % 5) + "\n";
    const std::string path = folder.write("a.csv", text);
    const Settings settings{{"components", "1"}, {"drop-missing", "yes"}};
    EXPECT_EQ(fit_text("mixture", frame_of(path, Missing::drop), settings), fit_text("mixture", path, settings));
    const auto fitted = find_kind("mixture")->fit({frame_of(path, Missing::drop), settings, {}});
    EXPECT_EQ(fitted->file_row(1), 3);
    const auto restored = restore(fitted->file(), path);
    EXPECT_EQ(restored->file_row(1), 3);
}

// A fit of one is restored with the other.
TEST(Dataset, AFitOfAFileIsRestoredWithTheTableInMemory) {
    const std::string path = LRVB_DATA_DIR "/old_faithful.csv";
    const auto fitted = find_kind("mixture")->fit({path, Settings{{"components", "2"}}, {}});
    const auto restored = restore(fitted->file(), frame_of(path));
    EXPECT_LT(test::relative_error(restored->response().marginal_sds(), fitted->response().marginal_sds()), 1e-7);
    DataFrame other = frame_of(path);
    other.columns[0].numbers[3] += 1.0;
    EXPECT_EQ(
        sentence_of([&] { static_cast<void>(restore(fitted->file(), other)); }),
        "a table holds other numbers than the data of the fit (" + path + ", 272 rows): give the data that was fitted");
}

TEST(Dataset, ATableThatContradictsItselfIsRefused) {
    DataFrame frame;
    frame.name = "a table";
    frame.rows = 3;
    frame.columns.push_back({"a", Vector{{1.0, 2.0}}, {}, {}});
    EXPECT_EQ(sentence_of([&] { Dataset{frame}; }),
              "Dataset: column 'a' has 2 values, but the table has 3 rows: give one a row");
    frame.columns[0] = {"a", {}, {"x"}, {0, 1, 0}};
    EXPECT_EQ(sentence_of([&] { Dataset{frame}; }),
              "Dataset: column 'a' has the code 1, but 1 levels: codes count from 0");
    frame.columns[0] = {"a", Vector{{1.0, 2.0, 3.0}}, {}, {}};
    frame.file_rows = {1, 2};
    EXPECT_EQ(sentence_of([&] { Dataset{frame}; }),
              "Dataset: file_rows has 2 entries for 3 rows: give one a row, or none");
}

TEST(Dataset, WhatIsNoNumberInATableIsMissing) {
    DataFrame frame;
    frame.name = "a table";
    frame.rows = 3;
    frame.columns.push_back({"a", Vector{{1.0, std::nan(""), 2.0}}, {}, {}});
    EXPECT_EQ(sentence_of([&] { static_cast<void>(Dataset(frame).rows({})); }),
              "a table: row 2, column 'a': the value is missing: fill it in, or have rows with missing values dropped");
    const DataRows rows = Dataset(frame).rows({{}, "", true});
    EXPECT_EQ(rows.record.rows, 2);
    EXPECT_EQ(rows.record.dropped, 1);
    EXPECT_EQ(rows.file_rows, (std::vector<Index>{1, 3}));
}

TEST(Dataset, TextIsNoColumnOfAMixture) {
    const TemporaryDirectory folder;
    const std::string path = folder.write("a.csv", "a,b\n1,x\n2,y\n");
    EXPECT_EQ(sentence_of([&] {
                  static_cast<void>(find_kind("mixture")->fit({frame_of(path), Settings{{"components", "1"}}, {}}));
              }),
              "a table: column 'b' holds text, such as 'y', but must be numbers");
}

}  // namespace
}  // namespace lrvb
