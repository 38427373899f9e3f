#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace lrvb::cli {

namespace {

class CsvSink final : public TableSink {
  public:
    explicit CsvSink(const std::string& path) : file_(path) {}

    void header(const std::vector<std::string>& names) override {
        std::vector<std::string> fields{"row"};
        fields.insert(fields.end(), names.begin(), names.end());
        file_.add(csv_line(fields));
    }
    void row(Index row, const Vector& numbers) override {
        std::string line = fmt::format("{}", row);
        for (const double number : numbers) {
            line += ',';
            // Beyond all doubles, as a log density far away: that is known, and NA would hide it.
            line += std::isinf(number) ? (number > 0.0 ? "Inf" : "-Inf") : exact(number);
        }
        line += '\n';
        file_.add(line);
    }
    void commit() { file_.commit(); }

  private:
    LineFile file_;
};

int predict_rows(const Settings& settings) {
    const std::string path = settings.text("FIT");
    require_other_file(settings.text("output", "-"), {path, settings.text("DATA")});
    const FitFile fit = read_fit(path);
    if (!fit.converged()) {
        throw std::runtime_error(fmt::format("{}: no prediction from a fit that did not converge: fit again", path));
    }
    if (const std::string note = fit.model->prediction_note(); fit.correction && !note.empty()) {
        complain(note);
    }
    CsvSink sink(settings.text("output", "-"));
    fit.model->predict(fit, data_of(settings), settings.flag("drop-missing"), sink);
    sink.commit();
    return kSuccess;
}

}  // namespace

Command predict_command() {
    return {
        "predict",
        "Predict new rows from a fit",
        {fit_argument(),
         OptionInfo{"DATA", "New rows, with the columns of the fit: CSV, .npy, or -", OptionInfo::Type::file}.require(),
         OptionInfo::flag("--drop-missing", "Leave out rows with a missing value"), na_option(), memory_option(),
         output_option("Write to this file instead of standard output")},
        predict_rows};
}

}  // namespace lrvb::cli
