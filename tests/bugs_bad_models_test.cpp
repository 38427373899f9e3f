#include <lrvb/bugs/graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

// tests/data/bugs/bad: models that are wrong, each with its data (.json) where it needs some, and all that must be said
// of it (.expected).
namespace lrvb::bugs {
namespace {

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> bad_models() {
    std::vector<std::filesystem::path> paths;
    const std::filesystem::path folder = std::filesystem::path(LRVB_TEST_DATA) / "bugs" / "bad";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".bug") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

class BadModel : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadModel, IsRefusedWithPlaceAndRemedy) {
    const std::filesystem::path path = GetParam();
    std::filesystem::path data_path = path;
    data_path.replace_extension(".json");
    std::filesystem::path expected_path = path;
    expected_path.replace_extension(".expected");
    Data data;
    if (std::filesystem::exists(data_path)) data.add_json(contents(data_path), data_path.filename());
    std::string said = "nothing";
    try {
        const Graph graph(parse_model(contents(path), path.filename()), data);
    } catch (const ModelError& error) {
        said = std::string(error.what()) + "\n";
    }
    EXPECT_EQ(said, contents(expected_path));
}

INSTANTIATE_TEST_SUITE_P(Bugs, BadModel, testing::ValuesIn(bad_models()),
                         [](const auto& model) { return model.param.stem().string(); });

TEST(BugsBadModels, ThereAreMoreThanSixtyOfThem) {
    EXPECT_GT(bad_models().size(), 60U);
}

}  // namespace
}  // namespace lrvb::bugs
