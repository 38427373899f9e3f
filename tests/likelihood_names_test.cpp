#include <lrvb/likelihood/likelihood.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

// A likelihood is one class in one file: nothing else decides by its name, or by that of a link.
namespace lrvb {
namespace {

std::vector<std::filesystem::path> sources() {
    std::vector<std::filesystem::path> result;
    for (const char* folder : {"src", "include", "python"}) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(std::filesystem::path(LRVB_SOURCE_DIR) / folder)) {
            const std::filesystem::path& path = entry.path();
            const std::string ending = path.extension().string();
            const bool is_code = ending == ".cpp" || ending == ".hpp" || ending == ".js" || ending == ".py";
            const bool is_own = path.parent_path().filename() == "likelihood";
            // BUGS and formulas have functions of the same names: log, logit, probit.
            bool is_other = false;
            for (const char* other : {"python/tests", "src/bugs", "kind/model", "src/formula"}) {
                is_other = is_other || path.string().find(other) != std::string::npos;
            }
            if (entry.is_regular_file() && is_code && !is_own && !is_other) result.push_back(path);
        }
    }
    return result;
}

TEST(LikelihoodNames, NothingButTheirOwnFilesDecidesByThem) {
    std::string names;
    for (const std::string& name : Likelihood::names()) {
        names += (names.empty() ? "" : "|") + name;
        for (const std::string_view link : Likelihood::named(name)->links()) names += "|" + std::string(link);
    }
    const std::regex decision("([=!]==?\\s*[\"'](" + names + ")[\"'])|(case\\s+\\w+::(" + names +
                              ")\\b)|(enum\\s+(class\\s+)?\\w*(Family|Link|Likelihood)\\b)");
    const std::vector<std::filesystem::path> files = sources();
    EXPECT_GT(files.size(), 300U);
    for (const std::filesystem::path& path : files) {
        std::ifstream stream(path);
        int number = 0;
        for (std::string line; std::getline(stream, line);) {
            ++number;
            EXPECT_FALSE(std::regex_search(line, decision)) << path.string() << ":" << number << ": " << line;
        }
    }
    // It finds what it looks for.
    EXPECT_TRUE(std::regex_search(std::string("if (family == \"poisson\") {"), decision));
    EXPECT_TRUE(std::regex_search(std::string("case FieldFamily::student:"), decision));
    EXPECT_TRUE(std::regex_search(std::string("enum class FieldFamily { gaussian };"), decision));
}

}  // namespace
}  // namespace lrvb
