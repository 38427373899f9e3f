#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/data.hpp"
#include "cli/output.hpp"

#include <lrvb/kind/mixture/prediction.hpp>
#include <lrvb/kind/regression/model.hpp>

#include <fmt/format.h>

#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string fit;
    std::string data;
    bool drop_missing = false;
    std::string output = "-";
};

constexpr Index kChunk = 1 << 12;  // rows

// Row by row: the most probable component, the probability of each, and the log density of the row.
void predict_mixture(const FitFile& fit, const MixtureRecord& record, const Options& options) {
    const MixtureShape shape{record.components, record.covariance, record.centre, record.scale};
    const State state = fit.state(mixture_layout(shape));
    const NewRows rows_of_file = open_columns(options.data, fit.data.columns, options.drop_missing);
    const std::shared_ptr<RowSource>& source = rows_of_file.source;
    const Index columns = source->columns();

    detail::AtomicFile file(options.output);
    std::vector<std::string> header{"row", "component"};
    for (Index k = 1; k <= record.components; ++k) header.push_back(fmt::format("p[{}]", k));
    header.emplace_back("log_density");
    std::string text = csv_line(header);
    std::vector<double> buffer(static_cast<std::size_t>(kChunk * columns));
    Index row = 0;
    source->rewind();
    // One by one where rows are left out: then the number of those tells the file's row.
    while (const Index count = source->read(buffer.data(), options.drop_missing ? 1 : kChunk)) {
        const Matrix rows = Eigen::Map<const Matrix>(buffer.data(), columns, count).transpose();
        const MixtureModel::Prediction prediction = predict(shape, state, rows);
        for (Index i = 0; i < count; ++i) {
            Index component = 0;
            prediction.responsibilities.row(i).maxCoeff(&component);
            text += fmt::format("{},{}", ++row + rows_of_file.dropped(), component + 1);
            for (Index k = 0; k < record.components; ++k) {
                text += ',';
                text += exact(prediction.responsibilities(i, k));
            }
            text += ',';
            text += exact(prediction.log_density[i]);
            text += '\n';
        }
        if (text.size() < (std::size_t{1} << 16)) continue;
        file.write(text.data(), text.size());
        text.clear();
    }
    file.write(text.data(), text.size());
    file.commit();
}

// Row by row: the mean of the response, the sd of that mean, and that of a new response.
void predict_regression(const RegressionRecord& record, const Options& options) {
    const DataFrame frame = read_frame(options.data, columns_of(record.terms, options.drop_missing));
    const RegressionPrediction prediction = predict(record.coefficients, design_matrix(frame, record.terms));
    std::string text = csv_line({"row", "mean", "mean_sd", "sd"});
    for (Index i = 0; i < frame.rows; ++i) {
        text += csv_line({fmt::format("{}", frame.file_row(i)), exact(prediction.mean[i]), exact(prediction.mean_sd[i]),
                          exact(prediction.sd[i])});
    }
    detail::write_text(options.output, text);
}

int predict_rows(const Options& options) {
    require_other_file(options.output, {options.fit, options.data});
    const FitFile fit = read_fit(options.fit);
    if (!fit.converged()) {
        throw std::runtime_error(
            fmt::format("{}: no prediction from a fit that did not converge: fit again", options.fit));
    }
    if (const auto* mixture = std::get_if<MixtureRecord>(&fit.model)) {
        if (fit.correction) {
            fmt::print(stderr, "lrvb: predictions of a mixture are those of the fit before it was corrected\n");
        }
        predict_mixture(fit, *mixture, options);
    } else {
        predict_regression(std::get<RegressionRecord>(fit.model), options);
    }
    return kSuccess;
}

}  // namespace

void add_predict(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("predict", "Predict new rows from a fit");
    add_fit_argument(*command, options->fit);
    command->add_option("DATA", options->data, "New rows, with the columns of the fit: CSV, .npy, or -")->required();
    command->add_flag("--drop-missing", options->drop_missing, "Leave out rows with a missing value");
    command->add_option("-o,--output", options->output, "Write to this file instead of standard output");
    command->callback([options, &run] { run = [options] { return predict_rows(*options); }; });
}

}  // namespace lrvb::cli
