#include "cli/loo.hpp"

#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lrvb::cli {

namespace {

std::vector<std::string> row_header(const FittedModel& fitted, const Loo& loo) {
    std::vector<std::string> header{"row"};
    for (const std::string& input : fitted.inputs()) header.push_back(input);
    header.insert(header.end(), {"elpd_loo", "p_loo", loo.method == LooMethod::draws ? "k_hat" : "reach"});
    return header;
}

double diagnostic(const Loo& loo, Index n) {
    return loo.method == LooMethod::draws ? loo.k_hat[n] : loo.reach[n];
}

template <class Shown>
std::vector<std::string> row_fields(const FittedModel& fitted, const Loo& loo, Index n, Shown shown) {
    std::vector<std::string> fields{fitted.row_label(n)};
    for (const double input : loo.inputs.row(n)) fields.push_back(exact(input));
    fields.push_back(shown(loo.elpd[n]));
    fields.push_back(shown(loo.lpd[n] - loo.elpd[n]));
    const double own = diagnostic(loo, n);
    fields.push_back(std::isinf(own) ? (own > 0.0 ? "Inf" : "-Inf") : shown(own));
    return fields;
}

std::string json_text(const FittedModel& fitted, const Loo& loo, bool rows) {
    Document json;
    json["elpd_loo"] = loo.elpd_loo;
    json["elpd_loo_se"] = loo.elpd_se;
    json["p_loo"] = loo.p_loo;
    json["p_loo_se"] = loo.p_loo_se;
    json["parameters"] = loo.parameters;
    json["n"] = fitted.file().data.rows;
    json["method"] = method_name(loo.method);
    if (loo.method == LooMethod::draws) {
        json["draws"] = loo.draws;
        json["ess"] = loo.ess;
    }
    json["doubtful_rows"] = loo.doubtful_rows();
    json["trust"] = loo.trust();
    if (rows) {
        const std::vector<std::string> inputs = fitted.inputs();
        Document list = Document::list();
        for (Index n = 0; n < loo.elpd.size(); ++n) {
            Document entry;
            const std::string name = fitted.row_name(n);
            entry["row"] = name.empty() ? Document(fitted.file_row(n)) : Document(name);
            for (std::size_t p = 0; p < inputs.size(); ++p) entry[inputs[p]] = loo.inputs(n, static_cast<Index>(p));
            entry["elpd_loo"] = loo.elpd[n];
            entry["p_loo"] = loo.lpd[n] - loo.elpd[n];
            entry[loo.method == LooMethod::draws ? "k_hat" : "reach"] = diagnostic(loo, n);
            list.push_back(std::move(entry));
        }
        json["rows"] = std::move(list);
    }
    return json.json(2) + "\n";
}

std::string csv_text(const FittedModel& fitted, const Loo& loo, bool rows) {
    if (!rows) {
        return csv_line({"quantity", "estimate", "se"}) +
               csv_line({"elpd_loo", exact(loo.elpd_loo), exact(loo.elpd_se)}) +
               csv_line({"p_loo", exact(loo.p_loo), exact(loo.p_loo_se)});
    }
    std::string text = csv_line(row_header(fitted, loo));
    for (Index n = 0; n < loo.elpd.size(); ++n) text += csv_line(row_fields(fitted, loo, n, exact));
    return text;
}

std::string table_text(const FittedModel& fitted, const Loo& loo, bool rows) {
    const auto shown = [](double value) { return std::isnan(value) ? "NA" : fmt::format("{:.3f}", value + 0.0); };
    const auto two = [](double value) { return fmt::format("{:.2f}", value + 0.0); };
    std::string text = fmt::format("Each of {} rows left out, {}\n\n", fitted.file().data.rows, method_text(loo));
    text += aligned({{"", "estimate", "se"},
                     {"elpd_loo", two(loo.elpd_loo), two(loo.elpd_se)},
                     {"p_loo", two(loo.p_loo), two(loo.p_loo_se)}});
    text += fmt::format("\n{}\n", loo.trust());
    if (loo.p_loo > 2.0 * static_cast<double>(loo.parameters)) {
        text += fmt::format(
            "warning: p_loo is far above the {} parameters of the model, a sign that the model does not fit\n",
            loo.parameters);
    }
    if (!rows) return text;
    std::vector<std::vector<std::string>> table{row_header(fitted, loo)};
    for (Index n = 0; n < loo.elpd.size(); ++n) table.push_back(row_fields(fitted, loo, n, shown));
    return text + "\n" + aligned(table);
}

int show_loo(const Settings& settings) {
    const std::string output = settings.text("output", "-");
    prepare_output(output);
    const std::unique_ptr<FittedModel> fitted = restored(settings);
    const Loo loo = leave_one_out(*fitted, loo_options(settings));
    const bool rows = settings.flag("rows");
    const Format format = format_of(settings);
    LineFile file(output);
    file.add(format == Format::json  ? json_text(*fitted, loo, rows)
             : format == Format::csv ? csv_text(*fitted, loo, rows)
                                     : table_text(*fitted, loo, rows));
    file.commit();
    return kSuccess;
}

}  // namespace

std::string method_name(LooMethod method) {
    return method == LooMethod::draws ? "psis" : "response";
}

std::string method_text(const Loo& loo) {
    if (loo.method == LooMethod::response) return "by linear response";
    return fmt::format("by {} draws of the exact posterior", loo.draws);
}

LooOptions loo_options(const Settings& settings) {
    LooOptions options;
    const std::string method = settings.text("method", "auto");
    if (method == "psis") options.method = LooMethod::draws;
    if (method == "response") options.method = LooMethod::response;
    options.draws = settings.whole("draws", options.draws);
    options.seed = settings.seed();
    options.threads = threads_of(settings);
    return options;
}

std::vector<OptionInfo> loo_method_options() {
    OptionInfo draws = OptionInfo::whole("--draws", 100, 1000000, "Draws of the exact posterior (default 4000)");
    draws.range = "100 to 1000000";
    return {OptionInfo::choice("--method", {"auto", "psis", "response"},
                               "psis (draws of the exact posterior), response (linear response, no draws), or auto "
                               "(default: psis where it is quick)"),
            draws, seed_option("Seed of the draws (default 1)"), threads_option(), memory_option()};
}

Command loo_command() {
    std::vector<OptionInfo> options{fit_argument(), fitted_data(),
                                    OptionInfo::flag("--rows",
                                                     "Show every row: what it adds, and whether it can be "
                                                     "relied on"),
                                    format_option(), output_option("Write to this file instead of standard output")};
    for (OptionInfo& option : loo_method_options()) options.push_back(std::move(option));
    return {"loo", "How well the model predicts rows that it has not seen: each row left out, without refits", options,
            show_loo};
}

}  // namespace lrvb::cli
