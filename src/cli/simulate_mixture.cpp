#include "base/files.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/family/random.hpp>

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string weights;
    std::string means;
    std::string sds;
    Index rows = 0;
    std::uint64_t seed = 1;
    bool labels = false;
    std::string output = "-";
};

// "0,4" is a column of two components; "0,0;4,4" two columns of two.
Matrix by_component(const std::string& option, const std::string& text, Index components) {
    const std::vector<std::string> groups = split(text, ';');
    if (groups.size() == 1 && components != 1) return numbers(option, text);
    const Vector first = numbers(option, groups.empty() ? "" : groups.front());
    Matrix result(static_cast<Index>(groups.size()), first.size());
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const Vector row = numbers(option, groups[k]);
        if (row.size() != first.size()) {
            throw UsageError(fmt::format("{}: components have different numbers of columns", option));
        }
        result.row(static_cast<Index>(k)) = row.transpose();
    }
    return result;
}

int simulate(const Options& options) {
    Vector weights = numbers("--weights", options.weights);
    const Index components = weights.size();
    if (components == 0 || weights.minCoeff() < 0.0 || !(weights.sum() > 0.0)) {
        throw UsageError("--weights must be zero or more, and not all zero");
    }
    weights /= weights.sum();
    const Matrix means = by_component("--means", options.means, components);
    const Matrix sds = by_component("--sds", options.sds, components);
    const Index columns = means.cols();
    if (means.rows() != components || sds.rows() != components || sds.cols() != columns) {
        throw UsageError(
            fmt::format("--weights, --means and --sds speak of {}, {} and {} components: give as many of "
                        "each",
                        components, means.rows(), sds.rows()));
    }
    if (!(sds.minCoeff() > 0.0)) throw UsageError("--sds must be positive");

    std::vector<std::string> fields;
    for (Index p = 0; p < columns; ++p) fields.push_back(columns == 1 ? "x" : fmt::format("x{}", p + 1));
    if (options.labels) fields.emplace_back("component");
    detail::AtomicFile file(options.output);
    std::string text = csv_line(fields);
    // A row has a stream of its own, so that more rows leave the first ones as they are.
    for (Index n = 0; n < options.rows; ++n) {
        Random random(options.seed, static_cast<std::uint64_t>(n));
        double u = random.uniform();
        Index k = 0;
        while (k + 1 < components && u >= weights[k]) u -= weights[k++];
        for (Index p = 0; p < columns; ++p) {
            if (p > 0) text += ',';
            text += exact(means(k, p) + sds(k, p) * random.normal());
        }
        if (options.labels) text += fmt::format(",{}", k + 1);
        text += '\n';
        if (text.size() > (std::size_t{1} << 20)) {
            file.write(text.data(), text.size());
            text.clear();
        }
    }
    file.write(text.data(), text.size());
    file.commit();
    return kSuccess;
}

}  // namespace

void add_simulate_mixture(CLI::App& group, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = group.add_subcommand("mixture", "Draw rows from a normal mixture");
    command->add_option("--weights", options->weights, "Weights of the components, such as 0.3,0.7")->required();
    command
        ->add_option("--means", options->means,
                     "Their means, such as 0,4; with several columns 0,0;4,4, a group for each component")
        ->required();
    command->add_option("--sds", options->sds, "Their sds, in the same form")->required();
    command->add_option("-n,--rows", options->rows, "Number of rows")
        ->required()
        ->check(CLI::Range(Index{1}, Index{1} << 40).description("1 or more"));
    add_seed(*command, options->seed, "Seed (default 1)");
    command->add_flag("--labels", options->labels, "Add the column 'component': where each row came from");
    command->add_option("-o,--output", options->output, "Write to this file instead of standard output");
    command->callback([options, &run] { run = [options] { return simulate(*options); }; });
}

}  // namespace lrvb::cli
