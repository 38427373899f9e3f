#include "kind/drawing.hpp"

#include "base/messages.hpp"

#include <lrvb/kind/fitted_model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb {

namespace detail {

std::vector<Index> drawn_columns(const std::vector<std::string>& chosen, const std::vector<std::string>& all) {
    std::vector<Index> result;
    for (const std::string& name : chosen) {
        const auto found = std::find(all.begin(), all.end(), name);
        if (found == all.end()) {
            std::vector<std::string> names;
            names.reserve(all.size());
            for (const std::string& one : all) names.push_back(printable(one));
            throw std::invalid_argument(
                fmt::format("there is no column {} to draw: choose from {}", shown(name), enumerated(names)));
        }
        result.push_back(found - all.begin());
    }
    return result;
}

DrawingPanel::Bars bars_of(const Document& histogram) {
    DrawingPanel::Bars bars;
    bars.start = histogram.find("start")->number().value_or(0.0);
    bars.step = histogram.find("step")->number().value_or(1.0);
    const Document* const counts = histogram.find("counts");
    bars.heights.resize(static_cast<Index>(counts->size()));
    Index bin = 0;
    for (const Document& count : *counts->entries()) bars.heights[bin++] = count.number().value_or(0.0);
    return bars;
}

std::string percent(double share) {
    return fmt::format("{:.6g} %", 100.0 * share);
}

}  // namespace detail

// Of any kind: histograms of what its picture has.
Drawing FittedModel::drawing(const FitFile& shown, const DrawingOptions& options) const {
    const Document document = picture();
    const Document* const histograms = document.find("histograms");
    if (histograms == nullptr || histograms->entries() == nullptr || histograms->size() == 0) {
        throw std::runtime_error(
            fmt::format("a fit of the kind '{}' has no picture of its data: draw its intervals or its correlations",
                        shown.model->kind()));
    }
    std::vector<std::string> names;
    for (const Document& one : *histograms->entries()) names.push_back(*one.find("name")->text());
    std::vector<Index> columns = detail::drawn_columns(options.columns, names);
    for (Index c = 0; options.columns.empty() && c < static_cast<Index>(names.size()); ++c) columns.push_back(c);
    Drawing drawing;
    drawing.caption = "The rows, by the values that they have";
    for (const Index c : columns) {
        if (static_cast<Index>(drawing.panels.size()) == detail::kMostPanels) {
            ++drawing.left_out;
            continue;
        }
        DrawingPanel& panel = drawing.panels.emplace_back();
        panel.across = names[static_cast<std::size_t>(c)];
        panel.up = "rows";
        panel.up_from_zero = true;
        panel.bars = detail::bars_of((*histograms->entries())[static_cast<std::size_t>(c)]);
    }
    return drawing;
}

}  // namespace lrvb
