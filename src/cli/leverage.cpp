#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/kind/fitted_model.hpp>

#include <fmt/format.h>

#include <iterator>

namespace lrvb::cli {

namespace {

int show_leverage(const Settings& settings) {
    const std::string output = settings.text("output", "-");
    prepare_output(output);
    const std::unique_ptr<FittedModel> fitted = restored(settings);
    const Posterior& posterior = fitted->posterior();
    const std::vector<Index> chosen = posterior.select(settings.list("variables"));
    const std::vector<std::string> inputs = fitted->inputs();
    if (inputs.empty()) {
        throw std::runtime_error(
            "nothing that was observed is continuous, so there is no leverage: 'lrvb influence' says what dropping a "
            "row does");
    }
    std::vector<std::string> header{"row"};
    for (const std::string& name : fitted->leverage_header()) header.push_back(name);
    for (const Index at : chosen) {
        const std::string& name = posterior.variables[static_cast<std::size_t>(at)].name;
        if (inputs.size() == 1) {
            header.push_back(name);
            continue;
        }
        for (const std::string& input : inputs) header.push_back(fmt::format("{}/{}", name, input));
    }
    const std::vector<std::pair<std::string, Vector>> more = fitted->row_columns();
    for (const auto& [name, values] : more) header.push_back(name);
    LineFile file(output);
    file.add(csv_line(header));
    std::string line;
    fitted->response().leverage(fitted->functionals(chosen), [&](const RowAnswers& rows) {
        for (Index i = 0; i < rows.answers.rows(); ++i) {
            line.clear();
            const auto out = std::back_inserter(line);
            const std::string own_name = fitted->row_name(rows.first + i);
            if (own_name.empty()) {
                fmt::format_to(out, "{}", fitted->file_row(rows.first + i));
            } else {
                const std::string field = csv_line({own_name});
                line.append(field, 0, field.size() - 1);
            }
            for (const double value : rows.inputs.row(i)) fmt::format_to(out, ",{}", value);
            for (const double value : rows.answers.row(i)) fmt::format_to(out, ",{}", value);
            for (const auto& [name, values] : more) fmt::format_to(out, ",{}", values[rows.first + i]);
            line += '\n';
            file.add(line);
        }
    });
    file.commit();
    return kSuccess;
}

}  // namespace

Command leverage_command() {
    return {"leverage",
            "How much each mean moves with each datum: d E[variable] / d x, for every row, as CSV",
            {fit_argument(), fitted_data(), variables_option(),
             output_option("Write to this file instead of standard output"), threads_option(), memory_option()},
            show_leverage};
}

}  // namespace lrvb::cli
