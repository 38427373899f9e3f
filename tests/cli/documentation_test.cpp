// Every console block of README.md and docs/ is run as it stands, document by document: those of the README in a folder
// like the repository's root, after 'make test'; those of docs/ in a folder with the bundled data and models. What it
// shows must be what comes out. Only the size of a last step, and so the number of passes, may differ: it is rounding,
// and another machine rounds otherwise; and a slow one says every ten seconds how far a fit is.
//
//     ```console
//     $ lrvb --version
//     lrvb 0.1.0
//     ```

#include "program.hpp"

#include <regex>
#include <vector>

namespace lrvb::testing {
namespace {

struct Step {
    std::size_t line = 0;
    std::string command;
    std::string output;
};

std::vector<Step> steps_of(const std::filesystem::path& document) {
    std::vector<Step> steps;
    std::ifstream stream(document);
    bool inside = false;
    std::size_t number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.rfind("```", 0) == 0) {
            inside = line == "```console";
        } else if (inside && line.rfind("$ ", 0) == 0) {
            steps.push_back({number, line.substr(2), ""});
        } else if (inside && !steps.empty()) {
            steps.back().output += line + "\n";
        }
    }
    return steps;
}

std::vector<std::string> documents() {
    std::vector<std::string> paths{"README.md"};
    for (const auto& entry : std::filesystem::directory_iterator(LRVB_SOURCE_DIR "/docs")) {
        if (entry.path().extension() == ".md") paths.push_back("docs/" + entry.path().filename().string());
    }
    return paths;
}

std::string without_steps(const std::string& text) {
    static const std::regex step("step( was)? [0-9.]+e[-+][0-9]+");
    static const std::regex passes("[0-9]+ pass(es)?");
    static const std::regex progress("lrvb: [^\n]* pass [0-9]+: bound [^\n]* rows/s, [0-9.]+ s\n");
    return std::regex_replace(std::regex_replace(std::regex_replace(text, progress, ""), step, "step"), passes,
                              "passes");
}

class Documentation : public ProgramTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(Documentation, ShowsWhatTheProgramPrints) {
    if (GetParam() == "README.md") {
        std::filesystem::copy(LRVB_DATA_DIR, work() / "data");
        std::filesystem::copy(LRVB_SOURCE_DIR "/models", work() / "models");
        std::filesystem::create_directories(work() / "build/release");
        std::filesystem::create_directory_symlink(LRVB_PROGRAM_DIR, work() / "build/release/bin");
        std::filesystem::create_directory_symlink(LRVB_EXAMPLES_DIR, work() / "build/release/examples");
    } else {
        for (const char* folder : {LRVB_DATA_DIR, LRVB_SOURCE_DIR "/models"}) {
            for (const auto& entry : std::filesystem::directory_iterator(folder)) {
                std::filesystem::copy(entry.path(), work() / entry.path().filename());
            }
        }
    }
    for (const Step& step : steps_of(std::filesystem::path(LRVB_SOURCE_DIR) / GetParam())) {
        const Result result = shell(step.command);
        EXPECT_EQ(without_steps(result.out + result.err), without_steps(step.output))
            << GetParam() << " line " << step.line << ": " << step.command;
    }
}

INSTANTIATE_TEST_SUITE_P(Program, Documentation, ::testing::ValuesIn(documents()), [](const auto& instance) {
    std::string name = instance.param;
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name;
});

TEST(Documentation, TheReadmeHasConsoleBlocks) {
    EXPECT_GE(steps_of(LRVB_SOURCE_DIR "/README.md").size(), 3U);
}

}  // namespace
}  // namespace lrvb::testing
