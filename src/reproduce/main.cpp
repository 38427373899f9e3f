// lrvb-reproduce [EXPERIMENT] -o DIRECTORY [--simulations N] [--seed N] [--threads N]

#include "base/files.hpp"
#include "base/messages.hpp"
#include "reproduce/reproduce.hpp"

#include <lrvb/kind/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace {

using lrvb::Settings;
using lrvb::UsageError;

constexpr std::array<std::string_view, 4> kExperiments{"figure1", "figure2", "theorems", "all"};

Settings settings_of(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "-o" || word == "--output" || word == "--simulations" || word == "--seed" || word == "--threads") {
            if (++i == argc) throw UsageError(word + " needs a value");
            settings.set(word == "-o" ? "output" : word.substr(2), argv[i]);
        } else if (std::find(kExperiments.begin(), kExperiments.end(), word) != kExperiments.end()) {
            settings.set("experiment", word);
        } else {
            throw UsageError(fmt::format(
                "'{}' is no experiment or option: it is figure1, figure2, theorems or all, and -o DIRECTORY", word));
        }
    }
    if (!settings.has("output")) throw UsageError("-o DIRECTORY is required");
    return settings;
}

void run(const Settings& settings) {
    const std::string directory = settings.text("output");
    const std::string what = settings.text("experiment", "all");
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
        throw std::runtime_error(
            fmt::format("{}: cannot make the directory: {}; choose another place", directory, error.message()));
    }
    lrvb::reproduce::Options experiment;
    experiment.directory = directory;
    experiment.simulations = settings.whole("simulations", 100);
    experiment.seed = settings.seed(2014);
    const auto cores = static_cast<lrvb::Index>(std::max(1U, std::thread::hardware_concurrency()));
    experiment.threads = static_cast<int>(settings.whole("threads", cores));
    const bool visible = ::isatty(STDERR_FILENO) == 1;
    if (visible) {
        experiment.progress = [](const std::string& name, double part) {
            constexpr int kWidth = 40;
            const auto filled = static_cast<std::size_t>(kWidth * part);
            fmt::print(stderr, "\r\x1b[K{:<22} [{}{}] {:3.0f} %", name, std::string(filled, '#'),
                       std::string(kWidth - filled, '.'), 100.0 * part);
            std::fflush(stderr);
        };
    }
    std::string page =
        fmt::format("# The paper, reproduced\n\nGiordano & Broderick (2014), by `lrvb reproduce {} --seed {}`.\n\n",
                    what, experiment.seed);
    if (what == "figure1" || what == "all") page += lrvb::reproduce::figure1(experiment);
    if (what == "figure2" || what == "all") page += lrvb::reproduce::figure2(experiment);
    if (what == "theorems" || what == "all") page += lrvb::reproduce::theorems(experiment);
    if (visible) fmt::print(stderr, "\r\x1b[K");
    const std::string path = directory + "/index.md";
    lrvb::detail::write_text(path, page);
    fmt::print("{}\nwritten to {}\n", page, lrvb::detail::on_one_line(path));
}

// Not by fmt::print, which throws where standard error cannot be written.
void complain(const std::string& sentence) {
    std::fputs(fmt::format("lrvb-reproduce: {}\n", lrvb::detail::on_one_line(sentence)).c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(settings_of(argc, argv));
        return 0;
    } catch (const UsageError& error) {
        complain(error.what());
        return 2;
    } catch (const std::exception& error) {
        complain(error.what());
        return 1;
    }
}
