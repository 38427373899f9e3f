#include "cli/command.hpp"
#include "cli/loo.hpp"
#include "cli/output.hpp"

#include <lrvb/query/compare.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

namespace lrvb::cli {

namespace {

// Files of one comparison, restored with one table of data.
struct Compared {
    std::vector<std::string> names;
    std::vector<std::unique_ptr<FittedModel>> fits;
};

Compared restored_fits(const Settings& settings) {
    Compared result;
    result.names = settings.texts("FIT");
    if (result.names.size() < 2) throw UsageError("one fit has nothing to be compared with: give two or more");
    if (settings.text("data") == "-")
        throw UsageError("every fit reads the data: --data is a file, not standard input");
    for (const std::string& name : result.names) {
        FitFile fit = read_fit(name);
        const Dataset data = settings.has("data") ? Dataset(settings.texts("data")) : dataset_of(fit.data);
        try {
            result.fits.push_back(restore(std::move(fit), data, threads_of(settings)));
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            const char* where = settings.has("data") ? "" : "; --data names the data";
            throw std::runtime_error(fmt::format("{}: {}{}", name, error.what(), where));
        }
    }
    return result;
}

std::vector<std::string> comparison_header() {
    return {"fit", "elpd_loo", "difference", "se_difference", "p_loo", "parameters", "bound", "doubtful_rows"};
}

template <class Shown>
std::vector<std::string> comparison_fields(const std::string& name, const ComparedFit& one, Shown shown) {
    return {name,
            shown(one.loo.elpd_loo),
            shown(one.elpd_difference),
            shown(one.se_difference),
            shown(one.loo.p_loo),
            fmt::format("{}", one.loo.parameters),
            shown(one.bound),
            fmt::format("{}", one.loo.doubtful_rows())};
}

std::string json_text(const std::vector<ComparedFit>& compared, const std::vector<std::string>& names) {
    Document list = Document::list();
    for (const ComparedFit& one : compared) {
        Document entry;
        entry["fit"] = names[one.fit];
        entry["elpd_loo"] = one.loo.elpd_loo;
        entry["elpd_loo_se"] = one.loo.elpd_se;
        entry["difference"] = one.elpd_difference;
        entry["se_difference"] = one.se_difference;
        entry["p_loo"] = one.loo.p_loo;
        entry["parameters"] = one.loo.parameters;
        entry["bound"] = one.bound;
        entry["log_labellings"] = one.log_labellings;
        entry["doubtful_rows"] = one.loo.doubtful_rows();
        list.push_back(std::move(entry));
    }
    Document json;
    json["fits"] = std::move(list);
    json["method"] = method_name(compared.front().loo.method);
    json["message"] = comparison_message(compared, names);
    return json.json(2) + "\n";
}

std::string table_text(const std::vector<ComparedFit>& compared, const std::vector<std::string>& names) {
    const auto shown = [](double value) { return fmt::format("{:.2f}", value + 0.0); };
    std::vector<std::vector<std::string>> table{comparison_header()};
    bool has_labels = false;
    for (const ComparedFit& one : compared) {
        table.push_back(comparison_fields(names[one.fit], one, shown));
        has_labels = has_labels || one.log_labellings > 0.0;
    }
    const Loo& first = compared.front().loo;
    std::string text =
        fmt::format("{} fits of the same {} rows, each row left out {}\n\n{}\n{}\n", compared.size(),
                    first.weights.size(), method_text(first), aligned(table), comparison_message(compared, names));
    if (has_labels) {
        text +=
            "bound: on log p(data), with log K! added for the K components of a mixture, whose labels can be "
            "exchanged\n";
    }
    const bool is_doubtful = std::any_of(compared.begin(), compared.end(),
                                         [](const ComparedFit& one) { return one.loo.doubtful_rows() > 0; });
    if (is_doubtful)
        text += "warning: of doubtful rows elpd_loo is not to be relied on; see 'lrvb loo FIT DATA --rows'\n";
    return text;
}

int show_comparison(const Settings& settings) {
    const Compared given = restored_fits(settings);
    std::vector<const FittedModel*> fits;
    for (const std::unique_ptr<FittedModel>& fitted : given.fits) fits.push_back(fitted.get());
    const std::vector<ComparedFit> compared = compare_fits(fits, given.names, loo_options(settings));
    const Format format = format_of(settings);
    if (format == Format::json) {
        say(json_text(compared, given.names));
    } else if (format == Format::csv) {
        std::string text = csv_line(comparison_header());
        for (const ComparedFit& one : compared) text += csv_line(comparison_fields(given.names[one.fit], one, exact));
        say(text);
    } else {
        say(table_text(compared, given.names));
    }
    return kSuccess;
}

}  // namespace

Command compare_command() {
    OptionInfo fits{"FIT", "Fit files of the same data, two or more", OptionInfo::Type::texts};
    std::vector<OptionInfo> options{
        fits.require(),
        OptionInfo{"--data", "The data that was fitted: CSV or .npy (default: the file that the fits name)",
                   OptionInfo::Type::texts},
        format_option()};
    for (OptionInfo& option : loo_method_options()) options.push_back(std::move(option));
    return {"compare", "Which model: compare fits of the same data by how well they predict rows left out", options,
            show_comparison};
}

}  // namespace lrvb::cli
