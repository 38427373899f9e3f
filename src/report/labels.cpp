#include "report/labels.hpp"

#include <lrvb/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb {

namespace report {

std::vector<std::string> labels_of(const DataFrame& labels, const std::vector<Index>& file_rows) {
    if (labels.columns.empty()) throw std::invalid_argument("report_page: labels has no column; give one");
    const FrameColumn& column = labels.columns.front();
    std::vector<std::string> result(file_rows.size());
    Index at = 0;
    for (std::size_t i = 0; i < file_rows.size(); ++i) {
        while (at < labels.rows && labels.file_row(at) < file_rows[i]) ++at;
        if (at == labels.rows || labels.file_row(at) != file_rows[i]) continue;
        const auto row = static_cast<std::size_t>(at);
        result[i] = column.is_text() ? column.levels[column.codes[row]] : fmt::format("{}", column.numbers[at]);
    }
    return result;
}

}  // namespace report

DataFrame read_labels(const Dataset& data, const std::string& column) {
    FrameOptions options;
    options.columns = {column};
    // Codes such as 007 are texts; a NumPy file has numbers alone.
    if (!data.name().ends_with(".npy")) options.text = {column};
    options.missing = Missing::drop;
    return data.frame(options);
}

}  // namespace lrvb
