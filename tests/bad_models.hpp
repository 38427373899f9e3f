#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/// tests/data/bugs/bad: models that are wrong, each with its data (.json) where it needs some; expected.txt has what
/// must be said of each of them.
namespace lrvb::testing {

struct ExpectedMessage {
    std::string place;  // line:column
    std::vector<std::string> words;
};

/// By the model's name.
inline std::map<std::string, std::vector<ExpectedMessage>> expected_messages(const std::filesystem::path& folder) {
    std::map<std::string, std::vector<ExpectedMessage>> expected;
    std::ifstream file(folder / "expected.txt");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream head(line.substr(0, line.find(" | ")));
        std::string name;
        ExpectedMessage message;
        head >> name >> message.place;
        for (std::size_t bar = line.find(" | "); bar != std::string::npos;) {
            const std::size_t next = line.find(" | ", bar + 3);
            message.words.push_back(line.substr(bar + 3, next == std::string::npos ? next : next - bar - 3));
            bar = next;
        }
        expected[name].push_back(std::move(message));
    }
    return expected;
}

inline std::vector<std::filesystem::path> bad_models(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".bug") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace lrvb::testing
