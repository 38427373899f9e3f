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

RegressionTable read_table(const FitRequest& request) {
    const Settings& settings = request.settings;
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

    RegressionTable table;
    table.frame = request.data.frame(read);
    const auto columns = static_cast<Index>(table.frame.columns.size());
    table.response = chosen ? columns - (weighted ? 2 : 1) : table.frame.find(settings.text("response"));
    if (!weighted) return table;
    const Index place = chosen ? columns - 1 : table.frame.find(settings.text("weights"));
    if (place == table.response) throw UsageError("--weights and --response are one column: choose another");
    table.weights_name = table.frame.columns[static_cast<std::size_t>(place)].name;
    table.weights = taken_weights(table.frame, place);
    if (place < table.response) --table.response;
    return table;
}

std::string RegressionTable::weightless_note() const {
    return fmt::format("{}: weights; {} the weight 0, and {} left out", printable(weights_name.value_or("")),
                       weightless == 1 ? "one row has" : fmt::format("{} rows have", weightless),
                       weightless == 1 ? "is" : "are");
}

}  // namespace lrvb::detail
