#include "cli/fit_range.hpp"

#include "base/messages.hpp"
#include "cli/command.hpp"
#include "cli/loo.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::cli {

namespace {

std::string verdict_of(const FitFile& file) {
    if (!file.converged()) return "not converged";
    return file.check ? std::string(to_string(file.check->verdict)) : "not checked";
}

std::string table_text(const FittedRange& range) {
    const auto shown = [](double value) { return fmt::format("{:.2f}", value + 0.0); };
    std::vector<std::vector<std::string>> table{{range.option.short_key(), "elpd_loo", "se", "difference",
                                                 "se_difference", "bound", "parameters", "best", "check"}};
    const Loo* loo = nullptr;
    bool has_labels = false;
    bool is_doubtful = false;
    for (std::size_t i = 0; i < range.fits.size(); ++i) {
        const RangeFit& one = range.fits[i];
        const FitFile& file = one.fit.fitted->file();
        std::vector<std::string> row{fmt::format("{}", one.number), "NA", "NA", "NA", "NA", "NA", "NA"};
        if (file.converged()) {
            const double labellings = log_labellings(*one.fit.fitted);
            has_labels = has_labels || labellings > 0.0;
            row[5] = shown(one.fit.fitted->optimum().bound + labellings);
        }
        if (one.compared) {
            loo = &one.compared->loo;
            row[1] = shown(loo->elpd_loo);
            row[2] = shown(loo->elpd_se);
            row[3] = shown(one.compared->elpd_difference);
            row[4] = shown(one.compared->se_difference);
            row[6] = fmt::format("{}", loo->parameters);
            is_doubtful = is_doubtful || loo->doubtful_rows() > 0;
        }
        row.push_back(range.best == i ? "*" : "");
        row.push_back(verdict_of(file));
        table.push_back(std::move(row));
    }
    const FitFile& first = range.fits.front().fit.fitted->file();
    std::string text = fmt::format("{} fit{} of {} row{}", range.fits.size(), range.fits.size() == 1 ? "" : "s",
                                   first.data.rows, first.data.rows == 1 ? "" : "s");
    if (loo != nullptr) text += fmt::format(", each row left out {}", method_text(*loo));
    text += "\n";
    for (const std::string& note : first.notes) text += detail::on_one_line(note) + "\n";
    text += fmt::format("\n{}\n", aligned(table));
    if (!range.message.empty()) text += detail::on_one_line(range.message) + "\n";
    if (has_labels) text += "bound: on log p(data), with log K! added for K components whose labels can be exchanged\n";
    if (is_doubtful) {
        text += "warning: of doubtful rows elpd_loo is not to be relied on; see 'lrvb loo FIT DATA --rows'\n";
    }
    return text;
}

}  // namespace

std::vector<std::string> range_outputs(const std::string& output, const OptionInfo& option, Index first, Index last) {
    if (output.empty()) return {};
    const std::string mark = fmt::format("{{{}}}", option.short_key());
    const std::size_t at = output.find(mark);
    if (at == std::string::npos) return {output};
    std::vector<std::string> result;
    for (Index number = first; number <= last; ++number) {
        std::string name = output;
        result.push_back(name.replace(at, mark.size(), fmt::format("{}", number)));
    }
    return result;
}

int show_range(const FittedRange& range, const std::vector<std::string>& outputs, bool quiet) {
    std::string written;
    const auto write = [&](const std::string& name, const RangeFit& one) {
        write_fit(name, one.fit.fitted->file());
        written +=
            fmt::format("{}: the fit with {} = {}\n", detail::on_one_line(name), range.option.short_key(), one.number);
    };
    if (outputs.size() == range.fits.size() && outputs.size() > 1) {
        for (std::size_t i = 0; i < outputs.size(); ++i) write(outputs[i], range.fits[i]);
    } else if (outputs.size() == 1 && range.best) {
        write(outputs.front(), range.fits[*range.best]);
    }
    // A fit on standard output is for the next program in the pipe: nothing else belongs there.
    if (!quiet && (outputs.empty() || outputs.front() != "-")) {
        say(table_text(range) + (written.empty() ? "" : "\n" + written));
    }
    std::string failed;
    for (const RangeFit& one : range.fits) {
        if (!one.fit.fitted->file().converged()) {
            failed += fmt::format("{}{} = {}", failed.empty() ? "" : ", ", range.option.short_key(), one.number);
        }
    }
    if (failed.empty()) return kSuccess;
    complain(fmt::format("these fits did not converge, and are not compared: {}", failed));
    return kNotConverged;
}

}  // namespace lrvb::cli
