#pragma once

#include <lrvb/kind/fitted_model.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Pictures of a fit as SVG files, those of the report without a browser: the same numbers and colours, and the same
/// bytes however many threads there were. In the library lrvb::report, which is built with the program.
///
///     const FitFile fit = read_fit("fit.json");
///     const std::string svg = plot_svg(fit, nullptr, Figure::intervals);
namespace lrvb {

enum class Figure {
    intervals,    ///< means with their intervals, in their own units, over those of mean field
    fit,          ///< the data, and what was fitted to them: FittedModel::drawing
    correlation,  ///< posterior correlations as a heat map
    influence,    ///< what dropping each row does
};

/// In this order.
LRVB_EXPORT const std::vector<std::string>& figure_names();
/// Throws std::invalid_argument, with those that there are, for another name.
LRVB_EXPORT Figure figure_named(std::string_view name);
/// Whether it cannot be drawn without the data that were fitted.
LRVB_EXPORT bool needs_data(Figure figure);

struct PlotOptions {
    /// As Posterior::select knows them; none: those that a report shows, for influence one for each parameter.
    std::vector<std::string> variables;
    /// Of the figure `fit`: the columns to draw; none: those that the kind of model puts first.
    std::vector<std::string> columns;
    /// Empty: one that says what the model is.
    std::string title;
    /// In pixels; a height of 0 is what the figure needs.
    int width = 720;
    int height = 0;
    /// The probability of intervals and bands.
    double level = 0.9;
};

/// `fitted` is the same fit with its data; null where there are none. Throws std::invalid_argument for a figure that
/// needs data without them, for what is asked and is not there, and for a height that is too small; NotAnOptimum for
/// correlations and influence of a fit that did not converge.
LRVB_EXPORT std::string plot_svg(const FitFile& fit, const FittedModel* fitted, Figure figure,
                                 const PlotOptions& options = {});

}  // namespace lrvb
