#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

/// The program as its users meet it: run in a folder of its own, with what it printed and how it ended.
namespace lrvb::testing {

struct Result {
    int code = -1;
    std::string out;
    std::string err;

    nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class ProgramTest : public ::testing::Test {
  protected:
    ProgramTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "lrvb_cli_XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        std::filesystem::create_directory(folder_ / "work");
    }
    ~ProgramTest() override {
        std::error_code ignored;
        std::filesystem::permissions(folder_ / "work", std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(folder_, ignored);
    }

    std::filesystem::path work() const { return folder_ / "work"; }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(work() / name, std::ios::binary) << text;
    }

    /// A shell command in the folder, where `lrvb` is the program and DATA the folder of the bundled data.
    Result shell(const std::string& command) const {
        std::string line = "cd '" + work().string() +
                           "' && export DATA='" LRVB_DATA_DIR "' PATH='" LRVB_PROGRAM_DIR ":" LRVB_EXAMPLES_DIR
                           "':\"$PATH\" && { " +
                           command + " ; } > ../out 2> ../err < /dev/null";
        const int status = std::system(line.c_str());
        Result result;
        result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        result.out = read_text(folder_ / "out");
        result.err = read_text(folder_ / "err");
        return result;
    }
    Result lrvb(const std::string& arguments) const { return shell("lrvb " + arguments); }

    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(work())) names.insert(entry.path().filename());
        return names;
    }

  private:
    std::filesystem::path folder_;
};

}  // namespace lrvb::testing
