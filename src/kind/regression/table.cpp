#include "kind/regression/table.hpp"

#include "base/messages.hpp"
#include "kind/regression/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::detail {

void require_apart(const std::vector<std::string>& factors, const std::vector<std::string>& numbers) {
    for (const std::string& column : factors) {
        if (std::find(numbers.begin(), numbers.end(), column) == numbers.end()) continue;
        throw UsageError(fmt::format("--factor and --numeric both have '{}': give it to one of them", column));
    }
}

WeightsOption weights_option(const Settings& settings) {
    const bool is_precision = settings.has("precision-weights");
    if (is_precision && settings.has("weights")) {
        throw UsageError("--weights count rows and --precision-weights divide their variance: give one of them");
    }
    const std::string key = is_precision ? "precision-weights" : "weights";
    const std::string column = settings.text(key);
    return column.empty() ? WeightsOption{} : WeightsOption{"--" + key, column};
}

std::string weights_note(const std::string& weights, WeightMeaning meaning, const std::string& response) {
    const std::string column = printable(weights);
    switch (meaning) {
        case WeightMeaning::precision:
            return fmt::format(
                "weights: column {} gives precisions (the variance of a row is sigma^2/weight, and sigma is the sd at "
                "weight 1); to count rows use --weights",
                column);
        case WeightMeaning::trials:
            return fmt::format("weights: column {} gives the number of trials, of which {} is the share of successes",
                               column, printable(response));
        case WeightMeaning::count:
            break;
    }
    return fmt::format(
        "weights: column {} counts rows (a weight of 3 is 3 rows); for precisions use --precision-weights", column);
}

FrameOptions table_reading(const Settings& settings) {
    const std::string weights = weights_option(settings).column;
    const bool weighted = !weights.empty();
    FrameOptions read;
    read.columns = settings.list("columns");
    // With -c the response is asked for last, but for the weights; a number would then mean another column.
    const bool chosen = !read.columns.empty();
    read.ranges = true;
    if (chosen) read.last = {settings.text("response")};
    if (chosen && weighted) read.last.push_back(weights);
    read.text = settings.list("factor");
    read.numbers = settings.list("numeric");
    require_apart(read.text, read.numbers);
    read.numbers.push_back(settings.text("response"));
    if (weighted) read.numbers.push_back(weights);
    read.missing = settings.flag("drop-missing") ? Missing::drop : Missing::refuse;
    return read;
}

TablePlaces table_places(const Settings& settings, const DataFrame& frame) {
    const WeightsOption weights = weights_option(settings);
    const bool weighted = !weights.column.empty();
    const bool chosen = !settings.list("columns").empty();
    const auto columns = static_cast<Index>(frame.columns.size());
    TablePlaces places;
    places.response = chosen ? columns - (weighted ? 2 : 1) : frame.find(settings.text("response"));
    if (!weighted) return places;
    places.weights = chosen ? columns - 1 : frame.find(weights.column);
    if (places.weights == places.response) {
        throw UsageError(fmt::format("{} and --response are one column: choose another", weights.name));
    }
    return places;
}

RegressionTable read_table(const FitRequest& request) {
    RegressionTable table;
    table.frame = request.data.frame(table_reading(request.settings));
    const TablePlaces places = table_places(request.settings, table.frame);
    table.response = places.response;
    if (places.weights < 0) return table;
    table.weights_name = table.frame.columns[static_cast<std::size_t>(places.weights)].name;
    table.weights = taken_weights(table.frame, places.weights, WeightMeaning::count);
    if (places.weights < table.response) --table.response;
    return table;
}

std::string weightless_note(const std::string& weights, Index count) {
    return fmt::format("{}: weights; {} the weight 0, and {} left out", printable(weights),
                       count == 1 ? "one row has" : fmt::format("{} rows have", count), count == 1 ? "is" : "are");
}

}  // namespace lrvb::detail
