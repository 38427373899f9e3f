#pragma once

#include <lrvb/types.hpp>

#include <cstdint>
#include <functional>
#include <string>

/// The experiments of the paper, from seeds: data as CSV, figures as SVG, and a section of Markdown with the numbers.
namespace lrvb::reproduce {

struct Options {
    std::string directory;
    int threads = 1;
    std::uint64_t seed = 2014;
    Index simulations = 100;
    /// Told what is being done, and how much of it is done.
    std::function<void(const std::string&, double)> progress;
};

/// Each writes its files into the directory, and returns its section of the page.
std::string figure1(const Options& options);
std::string figure2(const Options& options);
std::string theorems(const Options& options);

}  // namespace lrvb::reproduce
