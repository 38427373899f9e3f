#include <lrvb/query/model_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lrvb {

namespace {

constexpr Index kPointsInDocument = 1000;  // rows that a document has one by one

Document document_of(const CheckedStatistic& one) {
    Document json;
    json["column"] = one.column;
    json["residuals"] = one.of_residuals;
    json["statistic"] = to_string(one.statistic);
    json["observed"] = one.observed;
    json["replicated"] = one.replicated;
    json["lower"] = one.lower;
    json["upper"] = one.upper;
    json["p"] = one.p;
    json["unusual"] = one.is_unusual;
    json["words"] = one.words();
    return json;
}

Document document_of(const ResponseCheck& check, const std::vector<Index>& file_rows) {
    Document json;
    json["name"] = check.name;
    json["rows"] = check.fitted.size();
    json["r2"] = check.r2;
    json["residual_sd"] = check.residual_sd;
    json["level"] = kModelCheckLevel;
    json["coverage"] = check.coverage;
    Document& points = json["points"];
    if (check.fitted.size() <= kPointsInDocument) {
        points["row"] = file_rows;
        points["fitted"] = check.fitted;
        points["residual"] = check.residuals;
        points["standardised"] = check.standardised;
    }
    Document& groups = json["groups"];
    const auto list = [&](const char* name, double ResponseCheck::Group::*member) {
        Document::Numbers numbers;
        for (const ResponseCheck::Group& group : check.groups) numbers.push_back(group.*member);
        groups[name] = std::move(numbers);
    };
    list("fitted", &ResponseCheck::Group::fitted);
    list("lowest", &ResponseCheck::Group::lowest);
    list("highest", &ResponseCheck::Group::highest);
    list("min", &ResponseCheck::Group::min);
    list("q5", &ResponseCheck::Group::q5);
    list("q50", &ResponseCheck::Group::q50);
    list("q95", &ResponseCheck::Group::q95);
    list("max", &ResponseCheck::Group::max);
    list("band", &ResponseCheck::Group::band);
    json["quantiles"] = Document{{"normal", check.quantiles.model}, {"residual", check.quantiles.data}};
    return json;
}

Document document_of(const ColumnCheck& check) {
    Document json;
    json["name"] = check.marginal.name;
    json["rows"] = check.rows;
    json["quantiles"] = Document{{"model", check.quantiles.model}, {"data", check.quantiles.data}};
    json["histogram"] =
        Document{{"start", check.start}, {"step", check.step}, {"counts", check.counts}, {"expected", check.expected}};
    json["marginal"] =
        Document{{"weights", check.marginal.weights}, {"means", check.marginal.means}, {"sds", check.marginal.sds}};
    return json;
}

// What an unusual statistic says of the data: below, and above what the model produces.
std::pair<const char*, const char*> words_of(DataStatistic statistic) {
    switch (statistic) {
        case DataStatistic::mean:
            return {"have a lower mean than the model produces", "have a higher mean than the model produces"};
        case DataStatistic::sd:
            return {"are less spread out than the model produces", "are more spread out than the model produces"};
        case DataStatistic::min:
            return {"have a smaller minimum than the model produces",
                    "do not go down as far as the model does: its minimum is smaller"};
        case DataStatistic::max:
            return {"do not go up as far as the model does: its maximum is larger",
                    "have a larger maximum than the model produces"};
        case DataStatistic::skewness:
            break;
    }
    return {"are more skewed to the left than the model produces",
            "are more skewed to the right than the model produces"};
}

}  // namespace

std::string_view to_string(DataStatistic statistic) {
    switch (statistic) {
        case DataStatistic::mean:
            return "mean";
        case DataStatistic::sd:
            return "sd";
        case DataStatistic::min:
            return "min";
        case DataStatistic::max:
            return "max";
        case DataStatistic::skewness:
            break;
    }
    return "skewness";
}

std::string CheckedStatistic::words() const {
    if (!is_unusual) return {};
    const auto [below, above] = words_of(statistic);
    return fmt::format("{} of {} {} (p = {:.2g})", of_residuals ? "the residuals" : "the values", column,
                       observed < replicated ? below : above, p);
}

bool ModelCheck::fits() const {
    return std::none_of(statistics.begin(), statistics.end(),
                        [](const CheckedStatistic& one) { return one.is_unusual; });
}

std::string ModelCheck::message() const {
    constexpr std::size_t most = 4;
    std::vector<std::string> words;
    for (const CheckedStatistic& one : statistics) {
        if (one.is_unusual) words.push_back(one.words());
    }
    if (words.empty()) {
        return fmt::format("nothing is unusual among {} statistics of the data: the model fits in these",
                           statistics.size());
    }
    std::string text = "the model does not fit: ";
    for (std::size_t i = 0; i < std::min(most, words.size()); ++i) text += (i > 0 ? "; " : "") + words[i];
    if (words.size() > most) text += fmt::format("; and {} more", words.size() - most);
    return text;
}

std::string ModelCheck::source() const {
    return draws == ParameterDraws::exact ? "draws of the exact posterior" : "the normal posterior of linear response";
}

Document ModelCheck::document() const {
    Document json;
    json["replicates"] = replicates;
    json["draws"] = draws == ParameterDraws::exact ? "exact" : "response";
    json["fits"] = fits();
    json["message"] = message();
    json["level"] = kModelCheckLevel;
    Document list = Document::list();
    for (const CheckedStatistic& one : statistics) list.push_back(document_of(one));
    json["statistics"] = std::move(list);
    json["response"] = response ? document_of(*response, file_rows) : Document();
    Document of_columns = Document::list();
    for (const ColumnCheck& one : columns) of_columns.push_back(document_of(one));
    json["columns"] = std::move(of_columns);
    return json;
}

}  // namespace lrvb
