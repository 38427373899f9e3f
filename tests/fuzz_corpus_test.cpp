// Every file of the fuzzers' corpus, those that once broke something among them, through the checks of the fuzzers.

#include "checks.hpp"

#include <lrvb/kind/fit_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace lrvb {
namespace {

struct Corpus {
    std::string kind;
    void (*check)(std::string_view);
};

class FuzzCorpus : public ::testing::TestWithParam<Corpus> {};

TEST_P(FuzzCorpus, BreaksNoPromise) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(LRVB_CORPUS_DIR "/" + GetParam().kind)) {
        paths.push_back(entry.path());
    }
    ASSERT_FALSE(paths.empty());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        EXPECT_NO_THROW(GetParam().check(bytes)) << path;
    }
}

// From what is refused at once the fuzzers would not get far.
TEST(FuzzSeeds, OfFitsAreRead) {
    for (const std::string name : {"mixture", "mixture_diagonal", "mixture_full", "mixture_not_converged", "regression",
                                   "regression_not_converged", "regression_origin"}) {
        EXPECT_NO_THROW(static_cast<void>(read_fit(LRVB_CORPUS_DIR "/fit/" + name))) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Kept, FuzzCorpus,
                         ::testing::Values(Corpus{"bugs", &fuzz::check_bugs}, Corpus{"csv", &fuzz::check_csv},
                                           Corpus{"fit", &fuzz::check_fit}, Corpus{"formula", &fuzz::check_formula},
                                           Corpus{"npy", &fuzz::check_npy}),
                         [](const auto& corpus) { return corpus.param.kind; });

}  // namespace
}  // namespace lrvb
