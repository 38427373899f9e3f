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

FrameOptions table_reading(const Settings& settings) {
    const bool weighted = settings.has("weights");
    FrameOptions read;
    read.columns = settings.list("columns");
    // With -c the response is asked for last, but for the weights; a number would then mean another column.
    const bool chosen = !read.columns.empty();
    read.ranges = true;
    if (chosen) read.last = {settings.text("response")};
    if (chosen && weighted) read.last.push_back(settings.text("weights"));
    read.text = settings.list("factor");
    read.numbers = settings.list("numeric");
    require_apart(read.text, read.numbers);
    read.numbers.push_back(settings.text("response"));
    if (weighted) read.numbers.push_back(settings.text("weights"));
    read.missing = settings.flag("drop-missing") ? Missing::drop : Missing::refuse;
    return read;
}

TablePlaces table_places(const Settings& settings, const DataFrame& frame) {
    const bool weighted = settings.has("weights");
    const bool chosen = !settings.list("columns").empty();
    const auto columns = static_cast<Index>(frame.columns.size());
    TablePlaces places;
    places.response = chosen ? columns - (weighted ? 2 : 1) : frame.find(settings.text("response"));
    if (!weighted) return places;
    places.weights = chosen ? columns - 1 : frame.find(settings.text("weights"));
    if (places.weights == places.response) {
        throw UsageError("--weights and --response are one column: choose another");
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
    table.weights = taken_weights(table.frame, places.weights);
    if (places.weights < table.response) --table.response;
    return table;
}

std::string weightless_note(const std::string& weights, Index count) {
    return fmt::format("{}: weights; {} the weight 0, and {} left out", printable(weights),
                       count == 1 ? "one row has" : fmt::format("{} rows have", count), count == 1 ? "is" : "are");
}

}  // namespace lrvb::detail
