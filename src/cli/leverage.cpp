#include "base/files.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"
#include "cli/restored.hpp"

#include <fmt/format.h>

#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string fit;
    std::string data;
    std::string variables;
    int threads = 0;
    std::string output = "-";
};

int show(const Options& options) {
    require_other_file(options.output, {options.fit, options.data});
    const std::unique_ptr<Restored> restored = restore(options.fit, options.data, threads_of(options.threads));
    const Posterior& posterior = restored->file().posterior;
    const std::vector<Index> chosen = posterior.select(split(options.variables));
    const std::vector<std::string> inputs = restored->model().inputs();

    std::vector<std::string> header{"row"};
    if (inputs.size() == 1) {
        header.emplace_back(std::holds_alternative<MixtureRecord>(restored->file().model) ? "x" : inputs.front());
    } else {
        header.insert(header.end(), inputs.begin(), inputs.end());
    }
    for (const Index at : chosen) {
        const std::string& name = posterior.variables[static_cast<std::size_t>(at)].name;
        if (inputs.size() == 1) {
            header.push_back(name);
            continue;
        }
        for (const std::string& input : inputs) header.push_back(fmt::format("{}/{}", name, input));
    }
    const Vector hats = restored->hat_values();
    if (hats.size() > 0) header.emplace_back("hat");
    detail::AtomicFile file(options.output);
    std::string text = csv_line(header);
    restored->response().leverage(restored->functionals(chosen), [&](const RowAnswers& rows) {
        for (Index i = 0; i < rows.answers.rows(); ++i) {
            fmt::format_to(std::back_inserter(text), "{}", restored->file_row(rows.first + i));
            for (const double value : rows.inputs.row(i)) fmt::format_to(std::back_inserter(text), ",{}", value);
            for (const double value : rows.answers.row(i)) fmt::format_to(std::back_inserter(text), ",{}", value);
            if (hats.size() > 0) fmt::format_to(std::back_inserter(text), ",{}", hats[rows.first + i]);
            text += '\n';
        }
        file.write(text.data(), text.size());
        text.clear();
    });
    file.commit();
    return kSuccess;
}

}  // namespace

void add_leverage(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand(
        "leverage", "How much each mean moves with each datum: d E[variable] / d x, for every row, as CSV");
    add_fit_argument(*command, options->fit);
    add_fitted_data(*command, options->data);
    add_variables(*command, options->variables);
    command->add_option("-o,--output", options->output, "Write to this file instead of standard output");
    add_threads(*command, options->threads);
    command->callback([options, &run] { run = [options] { return show(*options); }; });
}

}  // namespace lrvb::cli
