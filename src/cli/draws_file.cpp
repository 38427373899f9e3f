#include "cli/draws_file.hpp"

#include "base/messages.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "data/npz.hpp"

#include <lrvb/check/draws.hpp>

#include <fmt/format.h>

#include <cmath>

namespace lrvb::cli {

namespace {

constexpr const char* kLogDensity = "lp__";

const std::string& name_of(const Check& check, Index variable) {
    return check.variables[static_cast<std::size_t>(variable)].name;
}

void save_csv(const Check& check, const std::vector<Index>& chosen, const std::vector<Index>& draws, Index chains,
              const std::string& path) {
    std::vector<std::string> fields{".chain", ".iteration", ".draw"};
    for (const Index at : chosen) fields.push_back(name_of(check, at));
    fields.emplace_back(kLogDensity);
    LineFile file(path);
    file.add(csv_line(fields));
    const std::size_t length = draws.size() / static_cast<std::size_t>(chains);
    for (std::size_t i = 0; i < draws.size(); ++i) {
        fields = {fmt::format("{}", i / length + 1), fmt::format("{}", i % length + 1), fmt::format("{}", i + 1)};
        for (const Index at : chosen) fields.push_back(exact(check.values(at, draws[i])));
        const double log_density = check.log_density[draws[i]];
        fields.push_back(std::isfinite(log_density) ? exact(log_density) : "-Inf");
        file.add(csv_line(fields));
    }
    file.commit();
}

void save_npz(const Check& check, const std::vector<Index>& chosen, const std::vector<Index>& draws, Index chains,
              const std::string& path) {
    const auto count = static_cast<Index>(draws.size());
    detail::NpzFile file(path, chosen.size() + 1, count);
    const Vector log_density = check.log_density(draws);
    for (const Index at : chosen) {
        const Vector values = check.values.row(at)(draws);
        file.add(detail::printable(name_of(check, at)), chains, count / chains, values.data());
    }
    file.add(kLogDensity, chains, count / chains, log_density.data());
    file.commit();
}

}  // namespace

DrawsFormat draws_format(const Settings& settings) {
    const std::string path = settings.text("save-draws");
    const bool is_npz = settings.text("format", "table") == "npz";
    if (is_npz && path.empty()) {
        throw UsageError(
            "--format npz is of the draws that --save-draws writes: name a file for them, or leave it out");
    }
    if (path == "-" && settings.given("format") && !is_npz) {
        throw UsageError(
            "--save-draws - prints the draws, and nothing else: leave out --format, or save the draws to a file");
    }
    return is_npz || path.ends_with(".npz") ? DrawsFormat::npz : DrawsFormat::csv;
}

void save_draws(const Check& check, const std::vector<Index>& chosen, const std::string& path, DrawsFormat format) {
    const std::vector<Index> draws = equally_weighted(check);
    const Index chains = std::max<Index>(check.chains, 1);
    (format == DrawsFormat::npz ? save_npz : save_csv)(check, chosen, draws, chains, path);
    // Nothing else says so beside draws on standard output.
    if (path == "-" && !check.reliable) complain(check.trust);
}

}  // namespace lrvb::cli
