#include "bad_models.hpp"
#include "says.hpp"

#include <lrvb/bugs/graph.hpp>

#include <gtest/gtest.h>

#include <iterator>

namespace lrvb::bugs {
namespace {

using lrvb::test::says;
using lrvb::testing::bad_models;
using lrvb::testing::expected_messages;
using lrvb::testing::ExpectedMessage;

const std::filesystem::path kFolder = std::filesystem::path(LRVB_TEST_DATA) / "bugs" / "bad";

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The messages of a model, and all of them as they are shown; none where it is accepted.
std::pair<std::vector<Diagnostic>, std::string> messages_of(const std::filesystem::path& path) {
    std::filesystem::path data_path = path;
    data_path.replace_extension(".json");
    Data data;
    if (std::filesystem::exists(data_path)) data.add_json(contents(data_path), data_path.filename());
    try {
        const Graph graph(parse_model(contents(path), path.filename()), data);
    } catch (const ModelError& error) {
        return {error.diagnostics(), std::string(error.what()) + "\n"};
    }
    return {};
}

bool is_plain(const std::string& line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

class BadModel : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadModel, IsRefusedWithPlaceWordAndRemedy) {
    const std::filesystem::path path = GetParam();
    const std::vector<ExpectedMessage> expected = expected_messages(kFolder)[path.stem()];
    const auto [messages, shown] = messages_of(path);
    ASSERT_EQ(messages.size(), expected.size()) << shown;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Diagnostic& message = messages[i];
        EXPECT_EQ(message.file, path.filename());
        EXPECT_EQ(std::to_string(message.line) + ":" + std::to_string(message.column), expected[i].place);
        EXPECT_TRUE(says(message.sentence, expected[i].words));
        EXPECT_NE(shown.find(message.file + ":" + expected[i].place + ": " + message.sentence), std::string::npos);
    }
}

TEST_P(BadModel, IsShownWithAMarkUnderThePlace) {
    const std::vector<std::string> lines = lines_of(contents(GetParam()));
    const auto [messages, shown] = messages_of(GetParam());
    ASSERT_FALSE(messages.empty());
    for (const Diagnostic& message : messages) {
        const std::vector<std::string> picture = lines_of(message.picture);
        ASSERT_EQ(picture.size(), 2U) << shown;
        EXPECT_NE(picture[1].find('^'), std::string::npos) << shown;
        const std::string line = message.line <= lines.size() ? lines[message.line - 1] : "";
        if (!is_plain(line)) continue;  // written out, with other columns
        EXPECT_EQ(picture[0].find_first_not_of(' ') == std::string::npos,
                  line.find_first_not_of(' ') == std::string::npos);
        const std::size_t indent = picture[0].rfind(line);
        ASSERT_NE(indent, std::string::npos) << shown;
        EXPECT_EQ(picture[1].find_first_not_of(' '), indent + message.column - 1) << shown;
        EXPECT_EQ(picture[1].find_first_not_of("^~", indent + message.column - 1), std::string::npos) << shown;
    }
}

INSTANTIATE_TEST_SUITE_P(Bugs, BadModel, ::testing::ValuesIn(bad_models(kFolder)),
                         [](const auto& model) { return model.param.stem().string(); });

TEST(BugsBadModels, ThereAreMoreThanNinetyAndAnExpectationOfEach) {
    const std::vector<std::filesystem::path> paths = bad_models(kFolder);
    EXPECT_GT(paths.size(), 90U);
    const auto expected = expected_messages(kFolder);
    EXPECT_EQ(expected.size(), paths.size());
    for (const auto& [name, messages] : expected) {
        for (const ExpectedMessage& message : messages) EXPECT_GE(message.words.size(), 1U) << name;
    }
}

// The one whose text is compared as a whole: what a refused model looks like.
TEST(BugsBadModels, SeveralMistakesAreShownTogether) {
    EXPECT_EQ(messages_of(kFolder / "several_errors.bug").second, contents(kFolder / "several_errors.expected"));
}

TEST(BugsBadModels, AMessageMustHoldEveryWordAsAWord) {
    EXPECT_TRUE(says("a.csv: row 12: 'x' is 3", {"a.csv", "row 12", "'x'", "3"}));
    EXPECT_FALSE(says("a.csv: row 12: 'x' is 3", {"row 1"}));
    EXPECT_FALSE(says("a.csv: row 12: 'x' is 3", {"2"}));
    EXPECT_FALSE(says("a.csv: row 12: 'x' is 3", {"'x'", "'y'"}));
    EXPECT_FALSE(says("a.csv: row 12: 'x' is 3", {}));
}

}  // namespace
}  // namespace lrvb::bugs
